package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// run carries out a command line until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "data" {
		return runData(args[1:])
	}
	return serve(ctx, args, out)
}

// runData writes tasks.
func runData(args []string) error {
	flags := flag.NewFlagSet("server data", flag.ContinueOnError)
	sizes := flags.String("sizes", "60,30,60", "numbers of train, val and test items")
	seed := flags.Int64("seed", 7, "seed")
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return errors.New("server data: found no folder, want server data DIR [flags]")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	var train, val, test uint16
	if _, err := fmt.Sscanf(*sizes, "%d,%d,%d", &train, &val, &test); err != nil {
		return fmt.Errorf("-sizes: found %q, want three numbers as in 60,30,60: %w", *sizes, err)
	}
	return writeTasks(args[0], map[string]int{"train": int(train), "val": int(val), "test": int(test)}, *seed)
}

// serve answers requests and prints the base URL first.
func serve(ctx context.Context, args []string, out io.Writer) error {
	var m simulated
	var faults wiretest.Faults
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	m.register(flags)
	registerFaults(flags, &faults)
	latency := flags.Float64("latency", 0, "milliseconds before each answer")
	jitter := flags.Float64("jitter", 0, "spread of the latency, 0 to 1")
	logged := flags.String("log", "", "write one JSON line a call to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := m.validate(); err != nil {
		return err
	}
	log := io.Writer(io.Discard)
	if *logged != "" {
		f, err := os.Create(*logged)
		if err != nil {
			return fmt.Errorf("create the log: %w", err)
		}
		defer func() { _ = f.Close() }()
		log = f
	}
	inner := wiretest.Start(wiretest.Options{
		Client: m, Faults: faults, Seed: m.seed, Latency: time.Duration(*latency * float64(time.Millisecond)), Jitter: *jitter,
	})
	defer inner.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := fmt.Fprintf(out, "http://%s/v1\n", ln.Addr()); err != nil {
		return err
	}
	return until(ctx, ln, newCounter(inner, log).handler())
}

// until serves h on ln until ctx is done.
func until(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		_ = srv.Close() // a client that still waits was stopped with the server
		<-ended
		return nil
	}
}

func registerFaults(flags *flag.FlagSet, f *wiretest.Faults) {
	flags.Float64Var(&f.RateLimit, "p429", 0, "share of calls that get status 429")
	flags.StringVar(&f.RetryAfter, "retry-after", "", "header of a 429")
	flags.Float64Var(&f.Server, "p500", 0, "share of calls that get status 500")
	flags.Float64Var(&f.Hang, "phang", 0, "share of calls that get no answer")
	flags.Float64Var(&f.Malformed, "pmalformed", 0, "share of calls of the optimizer that get broken JSON")
	flags.Float64Var(&f.Empty, "pempty", 0, "share of calls that get an empty answer")
	flags.Float64Var(&f.Cut, "pbody", 0, "share of calls whose HTTP body is cut off")
}
