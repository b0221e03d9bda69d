package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
)

func plain(s string) string { return s }

// pile stores forms as a record does: each text once.
type pile struct {
	forms [][]byte
	refs  [][]string
	texts map[string]bool
	bytes int
}

func (p *pile) store(f Form) error {
	if p.texts == nil {
		p.texts = map[string]bool{}
	}
	p.forms, p.refs = append(p.forms, f.Body), append(p.refs, f.Texts)
	p.bytes += len(f.Body)
	for _, t := range f.Texts {
		if !p.texts[t] {
			p.texts[t], p.bytes = true, p.bytes+len(t)
		}
	}
	return nil
}

func (p *pile) read() Conversation {
	var all []Stored
	for i := range p.forms {
		all = append(all, Stored{Form: Form{Body: p.forms[i], Texts: p.refs[i]}})
	}
	return Read(all)
}

// sent are the messages of a call.
func (c Conversation) sent(call Call) []Message {
	var out []Message
	for _, s := range call.Sent {
		out = append(out, c.Messages[s.First:s.First+s.Count]...)
	}
	return out
}

// asKept is a message as it is to be read back.
func asKept(m model.Message) Message {
	out := Message{Role: m.Role}
	for _, p := range splitMessage(m) {
		out.Parts = append(out.Parts, Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Failed: p.Failed, Text: p.text, More: p.more})
	}
	return out
}

func drawMessage(t *rapid.T) model.Message {
	text := rapid.Custom(func(t *rapid.T) string {
		line := rapid.StringMatching(`[a-zä ,]{0,80}\n?`)
		return strings.Join(rapid.SliceOfN(line, 0, 200).Draw(t, "lines"), "")
	})
	role := rapid.SampledFrom([]string{model.System, model.User, model.Assistant, model.ToolRole}).Draw(t, "role")
	if rapid.Bool().Draw(t, "plain") {
		return model.Message{Role: role, Content: text.Draw(t, "text")}
	}
	part := rapid.Custom(func(t *rapid.T) model.Part {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return model.Part{Call: &model.ToolCall{ID: "c1", Name: "bash", Arguments: json.RawMessage(`{"command":"ls -la"}`)}}
		case 1:
			return model.Part{Result: &model.ToolResult{CallID: "c1", Name: "bash", Content: text.Draw(t, "out"), IsError: rapid.Bool().Draw(t, "failed")}}
		case 2:
			return model.Part{Reasoning: &model.Reasoning{Provider: "anthropic", Text: text.Draw(t, "thought"), Opaque: json.RawMessage(`{"signature":"abc"}`)}}
		case 3:
			return model.Part{Image: &model.Image{MIME: "image/png", Data: []byte("pixels")}}
		}
		return model.Part{Text: text.Draw(t, "text")}
	})
	return model.Message{Role: role, Parts: rapid.SliceOfN(part, 1, 4).Draw(t, "parts")}
}

