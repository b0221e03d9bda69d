package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/score"
)

// Confirm names what a Race does with a candidate that it did not reject.
type Confirm string

const (
	// ConfirmFull draws fresh samples of both arms on all items and pools them
	// with what is known: most truth.
	ConfirmFull Confirm = "full"
	// ConfirmDiscordant draws them only where the arms differ, and goes by them
	// alone: least money.
	ConfirmDiscordant Confirm = "discordant"
	// ConfirmNone goes by what the race has read.
	ConfirmNone Confirm = "none"
	// ConfirmAuto is none if both arms are known to give the same answer every time, and
	// else full.
	ConfirmAuto Confirm = "auto"
	// ConfirmMeasured goes by the noise that was measured: none if no answer of those
	// that were asked twice has changed, and where the race itself is decisive; else
	// full.
	ConfirmMeasured Confirm = "measured"
)

// Valid reports whether it is one of the constants.
func (c Confirm) Valid() bool {
	return slices.Contains([]Confirm{ConfirmFull, ConfirmDiscordant, ConfirmNone, ConfirmAuto, ConfirmMeasured}, c)
}

// Phase says in which part of a Race a verdict fell.
type Phase string

const (
	PhaseRace    Phase = "race"    // by one sample an item of the candidate
	PhaseConfirm Phase = "confirm" // by fresh samples of both arms
)

const (
	raceZ     = 1.0  // deviations that a candidate may be behind in the race
	raceFirst = 12   // units before the first look, or
	raceShare = 0.2  // this share of them, whichever is more
	acceptZ   = 2.5  // deviations ahead that end a confirmation early
	decisiveZ = 2.0  // deviations ahead with which a race needs none, if noise is measured
	quarters  = 0.25 // of the units: how far a race asks ahead
)

// Race measures a candidate in a seeded order and rejects it as soon as it is
// clearly behind, confirms a survivor with fresh samples, and accepts it if it is
// ahead by Risk standard errors. The incumbent is known by all its evaluations
// and not by one that may have been lucky.
//
// The race, with mean difference d, deviation s and m of n units read, m >=
// max(12, 0.2 n), rejects when d + s/sqrt(m) * sqrt(1-m/n) < 0, or when the best
// that the rest could bring leaves the candidate not ahead. The confirmation goes
// in quarters; it accepts early at a difference above 2.5 standard errors and
// drops early at one below 0. What each rule costs and errs is measured in
// docs/gates.md.
type Race struct {
	Risk    float64 // k >= 0: 0 explores, 0.5 is the default, 1.5 is for runs that nobody watches
	Confirm Confirm // "" is ConfirmAuto

	// NonInferior is for text that should do no harm: it is refused only when it
	// is more than a standard error behind, in the race or at its end, and is not
	// confirmed.
	NonInferior bool
}

var _ Policy = Race{}

// Next asks for the next part of the race, or the next quarter of the
// confirmation.
func (r Race) Next(e *Evidence) []Draw {
	c := e.race()
	read := len(e.Readings)
	if c.confirm != nil {
		return c.confirm.wave(read-len(c.draws), c.confirm.quarter)
	}
	n := len(c.units)
	first, step := raceStart(n), max(1, int(math.Ceil(quarters*float64(n))))
	return c.wave(read, func(m int) bool { return m >= first && (m-first)%step == 0 })
}

// race returns the progress of the trial.
func (e *Evidence) race() *progress {
	if e.progress == nil {
		e.progress = raceProgress(e)
	}
	return e.progress
}

// raceStart returns how many of n units are read before the first look.
func raceStart(n int) int { return max(raceFirst, int(math.Ceil(raceShare*float64(n)))) }

// Judge decides at the end of each unit of the race, and of each quarter of the
// confirmation.
func (r Race) Judge(e *Evidence) (Verdict, bool) {
	c := e.race()
	if c.confirm != nil {
		return r.judgeConfirm(e, c)
	}
	read := len(e.Readings)
	m := c.complete(read)
	if read != c.at(m) {
		return Verdict{}, false
	}
	s := standing{units: c.units[:m], account: take(e, c.units[:m]), phase: PhaseRace}
	s.difference, s.se = s.account.mean(), s.account.se()
	if v, few := r.tooFew(e, s, c.units[m:]); few {
		return v, true
	}
	if m < len(c.units) {
		return r.judgeEarly(e, s, c.units[m:])
	}
	return r.judgeRace(e, c, s)
}

// standing is how the arms stand at some point of the race.
type standing struct {
	units      []unit // read
	account    account
	difference *float64 // that the decision goes by, nil without any unit
	se         *float64
	phase      Phase
}

