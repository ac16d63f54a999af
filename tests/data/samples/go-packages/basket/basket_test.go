package basket_test

import (
	"testing"

	"example.org/shop/basket"
)

func TestTotal(t *testing.T) {
	var b basket.Basket
	for _, each := range []string{"1.50", "2"} {
		if err := b.Add(each); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Total().String(); got != "3.50" {
		t.Errorf("got %s", got)
	}
}

func TestTaxes(t *testing.T) {
	t.Skip("not yet")
}
