package night

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// reserved is the share of the ceilings that training leaves for the confirmation, the test and the targets
// that come after it.
const reserved = 0.25

// supportedLevel is how often "supported" may be said of a candidate that is no better.
const supportedLevel = 0.05

// trainer trains the documents of a night.
type trainer struct{ *night }

// train does what was settled for a document. It fills in its result.
func (n trainer) train(ctx context.Context, j *job) {
	err := n.tryJudge(ctx, j)
	if err == nil {
		err = n.carry(ctx, j)
	}
	if err == nil {
		err = hindsight{n}.measureAdoptions(ctx, j)
	}
	if err == nil {
		err = n.learn(ctx, j)
	}
	if err == nil {
		n.unjudgedOutcome(j)
		return
	}
	out := errorOutcome(err)
	if out == "" || otherSettings(err) != nil {
		n.problem = fmt.Errorf("%s: %w", j.doc.ID(), err)
		out = Stopped
	}
	text := err.Error()
	j.out.Outcome, j.out.Reason, j.out.Consolidation.CallError = out, text, &text
	j.out.Help = n.helpFor(out)
}

// helpFor returns the command that helps where a night ended early; "": none does.
func (n *night) helpFor(o Outcome) string {
	switch o {
	case Budget:
		return n.Command + n.purse.doubleFlags()
	case WaitingForReply, Stopped:
		return n.Command
	case ModelUnhealthy:
		return "skillopt doctor"
	}
	return ""
}

// doubleFlags returns the flags that double the ceilings of money, tokens and calls.
func (p *purse) doubleFlags() string {
	flags := ""
	if c := p.limits.Tokens; c != nil {
		flags += fmt.Sprintf(" --set limits.tokens=%d", 2**c)
	}
	if c := p.limits.USD; c != nil {
		flags += fmt.Sprintf(" --set limits.usd=%g", 2**c)
	}
	if c := p.limits.Calls; c != nil {
		flags += fmt.Sprintf(" --set limits.calls=%d", 2**c)
	}
	return flags
}

func (n trainer) learn(ctx context.Context, j *job) error {
	clusters := j.picked.train()
	n.report.Exploratory = n.report.Exploratory || j.out.Groups.Unreviewed > 0
	switch {
	case len(clusters) == 0 && j.picked.waiting > 0 && j.picked.open == 0 && len(j.picked.fresh) == 0:
		j.out.Outcome, j.out.Reason, j.out.Help = NotReplayable, n.waitingReason(ctx, j), "skillopt sleep review"
		return nil
	case len(clusters) == 0:
		j.out.Outcome, j.out.Reason = TooFewTasks, "no task of it is open for training"
		return nil
	case len(j.picked.tonight) == 0 && !n.Explore:
		j.out.Outcome, j.out.Reason = NoData, "no session since the last night had a task of it"
		return nil
	case j.out.Can.Does == doesUngated:
		return n.trainUngated(ctx, j, clusters)
	case j.out.Can.Does == doesObserve:
		return n.observe(ctx, j, clusters)
	}
	sum, err := n.trainClusters(ctx, j, clusters)
	if err != nil {
		return err
	}
	if sum.Best.Step == 0 {
		n.explainNothing(j, sum)
		return nil
	}
	best := sum.Skill
	if reason := n.holdsBack(j, best, clusters); reason != "" {
		j.out.Outcome, j.out.Reason, j.out.Help = Refused, reason+"; nothing of it is staged", "skillopt sleep show "+n.report.ID
		return nil
	}
	if err := n.confirm(ctx, j, best, clusters); err != nil {
		return err
	}
	n.ground(j, n.runDir(j), "best")
	if j.out.Outcome == Supported && j.out.Can.Does == doesSealed && j.out.Groups.Unreviewed == 0 {
		if err := n.certify(ctx, j, best); err != nil {
			return err
		}
	}
	if j.out.Outcome.Staged() {
		j.take(best)
		j.settleRemovals(best.Text())
		return n.claim(ctx, j, clusters)
	}
	return nil
}

// waitingReason says why nothing of a target can be used.
func (n trainer) waitingReason(ctx context.Context, j *job) string {
	skillName := j.doc.Name
	if j.doc.Kind == target.Memory {
		skillName = ""
	}
	clusters, err := n.Bank.Clusters(ctx, n.Project, skillName)
	if err != nil {
		return err.Error()
	}
	for _, c := range clusters {
		if t := c.Tasks[0]; t.Unfit != "" {
			return fmt.Sprintf("%d wait, such as task %s: %s", len(clusters), t.Task.Task.ID, t.Unfit)
		} else if t.Held != "" {
			return fmt.Sprintf("%d wait, such as task %s: %s", len(clusters), t.Task.Task.ID, t.Held)
		}
	}
	return "no task of it can be carried out again"
}

