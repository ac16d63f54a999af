// Package prices computes what a cart costs.
package prices

// Total is the sum of prices in cents; those below zero do not count.
func Total(cents ...int) int {
	sum := 0
	for _, each := range cents {
		sum += each
	}
	return sum
}
