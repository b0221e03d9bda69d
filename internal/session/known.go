package session

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// knownAnswers are those of models that another run has recorded, by everything
// that they depend on: model, messages, sampling and seed. Outcomes of agents and
// environments are not among them.
type knownAnswers struct {
	answers map[string][]byte
	next    caller.Cache // asked for what is not known; nil: nothing
}

var _ caller.Cache = (*knownAnswers)(nil)

// ReadKnown reads the record of the run in dir, which another process may have open:
// what it has recorded answers equal requests of this session, with what was read before.
func (s *Session) ReadKnown(ctx context.Context, dir string) (err error) {
	switch _, found, err := run.ReadManifest(dir); {
	case err != nil:
		return run.Unreadable(dir, err)
	case !found:
		return &run.MissingError{Dir: dir}
	}
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{ReadOnly: true})
	if err != nil {
		return run.Unreadable(dir, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if s.known == nil {
		s.known = &knownAnswers{answers: map[string][]byte{}}
	}
	for rec, err := range j.Results(ctx, 0) {
		if err != nil {
			return run.Unreadable(dir, err)
		}
		// Of several replies to one request the last is the one that could be used.
		if b := s.Models.Of(rec.Role); s.Models.Has(rec.Role) && rec.Kind == journal.Call {
			s.known.answers[caller.CacheKey(b.Endpoint, rec.Digest)] = rec.Result
		}
	}
	return nil
}

// over returns the answers with another cache behind them.
func (k *knownAnswers) over(next caller.Cache) caller.Cache {
	return &knownAnswers{answers: k.answers, next: next}
}

// Get implements caller.Cache.
func (k *knownAnswers) Get(key string) ([]byte, bool, error) {
	if data, ok := k.answers[key]; ok {
		return data, true, nil
	}
	if k.next == nil {
		return nil, false, nil
	}
	return k.next.Get(key)
}

// Put implements caller.Cache.
func (k *knownAnswers) Put(key string, data []byte) error {
	if k.next == nil {
		return nil
	}
	return k.next.Put(key, data)
}
