package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What one task of a run with 100,000 outcomes takes to find: 100 steps of 1,000 tasks each,
// with a file of outcomes a step. Of chats each has one call, of episodes ten calls besides.
func BenchmarkTaskOf100000Outcomes(b *testing.B) {
	for _, inner := range []int{0, 10} {
		b.Run(fmt.Sprintf("calls inside=%d", inner), func(b *testing.B) {
			dir := b.TempDir()
			writeLarge(b, dir, inner)
			r, err := Open(b.Context(), dir)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			for b.Loop() {
				found, err := r.Task(b.Context(), "task-0500")
				if err != nil || len(found) != 100 || found[99].Outcome == nil {
					b.Fatalf("%d evaluations, %v", len(found), err)
				}
			}
		})
	}
}

// What it takes in one file of 100 MB, and what a task takes to find that fails there, for
// which the whole list is decoded.
func BenchmarkTaskOfOneFile(b *testing.B) {
	dir := b.TempDir()
	writeEvaluation(b, dir)
	r, err := Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b.Run("task", func(b *testing.B) {
		for b.Loop() {
			found, err := r.Task(b.Context(), "task-050000")
			if err != nil || len(found) != 1 || found[0].Outcome == nil || found[0].Key == "" {
				b.Fatalf("%+v, %v", found, err)
			}
		}
	})
	b.Run("sheets", func(b *testing.B) {
		for b.Loop() {
			if s, err := r.Sheets(); err != nil || len(s) != 1 {
				b.Fatalf("%+v, %v", s, err)
			}
		}
	})
	b.Run("failures", func(b *testing.B) {
		for b.Loop() {
			s, err := r.Sheets()
			if err != nil || len(s) != 1 {
				b.Fatalf("%+v, %v", s, err)
			}
			if all, err := r.Outcomes(s[0]); err != nil || len(all) != 100_000 {
				b.Fatalf("%d, %v", len(all), err)
			}
		}
	})
}

// writeEvaluation is a run of eval with 100,000 tasks.
func writeEvaluation(b *testing.B, dir string) {
	b.Helper()
	j, err := journal.Open(b.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	question := strings.Repeat("a \"word\"\n", 60)
	var batch []journal.Record
	var all []trajectory.Outcome
	for i := range 100_000 {
		o := trajectory.Outcome{
			ID: fmt.Sprintf("task-%06d", i), Type: "total", Status: score.OK, Hard: float64(i % 2), Soft: 1, Answer: "an answer", Question: question, Reference: "the \"reference\"",
			Checks:     []trajectory.CheckVerdict{{Check: "exact", Verdict: trajectory.Passed, Weight: 1, Saw: "an answer", Why: "equal"}},
			Trajectory: []trajectory.Turn{{Role: "assistant", Content: "an answer"}}, Usage: trajectory.Usage{Input: 237, Output: 11}, Served: "model",
		}
		all = append(all, o)
		batch = append(batch, journal.Record{
			Kind: journal.Call, Key: "eval/selection/" + o.ID + "/sample0/attempt0/turn1", Input: journal.Input{Own: []byte(`{"model":"m","messages":[]}`)},
			Result: []byte(`{"text":"an answer","finish":"stop","usage":{"input":237,"output":11}}`), Spend: journal.Spend{Stage: "rollout", Role: "target", Model: "m"},
		})
		if len(batch) == 1000 {
			if err := j.Append(b.Context(), batch...); err != nil {
				b.Fatal(err)
			}
			batch = nil
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	data, err := trajectory.Named{"selection": all}.Lines()
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{run.ManifestFile: []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"completed"}`), "outcomes.json": data} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("outcomes.json has %d MB", len(data)>>20)
}

func writeLarge(b *testing.B, dir string, inner int) {
	b.Helper()
	j, err := journal.Open(b.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var history result.History
	history.Steps = append(history.Steps, result.StepRecord{})
	for step := 1; step <= 100; step++ {
		history.Steps = append(history.Steps, result.StepRecord{Step: step, Epoch: 1})
		writeStep(b, j, dir, step, inner)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	data, err := json.Marshal(history)
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{
		run.ManifestFile: []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"completed"}`), run.HistoryFile: data,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

func writeStep(b *testing.B, j *journal.Journal, dir string, step, inner int) {
	b.Helper()
	question := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 120) + `"}]}`)
	spend := journal.Spend{Stage: "rollout", Role: "target", Model: "m"}
	var batch, calls []journal.Record
	var lines bytes.Buffer
	for i := range 1000 {
		id := fmt.Sprintf("task-%04d", i)
		rec := journal.Record{
			Kind: journal.Call, Key: fmt.Sprintf("e1/s%d/rollout/%s/sample0/attempt0/turn1", step, id),
			Input: journal.Input{Own: question}, Result: []byte(`{"text":"an answer","finish":"stop","usage":{"input":237,"output":11}}`), Spend: spend,
		}
		if inner > 0 {
			rec.Kind, rec.Key = journal.Episode, strings.TrimSuffix(rec.Key, "/attempt0/turn1")
		}
		for n := range inner {
			calls = append(calls, journal.Record{Kind: journal.Inner, Key: rec.Key, Ordinal: n, Spend: spend})
		}
		batch = append(batch, rec)
		o, err := json.Marshal(trajectory.Outcome{ID: id, Status: score.OK, Hard: 1, Soft: 1, Answer: "an answer", Question: strings.Repeat("word ", 80)})
		if err != nil {
			b.Fatal(err)
		}
		lines.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		lines.Write(o)
	}
	lines.WriteString("\n]\n")
	if err := j.Charge(b.Context(), calls...); err != nil {
		b.Fatal(err)
	}
	if err := j.Append(b.Context(), batch...); err != nil {
		b.Fatal(err)
	}
	at := filepath.Join(dir, fmt.Sprintf("steps/step_%04d", step))
	if err := os.MkdirAll(at, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "rollout.json"), lines.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}
