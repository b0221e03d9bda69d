package compare

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// comparison measures two skills on the same tasks, in looks: parts of the first
// pass, then whole passes. What it holds are looks that are complete.
type comparison struct {
	session *session.Session
	out     *result.Comparison // nil: there is no result
	skills  [2]skill.Skill     // A, B
	rule    passes.Rule
	split   string
	splits  []task.Split
	tasks   []task.Task
	units   [][]int // what counts once: a task, or the tasks of a cluster, in the order in which they are measured
	most    int     // passes
	repeats bool    // a second pass would answer as the first
	level   float64 // of the only look, at the end; 0: it looks as it goes

	outcomes [2][][]trajectory.Outcome // by arm, pass and task; ID "": not measured yet
	lost     []bool                    // tasks left out of both arms, by number

	trained [2]*result.TrainedOn // by these tasks; nil: no such training is known
}

// armNames are the arms in keys of the record.
var armNames = [2]string{"a", "b"}

// measure looks until the rule decides or the passes are used up.
func (c *comparison) measure(ctx context.Context) error {
	for pass := range c.most {
		looks := c.looks(pass)
		stage := fmt.Sprintf("pass %d", pass+1)
		c.session.Emit(event.StageStarted{Stage: stage, Total: 2 * len(c.tasks)})
		done := c.session.Progress(stage, 2*len(c.tasks))
		from := 0
		for n, to := range looks {
			l := look{pass: pass, number: n, which: c.open(from, to), done: done}
			if err := c.look(ctx, &l); err != nil {
				return err
			}
			from = to
			if decided, err := c.tell(pass); decided || err != nil {
				return err
			}
		}
	}
	return nil
}

// groupTasks groups tasks by a field, "" for none, in the random order of a seed.
func groupTasks(tasks []task.Task, field string, seed int64) [][]int {
	_, clusters := train.Strata(tasks, field)
	units := gate.Units(len(tasks), clusters)
	out := make([][]int, len(units))
	for k, u := range passes.Order(len(units), seed) {
		out[k] = units[u]
	}
	return out
}

// open returns the tasks of some units that are not left out.
func (c *comparison) open(from, to int) []int {
	var out []int
	for _, unit := range c.units[from:to] {
		for _, i := range unit {
			if !c.lost[i] {
				out = append(out, i)
			}
		}
	}
	return out
}

// look is a number of tasks that both arms carry out before anything is decided.
type look struct {
	pass, number int
	which        []int
	done         func()
	out          [2][]trajectory.Outcome // by arm, in the order of which
}

// place returns where the rollouts of an arm are. Both arms have the same sample of a pass, and so
// the same seeds.
func (l *look) place(arm int) rollout.Place {
	return rollout.Place{Prefix: "compare/" + armNames[arm], Sample: l.pass}
}

// look measures, tries what is missing again, and takes in what there is.
func (c *comparison) look(ctx context.Context, l *look) error {
	for arm := range l.out {
		l.out[arm] = make([]trajectory.Outcome, len(l.which))
	}
	for attempt := 0; attempt <= c.session.Runner.Extra && l.countMissing() > 0; attempt++ {
		if err := c.attempt(ctx, l); err != nil {
			return err
		}
	}
	if err := c.session.Health(); err != nil {
		return err
	}
	if err := c.giveUp(ctx, l); err != nil {
		return err
	}
	c.take(l)
	return nil
}

