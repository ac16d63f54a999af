/// An amount in steps of another.
pub fn round_to(cents: i64, step: i64) -> i64 {
    (cents + step / 2) / step * step
}

#[cfg(test)]
mod tests {
    #[test]
    fn rounds() {
        assert_eq!(super::round_to(1234, 5), 1235);
    }
}
