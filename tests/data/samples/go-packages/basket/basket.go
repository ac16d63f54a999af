// Package basket adds up.
package basket

import "example.org/shop/money"

// Basket holds prices.
type Basket struct{ prices []money.Cents }

// Add puts a price into the basket.
func (b *Basket) Add(text string) error {
	price, err := money.Parse(text)
	if err != nil {
		return err
	}
	b.prices = append(b.prices, price)
	return nil
}

// Total is what everything costs.
func (b *Basket) Total() (sum money.Cents) {
	for _, each := range b.prices {
		sum += each
	}
	return sum
}
