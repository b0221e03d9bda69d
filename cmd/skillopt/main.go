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

// version is set by releases; else it is that of the module, as go install knows it.
var version = ""

// builtVersion returns what a program is called that no release named: the version of
// its module, or dev without one.
func builtVersion(read func() (*debug.BuildInfo, bool)) string {
	info, ok := read()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

func main() {
	skillopt.RunHelper(os.Args)
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "skillopt: find working directory: %v\n", err)
		os.Exit(1)
	}
	failWritesToBrokenPipes()
	if version == "" {
		version = builtVersion(debug.ReadBuildInfo)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	fd := int(os.Stderr.Fd())
	shown := term.IsTerminal(int(os.Stdout.Fd()))
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 80
	}
	code := cli.Main(context.Background(), os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: dir, Terminal: term.IsTerminal(fd), Shown: shown, Width: width, Signals: signals,
		Dumb: dumb(), Color: shown && os.Getenv("NO_COLOR") == "" && !dumb(), Size: outSize, Keys: keys, Clouds: clouds(),
	}, version)
	os.Exit(code)
}
