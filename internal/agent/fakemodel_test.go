package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The plots of a fakeModel.
const (
	plotText  = "text"
	plotTool  = "tool" // a call that writes a file, then the answer
	plotAuth  = "401"
	plotOnce  = "429 once"
	plotTwice = "429 and 500" // one after the other, then the answer
	plotCut   = "cut"         // the first answer ends in the middle
	plotFull  = "full"        // the prompt is too long
	plotBoth  = "both"        // a thought and two calls at once, then the answer
	plotHang  = "hang"
	plotStall = "stall" // a call, then no answer to its result
	plotJSON  = "json"  // an answer of the form that was asked for
)

const (
	fakeAnswer = "ANSWER 42"
	fakeFile   = "out.txt"
	fakeText   = "written by tool\n"
)

type obj = map[string]any

// fakeModel is a server that speaks the protocols of models and plays a part.
// It counts what it grants, so that an agent's own count can be compared.
type fakeModel struct {
	*httptest.Server
	plot string

	mu       sync.Mutex
	requests int
	answers  int
	usage    trajectory.Usage
	bodies   []string
	tools    []string // names offered in the last request
}

func newFakeModel(t *testing.T, plot string) *fakeModel {
	t.Helper()
	f := &fakeModel{plot: plot}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// grant is what one answer costs: all parts differ, and those of the next
// answer differ from those of the last.
func (f *fakeModel) grant() (n int, u trajectory.Usage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers++
	k := int64(f.answers)
	u = trajectory.Usage{Input: 100 + 10*k, Cached: 60 + k, Output: 7 + k, Reasoning: 2}
	f.usage = f.usage.Add(u)
	return f.answers, u
}

func (f *fakeModel) request(body []byte) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	f.bodies = append(f.bodies, string(body))
	return f.requests
}

// seen reports whether a text was in any request.
func (f *fakeModel) seen(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.bodies, func(b string) bool { return strings.Contains(b, text) })
}

func (f *fakeModel) count() (requests, answers int, u trajectory.Usage, tools []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests, f.answers, f.usage, f.tools
}

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire := wireOf(r.URL.Path)
	if wire == nil || r.Method != http.MethodPost {
		http.Error(w, `{"error":{"message":"no such route"}}`, http.StatusNotFound)
		return
	}
	raw, err := io.ReadAll(r.Body)
	var body obj
	if err != nil || json.Unmarshal(raw, &body) != nil {
		http.Error(w, `{"error":{"message":"no JSON"}}`, http.StatusBadRequest)
		return
	}
	n := f.request(raw)
	worked := strings.Contains(string(raw), wire.result())
	switch {
	case f.plot == plotAuth:
		refuse(w, http.StatusUnauthorized, "invalid api key", wire)
		return
	case f.plot == plotOnce && n == 1:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "rate limited", wire)
		return
	case f.plot == plotTwice && n == 1:
		refuse(w, http.StatusTooManyRequests, "rate limited", wire)
		return
	case f.plot == plotTwice && n == 2:
		refuse(w, http.StatusInternalServerError, "internal error", wire)
		return
	case f.plot == plotFull:
		refuse(w, http.StatusBadRequest, "This model's maximum context length is 1000 tokens. prompt is too long: 2000 tokens > 1000 maximum", wire)
		return
	case f.plot == plotCut && n == 1:
		w = &cutting{ResponseWriter: w, left: 60}
		defer panic(http.ErrAbortHandler)
	case f.plot == plotHang, f.plot == plotStall && worked:
		<-r.Context().Done()
		return
	}
	names := offered(body)
	f.mu.Lock()
	f.tools = names
	f.mu.Unlock()
	a := reply{text: fakeAnswer, stream: body["stream"] == true}
	a.model, _ = body["model"].(string)
	if (f.plot == plotTool || f.plot == plotStall) && !worked {
		a.tool, a.args = pick(names)
		a.text = "Writing the file now."
	}
	if f.plot == plotBoth && !worked {
		a.tool, a.args = pick(names)
		a.text, a.think, a.also = "", "THOUGHT of the model", beside(a.args)
	}
	if f.plot == plotJSON {
		a.text = `{"n":42}`
		if slices.Contains(names, "StructuredOutput") && !worked { // claude has the model call it
			a.tool, a.args = "StructuredOutput", obj{"n": 42}
		}
	}
	a.n, a.usage = f.grant()
	wire.write(w, r, a)
}

// reply is one answer.
type reply struct {
	n      int
	model  string
	text   string
	tool   string // "" = none is called
	args   obj
	also   obj    // arguments of a second call of the tool; nil = there is none
	think  string // "" = nothing is thought aloud
	usage  trajectory.Usage
	stream bool
}

// calls are the arguments of the calls of the tool.
func (a reply) calls() []obj {
	switch {
	case a.tool == "":
		return nil
	case a.also == nil:
		return []obj{a.args}
	}
	return []obj{a.args, a.also}
}

// beside is a call that writes another file.
func beside(args obj) obj {
	also := maps.Clone(args)
	for name, v := range also {
		if text, ok := v.(string); ok {
			also[name] = strings.ReplaceAll(text, fakeFile, "second-"+fakeFile)
		}
	}
	return also
}

