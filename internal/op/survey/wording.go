package survey

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/symptom"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// asking asks a model for the text of a task, which is "" where the model gave none that could be used. It is nil where there is no model.
type asking func(ctx context.Context, id string, source symptom.Source) (string, error)

// surveyWithModel makes the tasks in a run that records what the optimizer is asked.
func surveyWithModel(ctx context.Context, cfg config.Config, req Request, o session.Options) (*result.Survey, error) {
	in, err := session.NewInputs(session.OptimizerOnly(cfg), o)
	if err != nil {
		return nil, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, err
	}
	s.Identify("survey.prompts", symptom.Prompts())
	limit := req.Limit
	if limit == 0 {
		limit = DefaultTasks
	}
	var out *result.Survey
	err = s.Do(ctx, session.Op{
		Kind:  result.MineTasks,
		Check: func() error { return s.Models.Load(model.Optimizer) },
		Ask: func(context.Context) (result.Plan, error) {
			return result.Plan{Total: 2 * limit, Simulated: s.Simulated(), Stages: []result.StageCalls{{Stage: model.StageMine, Calls: 2 * limit}}}, nil
		},
		Work: func(ctx context.Context) (result.Status, error) {
			if out, err = survey(ctx, req, s.Loaded.Lookup, asksIn(s)); err != nil {
				return "", err
			}
			usage, _ := s.Account()
			s.Emit(event.RunDone{Status: string(result.Completed), WallS: usage.WallS})
			return result.Completed, nil
		},
	})
	return out, err
}

// asksIn asks the optimizer of a session. What it is asked is part of the key: another symptom is another question.
func asksIn(s *session.Session) asking {
	return func(ctx context.Context, id string, source symptom.Source) (text string, err error) {
		system, user, schema := symptom.Request(source)
		reply, err := s.Ask("word")(ctx, optimize.Request{
			Key: id + "/" + digest(user)[:8], Stage: model.StageMine, System: system, User: user,
			Schema: &model.Schema{Name: "report", JSON: schema},
			Accept: func(reply string) error {
				_, err := symptom.Read(reply, source)
				return err
			},
		})
		if errors.Is(err, optimize.ErrLost) || errors.Is(err, optimize.ErrTimeout) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return symptom.Read(reply, source)
	}
}
