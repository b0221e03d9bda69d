package server

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/recordtest"
)

// BenchmarkLargeRun asks for each view of a run of 1,000 candidates, 100,000 outcomes and 300
// steps.
func BenchmarkLargeRun(b *testing.B) {
	dir := b.TempDir()
	size := recordtest.Large()
	size.Record = true
	if err := recordtest.Write(b.Context(), filepath.Join(dir, "large"), size); err != nil {
		b.Fatal(err)
	}
	s, err := New(Options{Folders: []string{dir}, Addr: "127.0.0.1:1", Token: testToken, Key: []byte("key"), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	id := "/runs/" + s.folders[0].id("large")
	for name, path := range map[string]string{
		"list": "/runs", "run": id, "progress": id + "/progress", "grid": id + "/grid", "versions": id + "/versions", "blame": id + "/blame", "candidates": id + "/candidates",
		"failures": id + "/failures", "stages": id + "/calls", "calls": id + "/calls?limit=100", "spend": id + "/spend", "step": id + "/steps/150", "skill": id + "/skill",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, prefix+path, nil)
				r.Host = "127.0.0.1:1"
				r.Header.Set("Authorization", "Bearer "+testToken)
				if s.ServeHTTP(w, r); w.Code == http.StatusTooManyRequests {
					continue
				} else if w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
				b.ReportMetric(float64(w.Body.Len()), "bytes")
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB-sys")
		})
	}
}
