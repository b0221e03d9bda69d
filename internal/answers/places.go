package answers

import (
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// What may be taken from another run is listed, by the kind of the command and the place
// of the key. Whatever is not on the list is always asked: confirmations and fresh passes,
// noise, certificates, comparisons, everything about test tasks. Each of
// those has a sample or a place of its own; sample 0 of the places below is the first
// answer to a question, that of an incumbent or a candidate, or of a batch. Ablation and
// pruning read tasks in several samples, in an order that follows from the answers: each
// of these may be taken, from 1000 on none, where the samples of a certificate begin.
//
// No id of a task has a slash in a key, so that none can look like a place.
var (
	inTraining = pattern.New(`^(?:seed/selection|e\d+/(?:s\d+|end)(?:/(?:again|second|half\d+|mb\d+|more\d+))*` +
		`/(?:rollout|gate/(?:cand|inc)|compare/(?:curr|prev)))/([^/]+)/sample0(?:/|$)`)
	ofOptimizer  = pattern.New(`^e\d+/(?:s\d+|end)/`)
	inEvaluation = pattern.New(`^eval/(?:train|selection)/([^/]+)/sample0(?:/|$)`)
	laterVote    = pattern.New(`(?:^|/)vote(?:[2-9]|\d\d)`) // of a judge that is asked several times
	inPruning    = pattern.New(`^text/[0-9a-f]+/([^/]+)/sample(0|[1-9]\d{0,2})(?:/|$)`)
)

// At is which answer of several the step under a key asks for. An answer to one sample is
// never one to another: samples of a task have to be as independent as they were asked.
type At struct {
	Task   string // id of the task that is asked, "" if none is
	Sample int
}

// Place says whether the step under a key of a run, asked of the model in a role, may be
// answered from another run, and answer one: an equal request at an equal sample.
func Place(kind result.Kind, key, role string) (at At, may bool) {
	var in pattern.Pattern
	switch kind {
	case result.Train:
		if role == model.Optimizer {
			return at, ofOptimizer.MatchString(key)
		}
		in = inTraining
	case result.Evaluate:
		in = inEvaluation
	case result.Ablate, result.Prune:
		in = inPruning
	default:
		return at, false
	}
	m := in.FindStringSubmatch(key)
	if m == nil || laterVote.MatchString(key[len(m[0]):]) {
		return at, false
	}
	if len(m) > 2 {
		var err error
		if at.Sample, err = strconv.Atoi(m[2]); err != nil {
			return At{}, false
		}
	}
	at.Task = strings.NewReplacer("%2F", "/", "%25", "%").Replace(m[1])
	return at, true
}

// readsTest reports whether the keys of a run do not show which of its answers are to test
// tasks: it judges rules by them.
func readsTest(m run.Manifest) bool {
	about := m.About(string(result.Ablate)) + ", " + m.About(string(result.Prune))
	for _, split := range []string{"test", "all"} {
		if strings.HasPrefix(about, split+", ") || strings.Contains(about, ", "+split+", ") || strings.Contains(about, "certified on "+split) {
			return true
		}
	}
	return false
}
