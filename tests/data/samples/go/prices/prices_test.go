package prices

import "testing"

func TestTotalAddsUp(t *testing.T) {
	for name, want := range map[string]int{"one": 1, "three": 3} {
		t.Run(name, func(t *testing.T) {
			if got := Total(want); got != want {
				t.Errorf("Total(%d) = %d", want, got)
			}
		})
	}
}
