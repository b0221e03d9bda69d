package survey

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/history"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/symptom"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Kinds of tasks.
const (
	kindHistory = "history"
	kindFault   = "fault"
)

// made is a task that was made.
type made struct {
	id, kind, prompt string
	worded           bool // by a model
	time             time.Time
	parent           string // of a commit: the tree before it
	keys             []string
	split            string
	repository.Task
}

// Reasons why a commit or a fault is no task.
const (
	whyObeyed      = "changes what a run of tests obeys"
	whyAbsent      = "needs files that no workspace has"
	whyDeps        = "dependencies"
	whyUnbuilt     = "does not build"
	whyParent      = "its parent does not build"
	whyNoFailure   = "no test fails without it"
	whyInterface   = "its tests need names that nothing says"
	whyNoSymptom   = "no symptom"
	whyUnproven    = "nothing or the fix is not graded the same three times"
	whyNear        = "near copy of another task"
	whyTooMany     = "more than 10 tests fail"
	whyUnbuiltRest = "the rest does not build without the hidden tests"
)

// commits makes tasks of commits, newest first.
func (s *surveyor) commits(ctx context.Context) ([]*made, error) {
	kinds := history.Kinds{Test: s.suite.IsTest, Code: s.suite.IsCode, Lock: s.suite.IsLock}
	if s.suite.Kind == runner.Cargo {
		kinds.Inside = s.suite.IsCode
	}
	list, left, err := history.List(ctx, s.from, s.folder, kinds, s.Limit*8)
	if err != nil {
		return nil, err
	}
	s.left = left
	s.note("%d commits change code and, in other files, tests", len(list))
	var out []*made
	const batch = 40 // whose trees are imported together
	for from := 0; from < len(list) && len(out) < s.Limit; from += batch {
		part := list[from:min(len(list), from+batch)]
		if err := s.importTrees(ctx, part); err != nil {
			return nil, err
		}
		for _, c := range part {
			if len(out) == s.Limit {
				break
			}
			m, why, err := s.commit(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("commit %.12s: %w", c.Hash, err)
			}
			if why != "" {
				s.left[why]++
				s.note("commit %.12s %q is left out: %s", c.Hash, c.Subject, why)
				continue
			}
			s.note("commit %.12s %q is a task: %d tests, %.1f s of CPU", c.Hash, c.Subject, len(m.Fail), m.CPU)
			out = append(out, m)
		}
	}
	return out, nil
}

func (s *surveyor) importTrees(ctx context.Context, list []history.Candidate) error {
	var trees []string
	for _, c := range list {
		trees = append(trees, c.Tree, c.ParentTree)
	}
	return s.out.Store().Import(ctx, s.from, trees...)
}

// change is what a commit or a fault is, as trees.
type change struct {
	base, tests, fix string // as repository.Task has them
	before, after    string // base and fix with the tests laid over
	hidden, changed  []string
	keys             []string // functions that the fix changes
	source           symptom.Source
}

// commit makes a task of a commit, or says why not.
func (s *surveyor) commit(ctx context.Context, c history.Candidate) (*made, string, error) {
	ch, why, err := s.trees(ctx, c)
	if err != nil || why != "" {
		return nil, why, err
	}
	targets, err := s.targets(ctx, ch.after, ch.hidden, ch.changed)
	if err != nil {
		return nil, "", err
	}
	after, err := s.run(ctx, ch.after, targets, 0)
	if err != nil {
		return nil, "", err
	}
	if !anyPassed(after) {
		return nil, unbuilt(after, whyUnbuilt), nil
	}
	before, err := s.run(ctx, ch.before, targets, 0)
	if err != nil {
		return nil, "", err
	}
	if before.Unbuilt != "" {
		why, err := s.parent(ctx, ch.base, targets)
		if err != nil || why != "" {
			return nil, why, err
		}
		ch.source.Undefined = symptom.FindUndefined(before.Unbuilt)
	}
	fail, pass := s.decide(before, after)
	if len(fail) == 0 {
		return nil, noFailure(before, after), nil
	}
	m := &made{
		id: "h-" + c.Hash[:12], kind: kindHistory, time: c.Time, parent: c.ParentTree, keys: ch.keys,
		Task: repository.Task{Base: ch.base, Tests: ch.tests, Fix: ch.fix, Fail: fail, Pass: pass, Targets: targets, Source: c.Hash},
	}
	ch.source.Subject, ch.source.Body = c.Subject, c.Body
	why, err = s.complete(ctx, m, ch, before)
	return m, why, err
}

