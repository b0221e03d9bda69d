// Package mine is the operation that has the optimizer find tasks in sessions of agents.
//
// It knows sessions, the configured ones of this program, and asks what internal/sleep/mine wants
// to know. It knows nothing of how tasks are found and judged, nor of where what agents wrote down
// comes from or whether it may be sent: its caller has asked.
package mine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/sleep/mine"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// MaxSessions is the most sessions that one call looks at.
const MaxSessions = mine.MaxSessions

// Request says what is mined.
type Request struct {
	// Sessions are lines of JSON, one a session: transcript.Transcript, or what has its members.
	// One that looks like another, by source and id, is an error.
	Sessions []byte

	// Accepted, if set, returns what files held that a turn wrote and the user kept, by their
	// names in the session; nil: it is not known. It may be called concurrently.
	Accepted func(ctx context.Context, source, session, turn string) (map[string]string, error)
}

// Run mines. Of cfg it uses models.optimizer, limits, prices, cache and record. Every call is
// recorded in the directory of the options: the same request again pays for nothing twice. An
// error comes with what was used, and no task.
func Run(ctx context.Context, cfg config.Config, req Request, o session.Options) (*result.Mine, error) {
	sessions, err := read(req.Sessions)
	if err != nil {
		return nil, fault.Input(err)
	}
	s, err := prepare(ctx, cfg, req, len(sessions), o)
	if err != nil {
		return nil, err
	}
	var out *result.Mine
	err = s.Do(ctx, session.Op{
		Kind:  result.MineTasks,
		Check: func() error { return s.Models.Load(model.Optimizer) },
		Ask:   func(context.Context) (result.Plan, error) { return plan(s, sessions), nil },
		Work: func(ctx context.Context) (result.Status, error) {
			if out, err = work(ctx, s, req, sessions); err != nil {
				return "", err
			}
			return result.Completed, nil
		},
	})
	var other *run.IdentityError
	if errors.As(err, &other) {
		err = fault.Input(&otherError{other})
	}
	return out, err
}

// otherError says of a folder that it holds another mining. It unwraps to the error of the run.
type otherError struct{ run *run.IdentityError }

func (e *otherError) Error() string {
	return fmt.Sprintf("%s holds the record of mining with other sessions or settings:\n  %s\nuse the same, choose another folder, or remove that one", e.run.Dir, strings.Join(e.run.Changes, "\n  "))
}

func (e *otherError) Unwrap() error { return e.run }

// read reads the sessions of a request.
func read(text []byte) ([]transcript.Transcript, error) {
	var out []transcript.Transcript
	seen := map[string]int{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var t transcript.Transcript
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("sessions, line %d: %w", n, err)
		}
		name := t.Source + "/" + t.ID
		if t.Source == "" || t.ID == "" {
			return nil, fmt.Errorf("sessions, line %d: a session needs a source and an id (the members source and session)", n)
		}
		if first := seen[name]; first > 0 {
			return nil, fmt.Errorf("sessions, line %d: the session %s is on line %d already", n, name, first)
		}
		seen[name] = n
		out = append(out, t)
	}
	return out, nil
}

// prepare loads what mining needs. It depends on nothing else, so that the record fits also when
// the rest of the configuration has changed.
func prepare(ctx context.Context, cfg config.Config, req Request, n int, o session.Options) (*session.Session, error) {
	in, err := session.NewInputs(session.OptimizerOnly(cfg), o)
	if err != nil {
		return nil, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, err
	}
	texts, err := mine.Digest()
	if err != nil {
		return nil, err
	}
	s.Identify("mine", strconv.Itoa(n))
	s.Identify("mine.sessions", session.Digest(req.Sessions))
	s.Identify("mine.prompts", texts)
	return s, nil
}

func plan(s *session.Session, sessions []transcript.Transcript) result.Plan {
	calls := mine.Plan(sessions)
	return result.Plan{Total: calls, Simulated: s.Simulated(), Stages: []result.StageCalls{{Stage: model.StageMine, Calls: calls}}}
}

// files are those that a request knows.
type files func(ctx context.Context, source, session, turn string) (map[string]string, error)

func (f files) Accepted(ctx context.Context, t transcript.Transcript, turn int) (map[string]string, error) {
	return f(ctx, t.Source, t.ID, t.Turns[turn].ID)
}

// work mines in an open run.
func work(ctx context.Context, s *session.Session, req Request, sessions []transcript.Transcript) (*result.Mine, error) {
	o := mine.Options{
		Sessions: sessions, Clean: s.Loaded.Redactor(wiring.Secrets(s.Config, s.Loaded.Lookup)...),
		Ask: func(ctx context.Context, q draft.Request) (string, error) { return ask(ctx, s, q) },
		Progress: func(done, total int) {
			p := s.Usage()
			p.Stage, p.Done, p.Total = model.StageMine, done, total
			s.Emit(p)
		},
	}
	if req.Accepted != nil {
		o.Files = files(req.Accepted)
	}
	mined, err := mine.Run(ctx, o)
	m := &result.Mine{RunDir: s.Run.Dir, Simulated: s.Simulated(), Funnel: mined.Funnel, Recorded: s.Recorded}
	m.Usage, _ = s.Account()
	if err != nil {
		return m, err // what was used is used
	}
	var tasks bytes.Buffer
	enc := json.NewEncoder(&tasks)
	enc.SetEscapeHTML(false)
	for _, t := range mined.Tasks {
		if err := enc.Encode(t); err != nil {
			return nil, fmt.Errorf("encode task: %w", err)
		}
	}
	m.Tasks = tasks.Bytes()
	s.Emit(event.RunDone{Status: string(result.Completed), WallS: m.WallS})
	return m, errors.Join(s.Run.WriteFile("tasks.jsonl", m.Tasks), s.Run.WriteJSON("funnel.json", m.Funnel))
}

// ask asks the optimizer about a session.
func ask(ctx context.Context, s *session.Session, q draft.Request) (string, error) {
	text, err := s.Ask("mine")(ctx, optimize.Request{Key: q.Key, Stage: q.Stage, System: q.System, User: q.User, Schema: q.Schema, Accept: q.Accept})
	if errors.Is(err, optimize.ErrLost) {
		return "", draft.ErrLost
	}
	return text, err
}
