package night

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const (
	// bundleShare is the share of the ceilings that is left for the last confirmation while several documents are trained.
	bundleShare = 0.1
	// bundleLevel is that of the interval of the bundle's difference.
	bundleLevel = 0.95
	// bundleRun is part of the names of its runs.
	bundleRun = "-joint-"
)

// isBundled reports whether a document is part of the night's bundle: something is staged for it that was confirmed on
// fresh answers. What a night only suggests, with too few tasks to try it, a person looks at one by one.
func (j *job) isBundled() bool { return j.text != "" && j.out.Confirmed != nil }

// holdForBundle leaves a share of the ceilings for the last confirmation, where there may be one.
func (n *night) holdForBundle(jobs []job) {
	trains := 0
	for i := range jobs {
		if jobs[i].out.Can.Does != doesObserve {
			trains++
		}
	}
	if trains > 1 {
		n.purse.held = bundleShare
	}
}

// bundle carries out the last confirmation: all live documents against all staged ones, where there are several. For one
// document its own confirmation is the last. What is worse as a whole is staged as suggestions.
func (n trainer) bundle(ctx context.Context, jobs []job) error {
	n.purse.held = 0
	var members []int
	for i := range jobs {
		if jobs[i].isBundled() {
			members = append(members, i)
		}
	}
	if len(members) < 2 || n.goesOn() {
		return nil
	}
	b := &result.NightJoint{Targets: []string{}, Level: bundleLevel, Lost: []gate.Loss{}, Unmeasured: []string{}, Runs: []string{}}
	n.report.Joint = b
	for _, i := range members {
		b.Targets = append(b.Targets, jobs[i].doc.ID())
		if err := workshop(n).lay(jobs, i, len(jobs)); err != nil {
			return err
		}
	}
	c := comparing{trainer: n, out: b}
	for _, i := range members {
		c.jobs = append(c.jobs, &jobs[i])
	}
	err := c.compare(ctx)
	switch out := errorOutcome(err); {
	case err == nil && b.Verdict == result.JointWorse:
		return c.demote(ctx)
	case err == nil:
		return nil
	case out == "" || otherSettings(err) != nil:
		return err
	case out == WaitingForReply || out == Stopped:
		for _, j := range c.jobs {
			j.out.Outcome, j.out.Reason, j.out.Help = out, err.Error(), c.helpFor(out)
			n.setTarget(j.out)
		}
		return nil
	default:
		b.Verdict, b.Reason = result.JointSkipped, "what is staged was not compared as a whole: "+err.Error()
		n.note("skipped: the last confirmation, of all that is staged as a whole: " + err.Error())
		return nil
	}
}

// comparing is the comparison of a bundle.
type comparing struct {
	trainer
	jobs  []*job
	out   *result.NightJoint
	pairs []gate.Pair
	lost  [][]bank.Cluster // by document: what the live ones win and the staged ones lost
}

// compare has both bundles answer the open tasks of each document, and asks losses afresh.
func (c *comparing) compare(ctx context.Context) error {
	c.lost = make([][]bank.Cluster, len(c.jobs))
	for i, j := range c.jobs {
		live, staged, err := c.arms(ctx, j, "", j.picked.train(), 1)
		if err != nil {
			return err
		}
		for _, k := range j.picked.train() {
			c.count(i, k, live[k.Tasks[0].Task.Task.ID], staged[k.Tasks[0].Task.Task.ID])
		}
	}
	if err := c.askAgain(ctx); err != nil {
		return err
	}
	return c.judge()
}

// arms has the live bundle and the staged one answer tasks of a document, each as often as times says. The answers are fresh: none is taken
// from another run.
func (c *comparing) arms(ctx context.Context, j *job, what string, clusters []bank.Cluster, times int) (live, staged map[string][]trajectory.Outcome, err error) {
	err = workshop{c.night}.runInWorkspaces(ctx, j, func() (err error) {
		if live, err = c.arm(ctx, j, bundleRun+"live"+what, j.live(), j.others.live, clusters, times); err == nil {
			staged, err = c.arm(ctx, j, bundleRun+"staged"+what, j.proposedSkill(), j.others.staged, clusters, times)
		}
		return err
	})
	return live, staged, err
}

