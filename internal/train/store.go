package train

import (
	"cmp"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// store keeps every candidate of a run by its text.
type store struct {
	items      []string
	units      [][]int // what counts once: an item, or those of a cluster
	projection score.Projection
	byHash     map[string]*entry
	order      []*entry
	scope      skill.Scope
	folded     bool     // skills are measured on different items
	recent     []*entry // those whose outcomes are not packed, the latest last
}

// maxOpen is how many entries keep their outcomes ready: the current skill, the best one,
// and the candidates that are compared with them.
const maxOpen = 4

// entry is a candidate with what its projection leaves out.
type entry struct {
	result.Candidate
	skill    skill.Skill
	bonus    float64  // for its density
	items    []string // of the store
	outcomes outcomeList
	sums     []score.Pair
	failed   []score.Cause // by item: why the first failed evaluation failed, "" if none did
	squares  []float64     // of gate scores
	served   served
	units    [][]int // of the store
	folded   bool
	read     []bool // by item: analysts have read its outcome
}

func newStore(items []string, clusters []string, p score.Projection) *store {
	return &store{items: items, units: gate.Units(len(items), clusters), projection: p, byHash: map[string]*entry{}}
}

// of returns the entry of a skill, which is begun if there is none.
func (s *store) of(in *incumbent, bonus float64) *entry {
	hash := s.scope.Hash(in.skill)
	if e, ok := s.byHash[hash]; ok {
		return e
	}
	e := &entry{skill: in.skill, bonus: bonus, items: s.items, units: s.units, folded: s.folded}
	e.Hash, e.Origin, e.Step, e.Text = hash, in.origin, in.step, in.skill.Text()
	e.Files = changeableTexts(s.scope, in.skill)
	e.Next = make([]int, len(s.items))
	e.read = make([]bool, len(s.items))
	e.forget()
	s.byHash[hash], s.order = e, append(s.order, e)
	return e
}

// forget drops what was measured. Sample numbers continue, so that what is measured
// next is fresh.
func (e *entry) forget() {
	n := len(e.items)
	e.Pooled, e.sums, e.squares, e.served = make([]gate.Pooled, n), make([]score.Pair, n), make([]float64, n), served{}
	e.Solved, e.Unscored, e.failed, e.Unanswered = make([]int, n), make([]int, n), make([]score.Cause, n), score.Unanswered{}
	e.outcomes = outcomeList{}
}

// all returns what is known of each item. The result is shared: no one changes it, and what the
// store learns later does not either.
func (s *store) all(e *entry) []trajectory.Outcome {
	s.touch(e)
	return e.outcomes.all(e.items)
}

// touch makes an entry the latest of those whose outcomes are ready.
func (s *store) touch(e *entry) {
	if i := slices.Index(s.recent, e); i >= 0 {
		s.recent = slices.Delete(s.recent, i, i+1)
	}
	if s.recent = append(s.recent, e); len(s.recent) > maxOpen {
		s.recent[0].outcomes.pack()
		s.recent = slices.Delete(s.recent, 0, 1)
	}
}

// add takes in one evaluation of an item: the given sample of it.
func (s *store) add(e *entry, item, sample int, o trajectory.Outcome) {
	e.Next[item] = max(e.Next[item], sample+1)
	if e.Pooled[item].N == 0 {
		s.touch(e)
		e.outcomes.set(e.items, item, o)
	}
	if !o.Status.Measured() {
		if o.FailReason != "" { // else no one asked
			e.Unscored[item]++
		}
		return
	}
	pair := score.Pair{Hard: o.Hard, Soft: o.Soft}
	v := s.projection.Of(pair, 0)
	p := &e.Pooled[item]
	p.Sum, p.N = p.Sum+v, p.N+1
	e.squares[item] += v * v
	if o.Hard >= 1-score.Negligible {
		e.Solved[item]++
	}
	e.failed[item] = cmp.Or(e.failed[item], o.Cause)
	e.Add(o.Unanswered())
	e.sums[item].Hard += o.Hard
	e.sums[item].Soft += o.Soft
	if o.Served != "" {
		e.served[o.Served]++
	}
}

// addAll takes in one evaluation of every item.
func (s *store) addAll(e *entry, sample int, out []trajectory.Outcome) {
	for i, o := range out {
		s.add(e, i, sample, o)
	}
}

// mean returns the gate score of all evaluations, each unit counting once. It returns nil when too
// few items are measured to claim anything.
func (e *entry) mean() *float64 {
	n := e.numMeasured()
	if n == 0 || !e.folded && !gate.Enough(len(e.Pooled), len(e.Pooled)-n) {
		return nil
	}
	v, _ := overUnits(e.units, e.Pooled)
	v += e.bonus
	return &v
}

// overUnits returns the mean over units of the means of their measured items, and how many units
// have one.
func overUnits(units [][]int, of []gate.Pooled) (mean float64, n int) {
	for _, u := range units {
		sum, items := 0.0, 0
		for _, i := range u {
			if of[i].N > 0 {
				sum += of[i].Mean()
				items++
			}
		}
		if items > 0 {
			mean += sum / float64(items)
			n++
		}
	}
	return mean / float64(max(1, n)), n
}

// noise returns the variance of the mean when one evaluation varies by within around that of its
// item.
func (e *entry) noise(within float64) float64 {
	sum, n := 0.0, 0.0
	for _, u := range e.units {
		of, items := 0.0, 0.0
		for _, i := range u {
			if p := e.Pooled[i]; p.N > 0 {
				of += within / float64(p.N)
				items++
			}
		}
		if items > 0 {
			sum += of / (items * items)
			n++
		}
	}
	return sum / (n * n)
}

// evaluations returns how many evaluations were made.
func (e *entry) evaluations() int {
	n := 0
	for _, p := range e.Pooled {
		n += p.N
	}
	return n
}

// evaluationVariance returns the variance of one evaluation around its item's mean, from all items
// that were evaluated more than once; 0 if there is none.
func (s *store) evaluationVariance() float64 {
	sum, free := 0.0, 0
	for _, e := range s.order {
		for i, p := range e.Pooled {
			if p.N > 1 {
				sum += max(0, e.squares[i]-p.Sum*p.Sum/float64(p.N))
				free += p.N - 1
			}
		}
	}
	if free == 0 {
		return 0
	}
	return sum / float64(free)
}

// shrunken returns the accepted candidates of which enough is known, in order,
// and their means pulled toward the mean of all, each as far as it is uncertain:
// the best of several is best partly by luck.
func (s *store) shrunken() ([]*entry, []float64) {
	var known []*entry
	var means []float64
	for _, e := range s.order {
		if m := e.mean(); e.Accepted && m != nil {
			known, means = append(known, e), append(means, *m)
		}
	}
	within, centre, spread, noise := s.evaluationVariance(), 0.0, 0.0, 0.0
	k := float64(len(known))
	if len(known) < 4 || within == 0 || s.folded {
		return known, means // too few to distinguish luck from difference, or no luck
	}
	errs := make([]float64, len(known))
	for i, e := range known {
		errs[i] = e.noise(within)
		centre, noise = centre+means[i]/k, noise+errs[i]/k
	}
	for _, m := range means {
		spread += (m - centre) * (m - centre) / (k - 1)
	}
	for i := range means {
		if v, err := stats.ShrinkToward(means[i], centre, max(0, spread-noise), errs[i]); err == nil {
			means[i] = v
		}
	}
	return known, means
}

// toCandidates returns the store as a file has it. Nothing of it changes any more.
func (s *store) toCandidates(best string) result.Candidates {
	out := result.Candidates{Items: s.items, Candidates: make([]result.Candidate, len(s.order))}
	shrunken := map[string]float64{}
	known, means := s.shrunken()
	for i, e := range known {
		shrunken[e.Hash] = means[i]
	}
	for i, e := range s.order {
		c := e.Candidate
		c.Pooled, c.Next, c.Judged = slices.Clone(c.Pooled), slices.Clone(c.Next), slices.Clone(c.Judged)
		c.Best, c.Mean = c.Hash == best, e.mean()
		if v, ok := shrunken[c.Hash]; ok {
			c.Expected = &v
		}
		if c.Solved, c.Unscored = slices.Clone(c.Solved), slices.Clone(c.Unscored); slices.Max(append(c.Unscored, 0)) == 0 {
			c.Unscored = nil
		}
		if e.evaluations() == 0 {
			c.Pooled, c.Next, c.Solved = nil, nil, nil
		}
		out.Candidates[i] = c
	}
	return out
}
