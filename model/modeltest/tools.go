package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// tinyPNG is a picture of one pixel.
const tinyPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"

func picture() *model.Image { return &model.Image{MIME: "image/png", Data: []byte(tinyPNG)} }

// suiteTools returns the tools that the suite's requests offer.
func suiteTools() []model.Tool {
	return []model.Tool{
		{Name: "read_file", Description: "Reads a \"file\".\n<b>UTF-8</b>", Parameters: json.RawMessage(
			`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}`)},
		{Name: "list", Description: "Lists files.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

// testVision has an image arrive as it was sent, in its place.
func testVision(t *testing.T, h Harness) {
	if h.Lacks.Vision {
		t.Skip("the protocol lacks images")
	}
	jpeg := &model.Image{MIME: "image/jpeg", Data: []byte("\xff\xd8\xff\xe0 not looked at \xff\xd9")}
	tests := map[string][]model.Part{
		"image":              {{Image: picture()}},
		"text and image":     {{Text: "What is this?"}, {Image: picture()}},
		"images among texts": {{Text: "First:"}, {Image: picture()}, {Text: "Second:"}, {Image: jpeg}, {Text: "Which is larger?"}},
	}
	for name, parts := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := []model.Message{{Role: model.System, Content: "s"}, {Role: model.User, Parts: parts}}
			seen := sent(t, h, Settings{Key: testKey}, model.Request{Model: "m-1", Messages: messages})
			checkConversation(t, h.Lacks, messages, seen.Messages)
		})
	}
}

// testTools has tools arrive, and the choice among them.
func testTools(t *testing.T, h Harness) {
	if h.Lacks.Tools {
		t.Skip("the protocol lacks tools")
	}
	t.Run("none by default", func(t *testing.T) {
		t.Parallel()
		seen := sent(t, h, Settings{}, question("q"))
		if len(seen.Tools) > 0 || seen.ToolChoice != "" {
			t.Errorf("tools %+v and choice %q were sent", seen.Tools, seen.ToolChoice)
		}
	})
	for _, choice := range []string{"", model.ToolChoiceAuto, model.ToolChoiceNone, model.ToolChoiceRequired, "list"} {
		t.Run("choice "+choice, func(t *testing.T) {
			t.Parallel()
			req := question("q")
			req.Tools, req.ToolChoice = suiteTools(), choice
			seen := sent(t, h, Settings{}, req)
			if diff := cmp.Diff(sameTools(suiteTools()), sameTools(seen.Tools)); diff != "" {
				t.Errorf("tools (-sent +seen):\n%s", diff)
			}
			if got := seen.ToolChoice; got != choice && (choice != "" || got != model.ToolChoiceAuto) && (choice != model.ToolChoiceAuto || got != "") {
				t.Errorf("tool choice = %q, want %q", got, choice)
			}
		})
	}
}

func sameTools(tools []model.Tool) []model.Tool {
	var same []model.Tool
	for _, t := range tools {
		t.Parameters = compact(t.Parameters)
		same = append(same, t)
	}
	return same
}

