package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// loss is something that was not measured, or not used.
type loss struct{ Where, What, Why string }

// losses lists what was lost and why, in the order of the run.
func (r *Run) losses() []loss {
	var l lossList
	r.Walk(func(s result.StepRecord, f record.Step) { l.step(s, f) }, func(e result.EpochRecord, _ int) {
		where := fmt.Sprintf("end of epoch %d", e.Epoch)
		l.addUnmeasured(where, e.Unmeasured, "", r.Guided[e.Epoch])
		l.replies(where, len(e.Lost), e.Lost, "")
	})
	if f := r.History.Final; f != nil {
		l.addUnmeasured("final skill", f.Unmeasured, "")
		if arm := anyArm(f.Test); arm != "" {
			l.addUnmeasured("test split", f.Test[arm].Unmeasured, "left out of every arm", r.Test[arm])
		}
	}
	l.addUnanswered(r)
	if r.Summary != nil {
		l.faults(r.Summary.Calls.Faults)
	}
	return l
}

// addUnanswered adds the scores in which a refusal or a deadline counts as 0.
func (l *lossList) addUnanswered(r *Run) {
	add := func(where string, u score.Unanswered) {
		if words := u.Words(); words != "" {
			l.add(where, words, "each counts as a score of 0")
		}
	}
	for _, s := range r.History.Steps {
		add(fmt.Sprintf("step %d, train tasks", s.Step), s.RolloutUnanswered)
		add(fmt.Sprintf("step %d, selection tasks", s.Step), s.SelectionUnanswered)
	}
	if f := r.History.Final; f != nil {
		for _, arm := range slices.Sorted(maps.Keys(f.Test)) {
			if f.Test[arm] != nil {
				add("test split, "+arm, f.Test[arm].Unanswered)
			}
		}
	}
}

// anyArm returns the name of one of the arms of the test, "" if there is none. All arms go without
// the same items.
func anyArm(arms map[string]*result.Arm) string {
	for _, name := range slices.Sorted(maps.Keys(arms)) {
		if arms[name] != nil {
			return name
		}
	}
	return ""
}

type lossList []loss

func (l *lossList) add(where, what, why string) { *l = append(*l, loss{where, what, why}) }

func (l *lossList) step(s result.StepRecord, f record.Step) {
	where := fmt.Sprintf("step %d", s.Step)
	if s.Step == 0 {
		where = "seed skill"
	}
	l.addUnmeasured(where, s.Unmeasured, "", f.Selection, f.Trained)
	first := ""
	if s.Retried {
		first = "its first try"
	}
	l.replies(where, s.LostReplies, f.Lost, first)
	for _, c := range s.Candidates {
		if !c.Taken {
			l.addUnmeasured(fmt.Sprintf("%s, candidate %d", where, c.Index), c.Unmeasured, "it was judged without")
		}
	}
	if s.Retried {
		l.add(where, "its first try", "too little could be measured to decide")
	}
	if gate.Action(s.Action) == gate.Indecisive {
		l.add(where, "its decision", cmp.Or(line(s.Reason, reasonLength), "too little could be measured to decide"))
	}
}

// addUnmeasured adds items without a score. Their reason is that of the first of them that outcomes
// give one for.
func (l *lossList) addUnmeasured(where string, ids []string, followed string, outcomes ...[]record.Item) {
	if len(ids) == 0 {
		return
	}
	why := whyMissing(slices.Concat(outcomes...), ids)
	if why == "" {
		why = cmp.Or(followed, "the decision was made without")
	} else if followed != "" {
		why += "; " + followed
	}
	l.add(where, "not measured: "+few(ids, 12), why)
}

// replies reports n replies of the optimizer that could not be used, by the stages of
// those whose keys are known. The others are those of first.
func (l *lossList) replies(where string, n int, keys []string, first string) {
	if n == 0 {
		return
	}
	stages := map[string]int{}
	for _, key := range keys {
		stage, _, _ := strings.Cut(key, "/")
		stages[line(stage, idLength)]++
	}
	if rest := n - len(keys); rest > 0 && first != "" && len(keys) > 0 {
		stages[first] = rest
	}
	var by []string
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		by = append(by, fmt.Sprintf("%s %d", stage, stages[stage]))
	}
	what := wording.Plural(n, "reply", "replies") + " of the optimizer"
	if len(by) > 0 {
		what += ": " + strings.Join(by, ", ")
	}
	l.add(where, what, "no usable answer after all tries")
}

// faults reports attempts that gave no result, for each class of attempt.
func (l *lossList) faults(classes map[string]int64) {
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		where, what, why := "model calls", class, "sent again"
		if kind, ok := strings.CutPrefix(class, "environment_"); ok {
			where, what, why = "environment", cmp.Or(environmentFaults()[kind], kind), "tried again"
		} else if class == "episode" {
			where, what, why = "episodes", "nothing was measured", "carried out again"
		}
		l.add(where, fmt.Sprintf("%s failed: %s", wording.Plural(classes[class], "attempt", "attempts"), line(what, idLength)), why+"; a failed attempt is never a score")
	}
}

// environmentFaults returns the kinds of faults of an environment, in words.
func environmentFaults() map[string]string {
	return map[string]string{
		"start": "it could not be started", "died": "it ended before it answered", "deadline": "it did not answer within env.timeout",
		"rubbish": "it wrote what is no answer", "too_long": "its line was too long", "refused": "it said that it could not measure",
	}
}

// whyMissing returns the reason that the first of the items without a score has.
func whyMissing(items []record.Item, ids []string) string {
	for _, item := range items {
		if !item.Status.Measured() && item.FailReason != "" && slices.Contains(ids, item.ID) {
			return line(item.FailReason, reasonLength)
		}
	}
	return ""
}
