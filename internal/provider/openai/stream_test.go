package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// streamed answers with a stream.
func streamed(body string) modeltest.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		res, err := modeltest.Canned(200, body)(r)
		res.Header.Set("Content-Type", "text/event-stream; charset=utf-8")
		return res, err
	}
}

// TestOddStreams reads streams as servers other than OpenAI write them.
func TestOddStreams(t *testing.T) {
	t.Parallel()
	delta := func(s string) string { return `data: {"choices":[{"index":0,"delta":{` + s + `}}]}` + "\n\n" }
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done := "data: [DONE]\n\n"
	usage := `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	counted := trajectory.Usage{Input: 3, Output: 2}
	callOf := func(id, name, args string) model.Part {
		return model.Part{Call: &model.ToolCall{ID: id, Name: name, Arguments: []byte(args)}}
	}
	tests := []struct {
		name, body string
		want       model.Response
		code       model.Code
	}{
		{name: "no end mark", body: delta(`"content":"x"`) + end + usage, want: model.Response{Text: "x", Finish: model.FinishStop, Usage: counted}},
		{name: "broken off before a word", body: delta(`"role":"assistant"`) + done, code: model.Truncated},
		{name: "broken off after a word", body: delta(`"content":"x"`) + done, code: model.Truncated},
		{name: "broken off with counts", body: delta(`"content":"x"`) + usage + done, code: model.Truncated},
		{name: "no blank line at the end", body: delta(`"content":"x"`) + end + usage + "data: [DONE]\n", want: model.Response{Text: "x", Finish: model.FinishStop, Usage: counted}},
		{name: "windows", body: strings.ReplaceAll(delta(`"content":"x"`)+end+done, "\n", "\r\n"), want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "no space after data", body: strings.ReplaceAll(delta(`"content":"x"`)+end+done, "data: ", "data:"), want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "usage in every piece", body: `data: {"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}` + "\n\n" + end + usage + done, want: model.Response{Text: "x", Finish: model.FinishStop, Usage: counted}},
		{name: "odd usage", body: delta(`"content":"x"`) + end + `data: {"choices":[],"usage":[]}` + "\n\n" + done, want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "odd names", body: `data: {"model":7,"system_fingerprint":{},"choices":[{"delta":{"content":"x"}}]}` + "\n\n" + end + done, want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "another choice", body: `data: {"choices":[{"index":1,"delta":{"content":"y"}}]}` + "\n\n" + delta(`"content":"x"`) + end + done, want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "filters of azure first", body: `data: {"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]}` + "\n\n" + delta(`"content":"x"`) + end + done, want: model.Response{Text: "x", Finish: model.FinishStop}},
		{name: "prompt filtered", body: `data: {"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":true}}}]}` + "\n\n" + done, code: model.ContentFilter},
		{
			name: "reasoning", body: delta(`"reasoning":"a","content":""`) + delta(`"reasoning":"b","reasoning_content":null`) + delta(`"content":"x"`) + end + done,
			want: model.Response{Text: "x", Finish: model.FinishStop, Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "openai", Text: "ab"}}, {Text: "x"}}},
		},
		{
			name: "both names of reasoning", body: delta(`"reasoning":"a","reasoning_content":"a"`) + delta(`"content":"x"`) + end + done,
			want: model.Response{Text: "x", Finish: model.FinishStop, Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "openai", Text: "a"}}, {Text: "x"}}},
		},
		{
			name: "content in parts", body: delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]`) + delta(`"content":[{"type":"text","text":"x"}]`) + delta(`"content":"y"`) + end + done,
			want: model.Response{Text: "xy", Finish: model.FinishStop, Parts: []model.Part{{Reasoning: &model.Reasoning{Provider: "openai", Text: "a"}}, {Text: "xy"}}},
		},
		{
			name: "calls numbered 0", body: delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]`) + delta(`"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]`) + end + done,
			want: model.Response{Finish: model.FinishTools, Parts: []model.Part{callOf("a", "f", `{"x":1}`), callOf("b", "f", `{}`)}},
		},
		{
			name: "id repeated", body: delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`) + delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]`) + end + done,
			want: model.Response{Finish: model.FinishTools, Parts: []model.Part{callOf("a", "f", `{"x":1}`)}},
		},
		{
			name: "calls mixed", body: delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g"}}]`) + delta(`"tool_calls":[{"index":1,"function":{"arguments":"{\"y\":2}"}}]`) + delta(`"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`) + end + done,
			want: model.Response{Finish: model.FinishTools, Parts: []model.Part{callOf("a", "f", `{}`), callOf("b", "g", `{"y":2}`)}},
		},
		{
			name: "whole call, no number, no id, an object", body: delta(`"tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]`) + end + done,
			want: model.Response{Finish: model.FinishTools, Parts: []model.Part{callOf("made_up_1", "f", `{"x":1}`)}},
		},
		{name: "a call without a name", body: delta(`"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]`) + end + done, code: model.Malformed},
		{name: "content is a number", body: delta(`"content":5`) + end + done, code: model.Malformed},
		{name: "nothing but the end", body: done, code: model.Malformed},
		{name: "a web page", body: "<html>\n\n</html>", code: model.Truncated},
		{name: "breakdown", body: delta(`"content":"x"`) + `data: {"choices":[{"delta":{},"finish_reason":"error","error":{"code":502,"message":"died"}}]}` + "\n\n" + done, code: model.Server},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newClient(t, Options{Stream: true, Transport: streamed(tt.body)}).Generate(t.Context(), hello())
			if code := model.CodeOf(err); code != tt.code || (err != nil) != (code != "") {
				t.Fatalf("error %v, want %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOddResponses(t *testing.T) {
	t.Parallel()
	message := `{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`
	tests := []struct {
		name, body string
		stream     bool
		want       model.Response
		code       model.Code
		status     int
	}{
		{name: "no status", body: `{"output":[` + message + `]}`, want: model.Response{Text: "ab", Finish: model.FinishStop}},
		{name: "odd usage and model", body: `{"model":3,"output":[` + message + `],"usage":{"input_tokens":"x"}}`, want: model.Response{Text: "ab", Finish: model.FinishStop}},
		{name: "items of other kinds", body: `{"output":[{"type":"web_search_call","id":"x"},` + message + `]}`, want: model.Response{Text: "ab", Finish: model.FinishStop}},
		{name: "nothing said", body: `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, want: model.Response{Finish: model.FinishLength}},
		{name: "refusal beside text", body: `{"output":[{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]}]}`, want: model.Response{Text: "a", Finish: model.FinishRefusal}},
		{name: "running", body: `{"status":"in_progress","output":[]}`, code: model.Malformed, status: 200},
		{name: "failed", body: `{"status":"failed","output":[],"error":{"code":"server_error","message":"x"}}`, code: model.Server, status: 200},
		{name: "failed without a reason", body: `{"status":"failed","output":[],"error":null}`, code: model.Malformed, status: 200},
		{name: "output is an object", body: `{"output":{}}`, code: model.Malformed, status: 200},
		{name: "an item is a number", body: `{"output":[1]}`, code: model.Malformed, status: 200},
		{
			name: "thoughts of an open model", body: `{"output":[{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},` + message + `]}`,
			want: model.Response{Text: "ab", Finish: model.FinishStop, Parts: []model.Part{
				{Reasoning: &model.Reasoning{Provider: "openai", Text: "hm", Opaque: []byte(`{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`)}},
				{Text: "ab"},
			}},
		},
		{
			name: "last event without output", stream: true,
			body: `data: {"type":"response.output_item.done","item":` + message + "}\n\n" + `data: {"type":"response.completed","response":{"status":"completed","output":[]}}` + "\n\n",
			want: model.Response{Text: "ab", Finish: model.FinishStop},
		},
		{name: "last event without a response", stream: true, body: `data: {"type":"response.completed"}` + "\n\n", code: model.Malformed, status: 200},
		{name: "error of a proxy", stream: true, body: `data: {"error":{"code":503,"message":"x"}}` + "\n\n", code: model.Overloaded, status: 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := Options{API: APIResponses, Stream: tt.stream, Transport: modeltest.Canned(200, tt.body)}
			if tt.stream {
				o.Transport = streamed(tt.body)
			}
			got, err := newClient(t, o).Generate(t.Context(), hello())
			if code := model.CodeOf(err); code != tt.code || (err != nil) != (code != "") {
				t.Fatalf("error %v, want %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStreamIgnored: a server that has no streams answers all the same.
func TestStreamIgnored(t *testing.T) {
	t.Parallel()
	for _, api := range []string{APIChat, APIResponses} {
		s := &script{answer: func(path, _ string) (int, string) { return both(path) }}
		if res, err := newClient(t, Options{API: api, Stream: true, Transport: s}).Generate(t.Context(), hello()); err != nil || res.Text != "hi" {
			t.Errorf("%s: got %+v, %v", api, res, err)
		}
	}
}

// TestMadeUpIDs: a conversation has no id twice, also where the server has none.
func TestMadeUpIDs(t *testing.T) {
	t.Parallel()
	body := `{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":""}}]},"finish_reason":"stop"}]}`
	c := newClient(t, Options{Transport: modeltest.Canned(200, body)})
	req := hello()
	seen := map[string]bool{}
	for range 3 {
		res, err := c.Generate(t.Context(), req)
		if err != nil || len(res.Calls()) != 2 || res.Finish != model.FinishTools {
			t.Fatalf("got %+v, %v", res, err)
		}
		for _, call := range res.Calls() {
			if seen[call.ID] {
				t.Errorf("the id %s is there twice", call.ID)
			}
			seen[call.ID] = true
		}
		req.Messages = append(req.Messages, res.Message())
	}
}

// TestStreamsShareConnections: reading a stream to its end leaves the connection
// for the next request, and a server that does not end it does not hold the
// answer up.
func TestStreamsShareConnections(t *testing.T) {
	t.Parallel()
	for name, linger := range map[string]bool{"ends": false, "stays open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var remotes []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				remotes = append(remotes, r.RemoteAddr) // one request at a time
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
				_ = http.NewResponseController(w).Flush()
				if linger {
					<-r.Context().Done()
				}
			}))
			t.Cleanup(server.Close)
			c := newClient(t, Options{BaseURL: server.URL, Stream: true})
			begun := time.Now()
			for range 3 {
				if res, err := c.Generate(t.Context(), hello()); err != nil || res.Text != "hi" {
					t.Fatalf("got %+v, %v", res, err)
				}
			}
			if !linger && (remotes[0] != remotes[1] || remotes[1] != remotes[2]) {
				t.Errorf("connections %v, want one", remotes)
			}
			if d := time.Since(begun); d > 30*time.Second {
				t.Errorf("three answers took %v", d)
			}
		})
	}
}

