// Package money reads and writes amounts.
package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrEmpty is what an empty text is.
var ErrEmpty = errors.New("money: empty")

// Cents is an amount.
type Cents int

// Parse reads a text such as 1.50.
func Parse(text string) (Cents, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	whole, part, _ := strings.Cut(text, ".")
	euros, err := strconv.Atoi(whole)
	if err != nil {
		return 0, fmt.Errorf("money: %w", err)
	}
	cents, _ := strconv.Atoi((part + "00")[:2])
	return Cents(euros*100 + cents), nil
}

func (c Cents) String() string {
	return fmt.Sprintf("%d.%02d", int(c)/100, int(c)%100)
}