// call returns a call as a server gives it.
func call(id, name, arguments string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// callCase is an answer with calls and what must be made of it.
type callCase struct {
	name   string
	reply  Reply
	want   []model.ToolCall // calls of the answer
	finish model.Finish
	code   model.Code // "" = it is an answer
	broken bool       // needs arguments that are text
}

func callCases() []callCase {
	one := call("call_1", "read_file", `{"path":"a \"b\".txt","lines":12345678901234567}`)
	two := call("call_2", "read_file", `{"path":"水.md"}`)
	three := call("call_3", "list", `{}`)
	bare := three
	bare.Arguments = nil
	return []callCase{
		{name: "one", reply: Reply{Calls: []model.ToolCall{one}}, want: []model.ToolCall{one}},
		{name: "several", reply: Reply{Calls: []model.ToolCall{one, two, three}}, want: []model.ToolCall{one, two, three}},
		{name: "after a text", reply: Reply{Text: "I will read it.\n", Calls: []model.ToolCall{two}}, want: []model.ToolCall{two}},
		{name: "without arguments", reply: Reply{Calls: []model.ToolCall{bare}}, want: []model.ToolCall{three}},
		{name: "with arguments that are no JSON", reply: Reply{Calls: []model.ToolCall{call("c", "list", `{"a":oops}`)}}, code: model.Malformed, broken: true},
		{name: "with arguments that are no object", reply: Reply{Calls: []model.ToolCall{call("c", "list", `[1,2]`)}}, code: model.Malformed, broken: true},
		{
			name:   "cut by the token limit",
			reply:  Reply{Text: "I will", Calls: []model.ToolCall{call("c", "list", `{"path":"a`)}, Finish: model.FinishLength},
			finish: model.FinishLength, broken: true,
		},
	}
}

// testCalls has the model call tools, in whole responses and in streams.
func testCalls(t *testing.T, h Harness) {
	if h.Lacks.Tools {
		t.Skip("the protocol lacks tools")
	}
	for mode, s := range modes(h) {
		for _, tt := range callCases() {
			t.Run(mode+"/"+tt.name, func(t *testing.T) {
				if tt.broken && h.Lacks.TextArguments {
					t.Skip("the protocol cannot break arguments")
				}
				t.Parallel()
				if tt.reply.Finish == "" {
					tt.reply.Finish, tt.finish = model.FinishTools, model.FinishTools
				}
				srv := reply(t, h, tt.reply)
				s := s
				s.URL = srv.URL
				req := question("q")
				req.Tools = suiteTools()
				got, err := h.New(t, s).Generate(t.Context(), req)
				checkCalls(t, h.Lacks, tt, got, err)
				srv.only(t)
			})
		}
	}
}

func checkCalls(t *testing.T, lacks Lacks, tt callCase, got model.Response, err error) {
	t.Helper()
	if code := model.CodeOf(err); code != tt.code || (err != nil) != (tt.code != "") {
		t.Fatalf("error %v, want class %q", err, tt.code)
	}
	if err != nil {
		return
	}
	if got.Finish != tt.finish || got.Text != tt.reply.Text {
		t.Errorf("finish %q and text %q, want %q and %q", got.Finish, got.Text, tt.finish, tt.reply.Text)
	}
	ids := map[string]bool{}
	for _, c := range got.Calls() {
		if c.ID == "" || ids[c.ID] {
			t.Errorf("id %q of a call is empty or not unique", c.ID)
		}
		ids[c.ID] = true
	}
	if len(tt.want) == 0 {
		if calls := got.Calls(); len(calls) > 0 {
			t.Errorf("calls %+v, want none", calls)
		}
		return
	}
	parts := []model.Part{{Text: tt.reply.Text}}
	for i := range tt.want {
		parts = append(parts, model.Part{Call: &tt.want[i]})
	}
	want, have := pieces([]model.Message{{Role: model.Assistant, Parts: parts}}), pieces([]model.Message{got.Message()})
	if lacks.CallIDs {
		want, have = withoutIDs(want), withoutIDs(have)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// modes returns the settings of each way in which an answer can come.
func modes(h Harness) map[string]Settings {
	m := map[string]Settings{"whole": {Key: testKey}}
	if h.Stream != nil {
		m["stream"] = Settings{Key: testKey, Stream: true}
	}
	return m
}

// testResults sends conversations with calls and their results.
func testResults(t *testing.T, h Harness) {
	if h.Lacks.Tools {
		t.Skip("the protocol lacks tools")
	}
	for name, messages := range toolConversations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := sent(t, h, Settings{}, model.Request{Model: "m-1", Messages: messages, Tools: suiteTools()})
			checkConversation(t, h.Lacks, messages, seen.Messages)
		})
	}
	t.Run("error", func(t *testing.T) { testErrorResult(t, h) })
	t.Run("images", func(t *testing.T) { testImageResult(t, h) })
}

