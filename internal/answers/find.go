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
	"github.com/seed-f4525e22/skillopt/model"
)

// Question is a request for which another run may have an answer.
type Question struct {
	Endpoint string // as in Announce
	Role     string
	Model    string // that is asked for
	Input    journal.Input
	Digest   journal.Digest // of Input
}

// Answer is what a run has recorded.
type Answer struct {
	Result []byte
	Origin journal.Origin // where it was paid for
}

// Find looks a question up. Whatever keeps it from being answered is no error: then it is
// asked. The entry is that of a step which may answer others, of an equal request to the
// same endpoint, whole, and by the model that answers there now as far as is known.
func (x *Index) Find(ctx context.Context, q Question) (Answer, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.runs) == 0 || x.failure != nil {
		return Answer{}, false
	}
	endpoint := EndpointID(q.Endpoint)
	served, known := x.served[asking{endpoint, q.Model}]
	if !known {
		return Answer{}, false
	}
	for _, at := range x.rows(ctx, hashOf(endpoint, q.Digest)) {
		s := x.source(ctx, at.run)
		if s == nil {
			continue
		}
		rec, ok, err := s.view.Answer(ctx, at.seq)
		if err != nil && ctx.Err() == nil {
			delete(x.runs, at.run) // it is damaged, or written anew: nothing of it counts
		}
		if err == nil && ok && s.answers(&rec, &q, endpoint) && usable(rec.Result, served) {
			return Answer{Result: rec.Result, Origin: originOf(&rec, s)}, true
		}
	}
	return Answer{}, false
}

// rowAt is where the index says that there is an answer.
type rowAt struct{ run, seq int64 }

// rows looks up where there may be an answer.
func (x *Index) rows(ctx context.Context, hash int64) []rowAt {
	rows, err := x.lookUp.QueryContext(ctx, hash)
	if err != nil {
		x.fail(ctx, err)
		return nil
	}
	defer func() { _ = rows.Close() }() // what Err tells is all that matters
	var out []rowAt
	for rows.Next() {
		var at rowAt
		if err := rows.Scan(&at.run, &at.seq); err != nil {
			x.fail(ctx, err)
			return nil
		}
		out = append(out, at)
	}
	if err := rows.Err(); err != nil {
		x.fail(ctx, err)
		return nil
	}
	return out
}

// fail remembers that the index cannot be used.
func (x *Index) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		x.failure = err
	}
}

// Failed returns why the index can no longer be used, nil if it can.
func (x *Index) Failed() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
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
	view *journal.View // nil: it is not open
	said sessions
}

// source returns a run with its record open, nil if it does not count or is not there.
func (x *Index) source(ctx context.Context, number int64) *source {
	s := x.runs[number]
	if s == nil {
		return nil
	}
	if s.view != nil {
		i := slices.Index(x.open, s)
		x.open = append(slices.Delete(x.open, i, i+1), s)
		return s
	}
	if err := s.openView(ctx); err != nil {
		if ctx.Err() == nil {
			delete(x.runs, number)
		}
		return nil
	}
	if len(x.open) == maxSources {
		_ = x.open[0].close() // it was only read
		x.open = x.open[1:]
	}
	x.open = append(x.open, s)
	return s
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
	_, may := Place(s.manifest.KindOf(), rec.Key, rec.Role)
	switch {
	case !may || rec.Kind != journal.Call || !caller.FirstAttempt(rec.Key) || readsTest(s.manifest):
		return false
	case rec.Code != "" && rec.Origin == (journal.Origin{}):
		return false // from a cache, a cassette, a run that was forked
	case rec.Role != q.Role || rec.Digest != q.Digest || !equal(rec.Input, q.Input):
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
