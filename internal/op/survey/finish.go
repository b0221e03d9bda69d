package survey

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/result"
)

// line is a task as the file of tasks has it.
type line struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Split    string          `json:"split"`
	Prompt   string          `json:"prompt"`
	Reviewed *bool           `json:"reviewed,omitempty"`
	Repo     repository.Task `json:"repo"`
}

// finish writes down what was made.
func (s *surveyor) finish(_ context.Context, list []*made) (*result.Survey, error) {
	if len(list) == 0 {
		return nil, fault.Input(errNoTasks)
	}
	out := &result.Survey{
		Runner: string(s.suite.Kind), LeftOut: s.left, LeftOutTests: s.bad, Limit: s.Limit,
		Runs: s.runs.Made, Recorded: s.runs.Found, CPUSeconds: s.runs.CPU,
	}
	var tasks bytes.Buffer
	enc := json.NewEncoder(&tasks)
	enc.SetEscapeHTML(false)
	for _, m := range list {
		one := line{ID: m.id, Type: m.kind, Split: m.split, Prompt: m.prompt, Repo: m.Task}
		if m.worded {
			one.Reviewed = new(bool)
		}
		if err := enc.Encode(one); err != nil {
			return nil, fmt.Errorf("encode task: %w", err)
		}
		out.Tasks = append(out.Tasks, result.SurveyedTask{ID: m.id, Type: m.kind, Split: m.split, Source: m.Source, Fail: len(m.Fail), CPUSeconds: m.CPU, MB: m.MB})
		switch m.split {
		case "test":
			out.Test++
		case "train":
			out.Train++
		default:
			out.Selection++
		}
	}
	out.Missing = max(0, leastTest-out.Test)
	out.File = tasks.Bytes()
	out.Document, out.Seed = s.seed()
	out.Folds = out.Train+out.Selection < leastPool
	return out, nil
}
