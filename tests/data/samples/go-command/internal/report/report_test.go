package report

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(m.Run())
}

func TestOf(t *testing.T) {
	text, err := Of([]string{"1", "2"})
	if err != nil || text != "2 prices, 3" {
		t.Errorf("%q %v", text, err)
	}
}
