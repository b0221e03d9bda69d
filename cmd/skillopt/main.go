// Command skillopt trains skill documents. See package cli.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

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
	stop := collectLater()
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
		Dumb: dumb(), Color: shown && os.Getenv("NO_COLOR") == "" && !dumb(), Size: outSize, Clouds: clouds(),
	}, version)
	stop()
	os.Exit(code)
}

// Bounds of how much garbage there may be before it is collected.
const (
	garbage     = 64 << 20 // bytes, within the percentages of what is in use below
	leastGrowth = 100
	mostGrowth  = 200
)

// growth returns by how many percent of what is in use the heap may grow until garbage is
// collected. A small run keeps few megabytes and allocates many: at 150 percent it takes a tenth
// less of processor time than at 100. A run of 35,000 calls on 10,000 tasks peaks at 236 MB with
// 100, and at 303 with 150.
func growth(inUse uint64) int {
	return int(min(mostGrowth, max(leastGrowth, garbage*100/max(1, inUse))))
}

// collectLater has garbage collected by growth until stop is called. Who has set GOGC
// knows better.
func collectLater() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	percent := mostGrowth
	debug.SetGCPercent(percent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(200 * time.Millisecond)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			metrics.Read(live)
			if p := growth(live[0].Value.Uint64()); p != percent {
				percent = p
				debug.SetGCPercent(p)
			}
		}
	}()
	return func() {
		tick.Stop()
		close(end)
		<-ended
	}
}
