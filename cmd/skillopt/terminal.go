package main

import (
	"os"

	"golang.org/x/term"
)

// dumb reports whether the terminal says of itself that it cannot move its cursor, or says
// nothing at all.
func dumb() bool {
	name := os.Getenv("TERM")
	return name == "dumb" || name == "" && os.PathSeparator == '/'
}

// outSize returns the size of the terminal that standard output is.
func outSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}
