package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func geminiAnswer(q agentRequest, r reply) any {
	o := object{
		{"responseId", r.id},
		{"modelVersion", q.asked},
		{"candidates", []object{{
			{"index", 0}, {"content", object{{"role", "model"}, {"parts", geminiParts(r.resp)}}}, {"finishReason", geminiFinish(r.resp.Finish)},
		}}},
	}
	if u := geminiUsage(r.resp.Usage); u != nil {
		o = append(o, member{"usageMetadata", u})
	}
	return o
}

// geminiFinish returns the wire's reason. A refusal in words is an ordinary answer there.
func geminiFinish(f model.Finish) string {
	switch f {
	case model.FinishLength:
		return "MAX_TOKENS"
	case model.FinishFilter:
		return "SAFETY"
	}
	return "STOP"
}

// geminiUsage counts thoughts apart from the answer. It is nil when nothing was
// counted.
func geminiUsage(u trajectory.Usage) object {
	if u == (trajectory.Usage{}) {
		return nil
	}
	return object{
		{"promptTokenCount", u.Input},
		{"cachedContentTokenCount", u.Cached},
		{"thoughtsTokenCount", u.Reasoning},
		{"candidatesTokenCount", max(0, u.Output-u.Reasoning)},
		{"totalTokenCount", u.Input + u.Output},
	}
}

// geminiParts returns the parts of an answer. What a thought needs on its way back is as a
// signature at the part that follows it: agents keep that, and drop thoughts.
func geminiParts(r model.Response) []object {
	parts := []object{}
	var pending []model.Reasoning
	add := func(p object) {
		if pending != nil {
			p = append(p, member{"thoughtSignature", geminiSignature(pending)})
			pending = nil
		}
		parts = append(parts, p)
	}
	for _, p := range pieces(r) {
		switch {
		case p.Reasoning != nil:
			own, carried := geminiReasoning(p.Reasoning)
			if own != nil {
				parts = append(parts, own)
			}
			if carried {
				pending = append(pending, *p.Reasoning)
			}
		case p.Call != nil:
			add(object{{"functionCall", object{{"id", p.Call.ID}, {"name", p.Call.Name}, {"args", p.Call.Arguments}}}})
		default:
			add(object{{"text", p.Text}})
		}
	}
	if pending != nil {
		add(object{{"text", ""}})
	}
	return parts
}

// geminiReasoning returns the part that reasoning is by itself, nil if there is
// nothing to read, and whether a signature must carry it too.
func geminiReasoning(r *model.Reasoning) (part object, carried bool) {
	if r.Text != "" {
		part = object{{"text", r.Text}, {"thought", true}}
	}
	if r.Provider != gemini {
		return part, true
	}
	kept, ok := geminiKept(r)
	if !ok || kept.Text == nil {
		return part, ok && kept.Signature != ""
	}
	part = object{{"text", *kept.Text}, {"thought", kept.Thought}}
	if kept.Signature != "" {
		part = append(part, member{"thoughtSignature", kept.Signature})
	}
	return part, false
}

func geminiKept(r *model.Reasoning) (geminiThought, bool) {
	var kept geminiThought
	err := json.Unmarshal(r.Opaque, &kept)
	return kept, err == nil
}

// geminiSignature returns the signature of a single thought of a Gemini model, unchanged, or one
// that carries whatever else there is.
func geminiSignature(list []model.Reasoning) string {
	if len(list) == 1 && list[0].Provider == gemini {
		if kept, ok := geminiKept(&list[0]); ok {
			return kept.Signature
		}
	}
	return base64.StdEncoding.EncodeToString([]byte(pack(list...)))
}

// geminiStream writes the answer as one event, or as a JSON list of one.
type geminiStream struct {
	*events
	q    agentRequest
	head head
}

func newGeminiStream(q agentRequest, h head, e *events) stream {
	return &geminiStream{events: e, q: q, head: h}
}

// ping writes an empty line: readers of this wire take nothing else between events.
func (s *geminiStream) ping() { s.raw("\n\n") }

func (s *geminiStream) finish(r model.Response) {
	s.put(geminiAnswer(s.q, reply{head: s.head, resp: r}))
}

func (s *geminiStream) fail(f *fault) {
	_, v := refuseGemini(f)
	s.put(v)
}

func (s *geminiStream) put(v any) {
	if s.q.list {
		v = []any{v}
		if b, err := document(v); err == nil {
			s.raw(string(b))
		}
		return
	}
	s.send("", v)
}

// refuseGemini returns the status and the body of a failure in Google's form.
func refuseGemini(f *fault) (int, any) {
	status, name := f.status(), "INTERNAL"
	switch f.code {
	case model.Auth:
		name = "UNAUTHENTICATED"
	case model.NotFound:
		name = "NOT_FOUND"
	case model.BadRequest, model.ContextLength, model.ContentFilter:
		name = "INVALID_ARGUMENT"
	case model.RateLimit:
		name = "RESOURCE_EXHAUSTED"
	case model.Overloaded, model.Network, model.Redirect:
		name = "UNAVAILABLE"
	case model.Timeout:
		name = "DEADLINE_EXCEEDED"
	}
	if status == statusStop {
		name = "FAILED_PRECONDITION"
	}
	if status == http.StatusBadGateway {
		status = http.StatusServiceUnavailable // Google has no 502
	}
	return status, object{{"error", object{{"code", status}, {"message", f.formatMessage("the input token count exceeds the maximum number of tokens allowed")}, {"status", name}}}}
}
