package survey

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/plant"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/symptom"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Bounds of planting.
const (
	maxRed      = 10        // tests that a fault may turn red
	maxSource   = 512 << 10 // bytes of a file
	triesOfOne  = 2         // faults of one function that are tried
	triesOfTask = 12        // faults that are tried for one that is kept, on average
)

// planter makes tasks of faults in one tree.
type planter struct {
	*surveyor
	hash  string // of the tree, with the documents of HEAD
	time  time.Time
	tests []tree.Change // its files of tests
	used  map[string]bool

	tries int
	kept  []*made
}

// faults makes n tasks of faults in a tree, none in functions that are used, which it adds to.
func (s *surveyor) faults(ctx context.Context, hash string, at time.Time, n int, used map[string]bool) ([]*made, error) {
	if n <= 0 {
		return nil, nil
	}
	hash, err := s.withDocuments(ctx, hash)
	if err != nil {
		return nil, err
	}
	t, err := tree.OpenTree(ctx, s.out.Store().Repo(), hash, tree.Bounds{})
	if err != nil {
		return nil, err
	}
	p := &planter{surveyor: s, hash: hash, time: at, used: used, tries: n * triesOfTask}
	if p.tests, err = contents(ctx, t, s.suite.IsTest); err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(slices.Clone(t.Files()), func(f tree.File) bool {
		return f.Link != "" || f.Size > maxSource || !s.suite.IsCode(f.Path) || s.suite.Obeys(f.Path)
	})
	seed := fnv.New64a()
	seed.Write([]byte(hash))
	rand.New(rand.NewPCG(seed.Sum64(), 1)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, most := range []int{1, 3, n} { // of one file
		for _, f := range files {
			if len(p.kept) == n || p.tries <= 0 {
				return p.kept, nil
			}
			text, err := t.Texts(ctx, []string{f.Path}, maxSource)
			if err != nil {
				return nil, err
			}
			if err := p.file(ctx, f, []byte(text[f.Path]), most, n); err != nil {
				return nil, err
			}
		}
	}
	return p.kept, nil
}

// file tries faults in a file, until as many are kept as are wanted of it, or of all files.
func (p *planter) file(ctx context.Context, f tree.File, text []byte, most, all int) error {
	list, err := plant.Plan(f.Path, text, int64(len(f.Object)))
	if err != nil {
		return nil //nolint:nilerr // a file that does not parse has no faults
	}
	kept, tried := 0, map[string]int{}
	for _, m := range p.kept {
		if strings.HasPrefix(m.Source, f.Path+":") {
			kept++
		}
	}
	for _, fault := range list {
		if kept >= most || len(p.kept) >= all || p.tries <= 0 {
			return nil
		}
		key := f.Path + " " + fault.Function
		if tried[key]++; p.used[key] || tried[key] > triesOfOne {
			continue
		}
		m, why, err := p.fault(ctx, f, fault)
		if err != nil {
			return fmt.Errorf("fault in %s:%d: %w", fault.Path, fault.Line, err)
		}
		if why != "" {
			p.left["fault: "+why]++
			continue
		}
		m.keys = append(m.keys, key)
		p.used[key] = true
		kept++
		p.kept = append(p.kept, m)
		p.note("fault in %s:%d (%s) is a task: %d tests, %.1f s of CPU", fault.Path, fault.Line, fault.Kind, len(m.Fail), m.CPU)
	}
	return nil
}

// fault makes a task of a fault, or says why not.
func (p *planter) fault(ctx context.Context, f tree.File, fault plant.Fault) (*made, string, error) {
	p.tries--
	near := p.near(f.Path)
	if len(near) == 0 {
		return nil, "no tests near it", nil
	}
	targets, err := p.targets(ctx, p.hash, near, []string{f.Path})
	if err != nil {
		return nil, "", err
	}
	planted := []tree.Change{{Path: f.Path, Data: fault.New, Exec: f.Exec}}
	broken, err := p.out.Store().Tree(ctx, p.hash, planted)
	if err != nil {
		return nil, "", err
	}
	after, err := p.run(ctx, p.hash, targets, 0)
	if err != nil {
		return nil, "", err
	}
	before, err := p.run(ctx, broken, targets, 0)
	if err != nil {
		return nil, "", err
	}
	fail, pass := p.decide(before, after)
	switch {
	case before.Unbuilt != "":
		return nil, whyUnbuilt, nil
	case len(fail) == 0:
		return nil, "no test notices it", nil
	case len(fail) > maxRed:
		return nil, whyTooMany, nil
	}
	ch, why, err := p.hide(ctx, broken, planted[0], fault, fail, targets)
	if err != nil || why != "" {
		return nil, why, err
	}
	m := &made{
		id: "f-" + digest([]any{p.hash, f.Path, fault.Line, fault.Kind})[:12], kind: kindFault, time: p.time,
		Task: repository.Task{
			Base: ch.base, Tests: ch.tests, Fix: ch.fix, Fail: fail, Pass: pass, Targets: targets,
			Source: fmt.Sprintf("%s:%d %s", fault.Path, fault.Line, fault.Kind),
		},
	}
	if slices.ContainsFunc(p.kept, func(o *made) bool { return slices.Equal(o.Fail, m.Fail) }) {
		return nil, whyNear, nil
	}
	why, err = p.complete(ctx, m, ch, before)
	return m, why, err
}

// hide makes the trees of a fault: without the files of the tests that it turns red.
func (p *planter) hide(ctx context.Context, broken string, planted tree.Change, fault plant.Fault, fail, targets []string) (*change, string, error) {
	hidden := p.findTestFiles(fail)
	if len(hidden) == 0 {
		return nil, "the files of its tests are not known", nil
	}
	var away []tree.Change
	for _, c := range hidden {
		away = append(away, tree.Change{Path: c.Path, Gone: true})
	}
	whole := planted
	whole.Data = fault.Old
	ch := &change{base: broken, source: symptom.Source{TestText: texts(hidden), BaseText: string(fault.New), Path: fault.Path}}
	if err := p.derive(ctx, ch, away, []tree.Change{whole}, hidden); err != nil {
		return nil, "", err
	}
	ch.source.Diff = fault.Fix()
	rest := slices.DeleteFunc(slices.Clone(targets), func(t string) bool {
		return slices.ContainsFunc(hidden, func(c tree.Change) bool { return p.inFolder(c.Path) == t })
	})
	if len(rest) == 0 {
		return ch, "", nil
	}
	report, err := p.run(ctx, ch.base, rest, 0)
	if err == nil && report.Unbuilt != "" {
		return nil, whyUnbuiltRest, nil
	}
	return ch, "", err
}

// near returns the files of tests that a fault in a file may turn red: for Go those of its folder, else those that name its file.
func (p *planter) near(name string) []string {
	const most = 8
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if slices.Contains([]string{"__init__", "index", "mod", "lib", "main"}, stem) {
		stem = path.Base(path.Dir(name))
	}
	var out []string
	for _, c := range p.tests {
		nextTo := path.Dir(c.Path) == path.Dir(name)
		if p.suite.Kind == runner.Go && nextTo || p.suite.Kind != runner.Go && (strings.Contains(c.Path, stem) || hasWord(c.Data, stem)) {
			out = append(out, c.Path)
		}
	}
	return out[:min(len(out), most)]
}

// findTestFiles returns the files of tests that may hold tests, by their names.
func (p *planter) findTestFiles(names []string) []tree.Change {
	var out []tree.Change
	for _, c := range p.tests {
		if slices.ContainsFunc(names, func(name string) bool { return p.holds(c, name) }) {
			out = append(out, c)
		}
	}
	return out
}

func (p *planter) holds(c tree.Change, name string) bool {
	switch p.suite.Kind {
	case runner.Go: // import/path.TestX/sub
		at := strings.LastIndex(name[:len(name)-len(afterSlashTest(name))], ".")
		test, _, _ := strings.Cut(name[max(at, 0):], "/")
		return at > 0 && inPackage(c.Path, name[:at]) && hasWord(c.Data, strings.TrimPrefix(test, "."))
	case runner.Cargo: // crate::path::name
		return hasWord(c.Data, name[strings.LastIndex(name, ":")+1:])
	case runner.Command:
		last := name[strings.LastIndexAny(name, ">:. ")+1:]
		return strings.HasPrefix(name, p.inFolder(c.Path)) || hasWord(c.Data, last)
	}
	return strings.HasPrefix(name, p.inFolder(c.Path))
}

// inFolder returns a path as reports name it: from the folder on in which tests run.
func (p *planter) inFolder(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, p.folder), "/")
}

// afterSlashTest returns the part of a Go test's name from the first subtest on: its dots are not those of the package.
func afterSlashTest(name string) string {
	at := strings.Index(name, ".Test")
	if at < 0 {
		return ""
	}
	_, sub, _ := strings.Cut(name[at:], "/")
	return sub
}

// inPackage reports whether a file lies in the folder of a package, by the package's path.
func inPackage(file, pkg string) bool {
	dir := path.Dir(file)
	return dir == "." || pkg == dir || strings.HasSuffix(pkg, "/"+dir)
}

// hasWord reports whether a text has a word, with no letter or digit next to it.
func hasWord(text []byte, word string) bool {
	for from := 0; word != ""; {
		at := bytes.Index(text[from:], []byte(word))
		if at < 0 {
			return false
		}
		at += from
		if from = at + len(word); !partOfWord(text, at-1) && !partOfWord(text, from) {
			return true
		}
	}
	return false
}

func partOfWord(text []byte, at int) bool {
	if at < 0 || at >= len(text) {
		return false
	}
	c := text[at]
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
