package night

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// sinceLevel is how often an adopted text that is no worse is ever called worse, and one that is no better, better.
const sinceLevel = 0.05

// mostSince is how many tasks a night asks for the evidence of an adoption: the newest.
const mostSince = 24

// mostStanding is how many adoptions of a document a night gathers evidence for: the newest.
const mostStanding = 3

// Standing is an adoption of a document that was not taken back.
type Standing struct {
	Number  int
	Night   string   // that staged it
	Without string   // what the document would hold if the adoption were taken back
	Changed []string // the lines that would go or come back; none: nothing of the adoption is in the document
	Reason  string   // why the two above are not known; "": they are
}

// hindsight looks at what was adopted.
type hindsight struct{ trainer }

// measureAdoptions continues with the evidence for what was adopted of a document: it and the document without the adoption answer
// the tasks that are new to both. It reports what is worse, with the command that takes it back; it takes nothing back by itself.
func (n hindsight) measureAdoptions(ctx context.Context, j *job) error {
	if n.Adopted == nil || j.doc.New || j.out.Can.Does == doesUngated {
		return nil
	}
	standing, err := n.Adopted(j.doc.ID(), j.doc.Text)
	if err != nil { // a receipt that cannot be believed ends no night
		n.note(fmt.Sprintf("%s: what was adopted is not looked at: %v", j.doc.ID(), err))
		return nil
	}
	rows, err := bank.Since(ctx, n.Bank, n.Project, j.doc.ID())
	if err != nil {
		return err
	}
	standing = standing[max(0, len(standing)-mostStanding):]
	for _, s := range slices.Backward(standing) {
		if err := n.sinceOne(ctx, j, s, rows); err != nil {
			return err
		}
	}
	return nil
}

// sinceOne continues the evidence for one adoption.
func (n hindsight) sinceOne(ctx context.Context, j *job, s Standing, rows []bank.Candidate) (err error) {
	out := Adopted{Number: s.Number, Target: j.doc.ID(), Night: s.Night, Verdict: result.AdoptedOpen, Needs: 1 / sinceLevel}
	switch {
	case s.Reason != "":
		out.Verdict, out.Reason = result.AdoptedUnknown, s.Reason
	case len(s.Changed) == 0:
		out.Verdict, out.Reason = result.AdoptedGone, "nothing of it is in the document"
	}
	if out.Verdict != result.AdoptedOpen {
		n.setAdopted(out)
		return nil
	}
	c, err := n.ensureRow(ctx, j, s, rows)
	if err != nil {
		return err
	}
	if err := weighSince(&out, c, n.report.ID); err != nil {
		return err
	}
	defer func() { n.setAdopted(out) }()
	fresh := n.newTo(j, c)
	if out.Verdict == result.AdoptedWorse || len(fresh) == 0 || out.Tonight > 0 {
		return nil
	}
	fresh = fresh[max(0, len(fresh)-mostSince):]
	if out.Run, err = n.askBoth(ctx, j, s, c, fresh); err != nil {
		return err
	}
	return weighSince(&out, c, n.report.ID)
}

// sinceAnswers returns how many answers the evidence for what was adopted of a document takes tonight, at most. What cannot be read
// takes none: it is not looked at either.
func (n hindsight) sinceAnswers(ctx context.Context, j *job) int {
	if n.Adopted == nil || j.doc.New || j.out.Can.Does == doesUngated {
		return 0
	}
	standing, err := n.Adopted(j.doc.ID(), j.doc.Text)
	if err != nil {
		return 0
	}
	rows, err := bank.Since(ctx, n.Bank, n.Project, j.doc.ID())
	if err != nil {
		return 0
	}
	sum := 0
	for _, s := range standing[max(0, len(standing)-mostStanding):] {
		if s.Reason != "" || len(s.Changed) == 0 {
			continue
		}
		c := &bank.Candidate{Night: s.Night, Known: n.knownTo(j, s.Night)}
		for i := range rows {
			if r := &rows[i]; r.Adoption == s.Number && r.State == bank.Adopted && r.Terms == j.terms {
				c = r
			}
		}
		sum += 2 * min(mostSince, len(n.newTo(j, c)))
	}
	return sum
}

