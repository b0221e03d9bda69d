package ask

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Remembered is what runs leave to the optimizer of a new one.
type Remembered struct {
	Memory result.Memory
	Left   int      // entries that there was no room for, the oldest
	Unread []string // files of the runs that could not be used, one line each
}

// A RunName names a run: its directory, and what messages call it.
type RunName struct{ Dir, Path string }

// Memory gathers what runs that train leave to the optimizer of a new one, finished or killed:
// the edits that their gates rejected with the difference that was measured, newest first and
// each once, and the newest meta skill. What a gate accepted in one of the runs, before or after
// it was rejected in one, is not among it. Nothing of it comes from the test split.
func Memory(runs []RunName) (Remembered, error) {
	var entries []result.Rejected
	var out Remembered
	accepted, metas := map[string]bool{}, []metaSkill{}
	for _, name := range runs {
		t, err := ReadTraining(name.Dir, name.Path)
		if err != nil {
			return Remembered{}, err
		}
		l := leaver{Training: t, dir: name.Dir}
		entries = append(entries, l.listRejections()...)
		for _, key := range l.listAcceptedKeys() {
			accepted[key] = true
		}
		metas = append(metas, l.metaSkills()...)
		for _, problem := range t.Problems {
			out.Unread = append(out.Unread, name.Path+": "+problem)
		}
	}
	entries = slices.DeleteFunc(entries, func(e result.Rejected) bool { return accepted[remember.Key(e)] })
	meta := ""
	if len(metas) > 0 {
		meta = slices.MaxFunc(metas, metaSkill.compare).text
	}
	m, left := remember.MergeEntries(entries, cut(meta, remember.MaxMeta))
	var err error
	out.Left = left
	out.Memory, err = remember.Clean(m, redact.Text)
	return out, err
}

// metaSkill is the optimizer's memory at the end of an epoch.
type metaSkill struct {
	from  result.RejectedFrom // of the run
	epoch int
	text  string
}

func (m metaSkill) compare(other metaSkill) int {
	return cmp.Or(m.from.Begun.Compare(other.from.Begun), cmp.Compare(m.from.RunID, other.from.RunID), cmp.Compare(m.epoch, other.epoch))
}

// leaver is a run that leaves something.
type leaver struct {
	*record.Training
	dir string
}

// from returns where what a step tried comes from.
func (l leaver) from(step int) result.RejectedFrom {
	name := l.Manifest.Name
	if name == "" {
		name = filepath.Base(l.dir)
	}
	return result.RejectedFrom{Run: cut(name, remember.MaxName), RunID: l.Manifest.RunID, Step: step, Begun: l.Manifest.CreatedAt.UTC()}
}

func (l leaver) metaSkills() (out []metaSkill) {
	for _, e := range l.History.Epochs {
		if text := strings.TrimSpace(e.MetaSkill); text != "" {
			out = append(out, metaSkill{l.from(0), e.Epoch, text})
		}
	}
	return out
}

// listRejections returns what the gate turned down.
func (l leaver) listRejections() (out []result.Rejected) {
	for i, s := range l.History.Steps {
		if !gate.Action(s.Action).Rejected() || i == 0 {
			continue
		}
		e := l.entry(i)
		if len(e.Edits)+len(e.Changes) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// listAcceptedKeys returns the keys of what the gate accepted.
func (l leaver) listAcceptedKeys() (keys []string) {
	for i, s := range l.History.Steps {
		if e := l.entry(i); gate.Action(s.Action).Accepted() && len(e.Edits)+len(e.Changes) > 0 {
			keys = append(keys, remember.Key(e))
		}
	}
	return keys
}

// entry returns what a step tried, by its place in the history.
func (l leaver) entry(at int) result.Rejected {
	s, files := l.History.Steps[at], l.Steps[at]
	out := result.Rejected{From: l.from(s.Step), Difference: l.difference(at)}
	var before skill.Skill
	if at > 0 {
		out.From.Skill = l.History.Steps[at-1].SkillHash
		if len(files.Edits) > 0 {
			before, _ = record.Version(l.dir, strconv.Itoa(l.History.Steps[at-1].Step)) // without it no heading is known
		}
	}
	for _, a := range files.Edits[:min(len(files.Edits), remember.MaxEdits)] {
		e := a.Edit
		out.Edits = append(out.Edits, result.RejectedEdit{
			Op: e.Op, File: cut(e.File, remember.MaxName), Heading: cut(findHeading(before, e), remember.MaxName),
			Target: cut(e.Target, remember.MaxText), Content: cut(e.Content, remember.MaxText),
		})
	}
	if len(files.Edits) == 0 {
		for _, text := range files.Summary[:min(len(files.Summary), remember.MaxEdits)] {
			out.Changes = append(out.Changes, cut(text, remember.MaxName))
		}
	}
	return out
}

// cut returns a text that keeps a bound: valid, and without secrets, which a cut would hide.
func cut(text string, most int) string { return wording.Middle(redact.Text(text), most) }

// findHeading returns the heading above the place that an edit was about, "" if it has none.
func findHeading(s skill.Skill, e skill.Edit) string {
	file := cmp.Or(e.File, skill.Main)
	text, _ := s.File(file)
	at := strings.Index(text, e.Target)
	if e.Target == "" || at < 0 || !strings.HasSuffix(file, ".md") {
		return ""
	}
	heading, fence := "", ""
	for line := range strings.Lines(text[:at+1]) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case strings.HasPrefix(line, "#"):
			if name := strings.TrimLeft(line, "#"); strings.HasPrefix(name, " ") {
				heading = strings.TrimSpace(name)
			}
		}
	}
	return heading
}

