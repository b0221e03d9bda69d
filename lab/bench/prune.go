package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// PruneStudy measures what pruning removes from skills of which it is known which rules
// their tasks need, with targets that forget the skill in a share of their answers.
type PruneStudy struct {
	Worlds int    `json:"worlds"` // of each kind and share
	Seed   uint64 `json:"seed"`
	Kind   string `json:"kind,omitempty"` // of the worlds; "": all
}

// DefaultPruneStudy takes some minutes on two cores. Seed 1 shares worlds with
// those that the numbers of the method were chosen in.
func DefaultPruneStudy() PruneStudy { return PruneStudy{Worlds: 40, Seed: 2} }

// Validate reports what nothing can be measured with.
func (s PruneStudy) Validate() error {
	if s.Worlds < 2 || s.Worlds > 10_000 {
		return fmt.Errorf("worlds: found %d, allowed is 2 to 10000", s.Worlds)
	}
	var names []string
	for _, k := range pruneKinds() {
		if s.plays(k) {
			return nil
		}
		names = append(names, k.Name)
	}
	return fmt.Errorf("kind: found %q, allowed is one of %s", s.Kind, strings.Join(names, ", "))
}

func (s PruneStudy) plays(k PruneKind) bool { return s.Kind == "" || s.Kind == k.Name }

// pruneFlips are shares of answers in which the target forgets the skill.
func pruneFlips() []float64 { return []float64{0.05, 0.1, 0.2} }

// PruneKind is a kind of world.
type PruneKind struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	change func(*Setup)
	twice  int  // rules that are said twice
	harm   bool // a harmful rule stands in the skill
}

// pruneKinds returns the kinds of worlds. What they do not say is as in pruneSetup.
func pruneKinds() []PruneKind {
	return []PruneKind{
		{Name: "usual", What: "8 rules that concern as many tasks each", change: func(*Setup) {}},
		{Name: "unequal", What: "20 rules, two of them for one answer, some for many tasks and some for few", change: func(s *Setup) {
			s.World.Rules, s.World.Depth, s.World.Skew = 20, 2, 1
		}},
		{Name: "sparse", What: "8 rules for one task of four, the others are solved without any", change: func(s *Setup) { s.World.Plain = 0.75 }},
		{Name: "harmful", What: "a rule does harm to half of the kinds of task", change: func(*Setup) {}, harm: true},
		{Name: "said twice", What: "three of the rules are said twice, in other words", change: func(*Setup) {}, twice: 3},
		{Name: "few tasks", What: "30 tasks of each split, 5 rules", change: func(s *Setup) {
			s.World.Rules, s.Train, s.Selection = 5, 30, 30
		}},
		{Name: "many tasks", What: "120 tasks of each split, 12 rules", change: func(s *Setup) {
			s.World.Rules, s.Train, s.Selection = 12, 120, 120
		}},
	}
}

// pruneSetup is what the kinds of worlds start from.
func pruneSetup() Setup {
	s := Default()
	s.World.Rules, s.World.Depth, s.World.Skew = 8, 1, 0
	s.Train, s.Selection, s.Test = 60, 60, 200
	return s
}

// padding are rules that no task needs.
func padding() []string {
	return []string{
		"Read the whole card before you answer.", "Give the answer without repeating the question.", "Check the card number a second time.",
		"Remarks on a card are for the clerks and can be passed over.", "Cards of the old file room look the same as new ones.", "A card has one clerk at most.",
	}
}

// fate is what should become of a rule.
type fate string

const (
	useful   fate = "useful"  // without it three tasks or more are no longer solved
	rare     fate = "rare"    // one or two are not
	useless  fate = "useless" // nothing changes
	harmful  fate = "harmful"
	repeated fate = "said twice" // one of the two has to stay, and one to go
)

// harmfulRule is a harmful rule of every world, that concerns every second kind of task.
const harmfulRule = "- Begin the answer with a courtesy."

// enough is how many tasks a useful rule concerns: nobody can know of fewer.
const enough = 3

// pruneWorld is a world with a skill to prune.
type pruneWorld struct {
	*Arena
	kind    PruneKind
	skill   string
	repeats map[string]int // by rule that is said twice: which one it is
}

func newPruneWorld(s Setup, k PruneKind, i int) (*pruneWorld, error) {
	a, err := newArena(s, i)
	if err != nil {
		return nil, err
	}
	w := &pruneWorld{Arena: a, kind: k, repeats: map[string]int{}}
	head, _, _ := strings.Cut(a.Skill.Text(), "\n- ")
	stated := rulesIn(a.Perfect)
	lines := slices.Clone(stated)
	for n, again := range a.again[:k.twice] {
		once := stated[len(stated)-len(a.again)+n]
		lines = append(lines, "- "+again)
		w.repeats[once], w.repeats["- "+again] = n, n
	}
	for _, text := range padding() {
		lines = append(lines, "- "+text)
	}
	if k.harm {
		lines = append(lines, harmfulRule)
	}
	rng := rand.New(rand.NewPCG(uint64(a.Seed), 0x7072756e65))
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	w.skill = head + "\n" + strings.Join(lines, "\n") + "\n"
	return w, nil
}

func rulesIn(text string) []string {
	var out []string
	for _, r := range prune.Rules(text) {
		if strings.HasPrefix(r.Text, "- ") {
			out = append(out, r.Text)
		}
	}
	return out
}