func toolConversations() map[string][]model.Message {
	callPart := func(id, name, arguments string) model.Part {
		c := call(id, name, arguments)
		return model.Part{Call: &c}
	}
	resultPart := func(id, name, content string) model.Part {
		return model.Part{Result: &model.ToolResult{CallID: id, Name: name, Content: content}}
	}
	system := model.Message{Role: model.System, Content: "s"}
	task := model.Message{Role: model.User, Content: "Do it."}
	return map[string][]model.Message{
		"one": {
			system, task,
			{Role: model.Assistant, Parts: []model.Part{callPart("call_1", "list", `{}`)}},
			{Role: model.ToolRole, Parts: []model.Part{resultPart("call_1", "list", "a.txt\n\"b\"\t水")}},
		},
		"empty": {
			task,
			{Role: model.Assistant, Parts: []model.Part{callPart("call_1", "list", `{}`)}},
			{Role: model.ToolRole, Parts: []model.Part{resultPart("call_1", "list", "")}},
		},
		"several turns": {
			system, task,
			{Role: model.Assistant, Parts: []model.Part{
				{Text: "I look at both."},
				callPart("call_1", "read_file", `{"path":"a","lines":3}`), callPart("call_2", "read_file", `{"path":"b"}`),
			}},
			{Role: model.ToolRole, Parts: []model.Part{resultPart("call_1", "read_file", "A"), resultPart("call_2", "read_file", "B")}},
			{Role: model.Assistant, Parts: []model.Part{callPart("call_3", "list", `{}`)}},
			{Role: model.ToolRole, Parts: []model.Part{resultPart("call_3", "list", "a b")}},
			{Role: model.Assistant, Content: "Done."},
			{Role: model.User, Content: "And now?"},
		},
	}
}

// resultConversation returns a conversation that ends with a result.
func resultConversation(r model.ToolResult) []model.Message {
	c := call(r.CallID, r.Name, `{}`)
	return []model.Message{
		{Role: model.User, Content: "Do it."},
		{Role: model.Assistant, Parts: []model.Part{{Call: &c}}},
		{Role: model.ToolRole, Parts: []model.Part{{Result: &r}}},
	}
}

func results(messages []model.Message) []model.ToolResult {
	var all []model.ToolResult
	for _, p := range pieces(messages) {
		if p.Result != nil {
			all = append(all, *p.Result)
		}
	}
	return all
}

// testErrorResult checks that the model learns that a call failed, by the protocol's mark or by
// words that the adapter adds.
func testErrorResult(t *testing.T, h Harness) {
	t.Parallel()
	const words = "no such file"
	req := model.Request{Model: "m-1", Tools: suiteTools(), Messages: resultConversation(model.ToolResult{CallID: "call_1", Name: "list", Content: words, IsError: true})}
	seen := results(sent(t, h, Settings{}, req).Messages)
	if len(seen) != 1 || !strings.Contains(seen[0].Content, words) {
		t.Fatalf("the server saw the results %+v, want one with %q", seen, words)
	}
	if !seen[0].IsError && seen[0].Content == words {
		t.Error("the server cannot tell that the call failed")
	}
}

func testImageResult(t *testing.T, h Harness) {
	if h.Lacks.Vision {
		t.Skip("the protocol lacks images")
	}
	t.Parallel()
	req := model.Request{Model: "m-1", Tools: suiteTools(), Messages: resultConversation(model.ToolResult{CallID: "call_1", Name: "list", Content: "see", Images: []model.Image{*picture()}})}
	seen := sent(t, h, Settings{}, req).Messages
	if r := results(seen); len(r) != 1 || r[0].Content != "see" {
		t.Errorf("the server saw the results %+v, want one that says see", r)
	}
	after, found := false, 0
	for _, p := range pieces(seen) {
		after = after || p.Result != nil
		if p.Image == nil {
			continue
		}
		found++
		if diff := cmp.Diff(picture(), p.Image); diff != "" || !after {
			t.Errorf("an image before the result, or another one (-sent +seen):\n%s", diff)
		}
	}
	if found != 1 {
		t.Errorf("the server saw %d images, want 1", found)
	}
}
