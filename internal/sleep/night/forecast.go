package night

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// foresee says what the rest of a night is expected to take, and makes the ceiling of a night whose limits say nothing of
// it. A night that was forecast keeps its forecast when it continues.
func (n trainer) foresee(ctx context.Context, jobs []job) error {
	wanted := n.Confirm != nil || n.DryRun || n.purse.byDefault // somebody learns of it, or a ceiling is made of it
	if n.report.Forecast == nil && !n.report.Agreed && wanted {
		f, err := n.forecast(ctx, jobs)
		if err != nil && errorOutcome(err) == "" {
			return err
		}
		n.report.Forecast = f // without one the first run says what keeps it
	}
	n.purse.expect(n.report.Forecast)
	return nil
}

// forecast adds up what each document is expected to take, and what the night has used already; nil: no document is
// trained or scored.
func (n trainer) forecast(ctx context.Context, jobs []job) (*result.NightForecast, error) {
	sum := newSum()
	several, pairs := len(jobs) > 1, 0
	for i := range jobs {
		j := &jobs[i]
		if j.out.Can.Does == "" || len(j.picked.train()) == 0 || len(j.picked.tonight) == 0 && !n.Explore {
			continue // it is settled without a call
		}
		cfg, tasks, err := n.foreseen(j)
		if err != nil {
			return nil, err
		}
		seed, err := n.seed(j)
		if err != nil {
			continue // it is refused when its turn comes, and takes nothing
		}
		answers := countAnswers(j) + hindsight{n}.sinceAnswers(ctx, j)
		if several && j.out.Can.Does != doesObserve {
			pairs += len(j.picked.train())
		}
		if err := sum.run(ctx, cfg, seed, tasks, answers, n.options("forecast")); err != nil {
			return nil, fmt.Errorf("forecast of %s: %w", j.doc.ID(), err)
		}
	}
	if !sum.any {
		return nil, nil
	}
	sum.answers(2 * pairs)
	f := sum.out
	s := n.report.Spent
	f.Calls, f.Input, f.Output = shiftInterval(f.Calls, float64(s.Calls)), shiftInterval(f.Input, float64(s.Input)), shiftInterval(f.Output, float64(s.Output))
	switch {
	case s.CostUSD != nil && f.USD != nil:
		usd := shiftInterval(*f.USD, *s.CostUSD)
		f.USD = &usd
	case s.Calls > 0:
		f.USD = nil
	}
	f.Cached = n.estimateCached(ctx, f.Input)
	f.Tokens = n.ceilingFor(f, jobs)
	return &f, nil
}

// foreseen returns the settings and tasks that a document is trained with.
func (n trainer) foreseen(j *job) (config.Config, []task.Task, error) {
	clusters, cfg := j.picked.train(), n.targetSettings(j)
	cfg.Reflect.Guide = n.guide(&cfg, j)
	cfg.Limits.Tokens, cfg.Limits.USD, cfg.Limits.Calls = nil, nil, nil // what a run would take
	if j.out.Can.Does == doesTrain || j.out.Can.Does == doesSealed {
		return cfg, clusterTasks(clusters, trainSplit(j, clusters)), nil
	}
	cfg.Gate.Mode, cfg.Train.Epochs, cfg.Split.CrossFit, cfg.Gate.Keep = string(gate.ModeOff), 1, 0, false
	return cfg, clusterTasks(clusters, func(int) task.Split { return task.Train }), nil
}

// countAnswers returns how many answers a document is measured by outside of training.
func countAnswers(j *job) int {
	open, fresh := len(j.picked.train()), len(j.picked.fresh)
	switch j.out.Can.Does {
	case doesObserve:
		return 2 * open // the live text, twice
	case doesSealed:
		return 2 * (open + fresh)
	case doesTrain:
		return 2 * open
	}
	return 0
}

// estimateCached returns how much of an input servers are expected to have cached, according to what they reported of earlier
// nights of the project; nil: there was none.
func (n *night) estimateCached(ctx context.Context, input result.Interval) *result.Interval {
	nights, err := n.Bank.Nights(ctx, n.Project)
	if err != nil {
		return nil // without it a forecast says less
	}
	var read, cached float64
	for _, row := range nights {
		var old Report
		if row.ID != n.report.ID && json.Unmarshal(row.Data, &old) == nil {
			read, cached = read+float64(old.Spent.Input), cached+float64(old.Spent.Cached)
		}
	}
	if read == 0 {
		return nil
	}
	out := times(input, cached/read)
	return &out
}

