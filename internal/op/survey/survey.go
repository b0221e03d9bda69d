// Package survey is the operation that makes tasks of a repository: of commits that came with tests, and of small faults that
// tests notice.
//
// It runs the repository's tests confined, and never writes to the repository. Every run of tests is a file in the folder that it
// writes: a survey that was killed and is begun again runs nothing twice. It knows nothing of training, agents or terminals.
package survey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/history"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/result"
)

// DefaultTasks is how many tasks are made where no number is asked for.
const DefaultTasks = 60

// Folder is the folder for the repository within the one that is written.
const Folder = "repository"

// Request says of which repository tasks are made, and where they go.
type Request struct {
	Path  string   // of the repository
	Dir   string   // the folder to write: only what is below Folder is written here
	Test  []string // runs the tests and writes JUnit XML to $REPORT; none: the runner is found
	Setup string   // a command that installs dependencies; "": those of the machine
	Limit int      // tasks at most; 0 = DefaultTasks

	// Begin is called before anything of the repository runs, with what was found, and may refuse. Nil: it begins.
	Begin func(found []string) error
	// Note is called with what was done, a line each. Nil: no one reads it.
	Note func(line string)
}

// surveyor makes tasks of one repository.
type surveyor struct {
	Request
	lookup func(name string) (string, bool)
	ask    asking

	from   *git.Repo
	head   *tree.Tree
	top    string // its tree
	folder string // of the repository, in which the tests run
	clone  string // the user's, all of it
	out    *repository.Repository
	suite  runner.Suite
	runs   *records
	bad    map[string]string // tests that are left out: why
	limit  time.Duration     // of a run: two hours at HEAD, then as HEAD took
	left   history.LeftOut
	docs   documents
}

// Run makes the tasks. Of cfg it uses models.optimizer, limits, prices, cache and record, where there is an optimizer.
func Run(ctx context.Context, cfg config.Config, req Request, o session.Options) (*result.Survey, error) {
	if cfg.Models.Optimizer.Provider != "" {
		return surveyWithModel(ctx, cfg, req, o)
	}
	in, err := session.NewInputs(session.OptimizerOnly(cfg), o)
	if err != nil {
		return nil, err
	}
	return survey(ctx, req, in.Loaded.Lookup, nil)
}

func survey(ctx context.Context, req Request, lookup func(name string) (string, bool), ask asking) (*result.Survey, error) {
	s := &surveyor{Request: req, lookup: lookup, ask: ask, bad: map[string]string{}}
	if s.Limit == 0 {
		s.Limit = DefaultTasks
	}
	if err := s.open(ctx); err != nil {
		return nil, unfit(err)
	}
	if err := s.examine(ctx); err != nil {
		return nil, unfit(err)
	}
	made, err := s.collect(ctx)
	if err != nil {
		return nil, unfit(err)
	}
	return s.finish(ctx, made)
}

// unfit makes what a repository lacks the user's business.
func unfit(err error) error {
	var noRunner *runner.Unfit
	var noTree *git.Unfit
	if errors.As(err, &noRunner) || errors.As(err, &noTree) || errors.Is(err, git.ErrNoGit) {
		return fault.Input(err)
	}
	return err
}

func (s *surveyor) env(name string) string { v, _ := s.lookup(name); return v }

func (s *surveyor) note(format string, args ...any) {
	if s.Note != nil {
		s.Note(fmt.Sprintf(format, args...))
	}
}

// open finds the repository, its tests and what they read, and asks whether to begin.
func (s *surveyor) open(ctx context.Context) error {
	if err := runner.Fit(); err != nil {
		return err
	}
	dir, prefix, err := git.Find(ctx, s.Path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.Path, err)
	}
	s.folder, s.clone = prefix, strings.TrimSuffix(strings.TrimSuffix(s.Path, prefix), "/")
	s.from = git.New(dir, s.env)
	commit := s.from.Head(ctx)
	if commit == "" {
		return fmt.Errorf("look at %s: %w", s.Path, &git.Unfit{Reason: "the repository has no commit"})
	}
	if s.head, err = tree.OpenTree(ctx, s.from, commit, tree.Bounds{}); err != nil {
		return err
	}
	var top bytes.Buffer
	if err := s.from.Run(ctx, nil, &top, 1<<10, "rev-parse", "--verify", commit+"^{tree}"); err != nil {
		return err
	}
	s.top = strings.TrimSpace(top.String())
	base := filepath.Join(s.Dir, Folder)
	if s.runs, err = openRecords(filepath.Join(base, "survey")); err != nil {
		return err
	}
	return s.runs.runInWorkspace(ctx, s.head, func(work, _ string) error { return s.detect(ctx, base, work) })
}

// detect finds the runner in the files of HEAD, asks whether to begin, and makes the folder of the repository.
func (s *surveyor) detect(ctx context.Context, base, work string) error {
	root, err := os.OpenRoot(work)
	if err != nil {
		return fmt.Errorf("look at the files of HEAD: %w", err)
	}
	defer root.Close()
	o := runner.Options{Command: s.Test, Folder: s.folder}
	begun := s.Begin == nil
	if s.Setup != "" {
		lock, err := runner.Lock(root)
		if err != nil {
			return err
		}
		if err := s.begin([]string{"with network, confined, without your credentials: " + s.Setup}); err != nil {
			return err
		}
		begun, o.Deps = true, filepath.Join(base, repository.DepsDir, digest([]string{s.Setup, lock}))
		if err := os.MkdirAll(filepath.Dir(o.Deps), 0o755); err != nil {
			return fmt.Errorf("make folder of dependencies: %w", err)
		}
		if err := runner.Setup(ctx, s.Setup, work, o.Deps, s.lookup); err != nil {
			return err
		}
	}
	suite, findings, err := runner.Detect(ctx, root, runner.Machine{Lookup: s.lookup, Home: s.env("HOME"), Clone: s.clone}, o)
	if err != nil {
		return err
	}
	var found []string
	for _, f := range findings {
		found = append(found, string(f))
		if begun {
			s.note("%s", f)
		}
	}
	if !begun {
		if err := s.begin(found); err != nil {
			return err
		}
	}
	s.suite = suite
	return s.create(ctx, base)
}

func (s *surveyor) begin(found []string) error {
	if s.Begin == nil {
		return nil
	}
	return s.Begin(found)
}

// create makes the folder of the repository, or continues with the one that an earlier survey has begun.
func (s *surveyor) create(ctx context.Context, base string) error {
	earlier, err := repository.Open(ctx, base, s.env)
	if err == nil && digest(earlier.Suite()) != digest(s.suite) {
		return fault.Input(fmt.Errorf("%s was begun with another runner or other dependencies: remove it, or choose another folder", base))
	}
	if s.out, err = repository.Create(ctx, base, s.suite, s.env); err != nil {
		return err
	}
	s.runs.suite, s.runs.base = digest(s.suite), base
	if err := s.out.Store().Import(ctx, s.from, s.top); err != nil {
		return err
	}
	s.docs, err = readDocuments(ctx, s.head)
	return err
}
