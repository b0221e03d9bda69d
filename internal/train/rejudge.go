package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// Recorded is a run that its gate is to decide again.
type Recorded struct {
	Data       Data // as the run had them, but for how answers are scored
	History    result.History
	Candidates result.Candidates
	// Answers gives recorded answers, scored as they are to be. What is not recorded is
	// unmeasured, and Answers notes it.
	Answers Answers
}

// Answers are the rollouts of a recorded run. It is asked concurrently.
type Answers interface {
	Roller
	// FindItems returns the items of a list that were asked at places that begin with a prefix, all of
	// them by one sample.
	FindItems(prefix string, tasks []task.Task) (items []int, sample int)
	// NoteSkill learns which skill the places of the run that begin with a prefix are about.
	NoteSkill(prefix string, s skill.Skill)
	// MissingTasks returns the ids of tasks that were asked for at places that begin with a
	// prefix, and whose answers are not recorded there.
	MissingTasks(prefix string) []string
}

// Rejudge has the gate decide again on the candidates of a run, by its recorded answers
// as Answers scores them. The candidates are those that the run made: no one knows what analysts
// would have proposed of other scores. After the first decision that is another one,
// or for which answers are missing, nothing is known of those that follow, since they were
// about another skill.
func Rejudge(ctx context.Context, o Options, r Recorded) ([]result.Rejudgement, error) {
	j := newRejudge(o, r)
	all := listPlaces(r.Candidates)
	var out []result.Rejudgement
	why := ""
	if len(all) > 0 {
		if why = j.unfit(); why == "" {
			var err error
			if why, err = j.begin(ctx); err != nil {
				return nil, err
			}
		}
	}
	for i := 0; i < len(all); {
		if why == "" {
			if err := j.noiseBefore(ctx, all[i]); err != nil {
				return nil, err
			}
		}
		n := i + 1
		for n < len(all) && all[n].unit() == all[i].unit() {
			n++
		}
		made, err := j.unit(ctx, all[i:n], why)
		if err != nil {
			return nil, err
		}
		if out = append(out, made...); why == "" {
			why = after(made)
		}
		i = n
	}
	return out, nil
}

// after says why nothing is known of what follows decisions, "" if it is known.
func after(made []result.Rejudgement) string {
	for _, d := range made {
		switch {
		case d.Now == nil:
			return "it is not known how " + d.Where + " would have ended"
		case d.Changed:
			return "the current skill would have been another one since " + d.Where
		}
	}
	return ""
}

// judgedPlace is a decision of the run, and where it is.
type judgedPlace struct {
	result.Judgement
	candidate int // index in the list of candidates
	epoch     int
	step      int    // 0: of the end of an epoch
	rest      string // of its place, behind the step
}

var judgedAt = pattern.New(`^e(\d+)/(?:s(\d+)/)?(.*)$`)

// listPlaces lists the decisions of a run in their order.
func listPlaces(c result.Candidates) []judgedPlace {
	var out []judgedPlace
	for i, candidate := range c.Candidates {
		for _, judged := range candidate.Judged {
			if p, ok := parsePlace(judged.At); ok {
				p.Judgement, p.candidate = judged, i
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b judgedPlace) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.last(), b.last()), cmp.Compare(a.order(), b.order()), cmp.Compare(a.candidate, b.candidate))
	})
	return out
}

// parsePlace parses a place in a step or in the end of an epoch.
func parsePlace(at string) (p judgedPlace, ok bool) {
	m := judgedAt.FindStringSubmatch(at)
	if m == nil {
		return p, false
	}
	p.rest = m[3]
	p.epoch, _ = strconv.Atoi(m[1]) // digits
	p.step, _ = strconv.Atoi(m[2])
	return p, true
}

// last returns the step of a place. It returns a number after all others for the end of an epoch.
func (p judgedPlace) last() int {
	if p.step == 0 {
		return 1 << 30
	}
	return p.step
}

// order returns where in its step a candidate is judged: the first try before the second, and that
// before its halves.
func (p judgedPlace) order() int {
	const each = 1000
	n := 0
	for part := range strings.SplitSeq(p.rest, "/") {
		switch index, err := strconv.Atoi(strings.TrimPrefix(part, "half")); {
		case part == "again":
			n += each * each
		case part == "second":
			n += each / 2
		case part == examplesPart:
			n-- // before all others, or again after them
		case err == nil && strings.HasPrefix(part, "half"):
			n += min(index, each/2-1)
		}
	}
	return n
}

func (p judgedPlace) unit() [2]int { return [2]int{p.epoch, p.step} }

func (p judgedPlace) words() string {
	if p.step == 0 {
		return fmt.Sprintf("the end of epoch %d", p.epoch)
	}
	return fmt.Sprintf("step %d", p.step)
}