// difference returns what the gate measured of a step's candidate, by the gate's score; nil if
// nothing was measured.
func (l leaver) difference(at int) *result.ScoreDifference {
	s := l.History.Steps[at]
	d := &result.ScoreDifference{Metric: s.Metric, N: s.SelectionN}
	switch {
	case s.Metric == "":
		return nil
	case s.Difference != nil:
		d.Mean = *s.Difference
		if s.SE != nil && *s.SE > 0 {
			const z = 1.96 // 95 %
			low, high := max(-1, d.Mean-z**s.SE), min(1, d.Mean+z**s.SE)
			d.Low, d.High = &low, &high
		}
	case !l.comparePairs(at, d):
		if s.Candidate == nil || s.Current == nil {
			return nil
		}
		d.Mean = *s.Candidate - *s.Current // rejected: Current is what it was judged against
	}
	if !(math.Abs(d.Mean) <= 1) { // with the density of the skill in it a score has no bounds
		return nil
	}
	return d
}

// comparePairs compares a candidate with the skill that it was judged against, task by task. It
// reports whether there were at least two tasks that both were measured on.
func (l leaver) comparePairs(at int, d *result.ScoreDifference) bool {
	if at == 0 {
		return false
	}
	weight, err := strconv.ParseFloat(l.Manifest.Identity["gate.mixed_weight"], 64)
	if err != nil {
		weight = 0.5
	}
	p := score.Projection{Metric: score.Metric(d.Metric), MixedWeight: weight}
	scores := func(items []record.Item) map[string]float64 {
		out := map[string]float64{}
		for _, it := range items {
			if it.Status.Measured() {
				out[it.ID] = p.Of(score.Pair{Hard: it.Hard, Soft: it.Soft}, 0)
			}
		}
		return out
	}
	with, without := l.Steps[at].Selection, scores(l.incumbent(l.History.Steps[at-1].CurrentOrigin))
	var differences []float64
	for _, it := range with {
		if v, ok := scores([]record.Item{it})[it.ID]; ok {
			if was, ok := without[it.ID]; ok {
				differences = append(differences, v-was)
			}
		}
	}
	const few, resamples, alpha, seed = 2, 2000, 0.05, 1
	if len(differences) < few {
		return false
	}
	sum := 0.0
	for _, v := range differences {
		sum += v
	}
	d.Mean, d.N = sum/float64(len(differences)), len(differences)
	if b, err := stats.PairedBootstrapBCa(differences, resamples, alpha, seed); err == nil && b.Interval.Low < b.Interval.High {
		d.Low, d.High = &b.Interval.Low, &b.Interval.High
	}
	return true
}

// incumbent returns the outcomes by which a skill was judged that became the current skill at some
// place.
func (l leaver) incumbent(origin string) []record.Item {
	step := 0
	if number, ok := strings.CutPrefix(origin, "step "); ok {
		step, _ = strconv.Atoi(number) // none: the seed skill's
	} else if origin != "seed" {
		return nil
	}
	for i, s := range l.History.Steps {
		if s.Step == step {
			return l.Steps[i].Selection
		}
	}
	return nil
}
