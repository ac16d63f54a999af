package main

import "testing"

func TestRun(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		code      int
	}{
		"prices": {[]string{"1", "2"}, 0},
		"words":  {[]string{"tea"}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if text, code := run(tt.arguments); code != tt.code {
				t.Errorf("%d: %s", code, text)
			}
		})
	}
}
