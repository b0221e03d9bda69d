// Command skillopt trains skill documents. See package cli.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
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
	collectLater()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	fd := int(os.Stderr.Fd())
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 80
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: dir, Terminal: term.IsTerminal(fd), Shown: term.IsTerminal(int(os.Stdout.Fd())), Width: width, Signals: signals,
	}, version))
}

// collectLater lets the heap grow to two and a half times what is in use, instead
// of twice, before garbage is collected: a run keeps few megabytes and allocates
// many, so that a tenth of more memory saves a tenth of its processor time. Who
// has set GOGC knows better.
func collectLater() {
	const percent = 150
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