// cutting writes no more than so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	_, err := c.ResponseWriter.Write(p[:n])
	return len(p), err
}

// Flush implements http.Flusher.
func (c *cutting) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func encoded(args obj) string {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// fakeWire is one protocol.
type fakeWire interface {
	result() string // what a request with the result of a call holds
	write(w http.ResponseWriter, r *http.Request, a reply)
}

func wireOf(path string) fakeWire {
	switch {
	case strings.HasSuffix(path, "/v1/chat/completions"):
		return chatWire{}
	case strings.HasSuffix(path, "/v1/responses"):
		return responsesWire{}
	case strings.HasSuffix(path, "/v1/messages"):
		return messagesWire{}
	case strings.Contains(path, "/models/") && strings.Contains(path, "enerateContent"):
		return geminiWire{}
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, text string, wire fakeWire) {
	e := obj{"message": text, "type": "invalid_request_error", "code": "invalid_api_key"}
	if status == http.StatusTooManyRequests {
		e["code"] = "rate_limit_exceeded"
	}
	if status == http.StatusBadRequest {
		e["code"] = "context_length_exceeded"
	}
	if status == http.StatusInternalServerError {
		e["type"], e["code"] = "server_error", "server_error"
	}
	body := obj{"error": e}
	switch wire.(type) {
	case messagesWire:
		e["type"] = map[int]string{401: "authentication_error", 429: "rate_limit_error", 500: "api_error", 400: "invalid_request_error"}[status]
		body["type"] = "error"
	case geminiWire:
		e["code"] = status
		e["status"] = map[int]string{401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 400: "INVALID_ARGUMENT"}[status]
	}
	send(w, status, body)
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

// offered are the names of the tools in a request of any protocol.
func offered(body obj) []string {
	names := map[string]bool{}
	list, _ := body["tools"].([]any)
	for _, item := range list {
		tool, _ := item.(obj)
		if inner, ok := tool["function"].(obj); ok {
			tool = inner
		}
		declared, _ := tool["functionDeclarations"].([]any)
		for _, d := range append(declared, tool) {
			if d, ok := d.(obj); ok && d["name"] != nil {
				names[fmt.Sprint(d["name"])] = true
			} else if ok && d["type"] != nil {
				names[fmt.Sprint(d["type"])] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// pick chooses a tool that can write the file, whichever the agent has.
func pick(names []string) (string, obj) {
	command := "printf 'written by tool\\n' > " + fakeFile
	for _, t := range []struct {
		name string
		args obj
	}{
		{"Write", obj{"file_path": "$PWD/" + fakeFile, "content": fakeText}},
		{"write_file", obj{"file_path": "$PWD/" + fakeFile, "content": fakeText}},
		{"bash", obj{"command": command, "description": "write the file"}},
		{"Bash", obj{"command": command, "description": "write the file"}},
		{"exec_command", obj{"cmd": command}},
		{"run_shell_command", obj{"command": command, "description": "write the file"}},
	} {
		if slices.Contains(names, t.name) && !strings.Contains(fmt.Sprint(t.args), "$PWD") {
			return t.name, t.args
		}
	}
	return "", nil
}

// sse writes server-sent events.
type sse struct {
	w http.ResponseWriter
	n int
}

func newSSE(w http.ResponseWriter) *sse {
	w.Header().Set("Content-Type", "text/event-stream")
	return &sse{w: w}
}

func (s *sse) event(name string, v obj) {
	if name != "" {
		v["type"] = name
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

type chatWire struct{}

func (chatWire) result() string { return `"role":"tool"` }

func (chatWire) write(w http.ResponseWriter, _ *http.Request, a reply) {
	usage := obj{
		"prompt_tokens": a.usage.Input, "completion_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
		"prompt_tokens_details": obj{"cached_tokens": a.usage.Cached}, "completion_tokens_details": obj{"reasoning_tokens": a.usage.Reasoning},
	}
	finish := "stop"
	message := obj{"role": "assistant", "content": a.text}
	if a.tool != "" {
		finish = "tool_calls"
		var calls []obj
		for i, args := range a.calls() {
			calls = append(calls, obj{"index": i, "id": fmt.Sprintf("call_%d_%d", a.n, i), "type": "function", "function": obj{"name": a.tool, "arguments": encoded(args)}})
		}
		message["tool_calls"] = calls
	}
	if a.think != "" {
		message["reasoning_content"] = a.think
	}
	base := obj{"id": fmt.Sprintf("chatcmpl-%d", a.n), "created": 1, "model": a.model, "object": "chat.completion"}
	if !a.stream {
		base["choices"], base["usage"] = []obj{{"index": 0, "message": message, "finish_reason": finish}}, usage
		send(w, http.StatusOK, base)
		return
	}
	s := newSSE(w)
	base["object"] = "chat.completion.chunk"
	base["choices"] = []obj{{"index": 0, "delta": message, "finish_reason": nil}}
	s.event("", base)
	base["choices"] = []obj{{"index": 0, "delta": obj{}, "finish_reason": finish}}
	s.event("", base)
	base["choices"], base["usage"] = []obj{}, usage
	s.event("", base)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

type responsesWire struct{}

func (responsesWire) result() string { return `_call_output"` }

func (responsesWire) write(w http.ResponseWriter, _ *http.Request, a reply) {
	usage := obj{
		"input_tokens": a.usage.Input, "output_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
		"input_tokens_details": obj{"cached_tokens": a.usage.Cached}, "output_tokens_details": obj{"reasoning_tokens": a.usage.Reasoning},
	}
	text := obj{"type": "output_text", "text": a.text, "annotations": []any{}}
	output := []obj{{"type": "message", "id": fmt.Sprintf("msg_%d", a.n), "role": "assistant", "status": "completed", "content": []obj{text}}}
	if a.think != "" {
		output = []obj{{"type": "reasoning", "id": fmt.Sprintf("rs_%d", a.n), "summary": []obj{{"type": "summary_text", "text": a.think}}}}
	}
	for i, args := range a.calls() {
		output = append(output, obj{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", a.n, i), "call_id": fmt.Sprintf("call_%d_%d", a.n, i), "name": a.tool, "arguments": encoded(args), "status": "completed"})
	}
	resp := obj{"id": fmt.Sprintf("resp_%d", a.n), "object": "response", "created_at": 1, "model": a.model, "status": "in_progress", "output": []obj{}}
	done := maps.Clone(resp)
	done["status"], done["output"], done["usage"] = "completed", output, usage
	if !a.stream {
		send(w, http.StatusOK, done)
		return
	}
	s := newSSE(w)
	event := func(name string, v obj) {
		v["sequence_number"] = s.n
		s.n++
		s.event(name, v)
	}
	event("response.created", obj{"response": resp})
	for i, item := range output {
		event("response.output_item.added", obj{"output_index": i, "item": item})
		event("response.output_item.done", obj{"output_index": i, "item": item})
	}
	event("response.completed", obj{"response": done})
}

type messagesWire struct{}

func (messagesWire) result() string { return `"type":"tool_result"` }

func (messagesWire) write(w http.ResponseWriter, _ *http.Request, a reply) {
	usage := obj{
		"input_tokens": a.usage.Input - a.usage.Cached, "cache_read_input_tokens": a.usage.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": a.usage.Output,
	}
	blocks, stop := []obj{{"type": "text", "text": a.text}}, "end_turn"
	if a.think != "" {
		blocks = []obj{{"type": "thinking", "thinking": a.think, "signature": "c2lnbmVk"}}
	}
	for i, args := range a.calls() {
		stop = "tool_use"
		blocks = append(blocks, obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", a.n, i), "name": a.tool, "input": args})
	}
	message := obj{"id": fmt.Sprintf("msg_%d", a.n), "type": "message", "role": "assistant", "model": a.model, "content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !a.stream {
		send(w, http.StatusOK, message)
		return
	}
	s := newSSE(w)
	message["content"], message["stop_reason"] = []any{}, nil
	s.event("message_start", obj{"message": message})
	for i, b := range blocks {
		start, delta := obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": a.text}
		if b["type"] == "tool_use" {
			start = obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}}
			input, _ := b["input"].(obj)
			delta = obj{"type": "input_json_delta", "partial_json": encoded(input)}
		}
		if b["type"] == "thinking" {
			start, delta = obj{"type": "thinking", "thinking": "", "signature": ""}, obj{"type": "thinking_delta", "thinking": a.think}
		}
		s.event("content_block_start", obj{"index": i, "content_block": start})
		s.event("content_block_delta", obj{"index": i, "delta": delta})
		if b["type"] == "thinking" {
			s.event("content_block_delta", obj{"index": i, "delta": obj{"type": "signature_delta", "signature": b["signature"]}})
		}
		s.event("content_block_stop", obj{"index": i})
	}
	s.event("message_delta", obj{"delta": obj{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	s.event("message_stop", obj{})
}

type geminiWire struct{}

func (geminiWire) result() string { return `"functionResponse"` }

func (geminiWire) write(w http.ResponseWriter, r *http.Request, a reply) {
	parts := []obj{{"text": a.text}}
	if a.think != "" {
		parts = []obj{{"text": a.think, "thought": true}}
	}
	for _, args := range a.calls() {
		parts = append(parts, obj{"functionCall": obj{"name": a.tool, "args": args}})
	}
	answer := obj{
		"candidates": []obj{{"index": 0, "content": obj{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": obj{
			"promptTokenCount": a.usage.Input, "cachedContentTokenCount": a.usage.Cached, "candidatesTokenCount": a.usage.Output - a.usage.Reasoning,
			"thoughtsTokenCount": a.usage.Reasoning, "totalTokenCount": a.usage.Input + a.usage.Output,
		},
		"modelVersion": "fake", "responseId": fmt.Sprintf("resp_%d", a.n),
	}
	if !strings.Contains(r.URL.Path, "stream") {
		send(w, http.StatusOK, answer)
		return
	}
	newSSE(w).event("", answer)
}