// trainClusters trains on open clusters. Selection is cross-fitted if there are few.
func (n trainer) trainClusters(ctx context.Context, j *job, clusters []bank.Cluster) (*result.Summary, error) {
	cfg := n.targetSettings(j)
	cfg.Reflect.Guide = n.guide(&cfg, j)
	name := n.report.ID + "-" + slug(j.doc.ID())
	seed, err := n.seed(j)
	if err != nil {
		return nil, err
	}
	if cfg.Limits, err = n.rest(ctx, name, reserved); err != nil {
		return nil, err
	}
	memory, err := n.memoryOptions(ctx, j)
	if err != nil {
		return nil, err
	}
	opts := append(n.options(name), skillopt.WithSkill(seed), skillopt.WithTasks(clusterTasks(clusters, trainSplit(j, clusters))), skillopt.WithAcceptedSeed())
	opts = append(opts, memory...)
	sum, err := skillopt.Train(ctx, cfg, opts...)
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	j.out.Runs = append(j.out.Runs, n.relativePath(dir))
	if sum != nil {
		n.report.Simulated = n.report.Simulated || sum.Simulated
		n.tell(j, sum, dir)
	}
	return sum, err
}

// seed returns the document that training begins with: the live one, with a learned region where it has none
// yet. A region that cannot be known for certain is refused.
func (n trainer) seed(j *job) (skill.Skill, error) {
	if n.whole(j) {
		return j.live(), nil
	}
	text := j.doc.Text
	if _, err := skill.LearnedText(text); errors.Is(err, skill.ErrNoRegion) {
		if text, err = skill.InjectLearned(text); err != nil {
			return skill.Skill{}, &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("%s: %w", j.doc.File(), err)}
		}
	} else if err != nil {
		return skill.Skill{}, &skillopt.Error{Kind: skillopt.BadInput, Err: fmt.Errorf("%s: %w", j.doc.File(), err)}
	}
	return j.folder.WithText(text), nil
}

// trainSplit deals clusters out to train and selection in turns, in the order in which they came, whichever of them a
// night picks: what comes later moves none. One that was a test and is opened moves none either.
// Where a night picks so that less than a quarter would be on one side, those that it picked are dealt out in turns.
func trainSplit(j *job, clusters []bank.Cluster) func(i int) task.Split {
	place := func(i int) int { return j.picked.place[clusters[i].Number] }
	odd := 0
	for i := range clusters {
		odd += place(i) % 2
	}
	if 4*min(odd, len(clusters)-odd) < len(clusters) {
		place = func(i int) int { return i }
	}
	return func(i int) task.Split {
		if place(i)%2 == 0 {
			return task.Train
		}
		return task.Selection
	}
}

// explainNothing says why a training has nothing to stage.
func (n trainer) explainNothing(j *job, sum *result.Summary) {
	j.out.Outcome, j.out.Reason = NothingToLearn, "no edit was proposed that can be used"
	edits := judgedEdits(j.out.Consolidation.RejectedEdits)
	switch {
	case len(edits) > 0:
		j.out.Outcome, j.out.Reason = Rejected, rejection(edits)
	case j.out.Baseline != nil && j.out.Baseline.Hard >= 1:
		j.out.Reason = fmt.Sprintf("the live document solves all %s by which edits are judged", wording.Plural(j.out.Baseline.N, "task", "tasks"))
	case len(j.out.Consolidation.RejectedEdits) > 0:
		edits := j.out.Consolidation.RejectedEdits
		j.out.Reason = fmt.Sprintf("%s proposed, and none could be applied: %s", wording.Plural(len(edits), "edit was", "edits were"), edits[0].Status)
	case sum.Lost > 0:
		j.out.Reason = fmt.Sprintf("%d replies of the optimizer could not be used", sum.Lost)
	}
}

