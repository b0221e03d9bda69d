package repository

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Grade says how what an agent left is graded.
type Grade struct {
	Passed  bool
	Reason  string        // why not, in one sentence; "" where it passed
	Dropped []string      // changes that were not laid over: "path: why"
	Failing []string      // names of tests that should pass and did not
	Forged  bool          // the report says of drawn tests what they cannot have done
	Report  runner.Report // of all tests that ran
}

// Grade runs the tests of a task on what an agent left in a workspace. An error is one of infrastructure.
func (r *Repository) Grade(ctx context.Context, t Task, work string) (Grade, error) {
	base, err := r.open(ctx, t.Base)
	if err != nil {
		return Grade{}, err
	}
	d, err := r.compare(base, work)
	if err != nil {
		return Grade{}, err
	}
	g, err := r.grade(ctx, t, base, d.changes)
	g.Dropped = append(d.dropped, g.Dropped...)
	return g, err
}

// GradeChanges grades changes as Grade grades a workspace. An agent that does nothing leaves none at all.
func (r *Repository) GradeChanges(ctx context.Context, t Task, changes []tree.Change) (Grade, error) {
	base, err := r.open(ctx, t.Base)
	if err != nil {
		return Grade{}, err
	}
	return r.grade(ctx, t, base, changes)
}

// grade runs the tests in a workspace of their own.
func (r *Repository) grade(ctx context.Context, t Task, base *tree.Tree, changes []tree.Change) (g Grade, err error) {
	dir, err := os.MkdirTemp("", disk.Check)
	if err != nil {
		return g, fmt.Errorf("make a workspace for tests: %w", err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, at := range []string{work, home} {
		if err := os.Mkdir(at, 0o700); err != nil {
			return g, fmt.Errorf("make a workspace for tests: %w", err)
		}
	}
	if _, err := base.Write(ctx, work, nil); err != nil {
		return g, err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return g, fmt.Errorf("open the workspace for tests: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it at its end
	changes, refused := r.permit(changes)
	behind, err := lay(root, changes)
	if err != nil {
		return g, err
	}
	drawn, err := r.layTests(ctx, root, t)
	if err != nil {
		return g, err
	}
	rep, err := r.suite.Run(ctx, runner.Job{Dir: work, Home: home, Targets: t.Targets, Timeout: limit(t), Base: r.Dir})
	if err == nil && rep.Ended == sandbox.Starved {
		err = errors.New("the machine lacks memory, or room on a disk")
	}
	if err == nil && rep.Ended == sandbox.Cancelled {
		err = context.Cause(ctx)
	}
	if err != nil {
		return g, fmt.Errorf("run the tests of the task: %w", err)
	}
	g = drawn.judge(t, rep)
	g.Dropped = append(refused, behind...)
	return g, nil
}

// limit returns the deadline of one grading. A deadline that is passed is a failure, so that it is far.
func limit(t Task) time.Duration {
	return min(2*time.Minute+time.Duration(10*t.CPU*float64(time.Second)), 30*time.Minute)
}

// permit leaves out changes to tests, and to what a run of tests obeys.
func (r *Repository) permit(changes []tree.Change) (rest []tree.Change, dropped []string) {
	for _, c := range changes {
		switch {
		case r.suite.IsTest(c.Path):
			dropped = append(dropped, c.Path+": it is a file of tests")
		case r.suite.Obeys(c.Path) || r.suite.ObeysText(c.Path, c.Data):
			dropped = append(dropped, c.Path+": runs of tests obey it")
		default:
			rest = append(rest, c)
		}
	}
	return rest, dropped
}

// canaries are tests with drawn names, of which it is known how they end.
type canaries struct{ pass, fail []string }

// layTests puts the hidden tests of a task into a workspace, and tests with drawn names next to them.
func (r *Repository) layTests(ctx context.Context, root *os.Root, t Task) (c canaries, err error) {
	tests, err := r.open(ctx, t.Tests)
	if err != nil {
		return c, err
	}
	if _, err := tests.WriteOver(ctx, root, nil); err != nil {
		return c, fmt.Errorf("lay the tests of the task: %w", err)
	}
	files, pass, fail, err := r.suite.Canaries(root, t.Targets, rand.Text)
	if err != nil {
		return c, fmt.Errorf("lay tests with drawn names: %w", err)
	}
	for name, data := range files {
		if why, err := put(root, tree.Change{Path: name, Data: data}); err != nil || why != "" {
			return c, errors.Join(err, fmt.Errorf("lay a test with a drawn name: %s", why))
		}
	}
	return canaries{pass, fail}, nil
}

// judge reads a report: what it does not name as passed has failed.
func (c canaries) judge(t Task, rep runner.Report) Grade {
	g := Grade{Report: rep}
	for _, name := range slices.Concat(t.Fail, t.Pass) {
		if !rep.HasPassed(name) {
			g.Failing = append(g.Failing, name)
		}
	}
	whole := rep.Ended == sandbox.Exited && rep.Unbuilt == ""
	held := c.confirm(rep)
	g.Forged = slices.ContainsFunc(c.fail, rep.HasPassed) || whole && len(g.Failing) == 0 && !held
	switch {
	case g.Forged:
		g.Reason = "the report of the tests was forged: it says of tests with drawn names what they cannot have done"
	case rep.Ended != sandbox.Exited:
		g.Reason = fmt.Sprintf("the tests were ended: %s", rep.Ended)
	case len(g.Failing) > 0 && rep.Unbuilt != "":
		g.Reason = "the code, or a test of it, does not build"
	case len(g.Failing) > 0:
		g.Reason = fmt.Sprintf("%d of %s: %s", len(g.Failing), wording.Plural(len(t.Fail)+len(t.Pass), "test fails", "tests fail"), some(g.Failing, 5))
	case !held:
		g.Reason = "not all of the tests were built"
	}
	g.Passed = g.Reason == ""
	return g
}

// confirm reports whether a report has the canaries as they end.
func (c canaries) confirm(rep runner.Report) bool {
	return !slices.ContainsFunc(c.pass, func(name string) bool { return !rep.HasPassed(name) }) &&
		!slices.ContainsFunc(c.fail, func(name string) bool { return rep.Tests[name].Status != runner.Failed })
}

// some lists names, and how many more there are.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Bounds of a grade in words.
const (
	maxListed  = 8
	maxMessage = 600
)

// Text says in words how what an agent left is graded: the reason in its first line, messages of tests, and what was dropped.
func (g Grade) Text() string {
	lines := []string{g.Reason}
	if g.Passed {
		lines[0] = "all tests of the task pass"
	}
	if g.Report.Unbuilt != "" && !g.Passed {
		lines = append(lines, wording.Middle(g.Report.Unbuilt, 2*maxMessage))
	}
	for _, name := range g.Failing[:min(len(g.Failing), maxListed)] {
		said, there := g.Report.Tests[name]
		switch {
		case !there:
			lines = append(lines, name+": it is not in the report")
		default:
			lines = append(lines, fmt.Sprintf("%s: %s", name, said.Status), wording.Middle(strings.TrimSpace(said.Message), maxMessage))
		}
	}
	if len(g.Dropped) > 0 {
		lines = append(lines, "changes that are not graded: "+some(g.Dropped, maxListed))
	}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}
