package money

import (
	"errors"
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want Cents
	}{
		{"whole", "3", 300},
		{"with a part", "1.5", 150},
		{"both digits", "0.05", 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := Parse(tt.text); err != nil || got != tt.want {
				t.Errorf("Parse(%q) = %v, %v", tt.text, got, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		if _, err := Parse(""); !errors.Is(err, ErrEmpty) {
			t.Fatal(err)
		}
	})
	t.Run("words", func(t *testing.T) {
		t.Run("alone", func(t *testing.T) {
			if _, err := Parse("tea"); err == nil {
				t.Fatal("no error")
			}
		})
	})
}

func ExampleCents() {
	fmt.Println(Cents(1250))
	// Output: 12.50
}
