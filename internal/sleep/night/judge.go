package night

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Before anything is decided by a judge, it judges what somebody else has decided already: the answers that sessions hold,
// the one that the user corrected and the one that was accepted.
const (
	triedPairs = 12 // at most, the tasks that count most first
	// apartShare is the share of pairs in which the accepted answer has to score higher. Tossing a coin gets that far
	// on 12 pairs in 7 of 100 nights, and giving all the same score never does.
	apartShare = 0.75
	// failedPairs is how many pairs are shown that a judge did not distinguish.
	failedPairs = 3
)

// judgeRun is how the name of a run ends in which a judge was tried.
const judgeRun = "-judge"

// Names of the two answers of a pair, in ids of tasks and in diagnostics.
const (
	armCorrected = "corrected"
	armAccepted  = "accepted"
)

// pair is a task with the two answers that its session holds.
type pair struct {
	task         task.Task
	wrong, right string
}

// planJudging returns what there is to try a judge on; nil: it decides no task of the target. It spends nothing.
func (n settler) planJudging(j *job) (*Judging, []pair, error) {
	suite, err := reader()
	if err != nil {
		return nil, nil, err
	}
	decides := func(c bank.Cluster) bool { return suite.Needs(c.Tasks[0].Task.Task).Judge }
	out := &Judging{Needs: apartShare, Examples: []result.NightUnresolved{}}
	for _, c := range slices.Concat(j.picked.train(), j.picked.fresh) {
		if decides(c) {
			out.Tasks++
		}
	}
	if out.Tasks == 0 {
		return nil, nil, nil
	}
	var pairs []pair
	for _, c := range j.picked.train() { // what is put aside as test is looked at by nothing before the test
		if len(pairs) == triedPairs {
			break
		}
		t := c.Tasks[0].Task.Task
		if needs := suite.Needs(t); needs != (check.Needs{Judge: true}) {
			continue // no judge decides it, or more than the answer is judged
		}
		if wrong, right := n.findAnswers(&c.Tasks[0]); strings.TrimSpace(wrong) != "" && strings.TrimSpace(right) != "" {
			pairs = append(pairs, pair{task: t, wrong: wrong, right: right})
			out.Calls += 2 * suite.JudgeCalls(t)
		}
	}
	out.Planned = len(pairs)
	return out, pairs, nil
}

// reader reads what checks of tasks need.
func reader() (*check.Suite, error) {
	suite, err := check.Compile(nil, check.Options{Judge: true, Workspace: true})
	if err != nil {
		return nil, fmt.Errorf("read checks: %w", err)
	}
	return suite, nil
}

// findAnswers returns the answers of the session that has shown a task first; "": they are not kept, or not whole.
func (n settler) findAnswers(t *bank.Task) (wrong, right string) {
	if len(t.Seen) == 0 {
		return "", ""
	}
	turns := n.seen[t.Seen[0].Source+"/"+t.Seen[0].Session].Turns
	corrected, accepted := correction.Answers(turns, t.Seen[0].Turn)
	if corrected < 0 || accepted < 0 || turns[corrected].Cut || turns[accepted].Cut {
		return "", ""
	}
	return turns[corrected].Agent, turns[accepted].Agent
}

// tryJudge has the judge judge the pairs of a target. If it cannot distinguish their answers, the tasks that it would decide
// are left out.
func (n trainer) tryJudge(ctx context.Context, j *job) error {
	plan, pairs, err := settler(n).planJudging(j)
	if err != nil || plan == nil || len(j.picked.tonight) == 0 && !n.Explore {
		return err
	}
	j.out.Judge = plan
	if n.Config.Models.Judge.Provider == "" {
		return n.withoutJudge(j, "models.judge names no model, and words alone decide these tasks: name one in the profile", n.Command)
	}
	if len(pairs) == 0 {
		n.report.Notes = append(n.report.Notes, fmt.Sprintf("%s: the judge was not tried: the sessions hold no two answers to judge", j.doc.ID()))
		return nil
	}
	if err := n.judgePairs(ctx, j, pairs); err != nil {
		return err
	}
	if plan.Usable != nil && !*plan.Usable {
		return n.withoutJudge(j, fmt.Sprintf("of %d pairs of answers, one corrected and one accepted, the judge scored the accepted one higher in %d, and %.0f %% are needed: %s",
			plan.Pairs, plan.Apart, 100*apartShare, unresolvedText(plan.Examples)), "skillopt sleep review")
	}
	return nil
}

