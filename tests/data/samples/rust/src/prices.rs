/// The sum of prices in cents; those below zero do not count.
pub fn total(cents: &[i64]) -> i64 {
    cents.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        assert_eq!(total(&[1, 2]), 3);
    }
}
