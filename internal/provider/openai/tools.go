package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/model"
)

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// wireNamed names the one tool that must be called.
type wireNamed struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// offer puts the tools of req into p.
func (e *encoder) offer(p *wireParams, req *model.Request) error {
	form, offered, err := e.quirks.choice(req)
	if err != nil || !offered {
		return err
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, wireTool{Type: "function", Function: wireFunction{t.Name, t.Description, parameters(t)}})
	}
	p.ParallelToolCalls = e.quirks.Parallel
	switch form {
	case "":
	case FormNamed:
		named := wireNamed{Type: "function"}
		named.Function.Name = req.ToolChoice
		p.ToolChoice = named
	case model.ToolChoiceRequired:
		p.ToolChoice = e.quirks.requiredChoice()
	default:
		p.ToolChoice = form
	}
	return nil
}

func parameters(t model.Tool) json.RawMessage {
	if len(t.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}

func (q *Quirks) requiredChoice() string {
	if q.ToolAny != "" {
		return q.ToolAny
	}
	return model.ToolChoiceRequired
}

// choice returns the form of the choice among the tools of req ("" = the
// server's default), and whether they are offered at all.
func (q *Quirks) choice(req *model.Request) (form string, offered bool, err error) {
	if len(req.Tools) == 0 {
		return "", false, nil
	}
	form = FormNamed
	switch req.ToolChoice {
	case "", model.ToolChoiceAuto, model.ToolChoiceNone, model.ToolChoiceRequired:
		form = req.ToolChoice
	}
	switch {
	case form == "" || q.ToolForms == nil || slices.Contains(q.ToolForms, form):
		return form, true, nil
	case form == model.ToolChoiceAuto: // the default says the same
		return "", true, nil
	case form == model.ToolChoiceNone: // a tool that is not offered is not called
		return "", false, nil
	}
	return "", false, fmt.Errorf("tool choice %q: the server takes %s", req.ToolChoice, strings.Join(q.ToolForms, ", "))
}

// lastKey remembers the cache key of the last request: hashing a skill for
// every request of a batch is wasted.
type lastKey struct{ last atomic.Pointer[cacheKey] }

type cacheKey struct{ role, stage, system, key string }

// of returns the cache key of a request: the same for all whose beginnings are
// the same.
func (l *lastKey) of(req *model.Request) string {
	want := cacheKey{role: req.Tags.Role, stage: req.Tags.Stage}
	if first := req.Messages[0]; first.Role == model.System {
		want.system = first.Text()
	}
	k := l.last.Load()
	if k != nil && k.role == want.role && k.stage == want.stage && k.system == want.system {
		return k.key
	}
	sum := sha256.Sum256([]byte(want.role + "\x00" + want.stage + "\x00" + want.system))
	want.key = "skillopt-" + hex.EncodeToString(sum[:16])
	l.last.Store(&want)
	return want.key
}
