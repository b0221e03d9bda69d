package gateway

import "github.com/seed-f4525e22/skillopt/model"

// thoughts remembers the reasoning that came before calls of tools, by the calls
// that followed it. Some wires have no place for reasoning, and some agents drop
// it; yet there are models that refuse the result of a call without the thought
// that led to it.
type thoughts struct {
	byCall map[string]*thought
	order  []string // oldest first
	size   int
}

// thought is what an answer holds around one of its calls.
type thought struct {
	name  string
	parts []model.Part // reasoning before the call, since the call before it
	size  int
}

// maxThoughts bounds what is remembered, in bytes.
const maxThoughts = 32 << 20

// keep remembers the reasoning in an answer.
func (t *thoughts) keep(answer []model.Part) {
	var pending []model.Part
	for _, p := range answer {
		switch {
		case p.Reasoning != nil:
			pending = append(pending, p)
		case p.Call != nil && p.Call.ID != "" && pending != nil:
			t.put(p.Call, pending)
			pending = nil
		}
	}
}

func (t *thoughts) put(c *model.ToolCall, parts []model.Part) {
	if t.byCall == nil {
		t.byCall = map[string]*thought{}
	}
	next := &thought{name: c.Name, parts: parts, size: len(c.ID)}
	for _, p := range parts {
		next.size += len(p.Reasoning.Text) + len(p.Reasoning.Opaque)
	}
	if old, ok := t.byCall[c.ID]; ok {
		t.size -= old.size
	} else {
		t.order = append(t.order, c.ID)
	}
	t.byCall[c.ID] = next
	t.size += next.size
	for t.size > maxThoughts && len(t.order) > 1 {
		t.size -= t.byCall[t.order[0]].size
		delete(t.byCall, t.order[0])
		t.order = t.order[1:]
	}
}

// restore puts reasoning back where an agent has dropped it. An answer that
// still has some is left alone.
func (t *thoughts) restore(messages []model.Message) {
	if len(t.byCall) == 0 {
		return
	}
	for i, m := range messages {
		if m.Role == model.Assistant && !thinks(m.Parts) {
			messages[i].Parts = t.woven(m.Parts)
		}
	}
}

// thinks reports whether there is reasoning that its provider takes back.
func thinks(parts []model.Part) bool {
	for _, p := range parts {
		if p.Reasoning != nil && len(p.Reasoning.Opaque) > 0 {
			return true
		}
	}
	return false
}

// woven puts each thought before its call; the first goes to the front, where
// models think before they speak.
func (t *thoughts) woven(parts []model.Part) []model.Part {
	var out []model.Part
	found := false
	for _, p := range parts {
		if p.Call != nil {
			if th, ok := t.byCall[p.Call.ID]; ok && th.name == p.Call.Name {
				if !found {
					out = append(append([]model.Part(nil), th.parts...), spoken(out)...)
				} else {
					out = append(out, th.parts...)
				}
				found = true
			}
		}
		out = append(out, p)
	}
	if !found {
		return parts
	}
	return out
}

// spoken leaves out readable reasoning, which what is put back holds as well.
func spoken(parts []model.Part) []model.Part {
	var out []model.Part
	for _, p := range parts {
		if p.Reasoning == nil {
			out = append(out, p)
		}
	}
	return out
}
