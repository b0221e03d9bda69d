package answers

import (
	"regexp"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// What may be taken from another run is listed, by the kind of the command and the place
// of the key. Whatever is not on the list is always asked: confirmations and fresh passes,
// null controls, noise, certificates, comparisons, everything about test tasks. Each of
// those has a sample or a place of its own; sample 0 of the places below is the first
// answer to a question, that of an incumbent or a candidate, or of a batch.
//
// No id of a task has a slash in a key, so that none can look like a place.
var (
	inTraining = regexp.MustCompile(`^(?:seed/selection|e\d+/(?:s\d+|end)(?:/(?:again|second|p\d+|mb\d+|more\d+))*` +
		`/(?:rollout|gate/(?:cand|inc)|compare/(?:curr|prev)))/([^/]+)/sample0(?:/|$)`)
	ofOptimizer  = regexp.MustCompile(`^e\d+/(?:s\d+|end)/`)
	inEvaluation = regexp.MustCompile(`^eval/(?:train|selection)/([^/]+)/sample0(?:/|$)`)
	laterVote    = regexp.MustCompile(`(?:^|/)vote(?:[2-9]|\d\d)`) // of a judge that is asked several times
	inPruning    = regexp.MustCompile(`^text/[0-9a-f]+/([^/]+)/sample0(?:/|$)`)
)

// Place says whether the step under a key of a run, asked of the model in a role, may be
// answered from another run, and answer one. task is the id of the task that is asked, "" if
// none is.
func Place(kind result.Kind, key, role string) (task string, may bool) {
	var in *regexp.Regexp
	switch kind {
	case result.Train:
		if role == model.Optimizer {
			return "", ofOptimizer.MatchString(key)
		}
		in = inTraining
	case result.Evaluate:
		in = inEvaluation
	case result.Ablate, result.Prune:
		in = inPruning
	default:
		return "", false
	}
	m := in.FindStringSubmatch(key)
	if m == nil || laterVote.MatchString(key[len(m[0]):]) {
		return "", false
	}
	return strings.NewReplacer("%2F", "/", "%25", "%").Replace(m[1]), true
}

// readsTest reports whether the keys of a run do not tell which of its answers are to test
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
