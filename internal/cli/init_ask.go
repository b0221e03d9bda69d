package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// draftedTasks is how many tasks are drafted for somebody who has none.
const draftedTasks = 30

// ask asks on a terminal what flags would say, and returns the folder, "" if there is nothing to write.
func (o *initOptions) ask(ctx context.Context, a *app, args []string) (dir string, err error) {
	q := &asking{in: bufio.NewReader(a.In), out: a.printer(a.Err)}
	if err := o.askTasks(a, q); err != nil {
		return "", err
	}
	if o.tasks == "sessions" {
		q.out.line("tasks of your agent's sessions are found and trained in one command: skillopt sleep try")
		return "", nil
	}
	if o.tasks != "" || o.generate > 0 {
		if err := o.askModel(ctx, a, q); err != nil {
			return "", err
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	dir, err = q.ask("name of the new folder [my-skill]: ")
	if dir == "" {
		dir = "my-skill"
	}
	return dir, err
}

// askTasks asks for the skill and the tasks.
func (o *initOptions) askTasks(a *app, q *asking) (err error) {
	if o.skill, err = q.path(a, "the skill, a SKILL.md or its folder [Enter: an empty one]: "); err != nil {
		return err
	}
	q.out.line("the tasks:")
	q.out.line("  a file or folder (CSV, JSONL, JSON or YAML with questions and answers), or")
	if o.skill != "" {
		q.out.line("  draft      a model drafts them from the skill, or")
	}
	q.out.line("  sessions   those that you corrected in sessions of your coding agent, or")
	if o.tasks, err = q.path(a, "  simulated  an example, to look around [simulated]: ", "draft", "sessions", "simulated"); err != nil {
		return err
	}
	switch {
	case o.tasks == "draft" && o.skill == "":
		return usagef("tasks are drafted from a skill: give one, or a file with tasks")
	case o.tasks == "draft":
		o.tasks, o.generate = "", draftedTasks
	case o.tasks == "simulated" || o.tasks == "":
		o.tasks, o.skill = "", ""
	}
	return nil
}

// askModel asks which of the models that are found here carries out the tasks.
func (o *initOptions) askModel(ctx context.Context, a *app, q *asking) error {
	var err error
	o.target, o.optimizer, err = q.model(a.offers(ctx), "a number, or PROVIDER/MODEL, or MODEL@URL: ")
	if err == nil && o.target == "" {
		err = usagef("no model was named; docs/models.md lists providers")
	}
	if err != nil {
		return err
	}
	if o.generate > 0 && o.optimizer == "" {
		o.optimizer = o.target
	}
	return nil
}

// model asks for a model, of those that are offered or another one, and for the optimizer behind it; "": none was named.
func (q *asking) model(offers []wiring.Offer, question string) (target, optimizer string, err error) {
	q.out.line("the model:")
	for i, f := range offers {
		text := f.Target
		if f.Optimizer != "" && f.Optimizer != f.Target {
			text += ", and " + f.Optimizer + " proposes edits"
		}
		q.out.line(fmt.Sprintf("  %d  %s (%s)", i+1, text, f.Why))
	}
	text, err := q.ask(question)
	if err != nil {
		return "", "", err
	}
	if i, err := strconv.Atoi(text); err == nil && i >= 1 && i <= len(offers) {
		return offers[i-1].Target, offers[i-1].Optimizer, nil
	}
	target, optimizer, _ = strings.Cut(text, " ")
	return target, optimizer, nil
}

// offers returns the models that this machine can ask: logins of coding agents, servers that
// run, vendors whose keys are in the environment.
func (a *app) offers(ctx context.Context) (out []wiring.Offer) {
	for _, row := range skillopt.ExamineAgents(ctx).Rows {
		name := strings.TrimPrefix(row.Name, "agent ")
		if row.OK && slices.Contains([]string{"claude", "codex", "copilot"}, name) {
			out = append(out, wiring.Offer{Target: name + "-cli", Optimizer: name + "-cli", Why: "its login"})
		}
	}
	for _, s := range wiring.LocalServers() {
		out = append(out, s.Offers(ctx)...)
	}
	lookup := a.lookup
	if lookup == nil {
		lookup = config.Environment
	}
	return append(out, wiring.KeyOffers(lookup)...)
}

// path asks for a file or folder that is there, or for one of some words; "" is the default.
func (q *asking) path(a *app, question string, words ...string) (string, error) {
	for {
		text, err := q.ask(question)
		if err != nil || text == "" || slices.Contains(words, text) || exists(a.absolute(text)) {
			return text, err
		}
		q.out.line(oneLine(text) + " is not there")
	}
}
