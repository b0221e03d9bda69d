//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/eventlog"
)

// loggedEvent is what a test reads of a line of the log.
type loggedEvent struct {
	N      int64
	Event  string
	Row    int64
	Key    string
	Status string
	Hard   *float64
	Soft   *float64
	line   string // without number and time
}

// readLog reads the log of a run, and fails unless its numbers go from 1 without a gap.
func readLog(t *testing.T, dir string) []loggedEvent {
	t.Helper()
	lines, err := eventlog.Read(dir).After(t.Context(), 0, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]loggedEvent, len(lines))
	for i, l := range lines {
		if err := json.Unmarshal(l.JSON, &out[i]); err != nil || out[i].N != int64(i)+1 {
			t.Fatalf("line %d: %s, %v", i, l.JSON, err)
		}
		var all map[string]any
		if err := json.Unmarshal(l.JSON, &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"n", "time", "row", "seconds"} {
			delete(all, name)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		out[i].line = string(text)
	}
	return out
}

// outcomesOf are the outcomes of a log, sorted. Each row and each key stands there once.
func outcomesOf(t *testing.T, log []loggedEvent) []string {
	t.Helper()
	rows, keys := map[int64]bool{}, map[string]bool{}
	var out []string
	for _, e := range log {
		if e.Event != "outcome" {
			continue
		}
		if e.Row > 0 && rows[e.Row] || keys[e.Key+e.Status] {
			t.Errorf("%s is there twice", e.line)
		}
		rows[e.Row], keys[e.Key+e.Status] = true, true
		out = append(out, e.line)
	}
	slices.Sort(out)
	return out
}

// decisionsOf are what a run has begun and decided, sorted: what is begun ahead has no fixed
// place.
func decisionsOf(log []loggedEvent) []string {
	var out []string
	for _, e := range log {
		if slices.Contains([]string{"step_done", "candidate_judged", "epoch_done", "test_done", "certificate", "noise_floor", "stopped", "stage_started", "gate_read"}, e.Event) {
			out = append(out, e.line)
		}
	}
	slices.Sort(out)
	return out
}

// TestKilledRunsLogEachEventOnce: wherever a trainer is killed and how often, the log of
// the run holds each outcome and each decision once, those that an uninterrupted run has,
// under numbers without a gap.
func TestKilledRunsLogEachEventOnce(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	appendTo(t, filepath.Join(dir, "small", "world.yaml"), "rates: {latency_ms: 5}\n")
	// Each has a configuration of its own: runs of one know who read the test split before.
	args := func(run string) []string {
		config := filepath.Join(filepath.Dir(run), "small")
		err := os.CopyFS(filepath.Join(dir, config), os.DirFS(filepath.Join(dir, "small")))
		if err == nil {
			appendTo(t, filepath.Join(dir, config, "config.yaml"), "run: {dir: "+filepath.Join(dir, filepath.Dir(run))+"}\n")
		} else if !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		return []string{"train", config, "--run", run, "--events", "-", "--set", "limits.concurrency=4", "--set", "train.stop.patience=0", "--set", "train.epochs=4"}
	}
	start(t, dir, args("whole/run")...).ends(0)
	whole := readLog(t, filepath.Join(dir, "whole", "run"))
	want, decided := outcomesOf(t, whole), decisionsOf(whole)
	if len(want) < 50 || len(decided) < 5 {
		t.Fatalf("%d outcomes and %d decisions are too few to show anything", len(want), len(decided))
	}
	for kills, every := range map[string][]int{"once": {25}, "in the baseline": {3}, "again and again": {5, 30, 41, 60, 80}} {
		t.Run(kills, func(t *testing.T) {
			t.Parallel()
			run := strings.ReplaceAll(kills, " ", "-") + "/run"
			for _, after := range every {
				c, n := start(t, dir, args(run)...), 0
				until(t, c.out, func(line string) bool {
					if strings.Contains(line, `"event":"outcome"`) {
						n++
					}
					return n >= after
				})
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = c.Wait() // it was killed
			}
			start(t, dir, args(run)...).ends(0)
			log := readLog(t, filepath.Join(dir, run))
			if diff := cmp.Diff(want, outcomesOf(t, log)); diff != "" {
				t.Errorf("outcomes: %s", diff)
			}
			if diff := cmp.Diff(decided, decisionsOf(log)); diff != "" {
				t.Errorf("decisions: %s", diff)
			}
			began := 0
			for _, e := range log {
				if e.Event == "run_started" {
					began++
				}
			}
			if last := log[len(log)-1]; began < 2 || began > len(every)+1 || last.Event != "run_done" {
				t.Errorf("%d sessions began, the last line is %s", began, last.line)
			}
			for _, name := range []string{"history.json", "best_skill.md"} {
				if diff := cmp.Diff(read(t, filepath.Join(dir, "whole", "run", name)), read(t, filepath.Join(dir, run, name))); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}

// TestEveryCommandLogsItsEvents: the log of any kind of run begins and ends, holds its
// outcomes.
func TestEveryCommandLogsItsEvents(t *testing.T) {
	t.Parallel()
	dir := smallFolder(t)
	for _, args := range [][]string{
		{"train", "small", "--set", "train.epochs=1"},
		{"eval", "small"},
		{"eval", "small", "--repeat", "2"},
		{"compare", "small/SKILL.md", "small/SKILL.md", "--config", "small"},
		{"ablate", "small/SKILL.md", "--config", "small"},
	} {
		runs := filepath.Join(t.TempDir(), "runs")
		c := start(t, dir, append(args, "--set", "run.dir="+runs)...)
		c.ends(0)
		found, err := filepath.Glob(filepath.Join(runs, "*", "manifest.json"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", args[0], found, err)
		}
		log := readLog(t, filepath.Dir(found[0]))
		if len(log) == 0 || log[0].Event != "run_started" || log[len(log)-1].Event != "run_done" || len(outcomesOf(t, log)) == 0 {
			t.Errorf("%s: %d lines, %v", args[0], len(log), fmt.Sprint(log[:min(1, len(log))], log[max(0, len(log)-1):]))
		}
	}
}
