package prices

import "testing"

func TestSum(t *testing.T) {
	if got := Sum(1, 2, 3); got != 6 {
		t.Errorf("got %d", got)
	}
}

func BenchmarkSum(b *testing.B) {
	for range make([]struct{}, b.N) {
		Sum(1, 2, 3)
	}
}
