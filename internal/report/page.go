package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// page is all that a report shows, in words and numbers. Its texts are clean; the
// templates decide how they look and escape them.
type page struct {
	Name     string
	Title    string
	Lead     string // one sentence
	Notices  []notice
	Tiles    []tile
	Chart    chart
	Steps    []stepRow
	Raced    bool // differences have a standard error
	Heatmap  heatmap
	Failing  *failing
	Skill    []skillFile
	Changed  bool // the best skill differs from the seed skill
	HasSkill bool
	Origins  []group
	Arms     []arm
	Compared string // of the arms, in words
	Costs    []cost
	Spent    []fact
	Lost     []loss
	Ended    bool
	Facts    []fact
	Commands []command
	Problems []string
}

type notice struct {
	Class string // warn, note
	Head  string
	Text  string
}

type tile struct{ Label, Value, Note string }

type fact struct{ Name, Value string }

type command struct{ Text, What string }

type stepRow struct {
	column
	Epoch  int
	Train  string
	Edits  string
	Range  string
	Part   string // "on 3 of 40" for a score of a part of the tasks, else ""
	Change string
	Reason string
}

func newPage(r *Run) page {
	columns := r.columns()
	blame := r.Blame("best", r.Best)
	r.anchor(columns, blame)
	p := page{
		Name: line(r.Name, reasonLength), HasSkill: r.HasBest, Changed: r.HasBest && !r.Best.Equal(r.Seed),
		Notices: r.notices(), Tiles: r.tiles(), Lead: r.lead(),
		Chart: newChart(columns), Steps: r.stepRows(columns), Heatmap: newHeatmap(columns), Failing: r.failingTasks(),
		Origins: groups(blame), Arms: r.arms(), Compared: r.armsLead(),
		Lost: r.losses(), Facts: r.facts(), Commands: r.commands(), Problems: lines(blame.Problems, reasonLength),
	}
	if r.HasBest {
		p.Skill = annotatedFiles(r.Seed, blame)
	}
	if r.Summary != nil {
		p.Costs, p.Spent = costs(r.Summary), spendFacts(r)
	}
	p.Ended = r.Summary != nil && r.Summary.Status == "completed"
	p.Raced = slices.ContainsFunc(r.History.Steps, func(s result.StepRecord) bool { return s.SE != nil })
	p.Title = "Training run " + p.Name
	return p
}

// anchor links columns to the explanation of what they wrote, if anything of it
// is left.
func (r *Run) anchor(columns []column, b record.Blame) {
	for _, s := range b.Sources {
		for i := range columns {
			if o := s.Origin; columns[i].Label == label(o) && o.Kind != provenance.Seed && o.Kind != provenance.Outside {
				columns[i].Anchor = anchor(o)
			}
		}
	}
}

// label returns the label of an origin's column.
func label(o provenance.Origin) string {
	if o.Kind == provenance.SlowUpdate {
		return fmt.Sprintf("e%d", o.Epoch)
	}
	return fmt.Sprint(o.Step)
}

func anchor(o provenance.Origin) string {
	if o.Kind == provenance.SlowUpdate {
		return fmt.Sprintf("epoch-%d", o.Epoch)
	}
	return fmt.Sprintf("step-%d", o.Step)
}

func (r *Run) notices() []notice {
	var out []notice
	add := func(when bool, class, head, text string) {
		if when {
			out = append(out, notice{class, head, text})
		}
	}
	s := r.Summary
	add(r.Manifest.Simulated, "warn", "Simulated", "The models of this run are a simulation. The scores show how training works, not what a model can do.")
	unreviewed := r.Manifest.Operational["tasks.unreviewed"] != ""
	add(s != nil && s.Exploratory || s == nil && unreviewed, "warn", "Exploratory", "Tasks of this run are drafts without a review. The scores are as good as the drafts.")
	add(r.Manifest.Replays() != "", "note", "Replay", "The answers come from a cassette: nothing was asked or paid for.")
	if s == nil {
		add(true, "warn", "Not finished", "This run has not ended yet. What follows is what was decided so far.")
		return out
	}
	add(s.Limit > 0, "warn", "Limited", fmt.Sprintf("The run used at most %d tasks of each split (tasks.limit). No score is that of the whole set.", s.Limit))
	add(s.Status != result.Completed, "warn", "Not finished: "+line(string(s.Status), idLength), line(s.Reason, reasonLength))
	add(s.Test.Openings > 1, "warn", fmt.Sprintf("The sealed test was opened %d times", s.Test.Openings), "A test split that is looked at more than once can be chosen by. Its scores are no longer a clean measurement.")
	add(s.Test.ReadBefore.Words() != "", "warn", "The test set was read before", line("It was "+s.Test.ReadBefore.Words()+". People who have seen its scores can have chosen by them.", reasonLength))
	add(s.Test.Refused, "warn", "The sealed test stayed closed", "It had been opened before, for other skills or scored otherwise. `--reopen-test` opens it again and says so here.")
	add(s.Test.Best.Refusals("best", s.Test.Seed, "seed") != "", "warn", "Not answered alike often", s.Test.Best.Refusals("the best skill", s.Test.Seed, "the seed skill"))
	for _, d := range s.Drift {
		add(true, "warn", "Another model began to answer", fmt.Sprintf("At %s: %s instead of %s. What was measured before was measured again.", line(d.At, idLength), few(d.To, 3), few(d.From, 3)))
	}
	if n := s.Noise; n != nil && n.Advice != "" {
		add(true, "note", "Noise", line(n.Advice, reasonLength))
	}
	add(s.Examples > 0, "note", "Worked examples", s.ExamplesWords()+".")
	for _, l := range s.LeftOut {
		add(true, "note", "Left out of the agent's requests", line(l.String()+" ("+l.Kind+")", reasonLength))
	}
	for _, w := range s.Warnings {
		add(true, "note", "Warning", line(w, reasonLength))
	}
	return out
}

