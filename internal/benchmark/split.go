package benchmark

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
)

// parts are the places of tasks by split, in the order in which they are written.
type parts map[task.Split][]int

// splits returns the splits in the order in which they are reported.
func splits() []task.Split { return []task.Split{task.Train, task.Selection, task.Test} }

// published are the ids of the splits that a benchmark is published with.
type published struct {
	order map[task.Split][]string
	of    map[string]task.Split
}

// readPublished reads the lists of ids in a folder of the benchmark; nil: it has none.
func readPublished(f *folder.Folder, dir string) (*published, error) {
	if dir == "" {
		return nil, nil
	}
	p := &published{order: map[task.Split][]string{}, of: map[string]task.Split{}}
	var twice []string
	for _, s := range splits() {
		text, err := f.Read(dir + "/" + string(s) + ".txt")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for id := range strings.Lines(string(text)) {
			if id = strings.TrimSpace(id); id == "" || strings.HasPrefix(id, "#") {
				continue
			}
			if before, there := p.of[id]; there {
				twice = append(twice, fmt.Sprintf("%s (%s and %s)", id, before, s))
				continue
			}
			p.of[id] = s
			p.order[s] = append(p.order[s], id)
		}
	}
	if len(twice) > 0 {
		return nil, fmt.Errorf("%s, %s: %s in more than one place: %s", f.Where, dir, wording.Plural(len(twice), "id is there", "ids are there"), joinFirst(twice))
	}
	if len(p.of) == 0 {
		return nil, fmt.Errorf("%s: %s holds no ids; train.txt, selection.txt and test.txt have one a line", f.Where, dir)
	}
	return p, nil
}

// drop takes out the id of a row that is no task by its own fault, so that no other source is blamed.
func (p *published) drop(id string) {
	if p == nil {
		return
	}
	s := p.of[id]
	p.order[s] = slices.DeleteFunc(p.order[s], func(other string) bool { return other == id })
}

// joinFirst lists the first of some names.
func joinFirst(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// divide gives each task its split: that of its row, that of the published ids, or by a ratio. "" is
// the split of those that the user's config divides.
func divide(f *folder.Folder, p *published, s *spool) (parts, error) {
	switch {
	case len(s.lines) > 0 && s.lines[0].split != "":
		out := parts{}
		for i, l := range s.lines {
			out[l.split] = append(out[l.split], i)
		}
		return out, nil
	case p != nil:
		return p.divide(f, s)
	case f.Splits.Ratio != "":
		return byRatio(f, s)
	}
	all := make([]int, len(s.lines))
	for i := range all {
		all[i] = i
	}
	return parts{"": all}, nil
}

// divide finds each published id. One that no row has is an error: the source is another one.
func (p *published) divide(f *folder.Folder, s *spool) (parts, error) {
	out, missing := parts{}, []string(nil)
	for _, split := range splits() {
		for _, id := range p.order[split] {
			if i, there := s.place[id]; there {
				out[split] = append(out[split], i)
			} else {
				missing = append(missing, id)
			}
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: %d of the %d ids of its published splits are in no row: %s\nthe source has changed, or files are missing: `skillopt bench fetch %s` gets what the benchmark names", f.Where, len(missing), len(p.of), joinFirst(missing), f.Name)
	}
	return out, nil
}

// byRatio divides as SkillOpt does: all tasks, or those of each value of a field, shuffled by the seed.
func byRatio(f *folder.Folder, s *spool) (parts, error) {
	ratio, err := schedule.ParseRatio(f.Splits.Ratio)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: splits.ratio: %w", f.Where, folder.FileAbout, err)
	}
	groups := map[string][]int{}
	for i, l := range s.lines {
		groups[l.group] = append(groups[l.group], i)
	}
	out := parts{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		members := groups[name]
		cut := schedule.RatioSplit(len(members), schedule.SplitConfig{Ratio: ratio, Seed: f.Splits.Seed, KeepOne: true})
		for split, places := range map[task.Split][]int{task.Train: cut.Train, task.Selection: cut.Selection, task.Test: cut.Test} {
			for _, i := range places {
				out[split] = append(out[split], members[i])
			}
		}
	}
	return out, nil
}

// taskGroup returns the value of the field by which tasks are stratified.
func taskGroup(f *folder.Folder, it item) string {
	if f.Splits.Stratify == "" {
		return ""
	}
	return fmt.Sprint(cmp.Or(it.fields[f.Splits.Stratify], any("")))
}
