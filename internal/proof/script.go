package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Script is a model.Client that asks for one call of a tool after the other and then
// answers. It is safe for concurrent use.
type Script struct {
	expect Expect

	mu        sync.Mutex
	asked     int              // requests
	granted   trajectory.Usage // the sum over all answers
	offered   []string         // the tools of the first request that has some
	plan      []step           // made from them
	described bool             // the skill's description was in a request
	read      bool             // its body was
	results   map[deed]string
}

// NewScript returns the model of one proof.
func NewScript(e Expect) *Script { return &Script{expect: e, results: map[deed]string{}} }

var _ model.Client = (*Script)(nil)

// deed is what a step is for.
type deed int

const (
	loads    deed = iota // the skill
	refers               // to another file of the skill
	executes             // a script of the skill
	runs                 // a command
	writes               // a file
)

// step is one call.
type step struct {
	deed deed
	tool string
	args json.RawMessage
}

// Generate implements model.Client. What it asks for depends on how many results the
// conversation holds and on nothing else, so that a request which is sent again gets
// the same answer.
func (s *Script) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(req)
	resp := model.Response{Model: req.Model, Finish: model.FinishStop, Text: answer, Usage: s.grant()}
	if done := s.countResults(req.Messages); len(req.Tools) > 0 && done < len(s.plan) {
		next := s.plan[done]
		resp.Finish, resp.Text = model.FinishTools, ""
		resp.Parts = []model.Part{{Call: &model.ToolCall{ID: fmt.Sprintf("call_proof_%d", done+1), Name: next.tool, Arguments: next.args}}}
	}
	return resp, nil
}

// grant returns what one answer costs: all parts differ, and those of the next answer differ from
// those of the last.
func (s *Script) grant() trajectory.Usage {
	s.asked++
	n := int64(s.asked)
	u := trajectory.Usage{Input: 100 + 10*n, Cached: 60 + n, Output: 7 + n}
	s.granted = s.granted.Add(u)
	return u
}

// look notes what a request shows.
func (s *Script) look(req model.Request) {
	var told, results strings.Builder
	for _, m := range req.Messages {
		told.WriteString(m.Content)
		for _, p := range m.Parts {
			told.WriteString(p.Text)
			if p.Result != nil {
				results.WriteString(p.Result.Content)
			}
		}
	}
	for _, t := range req.Tools { // some list skills in the description of a tool
		told.WriteString(t.Description)
	}
	s.described = s.described || strings.Contains(told.String(), descriptionMark)
	s.read = s.read || strings.Contains(told.String()+results.String(), bodyMark)
	if len(s.plan) > 0 || len(req.Tools) == 0 {
		return
	}
	s.offered = nil
	for _, t := range req.Tools {
		s.offered = append(s.offered, t.Name)
	}
	s.plan = s.planFor(req.Tools)
}

// countResults counts the results in a conversation and keeps what they hold.
func (s *Script) countResults(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			if n < len(s.plan) {
				s.results[s.plan[n].deed] = p.Result.Content
			}
			n++
		}
	}
	return n
}

func (s *Script) step(d deed) (step, bool) {
	i := slices.IndexFunc(s.plan, func(st step) bool { return st.deed == d })
	if i < 0 {
		return step{}, false
	}
	return s.plan[i], true
}
