package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
)

// spending adds up what this run has paid for by the record, by step. It reads each
// result once, since it is asked before every part of a run.
type spending struct {
	read      int64 // number of the last entry that is in it
	revised   int   // results that others had taken the place of by then
	rollouts  int
	all       map[string]caller.Amount // by role
	steps     map[int]*stepCost        // sums
	begun     map[int]bool             // steps of which this run has recorded something
	confirmed map[string]bool          // confirmations that have begun, by their keys
}

// follow takes in what was recorded since it was called last.
func (s *spending) follow(j *journal.Journal) error {
	if n := j.Counts().Revised; s.steps == nil || n != s.revised {
		*s = spending{revised: n, all: map[string]caller.Amount{}, steps: map[int]*stepCost{}, begun: map[int]bool{}, confirmed: map[string]bool{}}
	}
	for r, err := range j.Results(context.Background(), s.read) {
		if err != nil {
			return err
		}
		s.read = r.Seq
		s.add(r)
	}
	return nil
}

func (s *spending) add(r journal.Record) {
	shows := strings.Contains(r.Key, loop.ExamplesMark) // what worked examples take no later step does
	if step, ok := parseStep(r.Key); ok && isOwn(r) && !shows {
		s.begun[step] = true
	}
	if r.Code == journal.CodeInherited || r.Kind == journal.Decision || r.Kind == journal.Unmeasured {
		return
	}
	if isRollout(r) {
		s.rollouts++
	}
	spent := caller.AmountOfRecord(r)
	s.all[r.Role] = s.all[r.Role].Plus(spent)
	number, ok := parseStep(r.Key)
	if shows || strings.Contains(r.Key, loop.NoiseMark) {
		return // no later step takes it
	}
	if unit, _, is := strings.Cut(r.Key, loop.ConfirmationMark); is { // what it takes no later step does
		s.confirmed[unit+strings.TrimSuffix(loop.ConfirmationMark, "/")] = true
		return
	}
	if !ok {
		return
	}
	if s.steps[number] == nil {
		s.steps[number] = newStepCost()
	}
	s.steps[number].add(r, spent)
}

// isOwn reports whether the run itself has made a record, also from an answer of another run. What
// a fork has taken over is not its own.
func isOwn(r journal.Record) bool {
	return r.Code != journal.CodeInherited || r.Origin != (journal.Origin{})
}

// isRollout reports whether a rollout begins with a record.
func isRollout(r journal.Record) bool {
	return r.Kind == journal.Episode || r.Kind == journal.Call && r.Stage == model.StageRollout && strings.HasSuffix(r.Key, "/attempt0/turn1")
}

func newStepCost() *stepCost {
	return &stepCost{whole: map[string]caller.Amount{}, batch: map[string]caller.Amount{}, gate: map[string]caller.Amount{}}
}

// plus adds what another step took.
func (c *stepCost) plus(d *stepCost) {
	for _, of := range []struct{ to, from map[string]caller.Amount }{{c.whole, d.whole}, {c.batch, d.batch}, {c.gate, d.gate}} {
		for role, a := range of.from {
			of.to[role] = of.to[role].Plus(a)
		}
	}
	c.tasks += d.tasks
	c.reads += d.reads
}

// add takes in a record of a step.
func (c *stepCost) add(r journal.Record, spent caller.Amount) {
	c.whole[r.Role] = c.whole[r.Role].Plus(spent)
	if strings.Contains(r.Key, "/gate/") {
		c.gate[r.Role] = c.gate[r.Role].Plus(spent)
		if isRollout(r) {
			c.reads++
		}
	}
	if !strings.Contains(r.Key, "/rollout/") {
		return
	}
	c.batch[r.Role] = c.batch[r.Role].Plus(spent)
	if isRollout(r) {
		c.tasks++
	}
}

// parseStep reads the number of a step from the key of its record.
func parseStep(key string) (number int, ok bool) {
	var epoch int
	_, err := fmt.Sscanf(key, "e%d/s%d/", &epoch, &number)
	return number, err == nil
}