// tell takes over what a training says of itself.
func (n trainer) tell(j *job, sum *result.Summary, dir string) {
	c := &j.out.Consolidation
	c.GateAction = ""
	var h result.History
	data, err := os.ReadFile(filepath.Join(dir, "history.json"))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return // it ended before there was one
	}
	if sum.Noise != nil {
		j.out.Noise = sum.Noise.Within
	}
	for i, s := range h.Steps {
		if s.Step == 0 && s.SelectionHard != nil {
			j.out.Baseline = &Measured{Hard: *s.SelectionHard, Soft: deref(s.SelectionSoft), N: s.SelectionN, Unanswered: s.SelectionUnanswered}
			c.BaselineScore = s.Current
		}
		action := gate.Action(s.Action)
		if s.Step > 0 && (c.GateAction == "" || action.Accepted() || action.Rejected()) {
			c.GateAction = s.Action // the last that was decided
		}
		accepted := action.Accepted()
		for _, e := range s.Edits {
			edit := Edit{Step: s.Step, Op: string(e.Op), Content: e.Content, Anchor: e.Target, Status: string(e.Status), Action: s.Action, Reason: s.Reason, Difference: stepDifference(h.Steps, i)}
			if accepted && e.Status.Applied() {
				c.AppliedEdits = append(c.AppliedEdits, edit)
			} else if s.Step > 0 {
				c.RejectedEdits = append(c.RejectedEdits, edit)
			}
		}
	}
	if len(h.Steps) > 0 && c.BaselineScore != nil {
		c.CandidateScore = h.Steps[len(h.Steps)-1].Best
	}
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// holdsBack says why what was trained must not be staged; "": it may. Rules that a person has to look at are named.
func (n trainer) holdsBack(j *job, best skill.Skill, clusters []bank.Cluster) string {
	added := addedLines(j.doc.Text, best.Text())
	sessions := settler(n).findSessions(clusters)
	for _, line := range added {
		if reason := n.Miner.Suspicious(line, sessions); reason != "" {
			j.out.Held = append(j.out.Held, HeldRule{Text: line, Reason: reason})
			continue
		}
		rule := Rule{Text: line, Tasks: []string{}}
		for _, e := range j.out.Consolidation.AppliedEdits {
			if strings.Contains(e.Content, line) || strings.Contains(line, strings.TrimSpace(e.Content)) && strings.TrimSpace(e.Content) != "" {
				rule.Step, rule.Difference = e.Step, e.Difference
			}
		}
		j.out.Rules = append(j.out.Rules, rule)
	}
	for _, name := range j.changedFiles(best) {
		was, _ := j.folder.File(name)
		is, _ := best.File(name)
		for _, line := range addedLines(was, is) {
			if reason := n.Miner.Suspicious(line, sessions); reason != "" {
				j.out.Held = append(j.out.Held, HeldRule{Text: line, Reason: name + ": " + reason})
			}
		}
	}
	if len(j.out.Held) > 0 {
		return fmt.Sprintf("a rule waits for a person: %s: %q", j.out.Held[0].Reason, j.out.Held[0].Text)
	}
	return ""
}

// addedLines returns the lines of b that a does not have, but for blank ones.
func addedLines(a, b string) []string {
	have := map[string]int{}
	for line := range strings.Lines(a) {
		have[strings.TrimSpace(line)]++
	}
	var out []string
	for line := range strings.Lines(b) {
		line = strings.TrimSpace(line)
		if line == "" || line == skill.LearnedStart || line == skill.LearnedEnd {
			continue
		}
		if have[line] > 0 {
			have[line]--
			continue
		}
		out = append(out, line)
	}
	return out
}

// observe scores the live document twice, and asks for edits that nothing is decided by.
func (n trainer) observe(ctx context.Context, j *job, clusters []bank.Cluster) error {
	j.out.Outcome = TooFewTasks
	j.out.Reason = fmt.Sprintf("%s, and training needs %d", wording.Plural(j.picked.open, "independent task", "independent tasks"), MinTrain)
	if _, err := n.seed(j); err != nil { // before anything is asked
		return err
	}
	cfg := n.targetSettings(j)
	name := n.report.ID + "-" + slug(j.doc.ID()) + "-baseline"
	var err error
	if cfg.Limits, err = n.rest(ctx, name, reserved); err != nil {
		return err
	}
	tasks := skillopt.WithTasks(clusterTasks(clusters, func(int) task.Split { return task.Selection }))
	e, err := skillopt.Evaluate(ctx, cfg, string(task.Selection), append(n.options(name), skillopt.WithSkill(j.live()), tasks, skillopt.WithPasses(2))...)
	j.out.Runs = append(j.out.Runs, n.relativePath(filepath.Join(n.Dir, RunsDir, n.runName(name))))
	if e != nil {
		n.report.Simulated = n.report.Simulated || e.Simulated
		if s, ok := e.Splits[string(task.Selection)]; ok && s.N > 0 {
			j.out.Baseline = &Measured{Hard: s.Hard, Soft: s.Soft, N: s.N, Unanswered: s.Unanswered}
			if s.Repeats != nil {
				j.out.Noise = s.Repeats.Within
			}
		}
	}
	if err != nil {
		return err
	}
	if j.out.Baseline != nil && j.out.Baseline.Hard >= 1 {
		j.out.Outcome, j.out.Reason = NothingToLearn, "the live document solves all of these tasks"
		return nil
	}
	return n.suggest(ctx, j, clusters)
}

