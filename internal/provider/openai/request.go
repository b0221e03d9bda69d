package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/model"
)

// encoder writes the bodies of requests to one server.
type encoder struct {
	quirks Quirks
	extra  []byte // fields for every body, each after a comma
	stream bool
	schema *schemaForm
	system lastText
	key    lastKey
}

// wireParams is the body of a request without its messages. Only what the user
// set is sent: a server may refuse a field that it does not know.
type wireParams struct {
	Model               string         `json:"model"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Seed                *int64         `json:"seed,omitempty"`
	ResponseFormat      *wireFormat    `json:"response_format,omitempty"`
	Tools               []wireTool     `json:"tools,omitempty"`
	ToolChoice          any            `json:"tool_choice,omitempty"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireFormat struct {
	Type   string      `json:"type"`
	Schema *wireSchema `json:"json_schema,omitempty"`
}

// wireSchema leaves out "strict": OpenAI's strict mode takes only a subset of
// JSON Schema and refuses the rest, other servers are strict anyway.
type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// chat returns the body of req for Chat Completions. Equal requests give equal
// bytes.
//
// The messages are written by hand: they are nearly the whole body, and
// encoding/json took 14 % of the time of a call for them.
func (e *encoder) chat(req *model.Request) ([]byte, error) {
	if len(req.Messages) == 0 {
		return nil, errors.New("encode request: it has no messages")
	}
	params, err := e.params(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	b := make([]byte, 0, bodySize(req)+len(params))
	b = append(b, `{"messages":[`...)
	for i, m := range req.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		if len(m.Parts) > 0 {
			if b, err = e.appendParts(b, m); err != nil {
				return nil, fmt.Errorf("encode message %d: %w", i, err)
			}
			continue
		}
		b = append(b, `{"role":`...)
		b = appendString(b, e.role(m.Role))
		b = append(b, `,"content":`...)
		b = e.system.append(b, m)
		b = append(b, '}')
	}
	b = append(b, `],`...)
	return append(b, params[1:]...), nil
}

func (e *encoder) role(role string) string {
	if role == model.System && e.quirks.SystemRole != "" {
		return e.quirks.SystemRole
	}
	return role
}

// params returns the body without its messages, as an object.
func (e *encoder) params(req *model.Request) ([]byte, error) {
	q := &e.quirks
	p := wireParams{Model: req.Model, Temperature: req.Temperature, TopP: req.TopP, ResponseFormat: e.format(req.Schema)}
	if q.NoTemperature {
		p.Temperature, p.TopP = nil, nil
	}
	if q.TokenField == MaxCompletionTokens {
		p.MaxCompletionTokens = req.MaxTokens
	} else {
		p.MaxTokens = req.MaxTokens
	}
	if q.CacheKey {
		p.PromptCacheKey = e.key.of(req)
	}
	if e.stream {
		p.Stream, p.StreamOptions = true, &streamOptions{IncludeUsage: true}
	}
	if err := q.checkEffort(req.ReasoningEffort); err != nil {
		return nil, err
	}
	if q.EffortField == "" {
		p.ReasoningEffort = req.ReasoningEffort
	}
	if q.SeedField == "" {
		p.Seed = req.Seed
	}
	if err := e.offer(&p, req); err != nil {
		return nil, err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return e.appendExtra(b, req), nil
}

// appendExtra adds the fields that only some servers know, and those of the user, to an object.
func (e *encoder) appendExtra(b []byte, req *model.Request) []byte {
	q := &e.quirks
	b = b[:len(b)-1]
	if own(q.EffortField) && req.ReasoningEffort != "" {
		b = appendString(append(b, ','), q.EffortField)
		b = appendString(append(b, ':'), req.ReasoningEffort)
	}
	if own(q.SeedField) && req.Seed != nil {
		b = appendString(append(b, ','), q.SeedField)
		b = strconv.AppendInt(append(b, ':'), *req.Seed, 10)
	}
	b = append(b, e.extra...)
	return append(b, '}')
}

// own reports whether a field has a name that only some servers know.
func own(field string) bool { return field != "" && field != NoField }

func (q *Quirks) checkEffort(effort string) error {
	if effort == "" || q.Efforts == nil || slices.Contains(q.Efforts, effort) {
		return nil
	}
	return fmt.Errorf("reasoning effort %q: the model takes %s", effort, strings.Join(q.Efforts, ", "))
}

func (e *encoder) format(s *model.Schema) *wireFormat {
	switch {
	case s == nil:
		return nil
	case e.schema.get() == SchemaNative:
		return &wireFormat{Type: SchemaNative, Schema: &wireSchema{Name: s.Name, Schema: s.JSON}}
	case e.schema.get() == SchemaObject:
		return &wireFormat{Type: SchemaObject}
	}
	return nil
}

// bodySize guesses the size of the messages, so that they are allocated once.
func bodySize(req *model.Request) int {
	n := 64
	for _, m := range req.Messages {
		n += len(m.Content) + len(m.Content)/16 + 64
		for _, p := range m.Parts {
			n += partSize(p)
		}
	}
	return n
}

// lastText remembers the encoded form of the last system message: the calls of
// a batch share the skill in it, which is most of what they send.
type lastText struct{ last atomic.Pointer[encodedText] }

type encodedText struct {
	text string
	json []byte
}

// append appends the content of m as a JSON string.
func (l *lastText) append(b []byte, m model.Message) []byte {
	if m.Role != model.System {
		return appendString(b, m.Content)
	}
	e := l.last.Load()
	if e == nil || e.text != m.Content {
		e = &encodedText{text: m.Content, json: appendString(nil, m.Content)}
		l.last.Store(e)
	}
	return append(b, e.json...)
}

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
// Unlike encoding/json it leaves <, > and & alone, which skills hold a lot and
// which would take six bytes each.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0 // s[:done] is written
	for i := 0; i < len(s); {
		ch := s[i]
		if ch >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[done:i]...)
				b = append(b, "\uFFFD"...)
				done = i + 1
			}
			i += n
			continue
		}
		if ch >= ' ' && ch != '"' && ch != '\\' {
			i++
			continue
		}
		b = append(b, s[done:i]...)
		switch ch {
		case '"', '\\':
			b = append(b, '\\', ch)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[ch>>4], hex[ch&15])
		}
		i++
		done = i
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}
