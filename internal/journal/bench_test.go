package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// BenchmarkAppend measures durable entries of about 1 KB per second, with as
// many callers as a run has in flight.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 64, 400} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "run.db"), journal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			shared := journal.NewBlob(string(bytes.Repeat([]byte("skill "), 1000)))
			own := bytes.Repeat([]byte("q"), 600)
			result := bytes.Repeat([]byte("a"), 300)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ReportAllocs()
			for range callers {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := j.Append(context.Background(), call(n, shared, own, result)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.StopTimer()
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func call(n int64, shared journal.Blob, own, result []byte) journal.Record {
	return journal.Record{
		Key:    fmt.Sprintf("e1/s3/rollout/item%d/sample0/attempt0/turn0", n),
		Kind:   journal.Call,
		Input:  journal.Input{Shared: []journal.Blob{shared}, Own: own},
		Result: result,
		Spend: journal.Spend{
			Stage: "rollout", Role: "target", Model: "some-model",
			Usage:     journal.Usage{Input: 800, Output: 30},
			StartedAt: time.Unix(1700000000, 0), Took: 20 * time.Millisecond,
		},
	}
}

// BenchmarkOpen measures what taking up a finished run of 5,000 calls costs,
// after a clean end and after a crash.
func BenchmarkOpen(b *testing.B) {
	for _, clean := range []bool{true, false} {
		b.Run(fmt.Sprintf("clean=%v", clean), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "run.db")
			j, err := journal.Open(b.Context(), path, journal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			shared := journal.NewBlob(string(bytes.Repeat([]byte("skill "), 1000)))
			for first := int64(0); first < 5000; first += 500 {
				var records []journal.Record
				for n := range int64(500) {
					records = append(records, call(first+n, shared, make([]byte, 1500), make([]byte, 500)))
				}
				if err := j.Append(b.Context(), records...); err != nil {
					b.Fatal(err)
				}
			}
			if clean {
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				again, err := journal.Open(b.Context(), path, journal.Options{ReadOnly: true})
				if err != nil {
					b.Fatal(err)
				}
				if err := again.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
