//! Prices, as people write them.

pub mod parsing;
mod rounding;

pub use rounding::round_to;

/// What some prices come to.
///
/// ```
/// assert_eq!(price_list::total(&[150, 200]), 350);
/// ```
pub fn total(cents: &[i64]) -> i64 {
    cents.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_free() {
        assert_eq!(total(&[]), 0);
    }

    mod of_several {
        #[test]
        fn adds_up() {
            println!("adding\nup");
            assert_eq!(super::total(&[1, 2]), 3);
        }
    }
}