// parent says why the parent of a commit is not fit, whose tests do not build on it: the code itself does not. Of files of
// tests those run that it has.
func (s *surveyor) parent(ctx context.Context, base string, targets []string) (why string, err error) {
	t, err := tree.OpenTree(ctx, s.out.Store().Repo(), base, tree.Bounds{})
	if err != nil {
		return "", err
	}
	there := slices.DeleteFunc(slices.Clone(targets), func(target string) bool {
		name := path.Join(s.folder, target)
		_, file := t.Find(name)
		return !file && name != "." && !t.Holds(name)
	})
	if len(there) == 0 {
		return "", nil
	}
	report, err := s.run(ctx, base, there, 0)
	if err != nil || report.Unbuilt == "" {
		return "", err
	}
	return unbuilt(report, whyParent), nil
}

// decide returns the tests that fail before and pass after, and those that pass both times.
func (s *surveyor) decide(before, after runner.Report) (fail, pass []string) {
	for _, name := range slices.Sorted(maps.Keys(after.Tests)) {
		switch {
		case !after.HasPassed(name) || s.bad[name] == flaking || s.bad[name] == network || before.Tests[name].Status == runner.Skipped:
		case before.HasPassed(name):
			pass = append(pass, name)
		default:
			fail = append(fail, name)
		}
	}
	return fail, pass
}

func anyPassed(r runner.Report) bool {
	for name := range r.Tests {
		if r.HasPassed(name) {
			return true
		}
	}
	return false
}

// unbuilt says why nothing was run.
func unbuilt(r runner.Report, otherwise string) string {
	if r.Lacking {
		return whyDeps
	}
	return otherwise
}

// noFailure says why no test fails before a commit and passes on it.
func noFailure(before, after runner.Report) string {
	for name, t := range after.Tests {
		switch {
		case t.Status != runner.Failed || before.HasPassed(name):
		case runner.NeedsNetwork(t.Message):
			return network
		case runner.NeedsPort(t.Message):
			return port
		}
	}
	return whyNoFailure
}

// complete finds what an agent reads of a task, what it is a copy of, and proves it.
func (s *surveyor) complete(ctx context.Context, m *made, ch *change, before runner.Report) (why string, err error) {
	for _, name := range m.Fail {
		ch.source.Failing = append(ch.source.Failing, symptom.Failing{Name: name, Message: before.Tests[name].Message})
	}
	text, ok := symptom.Write(ch.source)
	if !ok && s.ask == nil {
		return s.wordless(ctx, m, ch, before)
	}
	p, err := s.prove(ctx, m.Task)
	if err != nil {
		return "", err
	}
	if !p.OK {
		s.note("%s: %s", m.id, p.Why)
		return whyUnproven, nil
	}
	m.prompt, m.CPU, m.MB = text, p.CPU, p.MB
	m.keys = append(m.keys, "red "+digest(m.Fail))
	if s.ask != nil {
		by, err := s.ask(ctx, m.id, ch.source)
		if err != nil {
			return "", err
		}
		if by != "" {
			m.prompt, m.worded = by, true
		}
	}
	m.keys = append(m.keys, "text "+digest(m.prompt)) // tasks that ask the same may not be in two splits
	switch {
	case m.prompt == "":
		return s.wordless(ctx, m, ch, before)
	case before.Unbuilt != "" && !symptom.Names(m.prompt, ch.source.Undefined):
		return whyInterface, nil
	}
	return "", nil
}

// wordless says why there is no text of a task.
func (s *surveyor) wordless(ctx context.Context, m *made, ch *change, before runner.Report) (why string, err error) {
	if before.Unbuilt != "" {
		return whyInterface, nil
	}
	again, err := s.run(ctx, ch.after, m.Targets, 1)
	if slices.ContainsFunc(m.Fail, func(name string) bool { return !again.HasPassed(name) }) {
		return flaking, err
	}
	return whyNoSymptom, err
}

