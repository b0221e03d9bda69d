package gateway

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// An agent that asked for stop sequences is told in the words of its wire that
// one ended the answer, and by Messages which one, in documents and in streams.
func TestAStopSequenceIsTold(t *testing.T) {
	t.Parallel()
	const messages = `"messages":[{"role":"user","content":"q"}]`
	tests := []struct {
		name, path, body string
		want             []string
	}{
		{"messages", "/v1/messages", `{"model":"m","max_tokens":9,"stop_sequences":["XX","END"],` + messages + `}`, []string{`"stop_reason":"stop_sequence"`, `"stop_sequence":"END"`}},
		{"messages stream", "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"stop_sequences":["END"],` + messages + `}`, []string{`{"stop_reason":"stop_sequence","stop_sequence":"END"}`}},
		{"messages without one", "/v1/messages", `{"model":"m","max_tokens":9,"stop_sequences":["XX"],` + messages + `}`, []string{`"stop_reason":"end_turn"`, `"stop_sequence":null`}},
		{"messages that asked for none", "/v1/messages", `{"model":"m","max_tokens":9,` + messages + `}`, []string{`"stop_reason":"end_turn"`, `"stop_sequence":null`}},
		{"chat", "/v1/chat/completions", `{"model":"m","stop":"END",` + messages + `}`, []string{`"finish_reason":"stop"`, `"content":"one "`}},
		{"gemini", "/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"q"}]}],"generationConfig":{"stopSequences":["END"]}}`, []string{`"finishReason":"STOP"`, `"text":"one "`}},
	}
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: &always{resp: model.Response{Text: "one END two", Finish: model.FinishStop, StopSequence: "of the vendor"}}})
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			res := post(t, g.URL()+tc.path, h.Key(), tc.body)
			for _, want := range tc.want {
				if !strings.Contains(res.body, want) {
					t.Errorf("the answer lacks %s: %s", want, res.body)
				}
			}
		})
	}
}
