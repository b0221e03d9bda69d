package draft

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// solve has the author answer tasks without the expected answer, as an agent
// would, and returns those that hold: an answer passes the checks. A task that
// only a second answer passes is kept with a doubt.
func (d *drafter) solve(ctx context.Context, found []candidate) ([]candidate, error) {
	given := make([]solution, len(found))
	err := d.each(ctx, model.StageDraftCheck, len(found), func(ctx context.Context, i int) (err error) {
		given[i], err = d.attempt(ctx, found[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	var held []candidate
	for i, c := range found {
		switch s := given[i]; {
		case !s.agreed && len(s.others) > 0:
			d.fall(c, Disagreed, fmt.Sprintf("expected %q, answered %q", c.gold[0], strings.Join(s.others, "; ")))
			continue
		case !s.agreed:
			c.doubts = append(c.doubts, doubtNothing)
		case len(s.others) > 0:
			c.doubts = append(c.doubts, fmt.Sprintf(doubtSecond, excerpt(s.others[0], 120)))
		}
		held = append(held, c)
	}
	return held, nil
}

// solution is what an author answered to a task of its own.
type solution struct {
	agreed bool
	others []string // answers that did not pass
}

func (d *drafter) attempt(ctx context.Context, c candidate) (solution, error) {
	var s solution
	t, err := c.task()
	if err != nil {
		return s, err
	}
	system, user, err := d.renderSolveRequest(c)
	if err != nil {
		return s, err
	}
	for n := range answers {
		text, err := d.Ask(ctx, Request{
			Key: fmt.Sprintf("%s/answer%d", c.id, n+1), Stage: model.StageDraftCheck, System: system, User: user,
		})
		if errors.Is(err, ErrLost) {
			continue // no answer is no other answer
		}
		if err != nil {
			return s, err
		}
		answer, err := d.extract.Answer(text)
		if err != nil {
			continue // nor is one that a pattern did not find in time
		}
		if d.linter.suite.Score(answer, t).Hard == 1 {
			s.agreed = true
			return s, nil
		}
		s.others = append(s.others, answer)
	}
	return s, nil
}

// renderSolveRequest returns the prompts that ask an author to solve a task: what the target will
// be asked, with the reference that the task is about next to SKILL.md.
func (d *drafter) renderSolveRequest(c candidate) (system, user string, err error) {
	text := strings.Join(d.material.Files[0].Lines, "\n")
	if file := d.parts[c.part].File; file > 0 {
		f := d.material.Files[file]
		text += fmt.Sprintf("\n\n# Reference %s\n\n%s", f.Path, strings.Join(f.Lines, "\n"))
	}
	if system, err = d.prompts.solve.Render(map[string]any{"skill": text}); err != nil {
		return "", "", err
	}
	user, err = d.prompts.answer.Render(map[string]any{"prompt": c.prompt})
	return system, user, err
}