// lead sums up the result of the run in some sentences.
func (r *Run) lead() string {
	text := r.stepsLead()
	if s := r.Summary; s != nil && s.Continues != nil {
		text += " It " + line(s.Continues.Words(), reasonLength) + "."
	}
	if stop := r.History.Stop; stop != nil {
		text += " It " + line(stop.Words(), reasonLength) + "."
	}
	return text
}

func (r *Run) stepsLead() string {
	steps := max(len(r.History.Steps)-1, 0)
	switch {
	case steps == 0 && r.History.Final != nil:
		return "No step was carried out."
	case steps == 0:
		return "No step is done yet."
	}
	lead := ""
	if r.Summary != nil && r.Summary.Sentence() != "" {
		lead = line(r.Summary.Sentence(), reasonLength) + ". "
	}
	accepted, rejected := 0, 0
	for _, s := range r.History.Steps[1:] {
		switch newVerdict(s.Action).Class {
		case "accepted":
			accepted++
		case "rejected":
			rejected++
		}
	}
	text := lead + fmt.Sprintf("%s: %d accepted, %d rejected, %d without a decision.", wording.Plural(steps, "step", "steps"), accepted, rejected, steps-accepted-rejected)
	switch step := r.bestStep(); {
	case step == 0:
		return text + " The best skill is the one that training began with."
	default:
		return text + fmt.Sprintf(" The best skill is that of step %d.", step)
	}
}

func (r *Run) bestStep() int {
	if f := r.History.Final; f != nil {
		return f.BestStep
	}
	if n := len(r.History.Steps); n > 0 {
		return r.History.Steps[n-1].BestStep
	}
	return 0
}

func (r *Run) stepRows(columns []column) []stepRow {
	records := map[string]result.StepRecord{}
	for _, s := range r.History.Steps[min(1, len(r.History.Steps)):] {
		records[fmt.Sprint(s.Step)] = s
	}
	judged := r.Judgements()
	var out []stepRow
	for _, c := range columns {
		row := stepRow{column: c, Train: absent, Edits: absent, Change: absent}
		if j := judged[c.origin]; j != nil {
			row.Change = formatDifference(j.Difference)
			if j.SE != nil {
				row.Change += " ± " + number(j.SE)
			}
		}
		if c.Low != nil {
			row.Range = formatRange(*c.Low, *c.High)
		}
		row.Reason = c.unanswered.Words()
		if s, ok := records[c.Label]; ok {
			row.Epoch, row.Train, row.Reason = s.Epoch, number(s.RolloutHard), strings.TrimPrefix(c.unanswered.After(line(s.Reason, reasonLength)), ", ")
			row.Train = s.RolloutUnanswered.After(row.Train)
			row.Part = formatPart(s.SelectionN, r.History.Steps[0].SelectionN)
			row.Edits = fmt.Sprint(s.Ranked)
			if s.Budget != nil {
				row.Edits += fmt.Sprintf(" of %d", *s.Budget)
			}
			if s.Refused != "" {
				row.Reason = strings.TrimSpace(row.Reason + " " + line(s.Refused, reasonLength))
			}
		}
		out = append(out, row)
	}
	return out
}

// formatPart marks a score on n of all tasks, which is not to be compared with scores on all.
func formatPart(n, all int) string {
	if n == 0 || n >= all {
		return ""
	}
	return fmt.Sprintf("on %d of %d", n, all)
}