// suggest trains without a gate for one epoch: its result is a suggestion.
func (n trainer) suggest(ctx context.Context, j *job, clusters []bank.Cluster) error {
	cfg := n.targetSettings(j)
	cfg.Reflect.Guide = n.guide(&cfg, j)
	cfg.Gate.Mode, cfg.Train.Epochs, cfg.Split.CrossFit = string(gate.ModeOff), 1, 0
	cfg.Gate.Keep, cfg.Edits.Files, cfg.Edits.NewFiles = false, nil, 0
	name := n.report.ID + "-" + slug(j.doc.ID()) + "-suggest"
	seed, err := n.seed(j)
	if err != nil {
		return err
	}
	if cfg.Limits, err = n.rest(ctx, name, 0); err != nil {
		return err
	}
	sum, err := skillopt.Train(ctx, cfg, append(n.options(name), skillopt.WithSkill(seed),
		skillopt.WithTasks(clusterTasks(clusters, func(int) task.Split { return task.Train })), skillopt.WithAcceptedSeed())...)
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	j.out.Runs = append(j.out.Runs, n.relativePath(dir))
	if sum != nil {
		n.tell(j, sum, dir)
		j.out.Consolidation.BaselineScore, j.out.Consolidation.CandidateScore = nil, nil
	}
	if err != nil {
		return err
	}
	text, version, err := finalText(dir)
	if err != nil || text == seed.Text() {
		return err
	}
	if len(clusters) > 1 {
		j.out.Outcome = Suggested
	}
	if reason := n.holdsBack(j, j.folder.WithText(text), clusters); reason != "" {
		j.out.Outcome, j.out.Reason = Refused, reason
		return nil
	}
	j.take(j.folder.WithText(text))
	j.settleRemovals(text)
	n.ground(j, dir, version)
	return nil
}

// finalText returns the last skill of a run without a gate, and the number of its step.
func finalText(dir string) (text, version string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "skills", "skill_v*.md"))
	if err != nil || len(names) == 0 {
		return "", "", err
	}
	last := names[len(names)-1]
	data, err := os.ReadFile(last)
	number := strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(last), "skill_v"), ".md"), "0")
	return string(data), cmp.Or(number, "0"), err
}

// confirm compares the live document and what was chosen once, on answers that nothing was chosen by.
func (n trainer) confirm(ctx context.Context, j *job, best skill.Skill, clusters []bank.Cluster) error {
	look, err := n.look(ctx, j, "confirm", best, clusters, task.Selection, supportedLevel)
	if look != nil {
		j.out.Confirmed = look
	}
	if err != nil {
		return err
	}
	d := look.Difference
	switch {
	case look.Better && n.Explore:
		j.out.Outcome, j.out.Reason = Suggested, fmt.Sprintf("won %d and lost %d of %d on fresh answers; what --explore finds is a suggestion", look.Wins, look.Losses, look.N)
	case look.Better:
		j.out.Outcome, j.out.Reason = Supported, fmt.Sprintf("better on these tasks: won %d, lost %d of %d on fresh answers", look.Wins, look.Losses, look.N)
	case d != nil && *d > 0:
		j.out.Outcome, j.out.Reason = Suggested, fmt.Sprintf("won %d and lost %d of %d on fresh answers: that can be luck", look.Wins, look.Losses, look.N)
	default:
		j.out.Outcome, j.out.Reason = Rejected, fmt.Sprintf("no better on fresh answers: won %d, lost %d of %d", look.Wins, look.Losses, look.N)
		takenBack(&j.out.Consolidation)
	}
	j.out.Reason += refusedText(look.Unanswered)
	return nil
}

// refusedText returns what a reason adds where answers of a look were refused or late.
func refusedText(b result.BothUnanswered) string {
	if words := b.Words("live", "proposed"); words != "" {
		return "; not all answered (" + words + ")"
	}
	return ""
}

// bothUnanswered returns what the two sides of a comparison were refused.
func bothUnanswered(c *result.Comparison) (out result.BothUnanswered) {
	if s := c.A.Score; s != nil {
		out.Old = s.Unanswered
	}
	if s := c.B.Score; s != nil {
		out.New = s.Unanswered
	}
	return out
}