// ensureRow returns the row of an adoption's evidence. It leaves out what was measured by another model or way of scoring,
// or of other rules, since somebody has edited them: the row says why it begins again.
func (n hindsight) ensureRow(ctx context.Context, j *job, s Standing, rows []bank.Candidate) (*bank.Candidate, error) {
	sum := sha256.Sum256([]byte(strings.Join(s.Changed, "\n")))
	fresh := bank.Candidate{
		Project: n.Project, Target: j.doc.ID(), Night: s.Night, State: bank.Adopted, Text: hex.EncodeToString(sum[:]), Terms: j.terms, Adoption: s.Number,
		Exploratory: true, // it is no candidate, and spends nothing of the level
		Known:       n.knownTo(j, s.Night),
	}
	for i := range slices.Backward(rows) {
		c := &rows[i]
		if c.Adoption != s.Number || c.State != bank.Adopted {
			continue
		}
		began := ""
		switch {
		case c.Terms != j.terms:
			began = "the model, the agent or the way of scoring has changed: its evidence begins again"
		case c.Text != fresh.Text:
			began = "its rules in the document were edited: its evidence begins again"
		default:
			return c, nil
		}
		if err := n.leave(ctx, c, &fresh, began); err != nil {
			return nil, err
		}
		break
	}
	return &fresh, bank.KeepSince(ctx, n.Bank, &fresh)
}

// leave ends a row, and has another one begin behind it.
func (n hindsight) leave(ctx context.Context, c, next *bank.Candidate, why string) error {
	c.State, c.Settled = bank.Ended, n.report.ID
	next.Reason = why
	return bank.KeepSince(ctx, n.Bank, c)
}

// knownTo returns the clusters that an adopted text was made, chosen or compared by before it was adopted, as far as a candidate shows.
func (n hindsight) knownTo(j *job, night string) []int64 {
	var out []int64
	for _, c := range j.past {
		if c.Night != night {
			continue
		}
		out = append(out, c.Known...)
		for _, p := range c.Pairs {
			out = append(out, p.Cluster)
		}
	}
	return out
}

// newTo returns the clusters at hand that came after the night that staged a text, and that it has not answered.
func (hindsight) newTo(j *job, c *bank.Candidate) []bank.Cluster {
	return slices.DeleteFunc(j.picked.train(), func(k bank.Cluster) bool {
		return k.Night <= c.Night || slices.Contains(c.Known, k.Number) || slices.ContainsFunc(c.Pairs, func(p bank.Pair) bool { return p.Cluster == k.Number })
	})
}

// askBoth has the document without the adoption and the live one answer tasks, each once, and keeps what they scored.
func (n hindsight) askBoth(ctx context.Context, j *job, s Standing, c *bank.Candidate, fresh []bank.Cluster) (run string, err error) {
	without := s.Without
	if strings.TrimSpace(without) == "" { // there was no file
		if without, err = skill.InjectLearned(""); err != nil {
			return "", fmt.Errorf("the document without number %d: %w", s.Number, err)
		}
	}
	cfg := n.targetSettings(j)
	cfg.Gate.Metric = "hard"
	if cfg.Agent.Name != "" {
		cfg.Agent.Documents = over(n.Config.Agent.Documents, j.others.live, j.doc)
	}
	name := fmt.Sprintf("%s-%s-since-%d", n.report.ID, slug(j.doc.ID()), s.Number)
	if cfg.Limits, err = n.rest(ctx, name, reserved); err != nil {
		return "", err
	}
	tasks := clusterTasks(fresh, func(int) task.Split { return task.Selection })
	done, err := skillopt.Compare(ctx, cfg, skill.New(without), skill.New(j.doc.Text), append(n.options(name), skillopt.WithTasks(tasks), skillopt.WithSplit(string(task.Selection)),
		skillopt.WithPasses(1), skillopt.WithOneLook(sinceLevel))...)
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	run = n.relativePath(dir)
	j.out.Runs = append(j.out.Runs, run)
	if done == nil {
		return run, err
	}
	n.report.Simulated = n.report.Simulated || done.Simulated
	if err != nil {
		return run, err
	}
	served, err := n.answeredBy(dir)
	if err != nil {
		return run, err
	}
	if othersAnswer(c.Served, served) {
		next := *c
		next.Number, next.Pairs, next.Served = 0, nil, served
		why := fmt.Sprintf("models.target is answered by %s now, and was by %s: its evidence begins again", strings.Join(served, ", "), strings.Join(c.Served, ", "))
		if err := n.leave(ctx, c, &next, why); err != nil {
			return run, err
		}
		*c = next
	}
	if len(c.Served) == 0 {
		c.Served = served
	}
	for _, t := range done.ByTask {
		if number, ok := findClusterNumber(fresh, t.ID); ok {
			c.Pairs = append(c.Pairs, bank.Pair{Cluster: number, Night: n.report.ID, Live: t.A, Staged: t.B})
		}
	}
	return run, bank.KeepSince(ctx, n.Bank, c)
}

