//! What people want to buy.

pub mod discount;

use money::Cents;

/// Prices in the order they came.
#[derive(Default)]
pub struct Basket {
    prices: Vec<Cents>,
}

impl Basket {
    pub fn add(&mut self, price: Cents) -> &mut Self {
        self.prices.push(price);
        self
    }

    pub fn total(&self) -> Cents {
        Cents(self.prices.iter().map(|each| each.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_free_at_first() {
        assert_eq!(Basket::default().total(), Cents(0));
    }
}
