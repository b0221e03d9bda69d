package prune

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// mostDry is how many rollouts a plan may have at most for dry runs to be made of it.
const mostDry = 400_000

// plan returns what the operation takes. The number of tasks that show what a rule is worth depends
// on the rules and on chance, which no one knows before. Dry runs of the same comparisons with
// placeholders for the model say what may be expected.
func (p *pruning) plan(ctx context.Context) (result.Plan, error) {
	s := p.session
	most := p.rollouts()
	out := forecast.Rollouts(s, most, p.splits...)
	if most > mostDry {
		out.NoForecast = fmt.Sprintf("up to %d rollouts are too many to rehearse (more than %d): the bound is all that is known", most, mostDry)
		return out, nil
	}
	var found []int
	for _, w := range p.worlds() {
		n, err := p.dryRun(ctx, w)
		if err != nil {
			return out, fmt.Errorf("rehearse the run: %w", err)
		}
		found = append(found, n)
	}
	between := forecast.NewInterval(found, drySpread)
	between.Expected = float64(found[0])
	if p.o.Record != "" { // which of the answers it has, no one knows before they are asked for
		between.Low = 0
	}
	tasks := p.judge
	if p.kind == result.Prune {
		tasks = append(tasks[:len(tasks):len(tasks)], p.certify...)
	}
	return out, forecast.Measure(ctx, s, &out, forecast.Measuring{Rollouts: between, Tasks: tasks, Skills: []skill.Skill{s.Skill}})
}

// drySpread is by which share the ends of a forecast lie beyond those of its dry runs.
const drySpread = 0.1

// world represents a model and a skill: which rules tasks need, and how much is chance.
type world struct {
	needed float64 // share of the rules without which tasks fail
	chance float64 // share of the tasks that are solved by chance
	seed   int
}

// worlds returns the worlds that are played, the one to be expected first. It is no promise that a
// model is expected to answer as before: if one answer changes, all is compared as where answers
// change.
func (p *pruning) worlds() []world {
	all := []world{{0.5, 0.1, 0}, {0.5, 0, 1}, {1, 0, 2}, {0, 0, 3}, {0.5, 0.3, 4}, {0, 0.3, 5}}
	if t := p.session.Config.Models.Target.Temperature; p.session.Models.Deterministic() && t != nil && *t == 0 {
		all[0], all[1] = all[1], all[0]
	}
	return all
}

// standIn answers instead of the model.
type standIn struct {
	world
	files []string
	scope skill.Scope
	rules []prune.Rule

	mu    sync.Mutex
	asked map[string]bool         // what was asked, by skill, task and sample
	has   map[string]map[int]bool // rules by their place that a skill has left
}

// dryRun does the operation in a world and returns how many rollouts it took.
func (p *pruning) dryRun(ctx context.Context, w world) (int, error) {
	in := &standIn{world: w, files: p.files, scope: p.session.Scope, rules: p.rules, asked: map[string]bool{}, has: map[string]map[int]bool{}}
	settings := p.settings()
	bench := func(name string, tasks []task.Task) *prune.Bench {
		b := p.bench(name, tasks)
		b.Skip = nil
		b.Measure = func(_ context.Context, s skill.Skill, item, sample int) (trajectory.Outcome, error) {
			return in.answer(s, tasks[item], sample), ctx.Err()
		}
		return b
	}
	r := &prune.Pruner{Skill: p.session.Skill, Files: p.files, Scope: p.session.Scope, Bench: bench("rules", p.judge), Settings: settings, Keep: p.stays}
	if p.kind != result.Prune {
		_, err := r.Ablate(ctx)
		return len(in.asked), err
	}
	got, err := r.Prune(ctx)
	if err != nil || len(got.RemovedRules()) == 0 {
		return len(in.asked), err
	}
	b := bench("certificate", p.certify)
	b.First = max(freshSample, got.Samples)
	settings.Deterministic, settings.Variance = got.Deterministic, got.Variance
	_, err = prune.Certify(ctx, b, settings, got.Skill, p.session.Skill)
	return len(in.asked), err
}

// answer returns an outcome that is right or wrong: by chance, or by the rule that the task needs.
func (in *standIn) answer(s skill.Skill, t task.Task, sample int) trajectory.Outcome {
	in.mu.Lock()
	defer in.mu.Unlock()
	digest := s.Digest()
	in.asked[fmt.Sprintf("%s %s %d", digest, t.ID, sample)] = true
	hard := 0.0
	switch own := draw(t.ID, in.seed); {
	case own < in.chance:
		if draw(fmt.Sprintf("%s %s %d", digest, t.ID, sample), in.seed) < 0.5 {
			hard = 1
		}
	case in.solves(digest, s, t):
		hard = 1
	}
	return trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.OK, Hard: hard, Soft: hard}
}

// solves reports whether a task finds the rule that it needs. Tasks of a type need the
// same one; without types each has its own.
func (in *standIn) solves(digest string, s skill.Skill, t task.Task) bool {
	kind := t.Type
	if kind == "" {
		kind = t.ID
	}
	rule := int(draw("rule "+kind, in.seed) * float64(len(in.rules)))
	if draw(fmt.Sprintf("needed %d", rule), in.seed) >= in.needed {
		return true
	}
	has, ok := in.has[digest]
	if !ok {
		has = map[int]bool{}
		left := map[string]int{}
		for _, r := range prune.ParseRules(s, in.files, in.scope) {
			left[r.Text]++
		}
		for i, r := range in.rules {
			has[i] = left[r.Text] > 0
		}
		in.has[digest] = has
	}
	return has[rule]
}

// draw returns a number from 0 to 1 that belongs to a text.
func draw(text string, seed int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, text)
	v := h.Sum64()
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	return float64(v>>11) / (1 << 53)
}