// weighSince says what all pairs of an adoption amount to, once a night has looked at them.
func weighSince(out *Adopted, c *bank.Candidate, night string) error {
	better, err := gate.Certificate{Test: gate.TestMean, Alpha: sinceLevel}.Add(toGatePairs(c.Pairs, false))
	if err != nil {
		return err
	}
	worse, err := worseSince(c.Pairs)
	if err != nil {
		return err
	}
	out.Pairs, out.Wins, out.Losses = better.N, better.Wins, better.Losses
	tonight := slices.DeleteFunc(slices.Clone(c.Pairs), func(p bank.Pair) bool { return p.Night != night })
	out.Tonight = len(tonight)
	sum := 0.0
	for _, p := range c.Pairs {
		sum += p.Staged - p.Live
	}
	if better.N > 0 {
		mean := sum / float64(better.N)
		out.Difference, out.Better, out.Worse = &mean, &better.Wealth, &worse
	}
	out.Verdict, out.Help = result.AdoptedOpen, ""
	out.Reason = fmt.Sprintf("won %d and lost %d of %s", better.Wins, better.Losses, wording.Plural(better.N, "new task", "new tasks"))
	switch {
	case better.N == 0:
		out.Reason = "no task since is new to it"
	case worse >= out.Needs:
		out.Verdict, out.Reason = result.AdoptedWorse, "worse: it "+out.Reason
		out.Help = fmt.Sprintf("skillopt sleep rollback %d", out.Number)
	case better.Certified:
		out.Verdict, out.Reason = result.AdoptedBetter, "better: it "+out.Reason
	}
	if len(tonight) > 0 && len(tonight) < better.N {
		last, err := gate.Certificate{Test: gate.TestMean, Alpha: sinceLevel}.Add(toGatePairs(tonight, false))
		if err != nil {
			return err
		}
		out.Reason += fmt.Sprintf("; of these, the last night that looked won %d and lost %d of %d", last.Wins, last.Losses, last.N)
	}
	if c.Reason != "" && len(tonight) == better.N {
		out.Reason += "; " + c.Reason
	}
	return nil
}

// worseSince returns the evidence that a text is worse from one of the nights on that have looked: the mean of the evidence that
// begins with each of them, weighted by 1/(k(k+1)) for the kth. Each is a wealth that begins with 1, and the weights of all nights
// that may come sum to 1. While the text is in no night worse, the mean reaches 1/level with a probability of at most level,
// however often it is looked at (Ville's inequality). What was won before does not hide what is lost now.
func worseSince(pairs []bank.Pair) (float64, error) {
	sum, k := 0.0, 0.0
	for i := range pairs {
		if i > 0 && pairs[i].Night == pairs[i-1].Night {
			continue
		}
		k++
		from, err := gate.Certificate{Test: gate.TestMean, Alpha: sinceLevel}.Add(toGatePairs(pairs[i:], true))
		if err != nil {
			return 0, err
		}
		sum += from.Wealth / (k * (k + 1))
	}
	return sum + 1/(k+1), nil // nights to come have 1 each
}

// setAdopted puts what is known of an adoption into the report.
func (n hindsight) setAdopted(a Adopted) {
	if i := slices.IndexFunc(n.report.Adopted, func(o Adopted) bool { return o.Number == a.Number && o.Target == a.Target }); i >= 0 {
		n.report.Adopted[i] = a
		return
	}
	n.report.Adopted = append(n.report.Adopted, a)
}
