package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// benchClient answers at once.
func benchClient() model.Client {
	return modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{
			Text: strings.Repeat("An answer. ", 30), Finish: model.FinishStop, Usage: trajectory.Usage{Input: 900, Output: 90, Cached: 100},
		}, nil
	})
}

// benchBody is a conversation of a coding agent: long texts, many line breaks.
func benchBody(b testing.TB, wire Wire, size int) []byte {
	long := strings.Repeat("Read the file \"a.go\" first.\n\tThen write it again.\n", size/52/4+1)
	turns := []object{
		{"role": "user", "content": long},
		{"role": "assistant", "content": long},
		{"role": "user", "content": long},
		{"role": "assistant", "content": "fine"},
		{"role": "user", "content": long},
	}
	v := object{"model": "m", "messages": turns, "max_tokens": 1000, "stream": true}
	switch wire {
	case Responses:
		v = object{"model": "m", "input": turns, "stream": true}
	case Gemini:
		var contents []object
		for _, t := range turns {
			role := "user"
			if t["role"] == "assistant" {
				role = "model"
			}
			contents = append(contents, object{"role": role, "parts": []object{{"text": t["content"]}}})
		}
		v = object{"contents": contents}
	}
	body, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// direct serves the same client without anything between: it takes the body and
// writes an answer of the same length.
func direct(b *testing.B) string {
	client := benchClient()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			b.Error(err)
		}
		resp, err := client.Generate(r.Context(), model.Request{})
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if _, err := io.WriteString(w, resp.Text); err != nil {
			b.Error(err)
		}
	}))
	b.Cleanup(srv.Close)
	return srv.URL
}

func send(b testing.TB, c *http.Client, url, key string, body []byte) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		b.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b.Fatalf("status %d", res.StatusCode)
	}
}

// BenchmarkRequest measures one request over HTTP, its p50 and, next to it, that
// of a server which does nothing: the difference is what the gateway adds.
func BenchmarkRequest(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
			b.Run(fmt.Sprintf("%s/%dKB", wire, size>>10), func(b *testing.B) { benchRequest(b, wire, size) })
		}
	}
}

func benchRequest(b *testing.B, wire Wire, size int) {
	g := testGateway(b, Options{})
	h := open(b, g, Session{Client: benchClient()})
	path, _ := question4(wire)
	body, plain, c := benchBody(b, wire, size), direct(b), agent(b)
	var with, without []time.Duration
	for b.Loop() {
		started := time.Now()
		send(b, c, g.URL()+path, h.Key(), body)
		middle := time.Now()
		send(b, c, plain, h.Key(), body)
		with = append(with, middle.Sub(started))
		without = append(without, time.Since(middle))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(p50(with).Microseconds()), "p50-µs")
	b.ReportMetric(float64((p50(with) - p50(without)).Microseconds()), "added-µs")
}

func p50(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func BenchmarkDecode(b *testing.B) {
	codecs := map[Wire]codec{Chat: chatCodec(), Responses: responsesCodec(), Messages: messagesCodec(), Gemini: geminiCodec()}
	for wire, c := range codecs {
		b.Run(string(wire)+"/100KB", func(b *testing.B) {
			body := benchBody(b, wire, 100<<10)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			room := make([]byte, len(body)+word)
			for b.Loop() {
				if _, err := c.decode(inbound{body: body, room: room, model: "m"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