func (c *comparing) arm(ctx context.Context, j *job, what string, sk skill.Skill, others map[string]string, clusters []bank.Cluster, times int) (map[string][]trajectory.Outcome, error) {
	cfg := c.targetSettings(j)
	cfg.Gate.Metric, cfg.Record.Reuse = "hard", "never"
	if cfg.Agent.Name != "" {
		cfg.Agent.Documents = over(c.Config.Agent.Documents, others, j.doc)
	}
	name := c.report.ID + "-" + slug(j.doc.ID()) + what
	var err error
	if cfg.Limits, err = c.rest(ctx, name, 0); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Dir, RunsDir, c.runName(name))
	opts := append(c.options(name), skillopt.WithSkill(sk), skillopt.WithPasses(times),
		skillopt.WithTasks(clusterTasks(clusters, func(int) task.Split { return task.Selection })))
	e, err := skillopt.Evaluate(ctx, cfg, string(task.Selection), opts...)
	c.out.Runs, j.out.Runs = append(c.out.Runs, c.relativePath(dir)), append(j.out.Runs, c.relativePath(dir))
	if e != nil {
		c.report.Simulated = c.report.Simulated || e.Simulated
	}
	if err != nil {
		return nil, err
	}
	list, err := readEvaluation(dir)
	out := map[string][]trajectory.Outcome{}
	for _, o := range list {
		out[o.ID] = append(out[o.ID], o)
	}
	return out, err
}

// readEvaluation returns the answers of a run that scored tasks.
func readEvaluation(dir string) ([]trajectory.Outcome, error) {
	data, err := readFile(dir, "outcomes.json")
	if err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	var splits map[string][]trajectory.Outcome
	if err := json.Unmarshal(data, &splits); err != nil {
		return nil, fmt.Errorf("read the answers of %s: %w", dir, err)
	}
	return splits[string(task.Selection)], nil
}

// count counts a pair of a document's task. What an arm has no score for is in neither.
func (c *comparing) count(i int, k bank.Cluster, live, staged []trajectory.Outcome) {
	if !isMeasured(live) || !isMeasured(staged) {
		c.out.Unmeasured = append(c.out.Unmeasured, k.Tasks[0].Task.Task.ID)
		return
	}
	p := gate.Pair{Reference: live[0].Hard, Candidate: staged[0].Hard}
	c.pairs = append(c.pairs, p)
	c.out.Unanswered.Old.Add(live[0].Unanswered())
	c.out.Unanswered.New.Add(staged[0].Unanswered())
	c.out.N++
	switch d := p.Candidate - p.Reference; {
	case d > score.Negligible:
		c.out.Wins++
	case d < -score.Negligible:
		c.out.Losses++
	default:
		c.out.Ties++
	}
	if passes, passed := live[0].Hard >= 1-score.Negligible, staged[0].Hard >= 1-score.Negligible; passes && !passed && c.keeps(c.jobs[i]) {
		c.lost[i] = append(c.lost[i], k)
	}
}

func isMeasured(list []trajectory.Outcome) bool {
	return len(list) > 0 && list[0].Status.Measured()
}

// keeps reports whether what a document's tasks won before must not be lost.
func (c *comparing) keeps(j *job) bool { return c.targetSettings(j).Gate.Keep }

// askAgain has both bundles answer afresh what seems to be lost, by the rule of gate.keep.
func (c *comparing) askAgain(ctx context.Context) error {
	all := 0
	for _, list := range c.lost {
		all += len(list)
	}
	times := gate.LossAnswers(all)
	for i, list := range c.lost {
		if len(list) == 0 {
			continue
		}
		live, staged, err := c.arms(ctx, c.jobs[i], "-again", list, times)
		if err != nil {
			return err
		}
		for _, k := range list {
			id := k.Tasks[0].Task.Task.ID
			l := gate.Loss{ID: id, State: gate.LossDropped, Candidate: countPassed(staged[id]), Current: countPassed(live[id])}
			switch {
			case gate.LossShown(l.Candidate, l.Current, all):
				l.State = gate.LossConfirmed
			case l.Candidate.Of < times || l.Current.Of < times:
				l.State = gate.LossUnknown
			}
			c.out.Lost = append(c.out.Lost, l)
		}
	}
	return nil
}

