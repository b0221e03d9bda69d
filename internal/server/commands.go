package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Lint is what is found in tasks and skill before money is spent on them.
type Lint struct {
	Tasks    *TaskLint        `json:"tasks"` // null: they are not set, or wrong
	Skill    *SkillLint       `json:"skill"` // null: it is not set, or cannot be read
	Problems []result.Problem `json:"problems"`
}

// TaskLint is what `skillopt tasks lint --json` prints.
type TaskLint struct {
	result.TaskReport
	Findings []result.Problem `json:"findings"`
}

// SkillLint is what `skillopt skill lint --json` prints.
type SkillLint struct {
	Skill    string          `json:"skill"`
	Files    int             `json:"files"`
	Findings []skill.Finding `json:"findings"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
}

// Tried is what `skillopt try --json` prints.
type Tried struct {
	Evaluations []ask.Evaluation `json:"evaluations"`
	*result.Evaluation
}

// TryRequest says how many tasks are tried.
type TryRequest struct {
	Number int `json:"number"`
}

const (
	mostTried   = 10
	commandTime = 10 * time.Minute // of a command that an answer waits for
)

// extend gives an answer the time of a command.
func extend(w http.ResponseWriter, r *http.Request) (context.Context, context.CancelFunc) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // a writer without deadlines has none to set
	_ = c.SetWriteDeadline(time.Now().Add(commandTime + answerTime))
	return context.WithTimeout(r.Context(), commandTime)
}

// command returns a route of a config that answers with the document of a command.
func (s *Server) command(name, summary string, body, doc any, a func(ctx context.Context, at result.ConfigFile, r *http.Request) (any, error)) route {
	rt := change(http.MethodPost, "/configs/{config}/"+name, summary, body, doc, func(w http.ResponseWriter, r *http.Request) (any, error) {
		ctx, cancel := extend(w, r)
		defer cancel()
		at, err := s.startable(r)
		if err != nil {
			return nil, err
		}
		return a(ctx, at, r)
	})
	rt.stream = true // it takes longer than other answers, and no place among them
	return rt
}

// do carries out a command about a config. A document is the answer, also of a command that has failed then.
func (s *Server) do(ctx context.Context, words ...string) (any, error) {
	text, err := s.options.Program.Do(ctx, words...)
	if len(text) > 0 {
		return json.RawMessage(text), nil
	}
	return nil, err
}

// lint shows what is found in tasks and skill.
func (s *Server) lint(ctx context.Context, at result.ConfigFile, _ *http.Request) (any, error) {
	var out struct {
		Tasks    any              `json:"tasks"`
		Skill    any              `json:"skill"`
		Problems []result.Problem `json:"problems"`
	}
	look := func(words ...string) (any, error) {
		doc, err := s.do(ctx, words...)
		var wrong interface{ Problems() []result.Problem }
		if errors.As(err, &wrong) {
			out.Problems = append(out.Problems, wrong.Problems()...)
			return nil, nil
		}
		return doc, err
	}
	dir := path.Dir(at.Path)
	if text, _ := at.Values["skill"].(string); text != "" {
		var err error
		if out.Skill, err = look("skill", "lint", "--", path.Join(dir, text)); err != nil {
			return nil, err
		}
	}
	var err error
	out.Tasks, err = look("tasks", "lint", "--", dir)
	return out, err
}

func (s *Server) plan(ctx context.Context, at result.ConfigFile, _ *http.Request) (any, error) {
	return s.do(ctx, "train", "--plan", "--", path.Dir(at.Path))
}

// lockModels keeps commands that ask models from running next to each other.
func (s *Server) lockModels() (leave func(), err error) {
	if !s.asking.TryLock() {
		return nil, &door.Refusal{Status: http.StatusTooManyRequests, Kind: door.Busy, Message: "models are asked for a page already", Help: "wait until doctor or try has ended"}
	}
	return s.asking.Unlock, nil
}

func (s *Server) doctor(ctx context.Context, at result.ConfigFile, _ *http.Request) (any, error) {
	leave, err := s.lockModels()
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.do(ctx, "doctor", "--", path.Dir(at.Path))
}

// try carries out a few tasks.
func (s *Server) try(ctx context.Context, at result.ConfigFile, r *http.Request) (any, error) {
	var t TryRequest
	if err := body(r, &t); err != nil {
		return nil, err
	}
	if t.Number < 1 || t.Number > mostTried {
		return nil, wrong("number %d: allowed are 1 to %d", t.Number, mostTried)
	}
	leave, err := s.lockModels()
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.do(ctx, "try", "--number="+strconv.Itoa(t.Number), "--yes", "--", path.Dir(at.Path))
}
