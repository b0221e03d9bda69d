package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// TrainedOn returns the training that chose a skill by the most of some tasks, of those in the
// folders whose ledgers count; nil if none did. It knows the skill by its SKILL.md, and the tasks
// by their ids. A run that cannot be read says nothing, and who gives the tasks, as
// a night does, knows what chose by them.
func (s *Session) TrainedOn(ctx context.Context, sk skill.Skill, tasks []task.Task) (*result.TrainedOn, error) {
	if s.Tasks != nil {
		return nil, nil
	}
	folders, err := s.ledgers(s.Run.Dir)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, t := range tasks {
		own[t.ID] = true
	}
	var out *result.TrainedOn
	for _, dir := range folders {
		entries, err := run.List(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("look for the training of the skill: %w", context.Cause(ctx))
			}
			if n := chosenBy(e, sk, own); e.Dir != s.Run.Dir && n > 0 && (out == nil || n > out.Tasks) {
				out = &result.TrainedOn{Run: filepath.Base(e.Dir), Tasks: n}
			}
		}
	}
	return out, nil
}

// chosenBy returns by how many of some tasks a run has judged a skill that it made.
func chosenBy(e run.Entry, sk skill.Skill, tasks map[string]bool) int {
	const file = "candidates.json"
	switch {
	case e.Err == nil && e.Manifest.TunedSource() != nil:
		return countTuned(e, sk, tasks)
	case e.Err != nil || e.Manifest.Kind != result.Train:
		return 0
	}
	var all result.Candidates
	data, found, err := run.ReadFile(e.Dir, file, run.Most(file))
	if err != nil || !found || run.Decode(file, data, &all) != nil {
		return 0
	}
	if !slices.ContainsFunc(all.Candidates, func(c result.Candidate) bool {
		return c.Origin != "seed" && slices.Equal(strings.Fields(c.Text), strings.Fields(sk.Text()))
	}) {
		return 0
	}
	n := 0
	for _, id := range all.Items {
		if tasks[id] {
			n++
		}
	}
	return n
}

// countTuned returns on how many of some tasks a run has scored a skill that a person has edited, having read their failures.
func countTuned(e run.Entry, sk skill.Skill, tasks map[string]bool) int {
	const file = "outcomes.json"
	tuned, err := skill.ReadDocument(os.DirFS(e.Dir), run.TunedFolder+"/"+skill.Main)
	if err != nil || !slices.Equal(strings.Fields(tuned.Text()), strings.Fields(sk.Text())) {
		return 0
	}
	var all map[string][]struct {
		ID string `json:"id"`
	}
	data, found, err := run.ReadFile(e.Dir, file, run.Most(file))
	if err != nil || !found || run.Decode(file, data, &all) != nil {
		return 0
	}
	n := 0
	for _, outcomes := range all {
		for _, o := range outcomes {
			if tasks[o.ID] {
				n++
			}
		}
	}
	return n
}
