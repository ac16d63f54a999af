// Package report writes for people.
package report

import (
	"fmt"
	"strconv"

	"example.org/tools/shop/internal/prices"
)

// Of tells what some prices come to.
func Of(words []string) (string, error) {
	numbers := make([]int, 0, len(words))
	for _, each := range words {
		number, err := strconv.Atoi(each)
		if err != nil {
			return "", fmt.Errorf("%q is no price", each)
		}
		numbers = append(numbers, number)
	}
	return fmt.Sprintf("%d prices, %d", len(numbers), prices.Sum(numbers...)), nil
}
