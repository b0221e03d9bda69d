package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// Open finds and opens the run directory: that of the options, else the newest
// unfinished run of the same configuration, else a new one.
func (s *Session) Open(ctx context.Context) error {
	if err := s.requireAgent(ctx); err != nil {
		return err
	}
	if err := s.RequireWorld(ctx); err != nil {
		return err
	}
	if err := s.requireActing(); err != nil {
		return err
	}
	if err := s.Models.ready(ctx); err != nil {
		return err
	}
	id, err := s.runIdentity()
	if err != nil {
		return err
	}
	dir, err := s.choose(id)
	if err == nil {
		err = requireInside(s.Loaded, s.Config.Run.Dir, dir)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(likeOrigin(s, id), chooseFork(s, id)); err != nil {
		return err
	}
	if err := s.Doubt(s.Measured || s.Fork != "" || s.Replay != nil || Begun(dir)); err != nil {
		return err
	}
	ledgers, err := s.ledgers(dir)
	if err != nil {
		return err
	}
	s.Run, err = s.openRun(ctx, run.OpenOptions{
		Dir: dir, Name: filepath.Base(dir), Kind: s.Kind, Version: s.ProgramVersion(), Identity: id, Simulated: s.Simulated(), Now: s.Now, Compare: DescribeChanges,
		Operational: s.Settings(), Ledgers: ledgers, Keep: keptBy(s),
	})
	if err != nil {
		return err
	}
	return takeUp(s)
}

// openRun opens or forks a run, and reports what it has lost.
func (s *Session) openRun(ctx context.Context, o run.OpenOptions) (r *run.Run, err error) {
	if s.Options.Events != nil {
		o.Warn = func(err error) { s.Options.Events(event.Warning{Text: err.Error()}) }
	}
	if s.Fork != "" {
		r, err = run.Fork(ctx, o, s.Fork)
	} else {
		r, err = run.Open(ctx, o)
	}
	if fault.Of(err) == fault.Environment {
		return nil, fmt.Errorf("%w; a run needs a folder that it can write to and room on the disk: choose another with --run or run.dir", err)
	}
	if err == nil && r.Lost != nil && s.Options.Events != nil {
		s.Options.Events(event.Warning{Text: r.Lost.String()})
	}
	return r, err
}

// runIdentity returns the identity that the run is begun or found with.
func (s *Session) runIdentity() (map[string]string, error) {
	id, err := s.Identity()
	if err != nil || s.Replay == nil {
		return id, err
	}
	id[ReplayKey] = s.DescribeCassette()
	s.Config.Run.Name = s.RunName() + "-replay"
	return id, nil
}

// choose returns the directory of the run.
func (s *Session) choose(id map[string]string) (string, error) {
	if s.RunDir != "" {
		return s.RunDir, nil
	}
	base, err := filepath.Abs(s.Config.Run.Dir)
	if err != nil {
		return "", fmt.Errorf("find run.dir: %w", err)
	}
	return chooseIn(s, base, func(other map[string]string) bool {
		return len(config.Changes(other, id)) == 0
	})
}

// chooseIn returns the directory of the newest unfinished run in base of an identity that same
// accepts, else that of the next one. A training that is complete is not begun again, unless
// somebody wants that: the error is a *CompleteError.
func chooseIn(s *Session, base string, same func(identity map[string]string) bool) (string, error) {
	dir, resumes, err := run.Choose(base, s.RunName(), same)
	if err != nil || resumes || s.Kind != result.Train || s.Start.Again || s.Finish || s.Replay != nil {
		return dir, err
	}
	complete, found, err := run.Newest(base, result.Completed, same)
	if err == nil && found {
		err = &CompleteError{RunDir: complete}
	}
	return dir, err
}

// CompleteError says that a run of the same configuration is complete.
type CompleteError struct{ RunDir string }

func (e *CompleteError) Error() string {
	return fmt.Sprintf("run %s of this configuration is complete; change the configuration, or ask for another run with WithAgain", e.RunDir)
}

// ErrorKind says whose business the error is.
func (*CompleteError) ErrorKind() string { return string(fault.BadInput) }

// Begun reports whether there is a run in dir, which a damaged one is too.
func Begun(dir string) bool {
	_, found, err := run.ReadManifest(dir)
	return found || err != nil
}

// DescribeChanges lists the differences of two identities, or of two operational settings.
func DescribeChanges(old, now map[string]string) []string {
	var out []string
	for _, c := range config.Changes(old, now) {
		out = append(out, c.String())
	}
	return out
}

// ProgramVersion returns the version of the program around.
func (s *Inputs) ProgramVersion() string {
	if s.Version == "" {
		return "library"
	}
	return s.Version
}

// ReplayKey is the entry in the identity of a run that answers came from a
// cassette: such a run does not continue with models, nor any other with it.
const ReplayKey = "library.replay"

// BatchKey is the key of the recorded size of a batch. It depends on a ceiling, which may
// change when a run continues; the batches of a run do not.
const BatchKey = "train/batch"

// StartKey is the key of the recorded decisions of a run's beginning, apart from the size of
// its batches.
const StartKey = "train/start"

// isInherited reports whether a fork takes a decision over: that the test split was opened, how
// large batches and steps are, which requests are asked in halves, how the run began and what it
// continues from, and where there was room for a second try, which its parent has paid for.
func isInherited(key string) bool {
	return key == BatchKey || key == StartKey || key == StretchesKey || train.IsSize(key) || train.IsRoom(key) || train.IsOpening(key) || strings.HasSuffix(key, halvesSuffix)
}

// DescribeCassette describes the cassette by its number of steps.
func (s *Inputs) DescribeCassette() string {
	return "a cassette of " + wording.Plural(s.Replay.Len(), "step", "steps")
}
