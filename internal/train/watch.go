package train

import (
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
)

// outlooking is a policy that reports how far a trial is, and its outlook.
type outlooking interface {
	Reached(e *gate.Evidence) (phase gate.Phase, units, of int, ok bool)
	Outlook(e *gate.Evidence) gate.Outlook
}

// reporting is a policy whose outlook is reported about fifty times a phase, at the same places
// whatever arrives first: a run that is resumed reports the same again. Verdicts are
// those of the policy.
type reporting struct {
	gate.Policy

	outlook outlooking
	emit    event.Sink
	about   event.GateRead

	phase gate.Phase
	units int // at the last telling
}

// watch lets a policy report the outlook of a trial to the one who follows the run.
func (j *judge) watch(prefix string, p gate.Policy) gate.Policy {
	outlook, ok := p.(outlooking)
	if !ok || j.unwatched {
		return p
	}
	about := placeOfTrial(prefix)
	about.Gate = string(j.opts.Gate)
	return &reporting{Policy: p, outlook: outlook, emit: j.emit, about: about, units: -1}
}

// Judge implements gate.Policy.
func (w *reporting) Judge(e *gate.Evidence) (gate.Verdict, bool) {
	v, done := w.Policy.Judge(e)
	phase, units, of, whole := w.outlook.Reached(e)
	moved := phase != w.phase || units != w.units
	if !done && (!whole || !moved || units%max(1, of/50) != 0) {
		return v, done
	}
	w.phase, w.units = phase, units
	c := w.outlook.Outlook(e)
	told := w.about
	told.Phase, told.Units, told.Of = string(c.Phase), c.Units, c.Of
	told.Wins, told.Losses, told.Ties, told.Missing = c.Wins, c.Losses, c.Ties, c.Missing
	told.Difference, told.Low, told.High, told.Reject, told.Accept = c.Difference, c.Low, c.High, c.Reject, c.Accept
	if done {
		told.Action, told.Why, told.Lost = string(v.Action), v.Reason, v.Lost()
	}
	w.emit(told)
	return v, done
}

// placeOfTrial parses the epoch and the step of a trial from its place in the record.
func placeOfTrial(prefix string) event.GateRead {
	told := event.GateRead{Key: prefix}
	for i, part := range strings.Split(prefix, "/") {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part[1:])
		switch {
		case err != nil:
		case part[0] == 'e' && i == 0:
			told.Epoch = n
		case part[0] == 's' && i == 1:
			told.Step = n
		}
	}
	return told
}
