package answers

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/model"
)

// Question is a request for which another run may have an answer.
type Question struct {
	Endpoint string // as in Announce
	Role     string
	Model    string // that is asked for
	Input    journal.Input
	Digest   journal.Digest // of Input
	Sample   int            // as in At
}

// Answer is what a run has recorded.
type Answer struct {
	Result []byte
	Origin journal.Origin // where it was paid for
}

// Find looks a question up. Whatever keeps it from being answered is no error: then it is
// asked. The entry is that of a step which may answer others, of an equal request to the
// same endpoint at the same sample, whole, and by the model that answers there now as far
// as is known.
func (x *Index) Find(ctx context.Context, q Question) (Answer, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a, ok := x.find(ctx, &q)
	if ok || x.renewed || !sqlstore.IsDamage(x.failure) {
		return a, ok
	}
	if err := x.renew(ctx); err != nil {
		x.failure = err
		return Answer{}, false
	}
	return x.find(ctx, &q)
}

func (x *Index) find(ctx context.Context, q *Question) (Answer, bool) {
	if len(x.runs) == 0 || x.failure != nil {
		return Answer{}, false
	}
	endpoint := EndpointID(q.Endpoint)
	served, known := x.served[asking{endpoint, q.Model}]
	if !known {
		return Answer{}, false
	}
	places, err := x.look(ctx, hashOf(endpoint, q.Digest))
	if err != nil && ctx.Err() == nil {
		x.failure = err // the index cannot be used
	}
	for _, at := range places {
		s := x.runs[at.run]
		if s == nil {
			continue // the run that asks, or one that does not count
		}
		if rec, ok := x.entry(ctx, s, at.seq); ok && s.answers(&rec, q, endpoint) && usable(rec.Result, served) {
			return Answer{Result: rec.Result, Origin: originOf(&rec, s)}, true
		}
	}
	return Answer{}, false
}

// place is where a run may have an answer.
type place struct{ run, seq int64 }

// look looks up a hash, the newest run in the index first.
func (x *Index) look(ctx context.Context, hash int64) (places []place, err error) {
	rows, err := x.lookUp.QueryContext(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // what Err tells is all that matters
	for rows.Next() {
		var at place
		if err := rows.Scan(&at.run, &at.seq); err != nil {
			return nil, err
		}
		places = append(places, at)
	}
	return places, rows.Err()
}

// entry reads an entry of a run.
func (x *Index) entry(ctx context.Context, s *source, seq int64) (journal.Record, bool) {
	if !x.opened(ctx, s) {
		return journal.Record{}, false
	}
	rec, ok, err := s.view.Answer(ctx, seq)
	if err != nil && ctx.Err() == nil {
		delete(x.runs, s.number) // it is damaged, or written again: nothing of it counts
	}
	return rec, ok && err == nil
}

// Failed returns why the index can no longer be used, nil if it can.
func (x *Index) Failed() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil {
		return nil
	}
	return unusable(x.dir, x.failure)
}

// Served takes in who answered when a model was asked for. It returns the name of the one
// that had answered last before, and whether it was another.
func (x *Index) Served(endpoint, model, name string) (before string, other bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := asking{EndpointID(endpoint), model}
	before, known := x.served[at]
	x.served[at] = name
	return before, known && before != name
}

// source is a run that has answers.
type source struct {
	candidate
	number int64         // in the index
	view   *journal.View // nil: it is not open
	said   sessions
}

// opened opens the record of a run, and reports whether it counts and is there.
func (x *Index) opened(ctx context.Context, s *source) bool {
	if s.view != nil {
		i := slices.Index(x.open, s)
		x.open = append(slices.Delete(x.open, i, i+1), s)
		return true
	}
	if err := s.openView(ctx); err != nil {
		if ctx.Err() == nil {
			delete(x.runs, s.number)
		}
		return false
	}
	if len(x.open) == maxSources {
		_ = x.open[0].close() // it was only read
		x.open = x.open[1:]
	}
	x.open = append(x.open, s)
	return true
}

var errOther = errors.New("the record is another one than its manifest and its sessions say")

// openView opens the record, which has to be the one that was recorded there.
func (s *source) openView(ctx context.Context) error {
	path := filepath.Join(s.dir, run.DBFile)
	view, err := journal.OpenView(ctx, path)
	if err != nil {
		return err
	}
	meta, err := view.Meta(ctx)
	if err != nil {
		return errors.Join(err, view.Close())
	}
	s.view, s.file, s.said = view, fileID(path), sessionsOf(meta)
	if meta[journal.MetaRunID] != s.manifest.RunID || !s.said.here(s.file) {
		return errors.Join(errOther, s.close())
	}
	return nil
}

func (s *source) close() error {
	err := s.view.Close()
	s.view = nil
	return err
}

// answers reports whether an entry of the run is the answer to a question.
func (s *source) answers(rec *journal.Record, q *Question, endpoint string) bool {
	at, may := Place(s.manifest.Kind, rec.Key, rec.Role)
	switch {
	case !may || rec.Kind != journal.Call || !caller.FirstAttempt(rec.Key) || readsTest(s.manifest):
		return false
	case rec.Code != "" && rec.Origin == (journal.Origin{}):
		return false // from a cache, a cassette, a run that was forked
	case rec.Role != q.Role || at.Sample != q.Sample || rec.Digest != q.Digest || !equal(rec.Input, q.Input):
		return false
	}
	return s.said.endpoint(rec.Seq, rec.Role, s.file) == endpoint
}

// equal compares two inputs, byte by byte.
func equal(a, b journal.Input) bool {
	return bytes.Equal(a.Own, b.Own) && slices.EqualFunc(a.Shared, b.Shared, func(x, y journal.Blob) bool { return x.Text() == y.Text() })
}

// usable reports whether a reply came to its end, and from the model that is served now.
func usable(result []byte, served string) bool {
	rep, err := caller.ReadReply(result)
	return err == nil && rep.Limit == "" && (rep.Finish == model.FinishStop || rep.Finish == model.FinishTools) && rep.Model == served
}

func originOf(rec *journal.Record, s *source) journal.Origin {
	if rec.Origin != (journal.Origin{}) {
		return rec.Origin
	}
	return journal.Origin{Run: s.manifest.RunID, Entry: rec.Seq}
}
