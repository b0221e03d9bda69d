package answers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/answers"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// What the look-up of 35,000 calls takes with 100 runs of 35,000 calls each in the folder:
// once where all are answered from one of the runs, once where none is. Making the runs takes
// a few minutes and 2 GB the first time; SKILLOPT_BENCH_DIR keeps them.
func BenchmarkLookUp(b *testing.B) {
	const runs, calls = 100, 35_000
	folder := os.Getenv("SKILLOPT_BENCH_DIR")
	if folder == "" {
		folder = b.TempDir()
	}
	began := time.Now()
	fill(b, folder, runs, calls)
	b.Logf("runs made in %s", time.Since(began).Round(time.Second))

	began = time.Now()
	for range 100 {
		open(b, folder)
		info, err := os.Stat(filepath.Join(folder, answers.File))
		if err == nil && time.Since(began) > time.Minute {
			b.Logf("indexed in %s, %d MB", time.Since(began).Round(time.Second), info.Size()>>20)
		}
		if indexed(b, folder) == runs {
			break
		}
	}
	b.Logf("indexed in %s", time.Since(began).Round(time.Millisecond))
	for _, hit := range []bool{true, false} {
		b.Run(fmt.Sprintf("hit=%t", hit), func(b *testing.B) {
			for b.Loop() {
				before := resident()
				began := time.Now()
				x := open(b, folder)
				b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-to-open")
				found := 0
				for i := range calls {
					in := question(42, i)
					if !hit {
						in = question(1000, i)
					}
					if _, ok := x.Find(b.Context(), answers.Question{Endpoint: "e", Role: model.Target, Model: "m", Input: in, Digest: in.Digest()}); ok {
						found++
					}
				}
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-in-all")
				b.ReportMetric(float64(resident()-before)/1e6, "MB-more")
				if err := x.Close(); err != nil {
					b.Fatal(err)
				}
				if want := map[bool]int{true: calls, false: 0}[hit]; found != want {
					b.Fatalf("%d found", found)
				}
			}
		})
	}
}

func open(b testing.TB, folder string) *answers.Index {
	x, err := answers.Open(b.Context(), folder, "self", time.Now)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = x.Close() })
	return x
}

// resident is what the process has in memory, in bytes.
func resident() int64 {
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func indexed(b testing.TB, folder string) int {
	x := open(b, folder)
	return x.Runs()
}

var skillText = journal.NewBlob(strings.Repeat("Write the total with its unit. ", 60))

func question(r, i int) journal.Input {
	return journal.Input{Shared: []journal.Blob{skillText}, Own: fmt.Appendf(nil, `{"model":"m","messages":[{"role":"system","shared":0},{"role":"user","content":"run %d task %d %s"}],"temperature":0,"seed":%d}`, r, i, strings.Repeat("word ", 20), i)}
}

// fill makes runs in a folder that has none.
func fill(b testing.TB, folder string, runs, calls int) {
	for r := range runs {
		dir := filepath.Join(folder, fmt.Sprintf("x-%03d", r))
		if _, err := os.Stat(filepath.Join(dir, run.ManifestFile)); err == nil {
			continue
		}
		made(b, dir, func(j *journal.Journal) {
			var batch []journal.Record
			for i := range calls {
				batch = append(batch, journal.Record{
					Kind: journal.Call, Key: fmt.Sprintf("e1/s%d/mb0/rollout/task-%04d/sample0/attempt0/turn1", i/100+1, i%100), Input: question(r, i),
					Result: []byte(`{"text":"an answer","finish":"stop","usage":{"input":237,"output":11},"model":"m-1"}`),
					Spend:  journal.Spend{Stage: "rollout", Role: model.Target, Model: "m", StartedAt: time.Unix(int64(r), 0)},
				})
				if len(batch) == 5000 || i == calls-1 {
					if err := j.Append(b.Context(), batch...); err != nil {
						b.Fatal(err)
					}
					batch = nil
				}
			}
		})
	}
}

// made makes a run as the program does.
func made(b testing.TB, dir string, record func(j *journal.Journal)) {
	madeAs(b, result.Train, dir, record)
}

func madeAs(b testing.TB, kind result.Kind, dir string, record func(j *journal.Journal)) {
	r, err := run.Open(b.Context(), run.OpenOptions{Dir: dir, Name: filepath.Base(dir), Kind: kind, Version: "v", Identity: map[string]string{"k": "v"}, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	if err := answers.Announce(b.Context(), r, map[string]string{model.Target: "e"}); err != nil {
		b.Fatal(err)
	}
	record(r.Journal)
	if err := r.SetStatus(result.Completed); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}
