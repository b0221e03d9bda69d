package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// fuzzDecoder holds a decoder to what everybody behind it relies on: no panic, a
// fault of the wire's own class or a request that can be written again.
func fuzzDecoder(f *testing.F, c codec, seeds ...string) {
	files, err := filepath.Glob(filepath.Join("testdata", "agents", "*.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, ".want.json") {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		body := bytes.Clone(b)
		q, err := c.decode(inbound{body: body, model: "m"})
		if err != nil {
			var fault *fault
			if !errors.As(err, &fault) || fault.code != model.BadRequest {
				t.Fatalf("%v", err)
			}
			return
		}
		before, err := json.Marshal(q.req)
		if err != nil {
			t.Fatalf("the request cannot be written: %v", err)
		}
		clear(body) // what is kept of a large body is small
		if after, err := json.Marshal(q.req); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("the request shares memory with the body: %s, %s", before, after)
		}
		for _, m := range q.req.Messages {
			checkMessage(t, m)
		}
		estimate(q.req)
		resp := model.Response{Finish: model.FinishTools}
		for _, m := range q.req.Messages {
			if m.Role == model.Assistant {
				resp.Parts = append(resp.Parts, pieces(model.Response{Text: m.Content, Parts: m.Parts})...)
			}
		}
		checkAnswer(t, c, q, resp)
	})
}

func checkMessage(t *testing.T, m model.Message) {
	if len(m.Parts) > 0 && m.Content != "" {
		t.Fatalf("text and parts: %+v", m)
	}
	for _, p := range m.Parts {
		if p.Result != nil && m.Role != model.ToolRole || p.Result == nil && m.Role == model.ToolRole {
			t.Fatalf("a result in a message of role %s, or something else in one of tools", m.Role)
		}
		if p.Call != nil && !json.Valid(p.Call.Arguments) {
			t.Fatalf("arguments %q", p.Call.Arguments)
		}
	}
}

// checkAnswer writes what the request held as an answer, in both forms.
func checkAnswer(t *testing.T, c codec, q agentRequest, resp model.Response) {
	b, err := document(c.answer(q, reply{resp: resp}))
	if err != nil || !json.Valid(b) {
		t.Fatalf("the answer cannot be written: %v", err)
	}
	var e events
	s := c.stream(q, head{}, &e)
	s.ping()
	s.ping()
	s.finish(resp)
	for line := range strings.Lines(e.buf.String()) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("an event is no JSON: %s", data)
		}
		if !ok && !q.list && line != "\n" && !strings.HasPrefix(line, "event: ") && !strings.HasPrefix(line, ": ") {
			t.Fatalf("no line of an event: %q", line)
		}
	}
}

func FuzzChat(f *testing.F) {
	fuzzDecoder(f, chatCodec(), chatBody,
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"n","arguments":"{}"}}],"reasoning_details":[1]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],"stop":["a"],"response_format":{"type":"json_object"}}`)
}

func FuzzResponses(f *testing.F) {
	fuzzDecoder(f, responsesCodec(), `{"input":"q"}`,
		`{"input":[{"type":"reasoning","summary":[{"text":"t"}],"encrypted_content":"x"},{"type":"function_call","call_id":"1","namespace":"s","name":"n","arguments":""},{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],"tools":[{"type":"namespace","name":"s","tools":[{"type":"function","name":"n"}]}],"tool_choice":{"type":"function","name":"n"}}`)
}

func FuzzMessages(f *testing.F) {
	fuzzDecoder(f, messagesCodec(), chatBody,
		`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"tool_use","id":"1","name":"n","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"type":"document","source":{"type":"text","data":"d"}}]}]}`)
}

func FuzzGemini(f *testing.F) {
	fuzzDecoder(f, geminiCodec(), `{"contents":"q"}`,
		`{"contents":[{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"n","args":{}}},{"functionCall":{"name":"n"}}]},{"role":"user","parts":[{"functionResponse":{"name":"n","response":{"error":"e"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}],"tools":[{"functionDeclarations":[{"name":"n","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"minLength":"3"}},"anyOf":[{"type":"ARRAY","items":{"type":"INTEGER"}}]}}]}],"generationConfig":{"responseMimeType":"application/json"}}`)
}
