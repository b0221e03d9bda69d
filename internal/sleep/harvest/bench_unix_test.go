//go:build unix

package harvest_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// split reads every file below dir line by line, and nothing else.
func split(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		lines := bufio.NewScanner(f)
		lines.Buffer(make([]byte, 64<<10), 128<<20)
		for lines.Scan() {
			bytes += int64(len(lines.Bytes())) + 1
		}
		return lines.Err()
	})
	return bytes, err
}

// processor is the time that the process has had of processors.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHarvest prints how long a harvest takes beside splitting the same bytes into lines:
// 1 GB in 2,000 files with SKILLOPT_LONG=1, else 20 MB in 40. In one run the two alternate. On a
// machine that others use, the ratio of processor time says more than that of the clock.
//
//	SKILLOPT_LONG=1 go test ./internal/sleep/harvest -run x -bench Harvest -benchtime 1x
func BenchmarkHarvest(b *testing.B) {
	files, size := 40, int64(20<<20)
	if os.Getenv("SKILLOPT_LONG") != "" {
		files, size = 2000, 1<<30
	}
	home := b.TempDir()
	turns, err := transcripttest.Generate(home, files, size, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "one worker", 2: "two workers"}[workers], func(b *testing.B) {
			for b.Loop() {
				begun, spent := time.Now(), processor()
				bytes, err := split(home)
				if err != nil {
					b.Fatal(err)
				}
				plain, plainCPU := time.Since(begun), processor()-spent
				spent = processor()
				state := b.TempDir()
				first, took, peak := timed(b, home, state, workers)
				spent = processor() - spent
				again, idle, _ := timed(b, home, state, workers)
				if first.Turns != turns || again.Turns != 0 || again.Kept.Turns != turns {
					b.Fatalf("%d turns read, then %d, %d kept; there are %d", first.Turns, again.Turns, again.Kept.Turns, turns)
				}
				b.ReportMetric(took.Seconds()/plain.Seconds(), "x-splitting")
				b.ReportMetric(spent.Seconds()/plainCPU.Seconds(), "x-splitting-cpu")
				b.ReportMetric(spent.Seconds(), "s-cpu")
				b.ReportMetric(float64(bytes)/plain.Seconds()/1e6, "MB/s-splitting")
				b.ReportMetric(float64(bytes)/took.Seconds()/1e6, "MB/s")
				b.ReportMetric(idle.Seconds(), "s-without-news")
				b.ReportMetric(float64(peak)/1e6, "MB-heap")
			}
		})
	}
}

// timed harvests, and tells the highest heap that was seen.
func timed(b *testing.B, home, state string, workers int) (harvest.Report, time.Duration, uint64) {
	b.Helper()
	kept, err := bank.Open(b.Context(), state)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	peak := make(chan uint64)
	go func() {
		var high uint64
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				high = max(high, m.HeapSys-m.HeapReleased)
			case <-ctx.Done():
				tick.Stop()
				peak <- high
				return
			}
		}
	}()
	begun := time.Now()
	report, err := harvest.Run(b.Context(), kept, harvest.Terms{Projects: harvest.NewProjects("/srv")}, inputs(home, workers))
	took := time.Since(begun)
	cancel()
	high := <-peak
	if err := errors.Join(err, kept.Close()); err != nil {
		b.Fatal(err)
	}
	return report, took, high
}

func inputs(home string, workers int) harvest.Inputs {
	return harvest.Inputs{
		Sources: []transcript.Source{transcript.Claude{}}, Places: transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }},
		Clean: redact.New(), Now: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), Workers: workers,
	}
}
