//go:build !unix

package main

// failWritesToBrokenPipes does nothing: there is no signal for it here.
func failWritesToBrokenPipes() {}
