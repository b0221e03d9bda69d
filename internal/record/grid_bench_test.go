package record_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/testing/recordtest"
)

// What the tasks of a run of 300 steps, 1,000 candidates and 100,000 outcomes take to read, and
// how much memory is live behind that.
func BenchmarkGridOf100000Outcomes(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	if err := recordtest.Write(b.Context(), dir, recordtest.Large()); err != nil {
		b.Fatal(err)
	}
	cells := 0
	for b.Loop() {
		r, err := record.Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		g, err := r.Grid(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		cells = 0
		for _, c := range g.Columns {
			cells += c.N
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(cells), "cells")
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "MB-heap-from-system")
}
