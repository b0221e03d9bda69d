package session

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// ReadKnown reads the record of the run in dir, which another process may have open:
// what it has recorded of calls answers equal requests of this session, with what was read
// before. Outcomes of agents and environments do not.
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
		s.known = map[caller.Asked][]byte{}
	}
	for rec, err := range j.Results(ctx, 0) {
		if err != nil {
			return run.Unreadable(dir, err)
		}
		// Of several replies to one request the last is the one that could be used.
		if b := s.Models.Of(rec.Role); s.Models.Has(rec.Role) && rec.Kind == journal.Call {
			s.known[caller.Asked{Endpoint: b.Endpoint, Digest: rec.Digest}] = rec.Result
		}
	}
	return nil
}
