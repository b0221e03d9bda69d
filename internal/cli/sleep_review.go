package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// sleepReviewOptions are the flags of sleep review.
type sleepReviewOptions struct {
	accept, reject []string
	edit           []string // tasks as JSON
	editor         string
}

func sleepReviewCommand(a *app, at *sleepFlags) *cobra.Command {
	var o sleepReviewOptions
	c := &cobra.Command{
		Use:   "review",
		Short: "Go through the tasks that were found in sessions, and accept or reject them",
		Long: `Go through the tasks that were found in sessions and have no review yet, as tasks
review does: those first that are held until somebody has looked, with why. Each is shown
with the answer that was corrected and the one that was accepted, where they are kept. In an
editor that --editor names you may change what is asked, what is expected, the checks and what
analysts get; checks that do not separate those two answers any more are not taken. --edit takes
such a change from a script, and accepts the task.
Every decision is written at once. Nights use tasks that are not held without a review;
what they find is exploratory then, and never certified.`,
		Example: `  skillopt sleep review
  skillopt sleep review --editor nano
  skillopt sleep review --json
  skillopt sleep review --edit '{"id": "mined-0a1b2c3d4e5f6071", "gold": ["15:10"]}'
  skillopt sleep review --accept mined-0a1b2c3d4e5f6071,mined-8a9b0c1d2e3f4051 --reject mined-1122334455667788`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *at) },
	}
	c.Flags().StringSliceVar(&o.accept, "accept", nil, "accept these tasks unseen, by id")
	c.Flags().StringSliceVar(&o.reject, "reject", nil, "reject these tasks, by id")
	c.Flags().StringArrayVar(&o.edit, "edit", nil, "accept a task with what this JSON has of its id, prompt, correction, gold and checks, as --json shows them (repeatable)")
	c.Flags().StringVar(&o.editor, "editor", "", "editor to edit with, such as nano or \"code --wait\"")
	return c
}

// minedTask is a task that waits for a review.
type minedTask struct {
	result.MinedTask

	task wish.Task
}

func (o *sleepReviewOptions) run(ctx context.Context, a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	if len(o.accept)+len(o.reject)+len(o.edit) > 0 {
		return o.decide(ctx, a, setup)
	}
	list, err := o.readUnreviewedTasks(ctx, setup)
	switch {
	case err != nil:
		return err
	case a.json:
		return printJSON(a.Out, ask.Shareable(list))
	case len(list) == 0:
		a.stdoutPrinter().line("nothing to review: no task of an allowed project waits")
		return nil
	case !isTerminal(a.In):
		return usagef("%s to be reviewed, but there is no terminal to ask on; run this in a terminal, or look at them with --json and decide with --accept and --reject", wording.Plural(len(list), "task is", "tasks are"))
	}
	return o.reviewMined(ctx, a, setup, list)
}

// decide takes what scripts say.
func (o *sleepReviewOptions) decide(ctx context.Context, a *app, setup sleepSetup) error {
	said := map[string]bank.Review{}
	for _, id := range o.accept {
		said[id] = bank.Accepted
	}
	for _, id := range o.reject {
		if said[id] == bank.Accepted {
			return usagef("%s: it is accepted and rejected at once; give it once", id)
		}
		said[id] = bank.Rejected
	}
	if err := o.takeEdits(ctx, setup, said); err != nil {
		return err
	}
	if err := sayTasks(ctx, setup, said); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, result.Reviewed{Accepted: len(said) - len(o.reject), Rejected: len(o.reject)})
	}
	a.stdoutPrinter().line(fmt.Sprintf("%d accepted, %d rejected", len(said)-len(o.reject), len(o.reject)))
	return nil
}

// sayTasks puts what was said into the bank, if it knows all of the tasks.
func sayTasks(ctx context.Context, setup sleepSetup, said map[string]bank.Review) (err error) {
	b, err := setup.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	known, err := allTasks(ctx, b)
	if err != nil {
		return err
	}
	for id := range said {
		if _, is := known[id]; !is {
			return usagef("there is no task %s; `skillopt sleep review --json` lists those that wait", id)
		}
	}
	return b.Say(ctx, "review", said)
}

// allTasks returns all tasks of the bank, by id.
func allTasks(ctx context.Context, b *bank.Bank) (map[string]bank.Task, error) {
	known := map[string]bank.Task{}
	groups, err := b.Groups(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		clusters, err := b.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return nil, err
		}
		for _, c := range clusters {
			for _, t := range c.Tasks {
				known[t.Task.Task.ID] = t
			}
		}
	}
	return known, nil
}

