package skillopt

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Cassette holds what a run recorded, to answer the same run again: see
// WithReplay. It is safe for concurrent use.
type Cassette = cassette.Cassette

// LoadCassette reads a file that ExportCassette wrote. The error is an *Error.
func LoadCassette(path string) (*Cassette, error) {
	c, err := cassette.Load(path)
	if err != nil {
		return nil, classify(&inputError{err}, "")
	}
	return c, nil
}

// Exported says what ExportCassette wrote.
type Exported struct {
	Steps int `json:"steps"` // recorded steps in the file
	// Redacted are the keys of steps whose result held a secret. What the run
	// asked with such a result in its question is not found in a replay.
	Redacted []string `json:"redacted"`
}

// ExportCassette writes what the run in dir has recorded to the file at path, as
// a whole or not at all. What has the shape of a key is taken out of results, and
// so are the given secrets wherever they occur. The run is not changed; another
// process may have it open, and what it records from then on is left out. The
// error is an *Error.
func ExportCassette(ctx context.Context, dir, path string, secrets ...string) (Exported, error) {
	sum, err := exportCassette(ctx, dir, path, redact.New(secrets...))
	return sum, classify(err, dir)
}

func exportCassette(ctx context.Context, dir, path string, secrets *redact.Redactor) (out Exported, err error) {
	m, found, err := run.ReadManifest(dir)
	switch {
	case err != nil:
		return out, run.Unreadable(dir, err)
	case !found:
		return out, &run.MissingError{Dir: dir}
	}
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return out, run.Unreadable(dir, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	sum, err := cassette.Export(j, path, config.Begun(m.Identity), secrets)
	return Exported{Steps: sum.Steps, Redacted: append([]string{}, sum.Redacted...)}, err
}

// replayKey is the entry in the identity of a run that answers came from a
// cassette: such a run does not go on with models, nor any other with it.
const replayKey = "library.replay"

// asRecordedIn gives the run of an identity the defaults that the run in a cassette began
// with.
func (s *setup) asRecordedIn(c *Cassette, id map[string]string) (map[string]string, error) {
	begun := c.Begun()
	if begun == nil { // an earlier build wrote it
		begun = config.First()
		if _, err := c.Find(batchKey, journal.Digest{}, "", false); err == nil {
			begun = config.FirstAuto()
		}
	}
	if !s.loaded.AsBegun(&s.cfg, begun) {
		return id, nil
	}
	id, err := s.asBegun(id, begun)
	if err != nil {
		return nil, err
	}
	return id, s.goOn()
}

// replayed says which cassette it is.
func (s *setup) replayed() string {
	return "a cassette of " + plural.Of(s.replay.Len(), "step", "steps")
}

// build builds the client of a role. In a replay nobody is called, so that it
// needs no key.
func (s *setup) build(role string, m config.Model) (wire.Built, error) {
	if s.replay != nil {
		b, err := wire.Sealed(role, m)
		b.Client = s.replay.Client()
		return b, err
	}
	for _, b := range s.models {
		// Two clients in one folder would each write their own list of questions.
		if b.Questions != nil && m.Provider == "handoff" && b.Folder == m.Folder {
			b.Close = nil
			return b, nil
		}
	}
	return wire.Client(role, m, s.loaded.Lookup)
}

// sealedAgent stands for the agent of a replay, which does not run it.
type sealedAgent struct{}

// sealedEnv stands for the environment of a replay.
type sealedEnv struct{}

var errSealed = errors.New("a replay runs no agents and environments")

// Answer implements rollout.Program.
func (sealedEnv) Answer(context.Context, task.Task, skill.Skill) (trajectory.Outcome, bool, error) {
	return trajectory.Outcome{}, false, errSealed
}

func (sealedAgent) Work(context.Context, rollout.AgentJob) (rollout.AgentReport, error) {
	return rollout.AgentReport{}, errSealed
}
