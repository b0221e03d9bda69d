package eventlog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAdd is what an outcome costs the run that tells of it.
func BenchmarkAdd(b *testing.B) {
	w := open(b, b.TempDir(), Options{})
	o := outcomeOf(1, "task-0001")
	b.ReportAllocs()
	for i := range b.N {
		o.Row = int64(i + 1)
		w.Add(o, start)
	}
	b.StopTimer()
	w.Close()
	if w.failed != nil {
		b.Fatal(w.failed)
	}
}

// BenchmarkAddAgain is what an outcome costs a resumed run that has it in its log.
func BenchmarkAddAgain(b *testing.B) {
	w := open(b, b.TempDir(), Options{})
	defer w.Close()
	o := outcomeOf(1, "task-0001")
	w.Add(o, start)
	b.ReportAllocs()
	for b.Loop() {
		w.Add(o, start)
	}
}

// longLog is a log of so many outcomes.
func longLog(b *testing.B, lines int64) string {
	b.Helper()
	dir := b.TempDir()
	w := open(b, dir, Options{})
	for i := range lines {
		w.Add(outcomeOf(i+1, fmt.Sprintf("task-%06d", i)), start)
		if i%100_000 == 0 { // as fast as a disk takes it
			for w.behind() {
				time.Sleep(time.Millisecond)
			}
		}
	}
	w.Close()
	if w.failed != nil {
		b.Fatal(w.failed)
	}
	return dir
}

func (w *Writer) behind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) > 1<<20
}

// BenchmarkAfter reads a log of a million lines.
func BenchmarkAfter(b *testing.B) {
	const lines = 1_000_000
	dir := longLog(b, lines)
	for name, next := range map[string]func(n int64) int64{
		"somewhere": func(n int64) int64 { return (n*7_919_317 + 13) % (lines - 100) },
		"following": func(n int64) int64 { return (n + 100) % (lines - 100) },
		"the end":   func(int64) int64 { return lines },
	} {
		b.Run(name, func(b *testing.B) {
			r, n := Read(dir), int64(0)
			b.ReportAllocs()
			for b.Loop() {
				n = next(n)
				got, err := r.After(b.Context(), n, 100)
				if err != nil || n < lines && len(got) != 100 {
					b.Fatalf("%d lines after %d, %v", len(got), n, err)
				}
			}
		})
	}
	b.Run("last", func(b *testing.B) {
		r := Read(dir)
		for b.Loop() {
			if n, err := r.Last(b.Context()); n != lines || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}

// BenchmarkOpen opens a log of a million lines for writing, as a resumed run does.
func BenchmarkOpen(b *testing.B) {
	dir := longLog(b, 1_000_000)
	for _, name := range []string{"beside its side file", "without"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if name == "without" {
					if err := os.Remove(filepath.Join(dir, Folder, seenFile)); err != nil && !os.IsNotExist(err) {
						b.Fatal(err)
					}
				}
				open(b, dir, Options{}).Close()
			}
		})
	}
}
