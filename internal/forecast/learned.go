package forecast

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// How many runs of other configurations a forecast reads, the newest first, and how many
// steps of them say how often candidates survive.
const (
	mostRead   = 8
	enoughSeen = 4
)

// otherHelps returns shares of edits that help which are played in dry runs next to the usual ones,
// where earlier runs say how often candidates survive.
func otherHelps() []float64 { return []float64{0.1, 0.25, 0.75} }

// learned is what finished runs of other configurations in the same folder say about the
// models that they share with this one.
type learned struct {
	runs     []string                   // names of the runs that something was taken of, the newest first
	replies  map[stageRole]stageMeasure // calls, output tokens and time by call
	judged   int                        // candidates of steps
	survived int
}

// learn reads the finished training runs next to this one. What a model said is taken of
// runs with the same model and settings alone; how often candidates survive, of those in
// which both are the same. A run that cannot be read says nothing.
func (s *forecaster) learn(ctx context.Context, dir string, identity map[string]string) (learned, error) {
	l := learned{replies: map[stageRole]stageMeasure{}}
	entries, err := run.List(dir)
	if err != nil {
		return l, err
	}
	read := 0
	for _, e := range slices.Backward(entries) {
		if read == mostRead {
			break
		}
		if e.Err != nil || e.Manifest.Status != "completed" || e.Manifest.ForkedOf != "" {
			continue
		}
		roles := sameModels(e.Manifest.Identity, identity)
		if len(roles) == 0 {
			continue
		}
		read++
		if l.take(ctx, e.Dir, roles, s.measuring) {
			l.runs = append(l.runs, e.Manifest.Name)
		}
	}
	return l, nil
}

// sameModels lists the roles whose model, with all that shapes its replies, is the same in
// two identities.
func sameModels(a, b map[string]string) []string {
	var out []string
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		prefix, same, there := "models."+role+".", true, false
		for k, v := range b {
			if strings.HasPrefix(k, prefix) {
				there, same = there || k == prefix+"provider" && v != `""`, same && a[k] == v
			}
		}
		for k := range a {
			_, ok := b[k]
			same = same && (ok || !strings.HasPrefix(k, prefix))
		}
		if there && same {
			out = append(out, role)
		}
	}
	return out
}

// take adds what a run says of some roles, and reports whether that is anything. any: a
// run that has trained nothing says something too.
func (l *learned) take(ctx context.Context, dir string, roles []string, any bool) bool {
	h := historyIn(dir)
	if !any && (h == nil || h.Final == nil) {
		return false // no training run, or none that reached its end
	}
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	defer func() { _ = j.Close() }() // it was only read
	took := false
	for _, t := range j.Totals() {
		if t.Calls > 0 && t.Episodes == 0 && t.Unknown == 0 && slices.Contains(roles, t.Role) {
			k := stageRole{t.Stage, t.Role}
			m, n := l.replies[k], float64(t.Calls)
			m.output = (m.output*m.calls + float64(t.Usage.Output)) / (m.calls + n)
			m.took = time.Duration((float64(m.took)*m.calls + float64(t.Took)) / (m.calls + n))
			m.calls += n
			l.replies[k], took = m, true
		}
	}
	if h != nil && slices.Contains(roles, model.Target) && slices.Contains(roles, model.Optimizer) {
		for _, st := range h.Steps {
			l.count(st)
		}
	}
	return took
}

// count takes down whether the candidate of a step survived its gate.
func (l *learned) count(st result.StepRecord) {
	switch {
	case st.Step == 0 || st.CandidateHash == "" || strings.HasPrefix(st.Action, "skip"):
	case strings.HasPrefix(st.Action, "accept"):
		l.judged, l.survived = l.judged+1, l.survived+1
	default:
		l.judged++
	}
}

// helps returns the index of the dry run whose candidates survive as often as those of earlier runs
// did, by its share of edits that help. Of the scenarios that were played in dry runs it is the
// nearest. While too few candidates were judged it is 0, the usual share.
func (l learned) helps(runs []*dryRun) int {
	if l.judged < enoughSeen {
		return 0
	}
	// One candidate that survived and one that did not are added: a few say little.
	want := float64(l.survived+1) / float64(l.judged+2)
	best, least := 0, math.Inf(1)
	for i, r := range runs {
		if r.steps.judged == 0 {
			continue
		}
		if off := math.Abs(float64(r.steps.survived)/float64(r.steps.judged) - want); off < least {
			best, least = i, off
		}
	}
	return best
}

// toResult returns what of it a forecast rests on; nil: nothing.
func (l learned) toResult(r *dryRun) *result.Learned {
	out := &result.Learned{Runs: l.runs, Replies: []string{}}
	for k := range l.replies {
		if r.tally[k].calls > 0 {
			out.Replies = append(out.Replies, k.role+"/"+k.stage)
		}
	}
	slices.Sort(out.Replies)
	if l.judged >= enoughSeen {
		out.Judged, out.Survived = l.judged, l.survived
	}
	if len(out.Replies) == 0 && out.Judged == 0 {
		return nil
	}
	return out
}
