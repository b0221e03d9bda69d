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
		run.ManifestFile: []byte(`{"format":1,"run_id":"r","name":"n","status":"completed"}`), run.HistoryFile: data,
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