// tooFew is indecisive if too many items are missing, or so few are left that
// no result on them could be accepted.
func (r Race) tooFew(e *Evidence, s standing, rest []unit) (Verdict, bool) {
	items, missing, possible := len(e.Trial.Items), len(s.account.missing), s.account.units+len(rest)
	switch {
	case missing > 0 && !Enough(items, missing):
		return r.indecisive(e, s, fmt.Sprintf("%d of %d items could not be measured", missing, items)), true
	case float64(possible) <= max(1, r.Risk*r.Risk):
		return r.indecisive(e, s, fmt.Sprintf("%d of %d pairs are too few to decide by", possible, items)), true
	}
	return Verdict{}, false
}

func (r Race) indecisive(e *Evidence, s standing, why string) Verdict {
	v := r.verdict(e, s)
	v.Action, v.Reason = Indecisive, why+leftOut(v)
	return v
}

// judgeEarly looks at a race that is not over: it may only reject.
func (r Race) judgeEarly(e *Evidence, s standing, rest []unit) (Verdict, bool) {
	n := s.account.units + len(rest)
	lost := s.account.units >= raceStart(n) && r.behind(s, n)
	proved := !r.NonInferior && s.account.units > 0 && bestCase(e, s.account, rest) <= score.Negligible
	if !lost && !proved {
		return Verdict{}, false
	}
	v := r.verdict(e, s)
	v.Action = RejectEarly
	why := "too far behind to catch up"
	if proved {
		why = "even a perfect rest would not put it ahead"
	}
	v.Reason = fmt.Sprintf("%s after %d of %d items: %s", against(v), v.N+len(v.Unmeasured), len(e.Trial.Items), why) + leftOut(v)
	return v, true
}

// behind is the bound of the race, with n units in all. What is left to read
// narrows it. For text that may end up to a standard error behind it does not:
// near the end such a bound would refuse whatever is behind at all.
func (r Race) behind(s standing, n int) bool {
	wide := r.allows(s, n)
	return wide != nil && *s.difference+*wide < -score.Negligible
}

// allows is how far a candidate may be behind by then, nil where that is not known.
func (r Race) allows(s standing, n int) *float64 {
	if s.se == nil {
		return nil
	}
	left := 1.0
	if !r.NonInferior {
		left = math.Sqrt(1 - float64(s.account.units)/float64(n))
	}
	wide := raceZ * (*s.se) * left
	return &wide
}

// bestCase is the difference at the end if the candidate is perfect on the rest.
func bestCase(e *Evidence, a account, rest []unit) float64 {
	sum := a.diff
	incumbent := e.Pooled(Incumbent)
	for _, u := range rest {
		var missed float64
		for _, i := range u {
			missed++
			if incumbent[i].N > 0 {
				missed -= incumbent[i].Mean()
			}
		}
		sum += missed / float64(len(u))
	}
	return sum/float64(a.units+len(rest)) + a.offset
}

// judgeRace decides when all items were read once, or goes over to the
// confirmation.
func (r Race) judgeRace(e *Evidence, c *progress, s standing) (Verdict, bool) {
	d, se := *s.difference, *s.se
	switch {
	case r.NonInferior && d < -se-score.Negligible:
		return r.decide(e, s, false, "more than a standard error behind"), true
	case r.NonInferior:
		return r.decide(e, s, true, "no more than a standard error behind"), true
	case d <= score.Negligible:
		return r.decide(e, s, false, "not ahead"), true
	}
	over := c.units
	switch r.confirmation(e.Trial) {
	case ConfirmNone:
		over = nil
	case ConfirmDiscordant:
		over = discordant(e, c.units) // none, where a denser text alone puts the candidate ahead
	case ConfirmFull:
		if r.Confirm == ConfirmMeasured && d > decisiveZ*se+score.Negligible {
			return r.decide(e, s, true, fmt.Sprintf("ahead by more than %g standard errors", decisiveZ)), true
		}
	}
	if len(over) == 0 {
		return r.decide(e, s, d > r.Risk*se, r.bar()), true
	}
	c.confirm = confirmProgress(e, over)
	return Verdict{}, false
}

func (r Race) confirmation(t Trial) Confirm {
	switch {
	case r.Confirm == ConfirmFull || r.Confirm == ConfirmDiscordant || r.Confirm == ConfirmNone:
		return r.Confirm
	case t.Deterministic, r.Confirm == ConfirmMeasured && t.Quiet:
		return ConfirmNone
	}
	return ConfirmFull
}

// discordant returns the units on which the arms differ.
func discordant(e *Evidence, all []unit) []unit {
	var out []unit
	for _, u := range all {
		if a := take(e, []unit{u}); a.units > 0 && math.Abs(a.diff) > score.Negligible {
			out = append(out, u)
		}
	}
	return out
}

