//go:build unix

package wiring_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// fields are a JSON object.
type fields = map[string]any

// vendors are servers of each protocol, and what a stream of theirs looks like.
var vendors = []struct {
	wire, provider, base, path string
	events                     []string
}{
	{"chat", "compatible", "/v1", "/v1/chat/completions", append(pieces(
		`{"id":"x","choices":[{"index":0,"delta":{"content":"Some words. "}}]}`),
		`{"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":90}}`, `[DONE]`)},
	{"responses", "openai", "/v1", "/v1/responses", append(pieces(
		`{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Some words. "}`),
		`{"type":"response.completed","response":{"id":"x","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Some words."}]}],"usage":{"input_tokens":900,"output_tokens":90}}}`)},
	{"messages", "anthropic", "", "/v1/messages", slices.Concat([]string{
		`{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","content":[],"usage":{"input_tokens":900,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	}, pieces(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Some words. "}}`), []string{
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":90}}`, `{"type":"message_stop"}`,
	})},
	{"gemini", "gemini", "", "/v1beta/models/m:streamGenerateContent?alt=sse", append(pieces(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Some words. "}]},"index":0}]}`),
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":90}}`)},
}

func pieces(event string) []string { return slices.Repeat([]string{event}, 30) }

// BenchmarkPassed measures one request whose bytes pass: an agent asks a gateway whose
// client is built as a run builds it, and the server behind it answers in 30 events at
// once. Next to it the agent asks that server itself; the differences are what the
// gateway and its client add, to the median and to the processor time of agent, server
// and gateway together, as a part of a core at 200 requests a second.
func BenchmarkPassed(b *testing.B) {
	for _, size := range []int{20 << 10, 100 << 10} {
		for i := range vendors {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, vendors[i].wire), func(b *testing.B) { benchPassed(b, i, size) })
		}
	}
}

func benchPassed(b *testing.B, vendor, size int) {
	v := vendors[vendor]
	var text strings.Builder
	for _, e := range v.events {
		if v.wire == "messages" {
			var named struct{ Type string }
			if err := json.Unmarshal([]byte(e), &named); err != nil {
				b.Fatal(err)
			}
			fmt.Fprintf(&text, "event: %s\n", named.Type)
		}
		fmt.Fprintf(&text, "data: %s\n\n", e)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what is missing shows in what arrives
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text.String())
	}))
	b.Cleanup(server.Close)
	m := config.Default().Models.Target
	m.Provider, m.Model, m.BaseURL, m.API = v.provider, "m", server.URL+v.base, map[string]string{"responses": "responses"}[v.wire]
	built, err := wiring.Client("target", m, func(name string) (string, bool) {
		return "the-key-of-the-vendor", !strings.Contains(strings.ToUpper(name), "PROXY")
	}, wiring.Clouds{})
	if err != nil {
		b.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
	seen := gateway.Exchange{}
	h, err := g.Open(gateway.Session{Client: built.Client, Model: "m", Observe: func(e gateway.Exchange) { seen = e }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.Close)
	passedAndDirect(b, [2]string{g.URL() + v.path, server.URL + v.path}, h.Key(), asked(b, v.wire, size))
	if !seen.Passed || seen.Response.Usage.Output != 90 {
		b.Fatalf("it did not pass: %+v", seen)
	}
}

// passedAndDirect asks both addresses in turn.
func passedAndDirect(b *testing.B, to [2]string, key string, body []byte) {
	var took [2][]time.Duration
	var busy [2]time.Duration
	for b.Loop() {
		for i := range to {
			started, before := time.Now(), processor(b)
			ask(b, to[i], key, body)
			busy[i] += processor(b) - before
			took[i] = append(took[i], time.Since(started))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	half := len(took[0]) / 2
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64((took[0][half] - took[1][half]).Microseconds()), "added-µs")
	b.ReportMetric(100*200*((busy[0]-busy[1])/time.Duration(b.N)).Seconds(), "added-%core")
}

// asked is a request of about so many bytes.
func asked(b *testing.B, of string, size int) []byte {
	var turns []fields
	for i := range size >> 10 {
		words := fmt.Sprintf("Turn %d. ", i) + strings.Repeat("Read the file \"a.go\" first.\n\tThen write it again.\n", 19)
		role := []string{"user", "assistant"}[i%2]
		switch of {
		case "gemini":
			turns = append(turns, fields{"role": []string{"user", "model"}[i%2], "parts": []fields{{"text": words}}})
		default:
			turns = append(turns, fields{"role": role, "content": words})
		}
	}
	v := fields{"model": "asked", "stream": true, "max_tokens": 100, "messages": turns}
	switch of {
	case "responses":
		v = fields{"model": "asked", "stream": true, "input": turns}
	case "gemini":
		v = fields{"contents": turns}
	}
	body, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func ask(b *testing.B, url, key string, body []byte) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || len(text) < 1000 {
		b.Fatalf("status %d: %.300s, %v", res.StatusCode, text, err)
	}
}

func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