// attempt asks for all that is missing at once. The arms take turns: A goes first
// on one task, B on the next, so that neither has the better hours of a server.
func (c *comparison) attempt(ctx context.Context, l *look) error {
	group, ctx := taskgroup.WithContext(ctx)
	for k, i := range l.which {
		for turn := range l.out {
			arm := (turn + k) % 2
			if l.out[arm][k].Status.Measured() {
				continue
			}
			group.Go(func() error {
				out, err := c.session.Runner.One(ctx, l.place(arm), c.tasks[i], c.skill(arm))
				if err != nil {
					return err
				}
				l.out[arm][k] = out
				if out.Status.Measured() {
					l.done()
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// countMissing counts what is not measured.
func (l *look) countMissing() int {
	n := 0
	for k := range l.which {
		for arm := range l.out {
			if !l.out[arm][k].Status.Measured() {
				n++
			}
		}
	}
	return n
}

// giveUp leaves tasks out of both arms that one of them could not measure, and
// records that the comparison continues without them.
func (c *comparison) giveUp(ctx context.Context, l *look) error {
	if l.countMissing() == 0 {
		return nil
	}
	var keys []string
	var reason string
	lost := make(map[int]bool)
	for k, i := range l.which {
		for arm := range l.out {
			if o := l.out[arm][k]; !o.Status.Measured() {
				keys = append(keys, l.place(arm).Key(c.tasks[i]))
				lost[i], reason = true, o.FailReason
			}
		}
	}
	missing := len(lost) + len(c.listLostTasks())
	if !gate.Enough(len(c.tasks), missing) {
		return c.coverage(missing, reason)
	}
	decision, err := json.Marshal(map[string]any{"without": keys})
	if err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	key := fmt.Sprintf("compare/pass%d/look%d/without", l.pass+1, l.number+1)
	if err := c.session.Caller.Unmeasured(ctx, key, decision, keys); err != nil {
		return err
	}
	for i := range lost {
		c.lost[i] = true
	}
	return nil
}

// take adds the outcomes of a complete look.
func (c *comparison) take(l *look) {
	for arm := range l.out {
		if len(c.outcomes[arm]) == l.pass {
			c.outcomes[arm] = append(c.outcomes[arm], make([]trajectory.Outcome, len(c.tasks)))
		}
		for k, i := range l.which {
			c.outcomes[arm][l.pass][i] = l.out[arm][k]
		}
	}
}

// tell reports what is known after a look and whether it is enough.
func (c *comparison) tell(pass int) (decided bool, err error) {
	differences := c.differences()
	j, err := c.rule.Judge(differences)
	if err != nil {
		return false, err
	}
	verdict := string(j.Verdict)
	if c.withheld(verdict) != "" {
		verdict = result.VerdictNotEnoughData
	}
	c.session.Emit(event.Compared{Pass: pass + 1, Pairs: len(differences), Difference: j.Mean, Low: j.Low, High: j.High, Verdict: verdict})
	return j.Verdict != passes.NotEnoughData && !c.isSingleLook(), nil
}

// hasPair reports whether both arms have a score of a task in a pass, and the
// task was not given up later.
func (c *comparison) hasPair(pass, i int) bool {
	return !c.lost[i] && c.outcomes[0][pass][i].Status.Measured() && c.outcomes[1][pass][i].Status.Measured()
}

// differences returns the differences of all pairs, B - A: of a task, or of the means of a cluster,
// in a pass.
func (c *comparison) differences() []float64 {
	var out []float64
	for pass := range c.outcomes[0] {
		for _, unit := range c.units {
			sum, n := 0.0, 0
			for _, i := range unit {
				if c.hasPair(pass, i) {
					sum += c.value(1, pass, i) - c.value(0, pass, i)
					n++
				}
			}
			if n > 0 {
				out = append(out, sum/float64(n))
			}
		}
	}
	return out
}

func (c *comparison) value(arm, pass, i int) float64 {
	o := c.outcomes[arm][pass][i]
	return c.project(o.Hard, o.Soft)
}

// collectOutcomes returns the outcomes of an arm that have a partner, by task.
func (c *comparison) collectOutcomes(arm int) [][]trajectory.Outcome {
	out := make([][]trajectory.Outcome, len(c.tasks))
	for i := range c.tasks {
		for pass := range c.outcomes[arm] {
			if c.hasPair(pass, i) {
				out[i] = append(out[i], c.outcomes[arm][pass][i])
			}
		}
	}
	return out
}

func (c *comparison) byTask() []result.TaskDifference {
	a, b := c.collectOutcomes(0), c.collectOutcomes(1)
	out := []result.TaskDifference{}
	for i, t := range c.tasks {
		if n := len(a[i]); n > 0 {
			out = append(out, result.TaskDifference{ID: t.ID, A: c.mean(a[i]), B: c.mean(b[i]), N: n})
		}
	}
	return out
}

// mean returns the mean of the scores of some outcomes.
func (c *comparison) mean(outcomes []trajectory.Outcome) float64 {
	sum := 0.0
	for _, o := range outcomes {
		sum += c.project(o.Hard, o.Soft)
	}
	return sum / float64(len(outcomes))
}

// listLostTasks names the tasks left out of both arms.
func (c *comparison) listLostTasks() []string {
	var out []string
	for i, t := range c.tasks {
		if c.lost[i] {
			out = append(out, t.ID)
		}
	}
	return out
}
