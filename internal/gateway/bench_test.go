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

// The kinds of load. In a growing one eight agents take turns, in one session;
// the conversation of each grows by a fiftieth of the size with every request,
// from three quarters of the size to five, and then a new one begins. In a fresh
// one nothing that was said has been said before: no agent does that.
const (
	growing = "growing"
	fresh   = "fresh"
)

const (
	talkers  = 8
	requests = 25 // of one conversation
)

// asking is the body of the i-th request of a load. A tenth of it are tools, the
// rest are turns of a kilobyte; of a body that is small they are shorter.
func asking(t testing.TB, wire Wire, kind string, size, i int) []byte {
	length := min(size/5, 1<<10)
	name, turns := fmt.Sprint("new ", i), size*9/10/length
	if kind == growing {
		step := i / talkers
		name = fmt.Sprintf("agent %d, talk %d", i%talkers, step/requests)
		turns = turns*(2*requests+requests+2*(step%requests))/(4*requests) | 1
	}
	said := make([]string, turns)
	for k := range said {
		line := fmt.Sprintf("%s, turn %d: ", name, k)
		said[k] = line + strings.Repeat("Read the file \"a.go\" first.\n\tThen write it again.\n", length/57)
	}
	return conversed(t, wire, said, size/10)
}

// fields are a JSON object.
type fields = map[string]any

// conversed is a request of a coding agent, whose tools take about so many bytes.
func conversed(t testing.TB, wire Wire, said []string, tools int) []byte {
	var turns []fields
	for k, s := range said {
		role := "user"
		if k%2 == 1 {
			role = "assistant"
			if wire == Gemini {
				role = "model"
			}
		}
		turn := fields{"role": role, "content": s}
		if wire == Gemini {
			turn = fields{"role": role, "parts": []fields{{"text": s}}}
		}
		turns = append(turns, turn)
	}
	v := fields{"model": "m", "messages": turns, "max_tokens": 1000, "stream": true, "tools": benchTools(wire, tools/1000)}
	switch wire {
	case Responses:
		v = fields{"model": "m", "input": turns, "stream": true, "tools": benchTools(wire, tools/1000)}
	case Gemini:
		v = fields{"contents": turns, "tools": []fields{{"functionDeclarations": benchTools(wire, tools/1000)}}}
	}
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// benchTools are n tools of about a kilobyte.
func benchTools(wire Wire, n int) []fields {
	properties := fields{}
	for k := range 6 {
		properties[fmt.Sprint("field_", k)] = fields{"type": "string", "description": strings.Repeat("What it is for. ", 5)}
	}
	schema := fields{"type": "object", "properties": properties, "required": []string{"field_0"}}
	all := make([]fields, n)
	for k := range all {
		tool := fields{"name": fmt.Sprint("tool_", k), "description": strings.Repeat("It reads a file. ", 10)}
		switch wire {
		case Messages:
			tool["input_schema"] = schema
		case Gemini:
			tool["parametersJsonSchema"] = schema
		default:
			tool["parameters"] = schema
		}
		if wire == Chat {
			tool = fields{"type": "function", "function": tool}
		}
		if wire == Responses {
			tool["type"] = "function"
		}
		all[k] = tool
	}
	return all
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
	for _, kind := range []string{growing, fresh} {
		for _, size := range []int{1 << 10, 20 << 10, 100 << 10} {
			for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
				b.Run(fmt.Sprintf("%s/%dKB/%s", kind, size>>10, wire), func(b *testing.B) { benchRequest(b, wire, kind, size) })
			}
		}
	}
}

func benchRequest(b *testing.B, wire Wire, kind string, size int) {
	g := testGateway(b, Options{})
	h := open(b, g, Session{Client: benchClient()})
	path, _ := requestTo(wire)
	plain, c := direct(b), agent(b)
	var with, without []time.Duration
	for i := 0; b.Loop(); i++ {
		body := asking(b, wire, kind, size, i)
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

// BenchmarkDecode reads one request.
func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{20 << 10, 100 << 10} {
		for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, wire), func(b *testing.B) { benchDecode(b, wire, size) })
		}
	}
}

func benchDecode(b *testing.B, wire Wire, size int) {
	c, body := codecs()[wire], asking(b, wire, growing, size, 0)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.decode(inbound{body: body, model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}

func codecs() map[Wire]codec {
	return map[Wire]codec{Chat: chatCodec(), Responses: responsesCodec(), Messages: messagesCodec(), Gemini: geminiCodec()}
}
