package answers

import (
	"bytes"
	"cmp"
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
	hash := hashRequest(endpoint, q.Digest)
	for _, s := range x.order {
		if !s.filter.has(hash) {
			continue
		}
		for _, seq := range x.rows(ctx, s, hash) {
			if rec, ok := x.entry(ctx, s, seq); ok && s.answers(&rec, q, endpoint) && usable(rec.Result, served) {
				return Answer{Result: rec.Result, Origin: answerOrigin(&rec, s)}, true
			}
		}
	}
	return Answer{}, false
}

// entry reads an entry of a run.
func (x *Index) entry(ctx context.Context, s *source, seq int64) (journal.Record, bool) {
	if !x.openSource(ctx, s) {
		return journal.Record{}, false
	}
	rec, ok, err := s.view.Answer(ctx, seq)
	if err != nil && ctx.Err() == nil {
		s.filter = nil // it is damaged, or was rewritten: nothing of it counts
	}
	return rec, ok && err == nil
}

// rows looks up where a run may have an answer. A run that had one is likely to have the
// next ones too: then its part of the index is kept in memory.
func (x *Index) rows(ctx context.Context, s *source, hash int64) []int64 {
	if s.list == nil {
		seqs := x.ask(ctx, s, hash)
		if len(seqs) > 0 {
			x.load(ctx, s)
		}
		return seqs
	}
	var out []int64
	at, _ := slices.BinarySearchFunc(s.list, hash, func(a answer, h int64) int { return cmp.Compare(a.hash, h) })
	for ; at < len(s.list) && s.list[at].hash == hash && len(out) < 4; at++ {
		out = append(out, s.list[at].seq)
	}
	return out
}

// ask looks up a hash in the file.
func (x *Index) ask(ctx context.Context, s *source, hash int64) (seqs []int64) {
	rows, err := x.lookUp.QueryContext(ctx, s.number, hash)
	if err != nil {
		x.fail(ctx, err)
		return nil
	}
	defer func() { _ = rows.Close() }() // what Err reports is all that matters
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			x.fail(ctx, err)
			return nil
		}
		seqs = append(seqs, seq)
	}
	if err := rows.Err(); err != nil {
		x.fail(ctx, err)
		return nil
	}
	return seqs
}

// maxList is the most answers of a run that are kept in memory.
const maxList = 100_000

// load takes the part of a run into memory.
func (x *Index) load(ctx context.Context, s *source) {
	if s.count > maxList {
		return
	}
	list, err := readAnswers(ctx, x.conn, s.number)
	if err != nil {
		x.fail(ctx, err)
		return
	}
	if len(x.lists) == maxLists {
		x.lists[0].list = nil
		x.lists = x.lists[1:]
	}
	s.list, x.lists = list, append(x.lists, s)
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
	number int64 // in the index
	count  int64 // of its answers
	filter filter
	list   []answer      // its part of the index, by hash; nil: it is not in memory
	view   *journal.View // nil: it is not open
	said   sessions
}

// openSource opens the record of a run, and reports whether it counts and is there.
func (x *Index) openSource(ctx context.Context, s *source) bool {
	if s.view != nil {
		i := slices.Index(x.open, s)
		x.open = append(slices.Delete(x.open, i, i+1), s)
		return true
	}
	if err := s.openView(ctx); err != nil {
		if ctx.Err() == nil {
			s.filter = nil
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
	s.view, s.file, s.said = view, fileID(path), parseSessions(meta)
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

// usable reports whether a reply reached its end, and is from the model that is served now.
func usable(result []byte, served string) bool {
	rep, err := caller.ReadReply(result)
	return err == nil && rep.Limit == "" && (rep.Finish == model.FinishStop || rep.Finish == model.FinishTools) && rep.Model == served
}

func answerOrigin(rec *journal.Record, s *source) journal.Origin {
	if rec.Origin != (journal.Origin{}) {
		return rec.Origin
	}
	return journal.Origin{Run: s.manifest.RunID, Entry: rec.Seq}
}
