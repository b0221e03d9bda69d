package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// What a look takes at a run of 1,000,000 entries in about 1 GB: the first ones, which read
// all of it, and a later one, after 100 more entries.
func BenchmarkLookAt1000000Entries(b *testing.B) {
	dir, n := b.TempDir(), 1_000_000
	if testing.Short() {
		n = 10_000
	}
	if err := os.WriteFile(filepath.Join(dir, run.ManifestFile), []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"completed"}`), 0o600); err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	question := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 120) + `"}]}`)
	at := 0
	write := func(n int) {
		var batch []journal.Record
		for range n {
			batch = append(batch, journal.Record{
				Kind: journal.Call, Key: fmt.Sprintf("e1/s%d/mb0/rollout/task-%04d/sample0/attempt0/turn1", at/1000+1, at%1000), Input: journal.Input{Own: question},
				Result: []byte(`{"text":"an answer","finish":"stop","usage":{"input":237,"output":11}}`),
				Spend:  journal.Spend{Stage: "rollout", Role: "target", Model: "m", StartedAt: time.Unix(1_700_000_000+int64(at), 0), Took: time.Second},
			})
			if at++; len(batch) == 5000 {
				if err := j.Append(b.Context(), batch...); err != nil {
					b.Fatal(err)
				}
				batch = nil
			}
		}
		if err := j.Append(b.Context(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	write(n)
	defer func() { _ = j.Close() }()
	w := Watch(dir, time.Now)
	begun, longest := time.Now(), time.Duration(0)
	for more := true; more; {
		one := time.Now()
		p, err := w.Look(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		longest, more = max(longest, time.Since(one)), p.Unread > 0
	}
	all := time.Since(begun)
	for b.Loop() {
		b.StopTimer()
		write(100)
		b.StartTimer()
		if p, err := w.Look(b.Context()); err != nil || p.Calls != int64(at) {
			b.Fatalf("%d calls, %v", p.Calls, err)
		}
	}
	b.ReportMetric(all.Seconds(), "s-to-read-all")
	b.ReportMetric(longest.Seconds(), "s-longest-look")
}