// slack is how many times the upper end of a forecast a night may take: a ceiling is to end one that gets out of hand, not one
// that asks more often than usual, such as for tasks that a candidate seems to lose.
const slack = 2

// ceilingFor returns the ceiling of tokens under which the night as forecast can be carried out, with the shares that are
// left for what comes after it. It returns nil if some of the night is not known.
func (n *night) ceilingFor(f result.NightForecast, jobs []job) *int64 {
	if len(f.Unknown) > 0 || f.Basis == result.Estimated || f.Basis == "" {
		return nil // runs have to show how long replies are: those of a model that thinks are many times the usual
	}
	share := 1 - reserved
	if len(jobs) > 1 {
		share -= bundleShare
	}
	// A call holds its longest reply back until it is answered.
	c := n.settings()
	held := min(float64(c.Limits.Concurrency), f.Calls.High) * float64(max(c.Models.Target.MaxTokens, c.Models.Optimizer.MaxTokens, c.Models.Judge.MaxTokens))
	most := int64(math.Ceil((slack*(f.Input.High+f.Output.High) + held) / share))
	return &most
}

// expect makes a ceiling of a forecast where the limits say nothing: never one above what a night takes by default.
func (p *purse) expect(f *result.NightForecast) {
	if !p.byDefault || f == nil || f.Tokens == nil || *f.Tokens >= *p.limits.Tokens {
		return
	}
	p.limits.Tokens = f.Tokens
}

// Expect returns the forecast of a first night whose sessions hold that many tasks, as nothing else is known of them.
// Nothing is sent. The tasks represent those of the usual length.
func Expect(ctx context.Context, o Options, sessions int) (*result.NightForecast, error) {
	o.DryRun = true
	n := newNight(o)
	n.purse = newPurse(n.Config)
	n.report = &Report{}
	j := job{}
	tasks := make([]bank.Cluster, min(sessions, n.Config.Sleep.Tasks))
	for i := range tasks {
		tasks[i] = supposedCluster(i)
	}
	j.picked.tonight, j.picked.open = tasks, len(tasks)
	j.out.Can.Does = doesTrain
	if len(tasks) < MinTrain {
		j.out.Can.Does = doesObserve
	}
	sum := newSum()
	t := trainer{n}
	cfg, list, err := t.foreseen(&j)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		text, err := skill.InjectLearned("")
		if err != nil {
			return nil, fmt.Errorf("forecast: %w", err)
		}
		if err := sum.run(ctx, cfg, skill.New(text), list, countAnswers(&j), n.With); err != nil {
			return nil, fmt.Errorf("forecast: %w", err)
		}
	}
	sum.addMining(MostSessions(n.Config.Sleep, sessions))
	f := sum.out
	f.Tokens = n.ceilingFor(f, nil)
	return &f, nil
}

// Figures of tasks that no one has seen yet, in characters, and of a call that mines a session, in tokens.
const (
	supposedPrompt = 600
	mineExpected   = 5_000
	mineHigh       = 14_000
	mineReply      = 500
)

// supposedCluster returns a task that represents one that is not mined yet.
func supposedCluster(i int) bank.Cluster {
	name := "supposed-" + strconv.Itoa(i+1)
	prompt := name + strings.Repeat(" supposed", supposedPrompt/len(" supposed"))
	var w bank.Task
	w.Task.Task = task.Task{ID: name, Prompt: prompt, Gold: []string{name}}
	return bank.Cluster{Number: int64(i), Tasks: []bank.Task{w}}
}

// foreseenSum adds up forecasts of runs.
type foreseenSum struct {
	any    bool // there was a run
	out    result.NightForecast
	answer result.NightForecast // of one answer of the target, as the last run has it
}

func newSum() *foreseenSum {
	return &foreseenSum{out: result.NightForecast{USD: &result.Interval{}, Unknown: []string{}}}
}

