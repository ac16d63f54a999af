// Package prices adds up.
package prices

// Sum is what some prices come to.
func Sum(prices ...int) int {
	sum := 0
	for _, each := range prices {
		sum += each
	}
	return sum
}
