package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// What one task of a run with 100,000 calls takes to find, in a file of about 110 MB. The run
// has no index by task: all entries are looked through.
func BenchmarkTaskOf100000Calls(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, run.ManifestFile), []byte(`{"format":1,"run_id":"r","name":"n","status":"completed"}`), 0o600); err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	question := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 120) + `"}]}`)
	var batch []journal.Record
	for i := range 100_000 {
		batch = append(batch, journal.Record{
			Kind: journal.Call, Key: fmt.Sprintf("e1/s%d/mb0/rollout/task-%04d/sample0/attempt0/turn1", i/1000+1, i%1000),
			Input: journal.Input{Own: question}, Result: []byte(`{"text":"an answer","finish":"stop","usage":{"input":237,"output":11}}`), Spend: journal.Spend{Stage: "rollout", Role: "target", Model: "m"},
		})
		if len(batch) == 5000 {
			if err := j.Append(b.Context(), batch...); err != nil {
				b.Fatal(err)
			}
			batch = nil
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for b.Loop() {
		found, err := r.Task(b.Context(), "task-0500")
		if err != nil || len(found) != 100 {
			b.Fatalf("%d evaluations, %v", len(found), err)
		}
	}
}