// Whatever calls a try makes, each is read back with the messages, tools, settings and the
// reply that it had, and every message is there once.
func TestConversationsAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := NewKeeper(NewMask(plain))
		var p pile
		var messages []model.Message
		type made struct {
			sent  []Message
			tools []model.Tool
			end   End
			temp  float64
		}
		var calls []made
		for n := range rapid.IntRange(1, 8).Draw(t, "calls") {
			if rapid.IntRange(0, 4).Draw(t, "branch") == 0 { // another conversation beside it
				messages = messages[:rapid.IntRange(0, len(messages)).Draw(t, "cut")]
			}
			messages = append(messages, rapid.SliceOfN(rapid.Custom(drawMessage), 1, 3).Draw(t, "new")...)
			temp := float64(rapid.IntRange(0, 1).Draw(t, "temperature"))
			req := model.Request{Model: "m", Messages: messages, Sampling: model.Sampling{Temperature: &temp}}
			if rapid.Bool().Draw(t, "tools") {
				req.Tools = []model.Tool{{Name: "bash", Description: "runs", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: fmt.Sprint("t", n), Parameters: json.RawMessage(`{}`)}}
			}
			c := made{tools: req.Tools, temp: temp}
			for _, m := range messages {
				c.sent = append(c.sent, asKept(m))
			}
			if rapid.Bool().Draw(t, "answered") {
				reply := drawMessage(t)
				c.end = End{Reply: &model.Response{Text: reply.Content, Parts: reply.Parts, Finish: model.FinishStop, Model: "served"}}
			} else {
				c.end = End{Fault: "server: HTTP 500", Begun: strings.Repeat("data: x\n", 100)}
			}
			calls = append(calls, c)
			if err := k.Write(k.Request(&req), c.end, p.store); err != nil {
				t.Fatal(err)
			}
			if c.end.Reply != nil {
				messages = append(messages, c.end.Reply.Message())
			}
		}
		got := p.read()
		if len(got.Calls) != len(calls) {
			t.Fatalf("%d calls, want %d", len(got.Calls), len(calls))
		}
		for i, want := range calls {
			c := got.Calls[i]
			if diff := cmp.Diff(want.sent, got.sent(c), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("call %d: %s", i, diff)
			}
			var tools []string
			for _, s := range c.Tools {
				for _, d := range got.Tools[s.First : s.First+s.Count] {
					tools = append(tools, d.Name)
				}
			}
			if len(tools) != len(want.tools) || c.Settings.Model != "m" || *c.Settings.Temperature != want.temp || c.Damage != "" {
				t.Fatalf("call %d: %+v with the tools %v", i, c, tools)
			}
			if (c.Reply != nil) != (want.end.Reply != nil) || c.Fault != want.end.Fault || c.Begun != want.end.Begun {
				t.Fatalf("call %d ended as %+v, want %+v", i, c, want.end)
			}
			if c.Reply != nil {
				if diff := cmp.Diff(asKept(want.end.Reply.Message()).Parts, got.Messages[*c.Reply].Parts, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("reply of call %d: %s", i, diff)
				}
			}
		}
		seen := map[string]bool{}
		for _, m := range got.Messages {
			b, _ := json.Marshal(m)
			if seen[string(b)] {
				t.Fatalf("the message %s is there twice", b)
			}
			seen[string(b)] = true
		}
	})
}

// A form that is damaged or missing takes what it said with it, and nothing else: no call
// is lost, and what others said stands.
func TestDamageIsNamedInItsPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := NewKeeper(NewMask(plain))
		var p pile
		var messages []model.Message
		n := rapid.IntRange(2, 8).Draw(t, "calls")
		for i := range n {
			messages = append(messages, model.Message{Role: model.User, Content: fmt.Sprint("question ", i)})
			resp := model.Response{Text: fmt.Sprint("answer ", i)}
			if err := k.Write(k.Request(&model.Request{Messages: messages}), End{Reply: &resp}, p.store); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, resp.Message())
		}
		hurt := rapid.IntRange(0, n-1).Draw(t, "hurt")
		var all []Stored
		for i := range p.forms {
			s := Stored{Form: Form{Body: p.forms[i], Texts: p.refs[i]}}
			if i == hurt {
				s = rapid.SampledFrom([]Stored{{None: true}, {Damage: errors.New("cut")}, {Form: Form{Body: []byte(`{"first":`)}}, {Form: Form{Body: []byte(`[]`)}}}).Draw(t, "how")
			}
			all = append(all, s)
		}
		got := Read(all)
		for i, c := range got.Calls {
			if (c.Damage != "") != (i == hurt) {
				t.Fatalf("call %d: damage %q", i, c.Damage)
			}
			if i == hurt {
				continue
			}
			if sent := got.sent(c); len(sent) != 2*i+1 {
				t.Fatalf("call %d was sent %d messages", i, len(sent))
			}
			if text := got.Messages[*c.Reply].Parts[0].Text; text != fmt.Sprint("answer ", i) {
				t.Fatalf("call %d was answered %q", i, text)
			}
		}
	})
}

// Pieces are a text, cut; an edit in one place leaves the pieces far from it as they are.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-z0-9ä {}:;]{0,120}\n`)
		lines := rapid.SliceOfN(line, 400, 800).Draw(t, "lines")
		text := strings.Join(lines, "")
		before := pieces(text)
		if strings.Join(before, "") != text {
			t.Fatal("pieces are another text")
		}
		for _, p := range before {
			if len(p) > maxPiece {
				t.Fatalf("a piece of %d bytes", len(p))
			}
		}
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "at")
		lines[at] = "changed " + lines[at]
		known, fresh := map[string]bool{}, 0
		for _, p := range before {
			known[p] = true
		}
		for _, p := range pieces(strings.Join(lines, "")) {
			if !known[p] {
				fresh += len(p)
			}
		}
		if fresh > len(text)/2+2*minPiece && fresh > 20<<10 {
			t.Fatalf("%d of %d bytes are new after an edit of one line", fresh, len(text))
		}
	})
}
