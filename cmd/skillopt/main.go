// Command skillopt trains skill documents. See package cli.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/cli"
)

// version is set by releases.
var version = "dev"

func main() {
	skillopt.RunHelper(os.Args)
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "skillopt: find working directory: %v\n", err)
		os.Exit(1)
	}
	failWritesToBrokenPipes()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	fd := int(os.Stderr.Fd())
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 80
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: dir, Terminal: term.IsTerminal(fd), Width: width, Signals: signals,
	}, version))
}
