package night

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// losingNights is in how many nights a rule may lose on fresh tasks until it is proposed for removal.
const losingNights = 2

// ground says which tasks the rules of a proposal rest on: those whose failures were read by the analysts who asked for
// them, by the record of the run; and which of these the proposal has won on fresh answers.
// Where the record cannot be read it says so, and names none.
func (n trainer) ground(j *job, dir, version string) {
	if len(j.out.Rules) == 0 {
		return
	}
	b, err := ask.Blame(dir, n.relativePath(dir), version)
	if err != nil {
		n.note(fmt.Sprintf("%s: what its rules rest on is not known: %v", j.doc.ID(), err))
		return
	}
	of := map[string][]string{} // tasks, by the text of a line
	for _, s := range b.Sources {
		if s.Reason == nil {
			continue
		}
		for _, line := range b.Lines {
			if slices.Contains(s.Lines, line.Number) {
				of[strings.TrimSpace(line.Text)] = s.Reason.Tasks
			}
		}
	}
	for i := range j.out.Rules {
		r := &j.out.Rules[i]
		r.Tasks = append([]string{}, of[r.Text]...)
		for _, id := range r.Tasks {
			if j.won[id] {
				r.Won = append(r.Won, id)
			}
		}
	}
}

// grounded are the rules that earlier nights have staged for a document, by their text: the tasks that the newest night
// named as their grounds, and the nights that staged them.
type grounded struct {
	tasks  []string
	nights []string
}

// readRules reads what earlier nights have staged for a document, the newest first. The nights' documents in the bank know
// which rule rests on which tasks; if they were forgotten, nothing is known of a rule.
func (n settler) readRules(ctx context.Context, doc target.Target) (map[string]grounded, error) {
	nights, err := n.Bank.Nights(ctx, n.Project)
	if err != nil {
		return nil, err
	}
	out := map[string]grounded{}
	for _, row := range nights {
		var r Report
		if row.ID == n.report.ID || json.Unmarshal(row.Data, &r) != nil { // a damaged one is reported where it is shown
			continue
		}
		for _, t := range r.Targets {
			for _, rule := range t.Rules {
				if t.Target != doc.ID() || t.Proposed == "" {
					continue
				}
				g := out[rule.Text]
				if g.tasks == nil {
					g.tasks = rule.Tasks
				}
				g.nights = append(g.nights, row.ID)
				out[rule.Text] = g
			}
		}
	}
	return out, nil
}

// removals notes the rules of the live document that nothing speaks for any more: all tasks that they rest on sleep, or are
// gone; or texts that had them lost, on tasks that were fresh to them, in two nights. It notes only rules of earlier nights.
func (n settler) removals(ctx context.Context, j *job, clusters []bank.Cluster) error {
	rules, err := n.readRules(ctx, j.doc)
	if err != nil || len(rules) == 0 {
		return err
	}
	awake := map[string]bool{}
	for i := range clusters {
		for _, t := range clusters[i].Tasks {
			awake[t.Task.Task.ID] = !clusters[i].Asleep(n.report.Started, time.Duration(n.Config.Sleep.HalfLife))
		}
	}
	since, err := bank.Since(ctx, n.Bank, n.Project, j.doc.ID())
	if err != nil {
		return err
	}
	past := slices.Concat(j.past, since)
	for line := range strings.Lines(n.editableText(j)) {
		text := strings.TrimSpace(line)
		g, ours := rules[text]
		if text == "" || !ours || slices.Contains(j.out.Remove, text) {
			continue
		}
		lost := lostNights(past, g.nights, n.report.ID)
		switch {
		case len(lost) >= losingNights:
			j.out.Remove, j.out.RemoveWhy = append(j.out.Remove, text), append(j.out.RemoveWhy, "texts with it lost on new tasks in nights "+strings.Join(lost, ", "))
		case len(g.tasks) > 0 && !slices.ContainsFunc(g.tasks, func(id string) bool { return awake[id] }):
			j.out.Remove, j.out.RemoveWhy = append(j.out.Remove, text), append(j.out.RemoveWhy, fmt.Sprintf("the %s that it rests on were not seen for long", wording.Plural(len(g.tasks), "task", "tasks")))
		}
	}
	return nil
}

// editableText returns what a night may change of the live document.
func (n settler) editableText(j *job) string {
	if n.whole(j) {
		return j.doc.Text
	}
	text, err := skill.LearnedText(j.doc.Text)
	if err != nil {
		return "" // there is no region, or one that training refuses
	}
	return text
}

// lostNights returns the nights, before this one, in which texts that some nights have staged scored less than the live
// document on the tasks that were new to both.
func lostNights(past []bank.Candidate, staged []string, current string) []string {
	sums := map[string]float64{}
	for _, c := range past {
		if !slices.Contains(staged, c.Night) {
			continue
		}
		for _, p := range c.Pairs {
			if p.Night != current {
				sums[p.Night] += p.Staged - p.Live
			}
		}
	}
	var out []string
	for night, sum := range sums {
		if sum < 0 {
			out = append(out, night)
		}
	}
	slices.Sort(out)
	return out
}

// guide returns what analysts of a document are given in words: the user's guide, and after it which rules are
// proposed for removal. Whether one goes is an edit like any other, which the gate judges.
func (n trainer) guide(cfg *config.Config, j *job) string {
	text := cfg.NightGuide()
	if len(j.out.Remove) == 0 {
		return text
	}
	const head = "These lines of the document are proposed for removal, since what they rest on was not seen for long, or since they lost on new tasks. Delete each that the evidence before you does not need:"
	more := head
	for _, line := range j.out.Remove {
		if len(text)+2+len(more)+1+len(line) > config.MaxGuide {
			break
		}
		more += "\n" + line
	}
	if more == head {
		return text
	}
	return strings.TrimSpace(text + "\n\n" + more)
}

// settleRemovals leaves of the rules that are proposed for removal those that a text still has.
func (j *job) settleRemovals(text string) {
	have := map[string]bool{}
	for line := range strings.Lines(text) {
		have[strings.TrimSpace(line)] = true
	}
	lines, why := j.out.Remove, j.out.RemoveWhy
	j.out.Remove, j.out.RemoveWhy = []string{}, nil
	for i, line := range lines {
		if have[line] {
			j.out.Remove, j.out.RemoveWhy = append(j.out.Remove, line), append(j.out.RemoveWhy, why[i])
		}
	}
}

// runDir returns the folder of the training of a document.
func (n *night) runDir(j *job) string {
	return filepath.Join(n.Dir, RunsDir, n.runName(n.report.ID+"-"+slug(j.doc.ID())))
}
