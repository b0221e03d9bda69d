package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
	"github.com/seed-f4525e22/skillopt/result"
)

// TestMain lets the test binary play the program: a script that says skillopt
// starts this very binary.
func TestMain(m *testing.M) {
	skillopt.RunHelper(os.Args)
	testscript.Main(m, map[string]func(){"skillopt": main, "toolserver": serveTools})
}

// TestScripts runs what users do, one story a file.
func TestScripts(t *testing.T) {
	t.Parallel()
	quickstart, err := filepath.Abs("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	nights, err := filepath.Abs("../../examples/sleep")
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := filepath.Abs("../../internal/importer/evals/testdata")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := filepath.Abs("testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../../sdk")
	if err != nil {
		t.Fatal(err)
	}
	work, remove := memfolder.New() // "" is a folder on the disk
	t.Cleanup(remove)               // when all scripts have ended
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", WorkdirRoot: work,
		Setup: func(env *testscript.Env) error {
			env.Setenv("QUICKSTART", quickstart)
			env.Setenv("NIGHTS", nights)
			env.Setenv("EVALS", fixtures)
			env.Setenv("REAL", recorded)
			env.Setenv("SDK", sdk)
			env.Setenv("SIM", "{provider: sim, world: "+filepath.ToSlash(filepath.Join(fixtures, "world.yaml"))+"}")
			return os.CopyFS(filepath.Join(env.WorkDir, "small"), os.DirFS("testdata/small"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonHas, "locked": locked, "working": working, "refuses": refuses, "nobody": nobody, "jsonl": jsonLines, "mount": mount,
			"serves": serves, "calls": calls, "agrees": agrees, "action": runAction, "github": github,
			"gains": gains, "figure": sameFigure, "slow": slow, "killed": killed,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "mount":
				return canMount(t), nil
			case "action":
				return canAct(exec.LookPath), nil
			case "cloud":
				return len(clouds().LeftOut()) == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits runs a command and checks its exit code: exits 2 skillopt train nothing.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// jsonHas checks a JSON document: json stdout best.step status=completed. A
// value is compared in its JSON form, text without the quotes.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH[=VALUE]...")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s is not one JSON document: %v", args[0], err)
	}
	for _, arg := range args[1:] {
		path, want, compare := strings.Cut(arg, "=")
		v, err := at(doc, path)
		if err != nil {
			ts.Fatalf("%s: %v", path, err)
		}
		got, isText := v.(string)
		if !isText {
			text, err := json.Marshal(v)
			ts.Check(err)
			got = string(text)
		}
		if compare && got != want {
			ts.Fatalf("%s is %s, want %s", path, got, want)
		}
	}
}

func at(doc any, path string) (any, error) {
	for name := range strings.SplitSeq(path, ".") {
		switch d := doc.(type) {
		case map[string]any:
			v, ok := d[name]
			if !ok {
				return nil, fmt.Errorf("there is no %q", name)
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(d) {
				return nil, fmt.Errorf("there is no element %q of %d", name, len(d))
			}
			doc = d[i]
		default:
			return nil, fmt.Errorf("%q is below a value", name)
		}
	}
	return doc, nil
}

// locked holds the lock of a run directory while a command runs:
// locked runs/a 6 skillopt train ...
func locked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: locked RUN CODE COMMAND [ARGS]")
	}
	lock := flock.New(filepath.Join(ts.MkAbs(args[0]), ".lock"))
	ts.Check(lock.Lock())
	defer func() { ts.Check(lock.Unlock()) }()
	exits(ts, false, args[1:])
}

// working waits until a process works on a run: working runs/a
func working(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: working RUN")
	}
	late := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		m, found, err := run.ReadManifest(ts.MkAbs(args[0]))
		if err == nil && found && (m.Plan != nil || m.Kind == result.ServeModel) {
			if works, err := run.InUse(ts.MkAbs(args[0])); err == nil && works {
				return
			}
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("nobody works on %s", args[0])
		}
	}
}

// refuses starts a server that answers every request with a status, and sets a
// variable to its URL: refuses URL 401.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refuses VARIABLE STATUS")
	}
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintln(w, `{"error": {"message": "no entry"}}`)
	}))
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL+"/v1")
}

// nobody sets a variable to the URL of a port that nobody listens on.
func nobody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nobody VARIABLE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], "http://"+l.Addr().String()+"/v1")
}

// jsonLines checks that each line of a file is a JSON object with a field:
// jsonl stdout event.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonl FILE FIELD")
	}
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			ts.Fatalf("line %d is no JSON object: %v: %s", n+1, err, line)
		}
		if doc[args[1]] == nil {
			ts.Fatalf("line %d has no %q: %s", n+1, args[1], line)
		}
		n++
	}
	if n == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
}
