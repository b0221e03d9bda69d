package train

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
)

// Drift says that another model answered from some place on.
type Drift struct {
	At   string   `json:"at"`
	From []string `json:"from"`
	To   []string `json:"to"`
}

// maxDrifts is how often the skills are measured again: with a server that goes
// to and fro between models no number of measurements would be enough.
const maxDrifts = 3

// served counts answers by the model that gave them, as it named itself with its
// fingerprint.
type served map[string]int

// models are the models of a set. Fingerprints that differ from answer to answer
// say nothing about the model and are left out, if bare says so.
func (s served) models(bare bool) []string {
	out := map[string]bool{}
	for name := range s {
		if bare {
			name, _, _ = strings.Cut(name, " ")
		}
		out[name] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// scattered reports whether nearly every answer has a name of its own.
func (s served) scattered() bool {
	answers := 0
	for _, n := range s {
		answers += n
	}
	return len(s) > 1 && 4*len(s) > answers
}

// driftCheck is what tells whether the model changed under a trial.
type driftCheck struct {
	cand     *incumbent
	before   served // models that the incumbent was measured with before
	readings []gate.Reading
}

// drifted looks whether the candidate was answered by models none of which
// answered when the incumbent was measured. Then what is known of any skill is
// forgotten, but for this trial, and the incumbent and the best are measured
// again.
func (t *trainer) drifted(ctx context.Context, prefix string, c driftCheck) (bool, error) {
	answered := served{}
	for _, d := range c.readings {
		if d.Arm == gate.Candidate && d.Outcome.Served != "" {
			answered[d.Outcome.Served]++
		}
	}
	bare := answered.scattered() || c.before.scattered()
	now, before := answered.models(bare), c.before.models(bare)
	if len(now) == 0 || len(before) == 0 || slices.ContainsFunc(before, func(m string) bool { return slices.Contains(now, m) }) {
		return false, nil
	}
	t.history.Drift = append(t.history.Drift, Drift{At: prefix, From: before, To: now})
	what := fmt.Sprintf("%s: the target's answers now come from %s, what is known of the current skill from %s", prefix, strings.Join(now, ", "), strings.Join(before, ", "))
	if len(t.history.Drift) > maxDrifts {
		t.Events(event.Warning{Text: what + ": the model keeps changing, so that no comparison can be trusted"})
		return false, nil
	}
	t.Events(event.Warning{Text: what + ": what was measured before is forgotten, and the current and the best skill are measured again"})
	for _, e := range t.store.order {
		e.forget(t.store.items)
	}
	t.alike, t.quiet = false, false
	arms := map[gate.Arm]*entry{gate.Candidate: t.entry(c.cand), gate.Incumbent: t.entry(&t.current)}
	for _, d := range c.readings {
		if answered[d.Outcome.Served] > 0 {
			t.store.add(arms[d.Arm], d.Item, d.Sample, d.Outcome)
		}
	}
	return true, t.measureAgain(ctx, prefix)
}

func (t *trainer) measureAgain(ctx context.Context, prefix string) error {
	again := map[string]*incumbent{"current": &t.current}
	if t.best.skill.Text() != t.current.skill.Text() {
		again["best"] = &t.best
	}
	for _, name := range []string{"current", "best"} {
		in, ok := again[name]
		if !ok {
			continue
		}
		// A fresh sample: one that was drawn before is answered from the record.
		place := rollout.Place{Prefix: prefix + "/drift/" + name, Sample: slices.Max(t.entry(in).Next)}
		var without []string // told by a warning
		if err := t.measure(ctx, place, in, &without); err != nil {
			return err
		}
		t.store.addAll(t.entry(in), place.Sample, in.outcomes)
		t.refresh(in)
	}
	return nil
}