// judgeConfirm decides at the end of a quarter of the confirmation.
func (r Race) judgeConfirm(e *Evidence, c *progress) (Verdict, bool) {
	read := len(e.Readings) - len(c.draws)
	m := c.confirm.complete(read)
	if read != c.confirm.at(m) || !c.confirm.quarter(m) {
		return Verdict{}, false
	}
	s, lost := r.confirmed(e, c, m)
	asked := len(c.confirm.draws) / 2
	if lost > 0 && !Enough(asked, lost) || s.difference == nil {
		return r.indecisive(e, s, fmt.Sprintf("%d of %d items could not be measured afresh", lost, asked)), true
	}
	d, se := *s.difference, *s.se
	switch {
	case d < -score.Negligible:
		return r.decide(e, s, false, "behind with fresh samples"), true
	case d > acceptZ*se+score.Negligible:
		return r.decide(e, s, true, fmt.Sprintf("ahead by more than %g standard errors", acceptZ)), true
	case m == len(c.confirm.units):
		return r.decide(e, s, d > score.Negligible && d > r.Risk*se, r.bar()), true
	}
	return Verdict{}, false
}

// confirmed is how the arms stand after the first m units of the confirmation,
// and how many of their items could not be measured afresh.
func (r Race) confirmed(e *Evidence, c *progress, m int) (s standing, lost int) {
	s = standing{units: c.units, account: take(e, c.units), phase: PhaseConfirm}
	s.difference, s.se = s.account.mean(), s.account.se()
	f := fresh(e, c.confirm.units[:m], len(c.draws))
	if r.confirmation(e.Trial) == ConfirmDiscordant {
		f.offset = s.account.offset
		s.difference, s.se = f.mean(), f.nullSE()
	}
	for _, i := range f.missing {
		if !slices.Contains(s.account.missing, i) {
			s.account.missing = append(s.account.missing, i)
		}
	}
	return s, len(f.missing)
}

// bar is the sentence about the last test.
func (r Race) bar() string { return fmt.Sprintf("the bar is %g standard errors", r.Risk) }

// decide turns a standing into an acceptance or a rejection.
func (r Race) decide(e *Evidence, s standing, accept bool, why string) Verdict {
	v := r.verdict(e, s)
	v.Action = decide(accept, accept && beatsBest(e, *s.difference))
	v.Reason = fmt.Sprintf("%s on %d items: %s", against(v), v.N, why) + leftOut(v)
	return v
}

// verdict puts what is known into a verdict without an action.
func (r Race) verdict(e *Evidence, s standing) Verdict {
	a := s.account
	v := Verdict{N: a.items, Difference: s.difference, SE: s.se, Phase: s.phase, Draws: map[Arm]int{}}
	for _, reading := range e.Readings {
		v.Draws[reading.Arm]++
	}
	for i, id := range e.Trial.Items {
		if slices.Contains(a.missing, i) {
			v.Unmeasured = append(v.Unmeasured, id)
		}
	}
	if a.units == 0 {
		return v
	}
	n := float64(a.units)
	candidate, current := a.candidate/n+a.plus, a.incumbent/n+a.plus-a.offset
	v.Candidate, v.Current, v.Best = &candidate, &current, &current
	v.Mean = meanOver(e, s.units)
	if e.Trial.Best != nil {
		v.Best, _ = againstBest(e)
	}
	return v
}

// beatsBest reports whether the candidate is above the best skill too. Without
// one of its own, the incumbent is it.
func beatsBest(e *Evidence, difference float64) bool {
	if e.Trial.Best == nil {
		return difference > score.Negligible
	}
	best, ahead := againstBest(e)
	return best == nil || ahead > score.Negligible
}

// againstBest returns the score of the best skill and how far the candidate is
// ahead of it, over the items that both have; nil if there is none.
func againstBest(e *Evidence) (best *float64, ahead float64) {
	t := e.Trial
	known := t.Past[BestSkill]
	if known == nil {
		known = newArmEvidence(t, BestSkill, t.Best).pooled
	}
	candidate := e.Pooled(Candidate)
	var a account
	for _, u := range e.progress.units {
		var c, b float64
		var n int
		for _, i := range u {
			if candidate[i].N > 0 && known[i].N > 0 {
				c += candidate[i].Mean()
				b += known[i].Mean()
				n++
			}
		}
		a.add(c, b, n)
	}
	if a.units == 0 {
		return nil, 0
	}
	bonus := t.Projection.Of(score.Pair{}, t.Density.Best)
	s := a.incumbent/float64(a.units) + bonus
	return &s, a.diff/float64(a.units) + t.Projection.Of(score.Pair{}, t.Density.Candidate) - bonus
}

// against is how both arms stand, in words.
func against(v Verdict) string {
	text := fmt.Sprintf("%.4f against the current %.4f (difference %+.4f", *v.Candidate, *v.Current, *v.Difference)
	if v.SE != nil {
		text += fmt.Sprintf(", standard error %.4f", *v.SE)
	}
	return text + ")"
}
