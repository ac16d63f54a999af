//! From texts to amounts.

/// Why a text is no amount.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    Empty,
    NoNumber(String),
}

/// Cents of a text such as `1.50`.
///
/// ```
/// use price_list::parsing::parse;
/// assert_eq!(parse("1.5"), Ok(150));
/// ```
///
/// ```should_panic
/// price_list::parsing::parse("").unwrap();
/// ```
pub fn parse(text: &str) -> Result<i64, Unreadable> {
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let number = |digits: &str| digits.parse::<i64>().map_err(|_| Unreadable::NoNumber(text.to_owned()));
    Ok(number(whole)? * 100 + number(&format!("{part:0<2}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_parts() {
        assert_eq!(parse("0.05"), Ok(5));
    }

    #[test]
    #[should_panic(expected = "Empty")]
    fn refuses_nothing() {
        parse("").unwrap();
    }

    #[test]
    #[ignore = "not yet"]
    fn reads_currencies() {
        parse("1 EUR").unwrap();
    }
}
