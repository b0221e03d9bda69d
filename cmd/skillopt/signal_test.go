//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// child is the program as a process of its own.
type child struct {
	*exec.Cmd

	t      *testing.T
	out    *bufio.Reader
	stderr *bufio.Reader
}

func start(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	return startWith(t, dir, nil, args...)
}

// startWith starts it with further variables of the environment.
func startWith(t *testing.T, dir string, env []string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), "skillopt", args...), t: t}
	c.Dir = dir
	if len(env) > 0 {
		c.Env = append(os.Environ(), env...)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out, c.stderr = bufio.NewReader(out), bufio.NewReader(errs)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && c.ProcessState == nil { // why it failed may be what the program says
			_ = c.Process.Kill() // it may have ended
			said, _ := io.ReadAll(c.stderr)
			t.Logf("%v: %v, %s", args, c.Wait(), said)
		}
	})
	return c
}

// until reads lines until one of them is wanted.
func until(t *testing.T, r *bufio.Reader, want func(line string) bool) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if want(line) {
			return
		}
		if err != nil {
			t.Fatalf("the output ended before what was waited for: %v", err)
		}
	}
}

func (c *child) interrupt() {
	c.t.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the exit code and returns what was still printed.
func (c *child) ends(code int) (out, errs string) {
	c.t.Helper()
	rest := make(chan string)
	go func() {
		text, _ := io.ReadAll(c.out) // its end is what counts
		rest <- string(text)
	}()
	text, err := io.ReadAll(c.stderr)
	if err != nil {
		c.t.Error(err)
	}
	out, errs = <-rest, string(text)
	_ = c.Wait() // an exit code is no failure of the test
	if got := c.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("exit code %d, want %d\n%s%s", got, code, out, errs)
	}
	return out, errs
}

func smallFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "small"), os.DirFS("testdata/small")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

type summary struct {
	Status string
	Calls  struct {
		Total  int64
		Faults map[string]int64
	}
}

func readSummary(t *testing.T, run string) summary {
	t.Helper()
	var s summary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(run, "summary.json"))), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestInterruptStopsSoftly: what is in flight is finished and recorded, and the
// same command continues to the result of a run that was never interrupted.
func TestInterruptStopsSoftly(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 20}\n")
	args := []string{"train", "small", "--run", "r", "--events", "-", "--set", "limits.concurrency=4"}
	c := start(t, dir, args...)
	until(t, c.out, func(line string) bool {
		return strings.Contains(line, `"event":"step_done"`) && strings.Contains(line, `"step":1`)
	})
	c.interrupt()
	_, errs := c.ends(130)
	for _, want := range []string{"stopping: calls in flight are finished and recorded", "stopped: ", "continue with: skillopt train small "} {
		if !strings.Contains(errs, want) {
			t.Errorf("standard error does not say %q:\n%s", want, errs)
		}
	}
	stopped := readSummary(t, filepath.Join(dir, "r"))
	if stopped.Status != "stopped" || stopped.Calls.Faults["cancelled"] > 0 || stopped.Calls.Total == 0 {
		t.Errorf("%+v: want a stopped run without cancelled calls", stopped)
	}
	_, errs = start(t, dir, args...).ends(0)
	if want := fmt.Sprintf("resuming (%d calls recorded)", stopped.Calls.Total); !strings.Contains(errs, want) {
		t.Errorf("want %s:\n%s", want, errs)
	}
	start(t, dir, "train", "small", "--run", "whole").ends(0)
	for _, name := range []string{"history.json", "best_skill.md"} {
		if diff := cmp.Diff(read(t, filepath.Join(dir, "whole", name)), read(t, filepath.Join(dir, "r", name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if whole, resumed := readSummary(t, filepath.Join(dir, "whole")), readSummary(t, filepath.Join(dir, "r")); whole.Calls.Total != resumed.Calls.Total {
		t.Errorf("%d calls with an interrupt, %d without", resumed.Calls.Total, whole.Calls.Total)
	}
}

// TestSecondInterruptStopsAtOnce: a server that never answers holds nobody.
func TestSecondInterruptStopsAtOnce(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	var answers atomic.Bool
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers.Load() {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",`+
			`"message":{"role":"assistant","content":"<answer>x</answer>"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	defer server.Close()
	args := []string{
		"eval", "small", "--run", "r", "--set", `models.target={provider: openai, model: m, api_key_env: "", base_url: "` + server.URL + `/v1"}`,
	}
	c := start(t, dir, args...)
	<-asked
	c.interrupt()
	until(t, c.stderr, func(line string) bool { return strings.HasPrefix(line, "stopping:") })
	c.interrupt()
	if _, errs := c.ends(130); !strings.Contains(errs, "the run was stopped before its end") {
		t.Errorf("standard error:\n%s", errs)
	}
	answers.Store(true)
	start(t, dir, args...).ends(0)
}

// TestNobodyReadsTheEvents: a reader that has seen enough does not end the run.
func TestNobodyReadsTheEvents(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c := exec.CommandContext(t.Context(), "skillopt", "train", "small", "--run", "r", "--events", "-")
	c.Dir, c.Stdout, c.Stderr = dir, w, &errs
	if err := errors.Join(r.Close(), c.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || strings.Count(errs.String(), "no more events are written") != 1 {
		t.Fatalf("%v\n%s", err, &errs)
	}
	if s := readSummary(t, filepath.Join(dir, "r")); s.Status != "completed" {
		t.Errorf("the run is %s", s.Status)
	}
}
