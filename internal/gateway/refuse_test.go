package gateway

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

func TestDecodersRefuse(t *testing.T) {
	t.Parallel()
	codecs := map[Wire]codec{Chat: chatCodec(), Responses: responsesCodec(), Messages: messagesCodec(), Gemini: geminiCodec()}
	const badImage = "data:image/png;base64,!"
	tests := []struct {
		wire Wire
		body string
		want string
	}{
		{Chat, `{"messages":[{"role":"narrator"}]}`, `messages.0: the role is "narrator"`},
		{Chat, `{"messages":[],"n":2}`, "one answer"},
		{Chat, `{"messages":[],"tool_choice":"perhaps"}`, `tool_choice: "perhaps"`},
		{Chat, `{"messages":[],"response_format":{"type":"xml"}}`, `the format "xml"`},
		{Chat, `{"messages":[],"response_format":{"type":"json_schema"}}`, "has no schema"},
		{Chat, `{"messages":[],"tools":[{"function":{}}]}`, "no name"},
		{Chat, `{"messages":[],"tools":[{"function":{"name":"a"}},{"function":{"name":"a"}}]}`, `two tools are named "a"`},
		{Chat, `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{"}}]}]}`, "no JSON object"},
		{Chat, `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"[]"}}]}]}`, "no JSON object"},
		{Chat, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + badImage + `"}}]}]}`, "no base64"},
		{Chat, `{"messages":[{"role":"tool","content":[{"type":"image_url","image_url":{"url":"` + badImage + `"}}]}]}`, "no base64"},
		{Responses, `{}`, "input: expected"},
		{Responses, `{"input":[{"role":"narrator"}]}`, `input.0: the role is "narrator"`},
		{Responses, `{"input":[{"type":"item_reference","id":"x"}]}`, "nothing is stored"},
		{Responses, `{"input":[],"conversation":"c"}`, "nothing is stored"},
		{Responses, `{"input":[],"background":true}`, "background"},
		{Responses, `{"input":[],"tools":[{"type":"namespace","name":"s","tools":[{"type":"function"},{"type":"function"}]}]}`, "two tools"},
		{Messages, `{"messages":{}}`, "expected a list"},
		{Messages, `{"messages":[],"tool_choice":{"type":"maybe"}}`, `the type "maybe"`},
		{Messages, `{"messages":[],"tools":[{}]}`, "no name"},
		{Messages, `{"messages":[],"output_config":{"format":{"type":"json_schema"}}}`, "expected a JSON Schema"},
		{Messages, `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]}]}]}`, "no base64"},
		{Gemini, `{}`, "contents: expected a list"},
		{Gemini, `{"contents":[{"role":"narrator"}]}`, `contents[0]: the role is "narrator"`},
		{Gemini, `{"contents":[],"generationConfig":{"candidateCount":3}}`, "one answer"},
		{Gemini, `{"contents":[],"toolConfig":{"functionCallingConfig":{"mode":"SOME"}}}`, `the mode "SOME"`},
		{Gemini, `{"contents":[],"generationConfig":{"responseSchema":{"type":"STRING","minLength":"x"}}}`, "a schema"},
		{Gemini, `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"!"}}]}]}`, "no base64"},
	}
	for _, tt := range tests {
		t.Run(string(tt.wire)+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			_, err := codecs[tt.wire].decode(inbound{body: []byte(tt.body)})
			var f *fault
			if !errors.As(err, &f) || f.code != model.BadRequest || !f.final || !strings.Contains(f.message, tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestEffort(t *testing.T) {
	t.Parallel()
	for budget, want := range map[int]string{0: "", 1: "low", 4096: "low", 8192: "medium", 16384: "medium", 30000: "high"} {
		if got := budgetEffort(budget); got != want {
			t.Errorf("effortOf(%d) = %q, want %q", budget, got, want)
		}
	}
}
