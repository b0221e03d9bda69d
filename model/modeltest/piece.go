package modeltest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// piece is what a conversation is made of, wherever a protocol draws the lines
// between its messages.
type piece struct {
	Role      string
	Text      string
	Image     *model.Image
	Call      *model.ToolCall
	Result    *model.ToolResult
	Reasoning *model.Reasoning
}

// pieces takes messages apart. Texts that follow each other in a message are
// one, and the images of a result are images of the user after it.
func pieces(messages []model.Message) []piece {
	var all []piece
	for _, m := range messages {
		parts := m.Parts
		if len(parts) == 0 {
			parts = []model.Part{{Text: m.Content}}
		}
		first := len(all)
		for _, p := range parts {
			all = appendPart(all, first, m.Role, p)
		}
		if len(all) == first { // a message of nothing is still a message
			all = append(all, piece{Role: m.Role})
		}
	}
	return all
}

// appendPart appends one part of a message that began at first.
func appendPart(all []piece, first int, role string, p model.Part) []piece {
	switch {
	case p.Image != nil:
		return append(all, piece{Role: role, Image: p.Image})
	case p.Call != nil:
		c := *p.Call
		c.Arguments = compact(c.Arguments)
		return append(all, piece{Role: role, Call: &c})
	case p.Reasoning != nil:
		return append(all, piece{Role: role, Reasoning: &model.Reasoning{Text: p.Reasoning.Text, Opaque: compact(p.Reasoning.Opaque)}})
	case p.Result != nil:
		r := *p.Result
		r.Images = nil
		all = append(all, piece{Role: role, Result: &r})
		for i := range p.Result.Images {
			all = append(all, piece{Role: model.User, Image: &p.Result.Images[i]})
		}
		return all
	case p.Text == "":
		return all
	}
	if last := len(all) - 1; last >= first && all[last].Text != "" {
		all[last].Text += p.Text
		return all
	}
	return append(all, piece{Role: role, Text: p.Text})
}

// compact makes equal JSON equal bytes; what is no JSON stays as it is.
func compact(raw json.RawMessage) json.RawMessage {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}

// checkConversation compares what was sent with what the server saw of it.
func checkConversation(t *testing.T, lacks Lacks, sent, seen []model.Message) {
	t.Helper()
	want, got := pieces(sent), pieces(seen)
	for i := range want {
		if want[i].Result != nil && i < len(got) && got[i].Result != nil && got[i].Result.Name == "" {
			want[i].Result.Name = ""
		}
	}
	if lacks.CallIDs {
		want, got = withoutIDs(want), withoutIDs(got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conversation (-sent +seen):\n%s", diff)
	}
}

func withoutIDs(all []piece) []piece {
	for i := range all {
		if all[i].Call != nil {
			all[i].Call.ID = ""
		}
		if all[i].Result != nil {
			all[i].Result.CallID = ""
		}
	}
	return all
}