// FuzzStream: whatever comes in a stream, the call ends with an answer or with a
// classified error, and never tells the key.
func FuzzStream(f *testing.F) {
	for _, r := range callReplies() {
		f.Add(true, strings.Join(writeChunks(r), ""))
		f.Add(false, strings.Join(writeRespondEvents(r), ""))
	}
	f.Add(true, "data: {\"error\":\"sk-fuzz-secret\\n\"}\n\n")
	f.Add(false, "event: error\ndata: {\"type\":\"error\",\"message\":{\"a\":\"sk-fuzz-secret\"}}\n\n")
	f.Add(true, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"arguments\":[]}}]}}]}\n\ndata: [DONE]\n\n")
	f.Fuzz(func(t *testing.T, chat bool, body string) {
		o := Options{APIKey: "sk-fuzz-secret", Stream: true, Transport: streamed(body)}
		if !chat {
			o.API = APIResponses
		}
		res, err := newClient(t, o).Generate(t.Context(), hello())
		if err == nil {
			for _, call := range res.Calls() {
				if call.ID == "" || call.Name == "" || len(call.Arguments) == 0 || call.Arguments[0] != '{' {
					t.Errorf("call %+v", call)
				}
			}
			return
		}
		if model.CodeOf(err) == "" {
			t.Errorf("error %v has no class", err)
		}
		if strings.Contains(err.Error(), "sk-fuzz-secret") || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("error %q", err)
		}
	})
}