// rejudge goes through the decisions of a run.
type rejudge struct {
	Recorded
	opts   Options
	skills *skills
	judge  *judge
	texts  []skill.Skill // of the candidates

	noiseKnown bool // what was asked of an accepted skill a second time is scored
}

func newRejudge(o Options, r Recorded) *rejudge {
	j := &rejudge{Recorded: r, opts: o, skills: newSkills(o, r.Data, skill.Scope{})}
	silent := func(event.Event) {}
	j.judge = &judge{
		opts: o, selection: r.Data.Selection, skills: j.skills, emit: silent, unwatched: true, judging: r.Data.selectionItems(1),
		rollouts: &rollouts{roller: r.Answers, record: unrecorded{}, emit: silent},
		foresee:  func(context.Context, gate.Trial, *incumbent, rule) learner { return nil },
	}
	for _, c := range r.Candidates.Candidates {
		j.texts = append(j.texts, skill.New(c.Text))
	}
	return j
}

// unrecorded is a record of nothing.
type unrecorded struct{}

func (unrecorded) Decided(string) ([]byte, bool) { return nil, false }

func (unrecorded) Unmeasured(context.Context, string, []byte, []string) error { return nil }

func (unrecorded) Decision(_ context.Context, _ string, compute func() ([]byte, error)) ([]byte, error) {
	return compute()
}

// unfit says why the decisions of the run cannot be made again, "" if they can.
func (j *rejudge) unfit() string {
	if len(j.History.Drift) > 0 {
		return "another model began to answer in the middle of the run, so that it measured its skills again"
	}
	for i, c := range j.Candidates.Candidates {
		if len(c.Files) > 0 || j.skills.hash(j.texts[i]) != c.Hash {
			return "candidates have more files than SKILL.md"
		}
	}
	return ""
}

// begin scores the seed skill, and what was asked of it a second time.
func (j *rejudge) begin(ctx context.Context) (why string, err error) {
	j.batches()
	seed := incumbent{skill: j.texts[0], origin: "seed"}
	e := j.skills.entry(&seed)
	e.Accepted = true
	if j.opts.Gate != gate.ModeOff {
		out, err := j.judge.rollouts.batch(ctx, "", rolloutSet{rollout.Place{Prefix: "seed/selection"}, j.Data.Selection, seed.skill})
		if err != nil {
			return "", err
		}
		if missing := findMissing(out); len(missing) > 0 && !gate.Enough(len(out), len(missing)) {
			return fmt.Sprintf("of the seed skill only %d of %d answers can be scored", len(out)-len(missing), len(out)), nil
		}
		seed.outcomes, seed.score = out, gateScore(j.opts.Projection, seed.skill, out)
		j.skills.store.addAll(e, 0, out)
	}
	if noise := j.History.Noise; noise != nil {
		changed, err := j.scoreAgain(ctx, "", &seed)
		if err != nil {
			return "", err
		}
		j.judge.deterministic = noise.Deterministic && noise.At == "" && !changed
	}
	j.skills.current, j.skills.best = seed, seed
	return "", nil
}

// scoreAgain scores what was asked of a skill a second time, and reports whether an answer has changed.
func (j *rejudge) scoreAgain(ctx context.Context, at string, in *incumbent) (changed bool, err error) {
	place := noisePlace(at)
	which, sample := j.Answers.FindItems(place.Prefix, j.Data.Selection)
	place.Sample = sample
	flips, err := j.judge.askAgain(ctx, place, j.skills.entry(in), which)
	j.skills.refresh(in)
	return len(flips) > 0, err
}

// noiseBefore scores what was asked of an accepted skill a second time before a decision, since
// the seed skill could not show what chance changes.
func (j *rejudge) noiseBefore(ctx context.Context, p judgedPlace) error {
	noise := j.History.Noise
	if noise == nil || noise.At == "" || j.noiseKnown {
		return nil
	}
	at, ok := parsePlace(noise.At + "/")
	if !ok || cmp.Or(cmp.Compare(at.epoch, p.epoch), cmp.Compare(at.last(), p.last())) >= 0 {
		return nil
	}
	changed, err := j.scoreAgain(ctx, noise.At, &j.skills.current)
	j.judge.deterministic, j.noiseKnown = noise.Deterministic && !changed, true
	return err
}

// batches notes with which skill each step began: an answer of its batch may be that to an
// equal request of a gate.
func (j *rejudge) batches() {
	for i, s := range j.History.Steps {
		if i == 0 {
			continue
		}
		hash := j.History.Steps[i-1].SkillHash
		for _, e := range j.History.Epochs {
			if e.Epoch == s.Epoch-1 && s.StepInEpoch == 1 {
				hash = e.SkillHash
			}
		}
		if at := slices.IndexFunc(j.Candidates.Candidates, func(c result.Candidate) bool { return c.Hash == hash }); at >= 0 {
			j.Answers.NoteSkill(stepID{epoch: s.Epoch, number: s.Step}.key()+"/", j.texts[at])
		}
	}
}

