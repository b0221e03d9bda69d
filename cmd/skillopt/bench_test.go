package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// gains checks that of the two test scores of a summary the better skill's is higher by at least so much:
// gains 0.3 stdout.
func gains(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gains LEAST FILE")
	}
	least, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	var doc struct {
		Test struct{ Seed, Best *struct{ Hard float64 } }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &doc))
	if doc.Test.Seed == nil || doc.Test.Best == nil {
		ts.Fatalf("a score of the test split is missing")
	}
	if got := doc.Test.Best.Hard - doc.Test.Seed.Hard; got < least {
		ts.Fatalf("%.3f -> %.3f gains %.3f, want %.3f", doc.Test.Seed.Hard, doc.Test.Best.Hard, got, least)
	}
}

// sameFigure checks that two documents have one value: figure FILE PATH FILE PATH.
func sameFigure(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: figure FILE PATH FILE PATH")
	}
	var texts []string
	for i := 0; i < 4; i += 2 {
		var doc any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[i])), &doc))
		v, err := at(doc, args[i+1])
		ts.Check(err)
		text, err := json.Marshal(v)
		ts.Check(err)
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		ts.Fatalf("%s is %s, and %s is %s", args[1], texts[0], args[3], texts[1])
	}
}

// slow has the simulated models of a world take their time, so that who plays them can be killed.
func slow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: slow WORLD")
	}
	text := strings.Replace(ts.ReadFile(args[0]), "rates: {", "rates: {latency_ms: 3, ", 1)
	if !strings.Contains(text, "latency_ms") {
		ts.Fatalf("%s has no rates", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// killed starts a command and kills it by SIGKILL when it has told of so many outcomes: killed 5 skillopt train small.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: killed OUTCOMES COMMAND [ARGS]")
	}
	after, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := exec.Command(programOf(ts, args[1]), append(args[2:], "--events", "-")...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	deadline := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // it hangs
	defer deadline.Stop()
	for lines := bufio.NewScanner(out); after > 0 && lines.Scan(); {
		if strings.Contains(lines.Text(), `"event":"outcome"`) {
			after--
		}
	}
	ts.Check(cmd.Process.Kill())
	err = cmd.Wait()
	exit, ok := err.(*exec.ExitError)
	if !ok {
		ts.Fatalf("it came to its end before it could be killed: %v", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); after > 0 || ok && !status.Signaled() {
		ts.Fatalf("it ended before it could be killed: %v", err)
	}
}

// programOf finds a program by the PATH of a script.
func programOf(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	ts.Fatalf("%s is not on the PATH", name)
	return ""
}
