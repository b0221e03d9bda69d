package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lab": main})
}

// TestScripts runs what users do, one scenario a file.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and checks its exit code: exits 2 lab loop --worlds 1.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS]")
	}
	got, exit := 0, new(exec.ExitError)
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// A study takes minutes and writes nothing before its end: the first signal ends it.
func TestAStudyCanBeStopped(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"loop --worlds 10000", "few --worlds 10000", "prune --worlds 1000",
		"certificate --runs 100000000", "curriculum --worlds 10000", "baselines --worlds 10000",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var out, errs bytes.Buffer
			if code := run(ctx, strings.Fields(line), &out, &errs); code != 130 || out.Len() > 0 {
				t.Errorf("exit code %d\n%s%s", code, &out, &errs)
			}
		})
	}
}
