// Command shop prints what a list of prices comes to.
package main

import (
	"fmt"
	"os"

	"example.org/tools/shop/internal/report"
)

func run(arguments []string) (string, int) {
	text, err := report.Of(arguments)
	if err != nil {
		return err.Error(), 2
	}
	return text, 0
}

func main() {
	text, code := run(os.Args[1:])
	fmt.Println(text)
	os.Exit(code)
}
