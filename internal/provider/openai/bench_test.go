package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// BenchmarkGenerate measures whole calls from 64 goroutines to a server in the
// same process that reads the request and gives a canned reply.
func BenchmarkGenerate(b *testing.B) {
	reply := writeWire(modeltest.Reply{Text: "The registry entry gives it.\n<answer>code amber1234</answer>", Finish: model.FinishStop, Input: 800, Output: 15})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	}))
	b.Cleanup(srv.Close)
	for name, size := range map[string]int{"skill1KB": 1 << 10, "skill8KB": 8 << 10} {
		b.Run(name, func(b *testing.B) { benchCalls(b, srv.URL, size) })
	}
}

func benchCalls(b *testing.B, url string, size int) {
	const goroutines = 64
	c := newClient(b, Options{BaseURL: url + "/v1", APIKey: "sk-1", Headers: map[string]string{"X-Stage": "{{stage}}"}})
	req := benchRequest(size)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := c.Generate(b.Context(), req); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func benchRequest(size int) model.Request {
	zero, seed := 0.0, int64(7)
	line := "- RULE-K03: when an item is of \"kind\" K03, read its code word from the registry line and answer with it.\n"
	return model.Request{
		Model: "fake-target",
		Messages: []model.Message{
			{Role: model.System, Content: strings.Repeat(line, size/len(line)+1)},
			{Role: model.User, Content: strings.Repeat("Item x17 of kind K03. What is its code word? ", 8)},
		},
		Sampling: model.Sampling{Temperature: &zero, Seed: &seed},
		Tags:     model.Tags{Stage: model.StageRollout, Role: model.Target, Run: "codewords-1"},
	}
}

// BenchmarkEncode measures the request body alone.
func BenchmarkEncode(b *testing.B) {
	c := newClient(b, Options{})
	req := benchRequest(8 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.bodies.chat(&req); err != nil {
			b.Fatal(err)
		}
	}
}