// fates tells what should become of each rule, by its text. It goes by what the target
// answers when it never forgets the skill.
func (w *pruneWorld) fates(ctx context.Context) (map[string]fate, error) {
	if err := w.calmDown(ctx); err != nil {
		return nil, err
	}
	solved := func(text string) ([]trajectory.Outcome, error) { return w.answers(ctx, text, w.Data.Selection) }
	base := w.skill
	if w.kind.harm { // what is needed shows when nothing else spoils the answer
		base = strings.Replace(w.skill, harmfulRule+"\n", "", 1)
	}
	whole, err := solved(base)
	if err != nil {
		return nil, err
	}
	out := map[string]fate{}
	if w.kind.harm {
		out[harmfulRule] = harmful
	}
	for _, r := range prune.Rules(base) {
		gone := []prune.Rule{r}
		for _, other := range prune.Rules(base) {
			if n, ok := w.repeats[r.Text]; ok && other.Text != r.Text && w.repeats[other.Text] == n && hasKey(w.repeats, other.Text) {
				gone = append(gone, other)
			}
		}
		without, err := solved(prune.Without(base, gone...))
		if err != nil {
			return nil, err
		}
		out[r.Text] = fateOf(whole, without, len(gone) > 1)
	}
	return out, nil
}

func hasKey(m map[string]int, key string) bool { _, ok := m[key]; return ok }

func fateOf(whole, without []trajectory.Outcome, twice bool) fate {
	lost := 0
	for i := range whole {
		if without[i].Hard < whole[i].Hard {
			lost++
		}
	}
	switch {
	case twice && lost >= enough:
		return repeated
	case lost >= enough:
		return useful
	case lost > 0:
		return rare
	}
	return useless
}

// bench measures texts in the world. What was measured is remembered, as a record does.
func (w *pruneWorld) bench(name string, tasks []task.Task, first int) *prune.Bench {
	m := w.models()
	b := &prune.Bench{Name: name, Projection: score.Projection{Metric: score.Hard}, Seed: w.Seed, First: first}
	for _, t := range tasks {
		b.Items, b.Types = append(b.Items, t.ID), append(b.Types, t.Type)
	}
	b.Measure = func(ctx context.Context, s skill.Skill, item, sample int) (trajectory.Outcome, error) {
		return m.roller.One(ctx, rollout.Place{Prefix: "prune", Sample: sample}, tasks[item], s)
	}
	return b
}

// certificateFirst is the first sample of certificates.
const certificateFirst = 1000

// PruneMethod is a way to remove rules.
type PruneMethod struct {
	Name  string `json:"name"`
	What  string `json:"what"`
	joint bool
}

// pruneMethods returns what prune did before, with which it is compared, and what it does.
func pruneMethods() []PruneMethod {
	return []PruneMethod{
		{Name: "one by one", What: "each removal shown by itself"},
		{Name: "together", What: "what may go shown together, as runs do", joint: true},
	}
}

// pruneRun is what pruning came to in a world.
type pruneRun struct {
	gone, all   map[fate]float64 // rules
	evaluations float64
	certificate float64 // evaluations of it
	certified   float64 // 1 if it is; nothing removed needs none
	loss        float64 // expected score on the test tasks, whole skill minus pruned one
}

func (w *pruneWorld) prune(ctx context.Context, s prune.Settings, fates map[string]fate) (pruneRun, error) {
	b := w.bench("rules", w.Data.Selection, 0)
	p := prune.Pruner{Skill: skill.New(w.skill), Bench: b, Settings: s}
	got, err := p.Prune(ctx)
	if err != nil {
		return pruneRun{}, err
	}
	out := pruneRun{gone: map[fate]float64{}, all: map[fate]float64{}, evaluations: float64(b.Evaluations())}
	out.tell(w, fates, got.RemovedRules())
	out.certified = 1
	if out.loss, err = w.loss(ctx, got.Skill.Text()); err != nil || len(got.RemovedRules()) == 0 {
		return out, err
	}
	c := w.bench("certificate", w.Data.Train, certificateFirst)
	s.Deterministic, s.Variance = got.Deterministic, got.Variance
	cert, err := prune.Certify(ctx, c, s, got.Skill, skill.New(w.skill))
	out.certificate, out.certified = float64(c.Evaluations()), indicator(cert.NotWorse)
	return out, err
}

// tell counts which rules went. Of a rule that is said twice one is useless, and the
// other is useful.
func (r *pruneRun) tell(w *pruneWorld, fates map[string]fate, removed []prune.Rule) {
	gone := func(text string) bool {
		return slices.ContainsFunc(removed, func(r prune.Rule) bool { return r.Text == text })
	}
	left := map[int]int{}
	for text, f := range fates {
		if f == repeated {
			left[w.repeats[text]] += 1 - int(indicator(gone(text)))
			continue
		}
		r.all[f]++
		r.gone[f] += indicator(gone(text))
	}
	for _, n := range left {
		r.all[useful]++
		r.all[useless]++
		r.gone[useful] += indicator(n == 0)
		r.gone[useless] += indicator(n < 2)
	}
}

func (w *pruneWorld) loss(ctx context.Context, text string) (float64, error) {
	before, err := w.expected(ctx, w.skill, w.Data.Test)
	if err != nil {
		return 0, err
	}
	after, err := w.expected(ctx, text, w.Data.Test)
	if err != nil {
		return 0, err
	}
	return meanOf(before, w.Data.Test, "") - meanOf(after, w.Data.Test, ""), nil
}
