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
	"github.com/seed-f4525e22/skillopt/result"
)

// maxDrifts is how often the skills are measured again: with a server that goes
// to and fro between models no number of measurements would be enough.
const maxDrifts = 3

// served counts answers by the model that gave them, as it named itself with its
// fingerprint.
type served map[string]int

// models returns the models of a set. If bare says so, it leaves out fingerprints: those that
// differ from answer to answer say nothing about the model.
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

// isScattered reports whether nearly every answer has a name of its own.
func (s served) isScattered() bool {
	answers := 0
	for _, n := range s {
		answers += n
	}
	return len(s) > 1 && 4*len(s) > answers
}

// driftCheck is what shows whether the model changed under a trial.
type driftCheck struct {
	cand     *incumbent
	before   served // models that the incumbent was measured with before
	readings []gate.Reading
	kept     []gate.Reading // about losses
}

// checkDrift reports whether the candidate was answered by models none of which answered when the
// incumbent was measured. Then it forgets what is known of any skill, but for this trial, and
// measures the incumbent and the best again.
func (j *judge) checkDrift(ctx context.Context, prefix string, c driftCheck) (bool, error) {
	answered := served{}
	for _, d := range slices.Concat(c.readings, c.kept) {
		if d.Arm == gate.Candidate && d.Outcome.Served != "" {
			answered[d.Outcome.Served]++
		}
	}
	bare := answered.isScattered() || c.before.isScattered()
	now, before := answered.models(bare), c.before.models(bare)
	if len(now) == 0 || len(before) == 0 || slices.ContainsFunc(before, func(m string) bool { return slices.Contains(now, m) }) {
		return false, nil
	}
	j.drifts = append(j.drifts, result.Drift{At: prefix, From: before, To: now})
	what := fmt.Sprintf("%s: the target's answers now come from %s, what is known of the current skill from %s", prefix, strings.Join(now, ", "), strings.Join(before, ", "))
	if len(j.drifts) > maxDrifts {
		j.emit(event.Warning{Text: what + ": the model keeps changing, so that no comparison can be trusted"})
		return false, nil
	}
	j.emit(event.Warning{Text: what + ": what was measured before is forgotten, and the current and the best skill are measured again"})
	j.skills.forget()
	j.deterministic = false
	j.skills.add(c.cand, slices.DeleteFunc(slices.Clone(c.readings), func(r gate.Reading) bool { return answered[r.Outcome.Served] == 0 }))
	return true, j.measureAgain(ctx, prefix)
}

// measureAgain measures the current and the best skill again.
func (j *judge) measureAgain(ctx context.Context, prefix string) error {
	if err := j.measureFresh(ctx, prefix+"/drift/current", &j.skills.current); err != nil {
		return err
	}
	if j.skills.bestIsCurrent() {
		return nil
	}
	return j.measureFresh(ctx, prefix+"/drift/best", &j.skills.best)
}

// measureFresh measures a skill by fresh samples: one that was drawn before is answered
// from the record. What is missing is reported by a warning.
func (j *judge) measureFresh(ctx context.Context, prefix string, in *incumbent) error {
	place := rollout.Place{Prefix: prefix, Sample: slices.Max(j.skills.entry(in).Next)}
	if _, err := j.measure(ctx, place, in); err != nil {
		return err
	}
	j.skills.store.addAll(j.skills.entry(in), place.Sample, in.outcomes)
	j.skills.refresh(in)
	return nil
}
