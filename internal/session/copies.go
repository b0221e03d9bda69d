package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/task"
)

// compareTasks finds tasks that ask the same, and warns of those that are in two splits.
func (s *loader) compareTasks(context.Context) (err error) {
	if s.Counting && s.Tasks == nil {
		return nil // a survey keeps less than what is asked
	}
	if s.Set, err = s.Set.Compare(s.newAsk); err != nil || !s.Set.Assigned() {
		return err
	}
	train, selection := s.Set.Split(task.Train), s.Set.Split(task.Selection)
	for _, c := range []struct{ of, others []task.Task }{{s.Set.Split(task.Test), append(train, selection...)}, {selection, train}} {
		same, near := task.Shared(c.of, c.others)
		if s.Config.Bench.Name == "" { // of theirs the load has warned
			near = append(same, near...)
		}
		if len(near) > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: what is learned from one may be tested by the other; remove one of each", task.PairWords(near, "almost the same as a task of another split")))
		}
	}
	return nil
}

// newAsk returns what the target gets of a task. A task of which an environment makes nothing, or
// that it scores without gold and checks, counts as a task of its own.
func (s *loader) newAsk(t task.Task) (similar.Ask, error) {
	if s.OwnEnv() || s.WorldScores() {
		of := []any{t.Type, t.Data}
		if len(t.Gold) == 0 && len(t.Checks) == 0 || t.Prompt == "" && len(t.Data) == 0 {
			of = append(of, t.ID)
		}
		data, err := json.Marshal(of)
		return similar.Ask{Prompt: t.Prompt, Rest: string(data)}, err
	}
	system, prompt, err := s.ChatPrompt(nil).Texts(t)
	out := similar.Ask{Prompt: prompt, System: system, Rest: s.Images.Digest(t)}
	if p := namedPages(s.Inputs); p != nil {
		out.Rest += fmt.Sprint("\x00", t.Data[p.Field])
	}
	if s.worksInFolders() {
		for _, folder := range s.taskWorkspaces([]task.Task{t}) {
			out.Rest += "\x00" + s.brought.folders[folder]
		}
		out.Rest += fmt.Sprint("\x00", t.Data[rollout.FieldFiles]) // maps are printed in the order of their keys
	}
	if s.repository != nil && err == nil { // symptoms of unlike mistakes can have the same words
		own, err := repository.Read(t)
		out.Rest += "\x00" + cmp.Or(own.Kin, own.Base)
		return out, err
	}
	return out, err
}
