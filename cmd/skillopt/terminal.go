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

// outSize is the size of the terminal that standard output is.
func outSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// keys passes on what is typed, each key at once, where standard input is a terminal. The
// goroutine that reads it waits for a key and so ends with the program: it takes one key
// more than is asked for.
func keys() (<-chan byte, func()) {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil, func() {}
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, func() {}
	}
	typed := make(chan byte)
	go func() {
		var key [1]byte
		for {
			if n, err := os.Stdin.Read(key[:]); n == 0 || err != nil {
				close(typed)
				return
			}
			typed <- key[0]
		}
	}()
	return typed, func() { _ = term.Restore(fd, before) } // there is nowhere to report it
}
