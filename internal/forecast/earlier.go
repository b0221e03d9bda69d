package forecast

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// measured is what a record says about calls that are yet to be made.
type measured struct {
	stages map[stageRole]stageMeasure
	solved *float64 // share of the selection tasks that the seed skill solves
	whole  bool     // a run that reached its end, and paid for all of it

	learned learned // of other configurations, where nothing of this one is known
}

// stageMeasure are means by call, and the calls and episodes that they are of.
type stageMeasure struct {
	calls, episodes float64
	input, output   float64 // tokens a call
	seedInput       float64 // of prompts with the seed skill, 0 if there were none
	took            time.Duration
}

// ratio compares the prompts that were measured with those of a dryRun. Where
// only those with the seed skill can be compared, they are.
func (m stageMeasure) ratio(t tally) float64 {
	switch {
	case m.seedInput > 0 && t.seed > 0:
		return m.seedInput / (float64(t.seedText) / float64(t.seed) / bytesPerTok)
	case m.input > 0 && t.calls > 0:
		return m.input / (float64(t.asked) / float64(t.calls) / bytesPerTok)
	}
	return 1
}

// measure reads what a record says. The scores of the seed skill are in the
// history of its run.
func measure(ctx context.Context, j *journal.Journal, h *result.History) (measured, error) {
	m := measured{stages: map[stageRole]stageMeasure{}}
	inherited := int64(0)
	for _, t := range j.Totals() {
		inherited += t.Inherited
		if t.Calls+t.Episodes == 0 {
			continue
		}
		n := float64(max(1, t.Calls))
		m.stages[stageRole{t.Stage, t.Role}] = stageMeasure{
			calls: float64(t.Calls), episodes: float64(t.Episodes), input: float64(t.Usage.Input) / n, output: float64(t.Usage.Output) / n,
			took: t.Took / time.Duration(max(1, t.Calls)),
		}
	}
	if err := m.seedPrompts(ctx, j); err != nil {
		return m, err
	}
	if h != nil && len(h.Steps) > 0 {
		m.solved = h.Steps[0].SelectionHard
		m.whole = h.Final != nil && !h.Final.EndedEarly && inherited == 0 // a fork paid for a part alone
	}
	return m, nil
}

func (m measured) seedPrompts(ctx context.Context, j *journal.Journal) error {
	n, sum := 0.0, 0.0
	for r, err := range j.Results(ctx, 0) {
		if err != nil {
			return err
		}
		if r.Kind == journal.Call && strings.HasPrefix(r.Key, seedPlace+"/") && r.Stage == model.StageRollout {
			n, sum = n+1, sum+float64(r.Usage.Input)
		}
	}
	k := stageRole{model.StageRollout, model.Target}
	if st, ok := m.stages[k]; ok && n > 0 {
		st.seedInput = sum / n
		m.stages[k] = st
	}
	return nil
}

// earlier returns what the newest run of this configuration measured, if there is one, or else what
// runs of other configurations report.
func (s *forecaster) earlier(ctx context.Context) (measured, error) {
	s.speeds = map[string]*session.Speed{}
	for _, role := range s.Models.Roles() {
		s.speeds[role] = s.Speed(ctx, role)
	}
	id, err := s.Identity()
	if err != nil {
		return measured{}, err
	}
	dir := s.Config.Run.Dir
	if s.RunDir != "" {
		dir = filepath.Dir(s.RunDir)
	}
	entries, err := run.List(dir)
	if err != nil {
		return measured{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.Err == nil && len(config.Changes(e.Manifest.Identity, id)) == 0 {
			if m, err := measuredIn(ctx, e.Dir); err != nil || len(m.stages) > 0 {
				return m, err
			}
			break
		}
	}
	l, err := s.learn(ctx, dir, id)
	return measured{learned: l}, err
}

// measuredIn reads the record of a run, even while another process has it open. One that cannot
// be read says nothing.
func measuredIn(ctx context.Context, dir string) (m measured, err error) {
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return measured{}, nil
	}
	if m, err = measure(ctx, j, historyIn(dir)); err != nil {
		m = measured{} // it says nothing
	}
	return m, j.Close()
}

// maxProjection is how many bytes are read of a file that is written from a record.
const maxProjection = 1 << 30

// historyIn returns what the run in dir has decided so far, nil if nothing is known.
func historyIn(dir string) *result.History {
	data, err := disk.Read(context.Background(), filepath.Join(dir, run.HistoryFile), maxProjection)
	var h result.History
	if err != nil || json.Unmarshal(data, &h) != nil {
		return nil
	}
	return &h
}