// run adds a training run, and also that many answers of the target.
func (s *foreseenSum) run(ctx context.Context, cfg config.Config, seed skill.Skill, tasks []task.Task, answers int, opts []skillopt.Option) error {
	p, err := skillopt.Plan(ctx, cfg, append(slices.Clone(opts), skillopt.WithSkill(seed), skillopt.WithTasks(tasks), skillopt.WithAcceptedSeed())...)
	if err != nil {
		var known *skillopt.Error
		if errors.As(err, &known) && known.Kind == skillopt.BadInput {
			s.unknown("what cannot be planned: " + err.Error())
			return nil // the run says it when its turn comes
		}
		return err
	}
	s.any = true
	if p.Forecast == nil {
		s.unknown(p.NoForecast)
		return nil
	}
	for _, st := range p.Forecast.Stages {
		if st.Calls.High > 0 && st.Input.High == 0 { // episodes before any was made
			s.unknown("the tokens of the " + st.Role)
		}
	}
	s.add(p.Forecast.Calls, p.Forecast.Input, p.Forecast.Output, p.Forecast.USD)
	s.answer = answerForecast(p.Forecast)
	if s.out.Basis != result.Estimated { // the least that any of them rests on
		s.out.Basis = p.Forecast.Basis
	}
	s.answers(answers)
	return nil
}

// answers adds answers of the target.
func (s *foreseenSum) answers(n int) {
	if n == 0 {
		return
	}
	k := float64(n)
	var usd *result.Interval
	if s.answer.USD != nil {
		v := times(*s.answer.USD, k)
		usd = &v
	}
	s.add(result.Interval{Expected: k, Low: 0, High: k}, times(s.answer.Input, k), times(s.answer.Output, k), usd)
}

// addMining adds what it takes to mine sessions, of which some hold nothing to ask about.
func (s *foreseenSum) addMining(sessions int) {
	k := float64(sessions)
	s.add(result.Interval{Expected: k / 2, Low: 0, High: k}, result.Interval{Expected: k / 2 * mineExpected, Low: 0, High: k * mineHigh},
		result.Interval{Expected: k / 2 * mineReply, Low: 0, High: k * 3 * mineReply}, nil)
}

func (s *foreseenSum) add(calls, input, output result.Interval, usd *result.Interval) {
	s.out.Calls, s.out.Input, s.out.Output = both(s.out.Calls, calls), both(s.out.Input, input), both(s.out.Output, output)
	if usd == nil || s.out.USD == nil {
		s.out.USD = nil
		return
	}
	sum := both(*s.out.USD, *usd)
	s.out.USD = &sum
}

func (s *foreseenSum) unknown(what string) {
	if what != "" && !slices.Contains(s.out.Unknown, what) {
		s.out.Unknown = append(s.out.Unknown, what)
	}
}

// answerForecast returns what one answer of the target takes, according to a forecast.
func answerForecast(f *result.Forecast) result.NightForecast {
	var sum result.NightForecast
	sum.USD = &result.Interval{}
	for _, st := range f.Stages {
		if st.Role != model.Target || st.Calls.Expected == 0 {
			continue
		}
		sum.Calls, sum.Input, sum.Output = both(sum.Calls, st.Calls), both(sum.Input, st.Input), both(sum.Output, st.Output)
		if st.USD == nil {
			sum.USD = nil
		} else if sum.USD != nil {
			usd := both(*sum.USD, *st.USD)
			sum.USD = &usd
		}
	}
	if sum.Calls.Expected == 0 {
		return result.NightForecast{}
	}
	one := 1 / sum.Calls.Expected
	out := result.NightForecast{Input: flat(sum.Input.Expected * one), Output: flat(sum.Output.Expected * one)}
	if sum.USD != nil {
		usd := flat(sum.USD.Expected * one)
		out.USD = &usd
	}
	return out
}

// flat returns a figure that is taken as it is, with half and twice of it as what it may be.
func flat(v float64) result.Interval { return result.Interval{Expected: v, Low: v / 2, High: 2 * v} }

func both(a, b result.Interval) result.Interval {
	return result.Interval{Expected: a.Expected + b.Expected, Low: a.Low + b.Low, High: a.High + b.High}
}

func shiftInterval(i result.Interval, by float64) result.Interval {
	return both(i, result.Interval{Expected: by, Low: by, High: by})
}

func times(i result.Interval, k float64) result.Interval {
	return result.Interval{Expected: i.Expected * k, Low: i.Low * k, High: i.High * k}
}
