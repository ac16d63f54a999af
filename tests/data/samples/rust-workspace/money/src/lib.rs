//! Amounts.

/// An amount in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cents(pub i64);

impl std::fmt::Display for Cents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::Cents;

    #[test]
    fn is_written_for_people() {
        assert_eq!(Cents(1205).to_string(), "12.05");
    }
}