// certify opens the test clusters and looks at them once, at half of what the candidate has of the target's level.
func (n trainer) certify(ctx context.Context, j *job, best skill.Skill) error {
	if err := n.Bank.OpenTests(ctx, n.report.ID, numbers(j.picked.fresh)); err != nil {
		return err
	}
	look, err := n.look(ctx, j, "test", best, j.picked.fresh, task.Test, j.out.Can.Level)
	j.out.Test = look
	if err != nil {
		return err
	}
	if look.Better {
		j.out.Outcome = Certified
		j.out.Reason = fmt.Sprintf("better on tasks like these: of %d that no one had read it won %d and lost %d", look.N, look.Wins, look.Losses) + refusedText(look.Unanswered)
		return nil
	}
	j.out.Reason += fmt.Sprintf("; of %d test tasks it won %d and lost %d, and %d wins without a loss certify", look.N, look.Wins, look.Losses, j.out.Can.Needed) + refusedText(look.Unanswered)
	return nil
}

// look compares two texts on clusters, all of them once, looked at once.
func (n trainer) look(ctx context.Context, j *job, what string, best skill.Skill, clusters []bank.Cluster, split task.Split, lvl float64) (*Look, error) {
	cfg := n.targetSettings(j)
	cfg.Gate.Metric, cfg.Gate.Group = "hard", ""
	name := n.report.ID + "-" + slug(j.doc.ID()) + "-" + what
	var err error
	if cfg.Limits, err = n.rest(ctx, name, 0); err != nil {
		return nil, err
	}
	opts := append(n.options(name), skillopt.WithTasks(clusterTasks(clusters, func(int) task.Split { return split })), skillopt.WithSplit(string(split)),
		skillopt.WithPasses(1), skillopt.WithOneLook(lvl))
	c, err := skillopt.Compare(ctx, cfg, j.live(), best, opts...)
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	j.out.Runs = append(j.out.Runs, n.relativePath(dir))
	if c == nil {
		return nil, err
	}
	n.report.Simulated = n.report.Simulated || c.Simulated
	if err == nil {
		j.served, err = n.answeredBy(dir)
	}
	out := &Look{Run: n.relativePath(dir), Level: lvl, N: c.Pairs, Wins: c.Wins, Losses: c.Losses, Ties: c.Ties, Difference: c.Difference, Tasks: []string{}, Unanswered: bothUnanswered(c)}
	if what == "confirm" {
		j.won = map[string]bool{}
	}
	for _, t := range c.ByTask {
		out.Tasks = append(out.Tasks, t.ID)
		if what == "confirm" {
			j.won[t.ID] = t.B >= 1
		}
	}
	if c.A.Score != nil && c.B.Score != nil && what == "confirm" {
		j.out.Consolidation.HoldoutBaseline, j.out.Consolidation.HoldoutCandidate = &c.A.Score.Hard, &c.B.Score.Hard
	}
	if l := c.Look; l != nil {
		out.Test, out.N, out.Wins, out.Losses, out.Ties, out.Better, out.AtLeast = l.Test, l.N, l.Wins, l.Losses, l.Ties, l.Certified, l.AtLeast
	} else if err == nil {
		err = errors.New("the comparison ended before its look")
	}
	return out, err
}

// claim keeps the candidate of a target that is supported or certified: from then on it has its share of the target's
// level. A suggestion claims nothing, and a target carries one candidate at a time: while another one is carried, what is
// supported is staged and claims nothing, unless its look at test tasks was paid for by a share of its own.
func (n trainer) claim(ctx context.Context, j *job, clusters []bank.Cluster) error {
	carried := slices.ContainsFunc(j.past, func(c bank.Candidate) bool { return c.State == bank.Carried }) && (j.out.Continued == nil || j.out.Continued.State == string(bank.Carried))
	c := bank.Candidate{
		Project: n.Project, Target: j.doc.ID(), Night: n.report.ID, State: bank.Carried, Level: j.level, Text: target.Digest(j.text), Live: j.doc.Digest(), Terms: j.terms,
		Reason: j.out.Reason, Known: numbers(clusters), Exploratory: j.out.Groups.Unreviewed > 0, Served: j.served,
	}
	replaces := ""
	switch {
	case j.out.Outcome == Suggested:
		return nil
	case j.out.Outcome == Certified:
		c.State, replaces = bank.Certified, "another text was certified in night "+n.report.ID
	case carried && j.out.Test == nil:
		return nil
	case carried:
		c.State, c.Reason = bank.Dropped, "the test did not certify it, and another one is continued"
	}
	if j.out.Test != nil {
		c.Known = slices.Concat(c.Known, numbers(j.picked.fresh))
	}
	j.claimed = &c
	_, err := n.Bank.Stage(ctx, c, replaces)
	return err
}