// readUnreviewedTasks returns the tasks that no one has reviewed, those first that are held.
func (o *sleepReviewOptions) readUnreviewedTasks(ctx context.Context, setup sleepSetup) (list []minedTask, err error) {
	list = []minedTask{}
	b, err := setup.look(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	allowed, err := setup.projects()
	if err != nil {
		return nil, err
	}
	of := setup.projectFilter()
	groups, err := b.Groups(ctx)
	if err != nil {
		return nil, err
	}
	sessions := map[string]*transcript.Transcript{}
	for _, g := range groups {
		if !of(g.Project) || !allowed.Allow(g.Project) {
			continue
		}
		clusters, err := b.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return nil, err
		}
		for _, c := range clusters {
			for i := range c.Tasks {
				t := &c.Tasks[i]
				if t.Reviewed != bank.Unreviewed || t.Unfit != "" {
					continue
				}
				m, err := newMinedTask(ctx, b, t, sessions)
				if err != nil {
					return nil, err
				}
				list = append(list, m)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b minedTask) int { return yesNo(b.Held != "") - yesNo(a.Held != "") })
	return list, nil
}

// newMinedTask returns a task with the answers of its session, which may be gone. sessions are those that were looked up.
func newMinedTask(ctx context.Context, b *bank.Bank, t *bank.Task, sessions map[string]*transcript.Transcript) (minedTask, error) {
	m := minedTask{task: t.Task, MinedTask: result.MinedTask{
		ID: t.Task.Task.ID, Held: t.Held, Project: t.Project, Skill: t.Skill, Trust: string(t.Trust), Prompt: t.Task.Task.Prompt, Gold: t.Task.Task.Gold,
		Checks: t.Task.Task.Checks, Said: t.Task.Task.Hidden, Doubts: t.Task.Task.Data["doubts"], Place: night.DescribePlace(&t.Task),
	}}
	if len(t.Seen) == 0 {
		return m, nil
	}
	m.Session = result.MinedAt(t.Seen[0])
	key := m.Session.Source + "/" + m.Session.Session
	if _, looked := sessions[key]; !looked {
		sessions[key] = nil
		err := b.Sessions(ctx, bank.Filter{ID: m.Session.Session}, func(s bank.Session) error {
			if s.Source == m.Session.Source && s.ID == m.Session.Session {
				sessions[key] = &s.Transcript
				return bank.ErrEnough
			}
			return nil
		})
		if err != nil {
			return m, err
		}
	}
	s := sessions[key]
	if s == nil {
		return m, nil
	}
	corrected, accepted := correction.Answers(s.Turns, m.Session.Turn)
	if accepted >= 0 {
		m.Accepted = s.Turns[accepted].Agent
	}
	if corrected >= 0 {
		m.Corrected = s.Turns[corrected].Agent
	}
	return m, nil
}

// reviewMined goes through tasks on the terminal: in a file that tasks review can go through, which is deleted after.
func (o *sleepReviewOptions) reviewMined(ctx context.Context, a *app, setup sleepSetup, list []minedTask) (err error) {
	dir, err := os.MkdirTemp("", "skillopt-review-")
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "tasks.jsonl")
	if err := os.WriteFile(path, reviewLines(list), 0o600); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	r, err := draft.OpenReview(path)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	edits := minedEdits{list: list, tasks: map[string]wish.Task{}}
	w := &reviewer{app: a, options: tasksReviewOptions{editor: o.editor}, out: a.Out, in: bufio.NewReader(a.In), lookup: setup.loaded.Lookup, reviews: []*draft.Review{r}, total: len(list), mined: true, edited: edits.take}
	w.decided = func(id string, ok bool) error {
		if t, is := edits.tasks[id]; is && ok {
			if err := rewordTask(ctx, setup, t); err != nil {
				return err
			}
		}
		said := bank.Rejected
		if ok {
			said = bank.Accepted
		}
		return sayTasks(ctx, setup, map[string]bank.Review{id: said})
	}
	switch err := w.all(); {
	case errors.Is(err, errInterrupted):
		return &shownError{errors.Join(err, w.print())}
	case err != nil && !errors.Is(err, errQuit):
		return err
	}
	return w.print()
}

// reviewLines returns tasks as a review reads them.
func reviewLines(list []minedTask) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, m := range list {
		line := map[string]any{"id": m.ID, "reviewed": false, "prompt": m.Prompt, "hidden": m.Said, "session": fmt.Sprintf("%s %s, of %s", m.Session.Source, m.Session.Session, m.Project), "judged by": m.Trust}
		for name, text := range map[string]string{"held, since": m.Held, "skill": m.Skill, "carried out": m.Place, "was corrected": m.Corrected, "was accepted": m.Accepted} {
			if strings.TrimSpace(text) != "" {
				line[name] = text
			}
		}
		if len(m.Gold) > 0 {
			line["gold"] = m.Gold
		}
		if len(m.Checks) > 0 {
			line["checks"] = m.Checks
		}
		if m.Doubts != nil {
			line["doubts"] = m.Doubts
		}
		_ = enc.Encode(line) // of plain values, into memory
	}
	return out.Bytes()
}