// unresolvedText names pairs whose answers were not distinguished.
func unresolvedText(list []result.NightUnresolved) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = fmt.Sprintf("task %s %.3g and %.3g", a.Task, a.Corrected, a.Accepted)
	}
	return strings.Join(texts, ", ")
}

// judgePairs scores both answers of each pair, in a run of its own.
func (n trainer) judgePairs(ctx context.Context, j *job, pairs []pair) error {
	cfg := n.targetSettings(j)
	cfg.Agent, cfg.Env = config.Default().Agent, config.Default().Env // answers are there already
	var tasks []task.Task
	answers := map[string]string{}
	for _, p := range pairs {
		for arm, text := range map[string]string{armCorrected: p.wrong, armAccepted: p.right} {
			t := p.task
			t.ID, t.Split, t.Origin = t.ID+"-"+arm, task.Selection, "bank:"+p.task.ID
			tasks = append(tasks, t)
			answers[t.ID] = text
		}
	}
	slices.SortFunc(tasks, func(a, b task.Task) int { return strings.Compare(a.ID, b.ID) })
	name := n.report.ID + "-" + slug(j.doc.ID()) + judgeRun
	var err error
	if cfg.Limits, err = n.rest(ctx, name, reserved); err != nil {
		return err
	}
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	j.out.Judge.Run = n.relativePath(dir)
	j.out.Runs = append(j.out.Runs, n.relativePath(dir))
	e, err := skillopt.Evaluate(ctx, cfg, string(task.Selection), append(n.options(name), skillopt.WithSkill(skill.New("# Answers of sessions\n")), skillopt.WithTasks(tasks),
		skillopt.WithAnswers(answers))...)
	if e != nil {
		n.report.Simulated = n.report.Simulated || e.Simulated
	}
	if err != nil {
		return err
	}
	var by map[string][]trajectory.Outcome
	if _, err := readRun(dir, "outcomes.json", &by); err != nil {
		return err
	}
	weigh(j.out.Judge, pairs, by[string(task.Selection)])
	return nil
}

// weigh counts the pairs whose answers were distinguished. What was not judged is in no pair.
func weigh(g *Judging, pairs []pair, outcomes []trajectory.Outcome) {
	scores := map[string]float64{}
	for i := range outcomes {
		if o := &outcomes[i]; o.Status.Measured() {
			scores[o.ID] = o.Soft
		}
	}
	for _, p := range pairs {
		wrong, ok1 := scores[p.task.ID+"-"+armCorrected]
		right, ok2 := scores[p.task.ID+"-"+armAccepted]
		switch {
		case !ok1 || !ok2:
			continue
		case right > wrong:
			g.Apart++
		case len(g.Examples) < failedPairs:
			g.Examples = append(g.Examples, result.NightUnresolved{Task: p.task.ID, Corrected: wrong, Accepted: right})
		}
		g.Pairs++
	}
	if g.Pairs == 0 {
		return
	}
	share := float64(g.Apart) / float64(g.Pairs)
	usable := share >= apartShare
	g.Share, g.Usable = &share, &usable
}

// withoutJudge leaves out of a night what a judge would decide. What is left is worked on as if there were nothing else.
func (n trainer) withoutJudge(j *job, reason, help string) (err error) {
	suite, err := reader()
	if err != nil {
		return err
	}
	usable := false
	j.out.Judge.Usable = &usable
	j.unjudged, j.unjudgedHelp = reason, help
	keep := func(list []bank.Cluster) []bank.Cluster {
		return slices.DeleteFunc(slices.Clone(list), func(c bank.Cluster) bool { return suite.Needs(c.Tasks[0].Task.Task).Judge })
	}
	j.picked.tonight, j.picked.recall, j.picked.fresh = keep(j.picked.tonight), keep(j.picked.recall), keep(j.picked.fresh)
	j.picked.open = len(j.picked.tonight) + len(j.picked.recall) // of older ones that are not recalled nothing is known
	n.report.Notes = append(n.report.Notes, fmt.Sprintf("%s: %s left out: %s", j.doc.ID(), wording.Plural(j.out.Judge.Tasks, "task that a judge decides is", "tasks that a judge decides are"), reason))
	j.out.Can, err = can(j.picked, j.level, n.Explore)
	return err
}

// unjudgedOutcome sets the outcome of a target without a usable judge: it is that of the other tasks, if there were any to
// work on.
func (n trainer) unjudgedOutcome(j *job) {
	if j.unjudged == "" {
		return
	}
	if o := j.out.Outcome; o == TooFewTasks || o == NoData || o == NotReplayable {
		j.out.Outcome, j.out.Reason, j.out.Help = JudgeUnusable, j.unjudged, j.unjudgedHelp
	}
}
