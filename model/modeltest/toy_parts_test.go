package modeltest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// messages are those that go out: without others' thoughts, with the images of
// results after them.
func (c *toy) messages(all []model.Message) []model.Message {
	var out []model.Message
	for _, m := range all {
		var kept []model.Part
		for _, p := range m.Parts {
			kept = append(kept, c.part(p)...)
		}
		m.Parts = kept
		out = append(out, m)
	}
	if c.flaw == "results last" && len(out) > 3 {
		out[2], out[3] = out[3], out[2]
	}
	return out
}

func (c *toy) part(p model.Part) []model.Part {
	switch {
	case p.Image != nil && c.flaw == "loses images":
		return nil
	case p.Result != nil:
		r := *p.Result
		if c.flaw == "errors are results" {
			r.IsError = false
		}
		if c.flaw == "loses a result's images" {
			r.Images = nil
		}
		return []model.Part{{Result: &r}}
	case p.Reasoning != nil && c.flaw == "breaks the seal":
		return []model.Part{{Reasoning: &model.Reasoning{Text: p.Reasoning.Text}}}
	case p.Reasoning != nil && p.Reasoning.Provider != "toy" && c.flaw != "sends others' thoughts":
		return nil
	}
	return []model.Part{p}
}

// parts fills in what an answer has beyond its text.
func (c *toy) parts(res *model.Response, w toyReply) error {
	var parts []model.Part
	if w.Thought != nil && c.flaw != "forgets its thoughts" {
		if c.flaw == "thinks aloud" {
			res.Text = w.Thought.Text + res.Text
		}
		parts = append(parts, model.Part{Reasoning: &model.Reasoning{Provider: "toy", Text: w.Thought.Text, Opaque: w.Thought.Mark}})
	}
	if res.Text != "" {
		parts = append(parts, model.Part{Text: res.Text})
	}
	plain := len(parts)
	if w.Thought == nil {
		plain = 0
	}
	for _, call := range w.Calls {
		p, err := c.call(w, call)
		if err != nil {
			return err
		}
		if p != nil {
			parts = append(parts, *p)
		}
		if strings.HasPrefix(c.flaw, "one call") && (c.Stream || c.flaw == "one call") {
			break
		}
	}
	if len(w.Calls) > 0 || plain > 0 {
		res.Parts = parts
	}
	if len(res.Parts) == 1 && res.Parts[0].Text != "" {
		res.Parts = nil
	}
	return nil
}

func (c *toy) call(w toyReply, call toyCall) (*model.Part, error) {
	args := call.Args
	if args == "" {
		args = "{}"
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(args), &object); err != nil && c.flaw != "broken arguments" {
		if w.Why == model.FinishLength && c.flaw != "a cut call is broken" {
			return nil, nil
		}
		return nil, errors.New("arguments are no object")
	}
	id := call.ID
	if c.flaw == "calls without ids" {
		id = ""
	}
	return &model.Part{Call: &model.ToolCall{ID: id, Name: call.Name, Arguments: json.RawMessage(args)}}, nil
}

// timed closes a body that is silent for too long.
func (c *toy) timed(body io.ReadCloser) *timedBody {
	b := &timedBody{ReadCloser: body, idle: c.Idle, resets: c.flaw != "counts all the time"}
	if b.idle == 0 || c.flaw == "waits for ever" {
		b.idle = 3 * time.Second
	}
	b.timer = time.AfterFunc(b.idle, func() {
		b.late.Store(true)
		_ = body.Close()
	})
	return b
}

type timedBody struct {
	io.ReadCloser
	idle   time.Duration
	resets bool
	timer  *time.Timer
	late   atomic.Bool
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.resets {
		b.timer.Reset(b.idle)
	}
	return n, err
}

// stream puts an answer together.
func (c *toy) stream(ctx context.Context, status int, body *timedBody) (model.Response, error) {
	defer body.timer.Stop()
	var said strings.Builder
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		data, ok := strings.CutPrefix(line, "data: ")
		if err != nil {
			if body.late.Load() && c.flaw != "waits for ever" {
				return model.Response{}, c.fault(model.Timeout, status, errors.New("the stream is silent"))
			}
			if errors.Is(err, io.EOF) && c.flaw == "ends early" {
				return model.Response{Text: said.String(), Finish: model.FinishStop}, nil
			}
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return model.Response{}, c.broken(ctx, status, err)
		}
		if !ok {
			continue
		}
		var w toyReply
		if err := json.Unmarshal([]byte(data), &w); err != nil && c.flaw != "skips bad events" {
			return model.Response{}, c.fault(model.Malformed, status, errors.New("an event that is no reply"))
		}
		if w.Sorry != "" && c.flaw != "an error is the end" {
			return model.Response{}, c.fault(model.Server, status, errors.New(c.clean(strings.ReplaceAll(w.Sorry, "\n", " "))))
		}
		if w.Say != nil {
			said.WriteString(*w.Say)
		}
		if w.Why != "" || w.Sorry != "" {
			text := said.String()
			w.Say = &text
			if c.flaw == "loses the usage" {
				w.In, w.Out = 0, 0
			}
			return c.response(status, w)
		}
	}
}