// targets returns what is run for files of tests.
func (s *surveyor) targets(ctx context.Context, hash string, tests, changed []string) ([]string, error) {
	return loadOrRun(ctx, s.runs, []any{"targets", hash, tests, changed}, func() (targets []string, err error) {
		err = s.inTree(ctx, hash, func(work, _ string) error {
			root, err := os.OpenRoot(work)
			if err != nil {
				return fmt.Errorf("look at tests: %w", err)
			}
			defer root.Close()
			targets, err = s.suite.Targets(tests, changed, root)
			return err
		})
		return targets, err
	})
}

// trees makes the trees of a commit, or says why there are none.
func (s *surveyor) trees(ctx context.Context, c history.Candidate) (*change, string, error) {
	store := s.out.Store()
	old, err := tree.OpenTree(ctx, store.Repo(), c.ParentTree, tree.Bounds{})
	if err != nil {
		return nil, "", err
	}
	now, err := tree.OpenTree(ctx, store.Repo(), c.Tree, tree.Bounds{})
	if err != nil {
		return nil, "", err
	}
	ch, status := &change{}, map[string]byte{}
	var code, gone []string
	for _, p := range c.Paths {
		status[p.Name] = p.Status
		switch {
		case old.MissingReason(p.Name) != "" || now.MissingReason(p.Name) != "":
			return nil, whyAbsent, nil
		case isDocument(p.Name):
		case s.suite.IsTest(p.Name) && p.Status == 'D':
			gone = append(gone, p.Name)
		case s.suite.IsTest(p.Name):
			ch.hidden = append(ch.hidden, p.Name)
		default:
			code = append(code, p.Name)
		}
	}
	hidden, err := contents(ctx, now, func(name string) bool { return slices.Contains(ch.hidden, name) })
	if err != nil {
		return nil, "", err
	}
	fix, err := contents(ctx, now, func(name string) bool { return slices.Contains(code, name) })
	if err != nil {
		return nil, "", err
	}
	before, err := contents(ctx, old, func(name string) bool { return slices.Contains(code, name) })
	if err != nil {
		return nil, "", err
	}
	for _, f := range slices.Concat(before, fix) {
		if s.suite.Obeys(f.Path) || s.suite.ObeysText(f.Path, f.Data) {
			return nil, whyObeyed, nil
		}
	}
	for _, name := range code {
		if status[name] == 'D' {
			fix = append(fix, tree.Change{Path: name, Gone: true})
		}
	}
	ch.changed = code
	ch.source = symptom.Source{TestText: texts(hidden), BaseText: texts(before), Path: c.Code[0]}
	if ch.base, err = s.withDocuments(ctx, c.ParentTree); err != nil {
		return nil, "", err
	}
	var away []tree.Change
	for _, name := range gone {
		away = append(away, tree.Change{Path: name, Gone: true})
	}
	err = s.derive(ctx, ch, away, fix, hidden)
	ch.keys = findChangedFunctions(ch.source.Diff, before, fix)
	return ch, "", err
}

// derive makes the trees of a change from its base: without some files, with a fix, with tests.
func (s *surveyor) derive(ctx context.Context, ch *change, away, fix, hidden []tree.Change) (err error) {
	store := s.out.Store()
	for _, step := range []struct {
		to      *string
		base    *string
		changes []tree.Change
	}{
		{&ch.base, &ch.base, away},
		{&ch.fix, &ch.base, fix},
		{&ch.tests, new(string), hidden},
		{&ch.before, &ch.base, hidden},
		{&ch.after, &ch.fix, hidden},
	} {
		if *step.to, err = store.Tree(ctx, *step.base, step.changes); err != nil {
			return err
		}
	}
	ch.source.Diff, err = s.diff(ctx, ch.base, ch.fix)
	return err
}

// diff returns the lines that differ between two trees.
func (s *surveyor) diff(ctx context.Context, a, b string) (string, error) {
	var out bytes.Buffer
	const most = 16 << 20
	err := s.out.Store().Repo().Run(ctx, nil, &out, most, "diff-tree", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", a, b)
	if err != nil {
		return "", fmt.Errorf("compare trees: %w", err)
	}
	return out.String(), nil
}

// texts joins what files hold.
func texts(list []tree.Change) string {
	list = slices.SortedFunc(slices.Values(list), func(a, b tree.Change) int { return cmp.Compare(a.Path, b.Path) })
	var b strings.Builder
	for _, c := range list {
		b.Write(c.Data)
		b.WriteByte('\n')
	}
	return b.String()
}
