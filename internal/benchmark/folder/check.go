package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// names of benchmarks become parts of paths.
var nameForm = pattern.New(`^[a-z0-9][a-z0-9-]{0,63}$`)

// check says what is wrong with benchmark.yaml, all of it.
func (f *Folder) check() error {
	var errs []error
	fail := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s, %s: %s: %s", f.Where, FileAbout, key, fmt.Sprintf(format, args...)))
	}
	if !nameForm.MatchString(f.Name) {
		fail("name", "found %q, allowed: small letters, digits and -, up to 64", f.Name)
	}
	if f.Licence == "" {
		fail("licence", "is missing: say under which terms the rows may be used, or where that is written")
	}
	for i, s := range f.Sources {
		for _, msg := range s.faults() {
			fail(fmt.Sprintf("source[%d]", i), "%s", msg)
		}
	}
	f.Task.check(fail)
	for i, pattern := range f.Files {
		if err := disk.ValidPattern(pattern); err != nil {
			fail(fmt.Sprintf("files[%d]", i), "found %q: %v; write it like docs/**", pattern, err)
		}
	}
	f.Splits.check(fail)
	if f.Splits.Seed == 0 {
		f.Splits.Seed = 42
	}
	for _, file := range []struct{ key, name string }{{"config", f.Config}, {"scoring.reference", f.Scoring.Reference}, {"scoring.robust", f.Scoring.Robust}, {"skill", f.Skill}} {
		if file.name != "" && (!fs.ValidPath(file.name) || !f.Has(file.name)) {
			fail(file.key, "there is no file %q in the folder", file.name)
		}
	}
	if ways := f.Scorings(); f.Scoring.Default != "" && !slices.Contains(ways, f.Scoring.Default) {
		fail("scoring.default", "found %q, allowed: %s", f.Scoring.Default, cmp.Or(strings.Join(ways, ", "), "nothing, as scoring names no file"))
	}
	return errors.Join(errs...)
}

// faults returns the faults of a source.
func (s Source) faults() []string {
	var msgs []string
	kinds := 0
	for _, given := range []string{s.HF, s.GitHub, s.URL} {
		if given != "" {
			kinds++
		}
	}
	if kinds != 1 {
		msgs = append(msgs, "give one of hf, github and url")
	}
	if s.HF != "" && s.Files == "" {
		msgs = append(msgs, "hf needs files: a pattern such as data/*.parquet")
	}
	if s.GitHub != "" && (s.Tag == "" || s.Asset == "") {
		msgs = append(msgs, "github needs tag and asset")
	}
	if s.To == "" || !fs.ValidPath(s.To) {
		msgs = append(msgs, fmt.Sprintf("to: found %q, allowed: a folder such as rows", s.To))
	}
	return msgs
}

// check says what is wrong with how rows become tasks.
func (t *Task) check(fail func(key, format string, args ...any)) {
	if t.Rows == "" {
		t.Rows = "rows/**"
	}
	if err := disk.ValidPattern(t.Each); t.Each != "" && err != nil {
		fail("task.each", "found %q: %v; write it like games/**", t.Each, err)
	}
	if t.Convert != "" {
		if t.ID+t.Prompt+t.Gold.Field != "" || len(t.Images) > 0 {
			fail("task", "convert makes the tasks: id, prompt, gold and images have no say with it")
		}
		return
	}
	if t.Prompt == "" && len(t.Keep) == 0 && len(t.Fields) == 0 {
		fail("task.prompt", "is missing: a template over the fields of a row, such as {{question}}")
	}
	if !slices.Contains([]string{"", "json", "python", "lines", "comma"}, t.Gold.Split) {
		near, _ := wording.Suggest(t.Gold.Split, []string{"json", "python", "lines", "comma"})
		fail("task.gold.split", "found %q, allowed: json, python, lines, comma%s", t.Gold.Split, formatSuggestion(near))
	}
	for i, image := range t.Images {
		if image.Field == "" || image.Name == "" {
			fail(fmt.Sprintf("task.images[%d]", i), "field and name are needed")
		}
	}
}

func formatSuggestion(near string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}

// check says what is wrong with how tasks are divided.
func (s Splits) check(fail func(key, format string, args ...any)) {
	ways := 0
	for _, given := range []string{s.IDs, s.Ratio, s.Field} {
		if given != "" {
			ways++
		}
	}
	switch {
	case ways > 1:
		fail("splits", "give one of ids, ratio and field")
	case s.Stratify != "" && s.Ratio == "":
		fail("splits.stratify", "needs splits.ratio, by which each value is divided")
	}
}

// Scorings returns the ways in which the benchmark can be scored.
func (f *Folder) Scorings() []string {
	var ways []string
	if f.Scoring.Reference != "" {
		ways = append(ways, Reference)
	}
	if f.Scoring.Robust != "" {
		ways = append(ways, Robust)
	}
	return ways
}

// ScoredBy returns a way to score and its file; "" is the default way. Neither and no error: the folder has
// no ways, and its config says how answers are scored.
func (f *Folder) ScoredBy(way string) (name, file string, err error) {
	ways := f.Scorings()
	switch {
	case len(ways) == 0 && way == "":
		return "", "", nil
	case len(ways) == 0:
		return "", "", fmt.Errorf("%s: it has one way of scoring alone, that of its config: leave bench.scoring out", f.Where)
	}
	name = cmp.Or(way, f.Scoring.Default, ways[0])
	switch {
	case !slices.Contains(ways, name):
		return "", "", fmt.Errorf("%s: it cannot be scored as %q; allowed: %s", f.Where, name, strings.Join(ways, ", "))
	case name == Reference:
		return name, f.Scoring.Reference, nil
	}
	return name, f.Scoring.Robust, nil
}
