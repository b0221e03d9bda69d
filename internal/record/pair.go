package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// An outcome of a sheet belongs to the call at the place of that sheet: of the try of a step
// that counts, of the candidate that the step is recorded by, and of the last time that it was
// judged. Other candidates were asked the same tasks.

// candidatePlace returns the place of the candidate that a step is recorded by: "" of the first,
// "second/half1/".
func candidatePlace(s result.StepRecord) string {
	at := slices.IndexFunc(s.Candidates, func(c result.CandidateRecord) bool { return c.Hash != "" && c.Hash == s.CandidateHash })
	if at < 0 {
		at = slices.IndexFunc(s.Candidates, func(c result.CandidateRecord) bool { return c.Taken })
	}
	if at < 0 {
		return ""
	}
	return s.Candidates[at].Place
}

// holds reports whether a call belongs to a sheet.
func (s Sheet) holds(p Place) bool { return s.rank(p) > 0 }

// rank says how well a call belongs to a sheet: 0, not at all. Of several places that hold
// outcomes of a task those of the highest rank count.
func (s Sheet) rank(p Place) int {
	if p.Step != s.Step || s.Step == 0 && p.Epoch != s.Epoch {
		return 0
	}
	switch {
	case s.Step > 0 && s.stage == stageRollout:
		return s.rankOfBatch(p.At)
	case s.Step > 0:
		at, again := strings.CutPrefix(p.At, "again/")
		if again != s.again {
			return 0
		}
		return rankOfGate(at, s.candidate)
	case s.Epoch > 0:
		at, _ := strings.CutPrefix(p.At, "end/")
		return rankOfGate(at, "")
	case p.At == s.stage:
		return 1
	}
	return s.rankOfOpening(p.At)
}

// Stages of the calls of a step.
const (
	stageRollout = "rollout"
	stageGate    = "gate/cand"
	driftGate    = "gate/drift/gate/cand" // judged again, since another model answers now
)

// otherTry is the rank of a place in the try of a step that does not count: what was answered
// there is not asked again by an equal request.
const otherTry = 1

// rankOfBatch returns the rank of a place of rollouts of train tasks.
func (s Sheet) rankOfBatch(at string) int {
	if at != stageRollout && !strings.HasSuffix(at, "/"+stageRollout) {
		return 0
	}
	if strings.HasPrefix(at, "again/") != s.again {
		return otherTry
	}
	return otherTry + 1
}

// rankOfGate returns the rank of a place where a candidate was judged. What was judged again counts.
func rankOfGate(at, candidate string) int {
	const first = otherTry + 1
	n := first
	anew := func() {
		for strings.HasPrefix(at, "anew/") {
			at = at[len("anew/"):]
			n += 2
		}
	}
	anew()
	for part := range strings.SplitAfterSeq(candidate, "/") {
		rest, ok := strings.CutPrefix(at, part)
		if !ok {
			return 0
		}
		at = rest
		anew()
	}
	switch at {
	case stageGate:
		return n
	case driftGate:
		return n + 1
	}
	return 0
}

// rankOfOpening returns the rank of a place where the test split was opened again: the last time counts.
func (s Sheet) rankOfOpening(at string) int {
	rest, ok := strings.CutPrefix(at, "final/test/open")
	number, arm, cut := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	if !ok || !cut || err != nil || n < 1 || s.stage != "final/test/"+arm {
		return 0
	}
	return 1 + n
}

// hasFirstDraws reports whether outcomes of a sheet are first draws, whatever their number: a gate
// continues where it has begun.
func (s Sheet) hasFirstDraws() bool {
	return s.stage != stageRollout && (s.Step > 0 || s.Epoch > 0 || s.file == lastFile)
}

// agreement says whether a reply is the one that an outcome is from.
type agreement int

const (
	unknown agreement = iota // of episodes, and where there was no reply
	agrees
	differs
)

func (e *Evaluation) agreement(o *trajectory.Outcome) agreement {
	switch {
	case e.said == nil || len(o.Trajectory) != 1:
		return unknown
	case *e.said == digestText(o.Trajectory[0].Content):
		return agrees
	}
	return differs
}

// pair finds the evaluation that an outcome of a sheet is of, -1 if it was not asked for there.
func (s Sheet) pair(all []Evaluation, o *trajectory.Outcome, sample int) int {
	found, best := -1, 0
	if !o.Status.Measured() && o.FailReason == "" {
		return found // no one asked
	}
	for i := range all {
		e := &all[i]
		rank, same := s.rank(e.Place), e.agreement(o)
		switch {
		case rank == 0 || e.Outcome != nil || same == differs:
		case same != agrees && (e.Sample != sample || rank == otherTry && s.stage == stageRollout):
		case e.Sample != sample && !s.hasFirstDraws():
		case found < 0 || rank > best || rank == best && e.Sample < all[found].Sample:
			found, best = i, rank
		}
	}
	return found
}