// unit decides on the candidates of one step, or of the end of an epoch. why says that
// nothing is known of it.
func (j *rejudge) unit(ctx context.Context, judged []judgedPlace, why string) ([]result.Rejudgement, error) {
	first := judged[0]
	if j.judge.judging = j.Data.selectionItems(max(1, first.step)); first.step == 0 {
		j.judge.judging = j.Data.selectionItems(j.lastStep(first.epoch))
	}
	var out []result.Rejudgement
	weighed := map[int]incumbent{}
	var verdicts []gate.Verdict
	for _, p := range judged {
		d := result.Rejudgement{Where: p.words(), Epoch: p.epoch, Step: p.step, At: p.At, Then: p.Action, ThenReason: p.Reason, Difference: p.Difference}
		cand := j.candidate(p)
		if why == "" {
			v, missing, err := j.decide(ctx, p, &cand)
			if err != nil {
				return nil, err
			}
			if missing == "" {
				action := string(v.Action)
				d.Now, d.NowReason, d.NowDifference = &action, v.Reason, v.Difference
				d.Changed = v.Action.Accepted() != gate.Action(p.Action).Accepted()
			} else {
				why = missing
			}
			weighed[len(out)] = cand
			verdicts = append(verdicts, v)
		}
		if d.Now == nil {
			d.Unknown = why
		}
		if out = append(out, d); d.Changed && why == "" {
			why = after(out)
		}
	}
	if why == "" {
		j.adopt(judged, weighed, verdicts)
	}
	return out, nil
}

// lastStep returns the number of the last step of an epoch.
func (j *rejudge) lastStep(epoch int) int {
	last := 1
	for _, s := range j.History.Steps {
		if s.Epoch == epoch {
			last = max(last, s.Step)
		}
	}
	return last
}

func (j *rejudge) candidate(p judgedPlace) incumbent {
	c := j.Candidates.Candidates[p.candidate]
	origin := c.Origin
	if p.step == 0 {
		origin = fmt.Sprintf("slow update, epoch %d", p.epoch)
	}
	return incumbent{skill: j.texts[p.candidate], step: p.step, origin: origin}
}

// decide has the gate decide on one candidate. missing says why it is not known how.
func (j *rejudge) decide(ctx context.Context, p judgedPlace, cand *incumbent) (v gate.Verdict, missing string, err error) {
	if j.skills.hash(j.skills.current.skill) != p.Against {
		return v, "it was judged against a skill that no candidate of the run is known to be", nil
	}
	r := better
	if p.step == 0 {
		r = notWorse
	}
	prefix := p.At
	var lost *NothingMeasuredError
	if v, err = j.judge.compare(ctx, prefix, cand, r); errors.As(err, &lost) {
		return v, lost.Error(), nil
	}
	if err != nil {
		return v, "", err
	}
	if gone := j.unread(prefix, v); gone > 0 {
		return v, "the gate would have read " + wording.Plural(gone, "answer that the run has not asked for", "answers that the run has not asked for"), nil
	}
	if v.Action == gate.Indecisive && p.Action != string(gate.Indecisive) {
		return v, "too few answers can be rescored", nil
	}
	return v, "", nil
}

// unread returns how many of the tasks that a verdict continues without were never asked there.
func (j *rejudge) unread(prefix string, v gate.Verdict) int {
	n := 0
	for _, arm := range []gate.Arm{gate.Candidate, gate.Incumbent} {
		for _, id := range j.Answers.MissingTasks(prefix + "/" + string(arm) + "/") {
			if slices.Contains(v.Unmeasured, id) {
				n++
			}
		}
	}
	return n
}

// adopt makes the candidate current that the run took, when the gate has decided on all as
// it did then.
func (j *rejudge) adopt(judged []judgedPlace, weighed map[int]incumbent, verdicts []gate.Verdict) {
	taken := j.takenAt(judged[0])
	for i, p := range judged {
		cand, v := weighed[i], verdicts[i]
		if !v.Action.Accepted() {
			continue
		}
		if len(judged) > 1 && taken != "" && j.Candidates.Candidates[p.candidate].Hash != taken {
			j.skills.entry(&cand).Accepted = false
			continue
		}
		j.skills.adopt(cand, v)
	}
}

// takenAt returns the hash of the current skill after a step or epoch, "" if it is not known.
func (j *rejudge) takenAt(p judgedPlace) string {
	for _, s := range j.History.Steps {
		if p.step > 0 && s.Step == p.step {
			return s.SkillHash
		}
	}
	return ""
}