func countPassed(list []trajectory.Outcome) (p gate.Passed) {
	for _, o := range list {
		if !o.Status.Measured() {
			continue
		}
		p.Of++
		if o.Hard >= 1-score.Negligible {
			p.Passed++
		}
	}
	return p
}

// judge evaluates the pairs. The bundle is worse if the losses outweigh the wins by the exact one-sided test at 5 %, the
// mirror of what makes a document supported; or if a task that the live documents win is lost, as fresh answers confirm.
func (c *comparing) judge() error {
	differences, mirrored := make([]float64, len(c.pairs)), make([]gate.Pair, len(c.pairs))
	for i, p := range c.pairs {
		differences[i], mirrored[i] = p.Candidate-p.Reference, gate.Pair{Reference: p.Candidate, Candidate: p.Reference}
	}
	b := c.out
	said, err := passes.Rule{Level: bundleLevel, Margin: 0.05}.Judge(differences)
	if err != nil {
		return err
	}
	b.Difference, b.Low, b.High = said.Mean, said.Low, said.High
	look, err := gate.LookOnce(mirrored, gate.LookExact, supportedLevel)
	if err != nil {
		return err
	}
	b.Verdict, b.Reason = result.JointStands, fmt.Sprintf("all of it won %d and lost %d of %d on fresh answers", b.Wins, b.Losses, b.N)+refusedText(b.Unanswered)
	var lost []string
	for _, l := range b.Lost {
		if l.State == gate.LossConfirmed {
			lost = append(lost, l.ID)
		}
	}
	switch {
	case len(lost) > 0:
		b.Verdict = result.JointWorse
		b.Reason += "; it loses what the live documents win, as fresh answers confirm: " + strings.Join(lost, ", ")
	case look.Certified:
		b.Verdict = result.JointWorse
	}
	return nil
}

// demote stages what is worse as a whole as suggestions, none of which claims anything: each was better by itself.
func (c *comparing) demote(ctx context.Context) error {
	for _, j := range c.jobs {
		was := j.out.Outcome
		j.out.Outcome = Suggested
		j.out.Reason = fmt.Sprintf("%s by itself (%s); adopted with what else the night staged it is worse, so adopt one of them at most: %s", was, j.out.Reason, c.out.Reason)
		j.out.Help = "skillopt sleep show " + c.report.ID
		c.setTarget(j.out)
		if j.claimed == nil {
			continue
		}
		j.claimed.State, j.claimed.Reason = bank.Dropped, "worse with what else its night staged"
		if _, err := c.Bank.Stage(ctx, *j.claimed, ""); err != nil {
			return err
		}
	}
	return nil
}

// rejectedBundle returns what a night tried in vain for a document with others: edits that are fine by themselves.
func rejectedBundle(r *Report, t *Target) (result.Rejected, bool) {
	b := r.Joint
	if b == nil || b.Verdict != result.JointWorse || !slices.Contains(b.Targets, t.Target) || len(t.Consolidation.AppliedEdits) == 0 {
		return result.Rejected{}, false
	}
	out := result.Rejected{From: result.RejectedFrom{Begun: r.Started}}
	for _, e := range t.Consolidation.AppliedEdits {
		out.Edits = append(out.Edits, result.RejectedEdit{Op: skill.Op(e.Op), Target: e.Anchor, Content: e.Content})
	}
	if b.Difference != nil {
		out.Difference = &result.ScoreDifference{Metric: "hard", Mean: *b.Difference, Low: b.Low, High: b.High, N: b.N}
	}
	return out, true
}
