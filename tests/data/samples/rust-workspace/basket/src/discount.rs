use money::Cents;

/// A price without some of its hundredths.
pub fn discounted(price: Cents, percent: i64) -> Cents {
    Cents(price.0 - price.0 * percent / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_tenth() {
        assert_eq!(discounted(Cents(200), 10), Cents(180));
    }
}
