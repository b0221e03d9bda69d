package journal

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

// Exchange is what was said in a call, kept next to its ledger entry. No result rests on
// it: it is no part of a digest or a checksum of an entry, what is damaged of it damages
// nothing else, and neither a fork nor a cassette takes it over.
type Exchange struct {
	Form  []byte   // whatever its owner makes of it
	Texts []string // what is long in it and may be in others: each is stored once

	ready []storedText
}

// storedText is a text in the form in which it is stored.
type storedText struct {
	hash   textHash
	text   string
	packed []byte // nil: it had been stored when it was prepared
}

// textHash is the first half of a SHA-256 sum.
type textHash [sha256.Size / 2]byte

func hashText(text string) textHash {
	sum := sha256.Sum256([]byte(text))
	return textHash(sum[:])
}

// prepare does for the exchanges of entries what takes time, so that the goroutine that
// writes need not.
func (s *beside) prepare(entries []Record) {
	for i := range entries {
		x := entries[i].Exchange
		if x == nil {
			continue
		}
		x.ready = make([]storedText, len(x.Texts))
		for n, text := range x.Texts {
			x.ready[n] = storedText{hash: hashText(text), text: text}
			if !s.recent.has(x.ready[n].hash) {
				x.ready[n].packed = s.packer.pack([]byte(text))
			}
		}
	}
}

// packer makes bytes shorter. One at a time does so: it takes a megabyte.
type packer struct {
	mu  sync.Mutex
	w   *flate.Writer
	buf bytes.Buffer
}

// minPacked is the length in bytes from which it is worth a try.
const minPacked = 128

// pack returns data as it is stored: shorter than data, or data itself.
func (p *packer) pack(data []byte) []byte {
	if len(data) < minPacked {
		return data
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buf.Reset()
	var err error
	if p.w == nil {
		p.w, err = flate.NewWriter(&p.buf, flate.BestSpeed)
	} else {
		p.w.Reset(&p.buf)
	}
	if err == nil {
		_, err = p.w.Write(data)
	}
	if err == nil {
		err = p.w.Close()
	}
	if err != nil || p.buf.Len() >= len(data) { // a buffer takes everything
		return data
	}
	return bytes.Clone(p.buf.Bytes())
}

// maxUnpacked bounds what a text or a form is, in bytes: a few stored ones may claim to be
// anything.
const maxUnpacked = 64 << 20

// unpack returns data of size bytes that pack has stored.
func unpack(stored []byte, size int64) ([]byte, error) {
	if int64(len(stored)) == size {
		return stored, nil
	}
	if size > maxUnpacked {
		return nil, errors.New("it is larger than any that was written")
	}
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), size+1))
	if err == nil && int64(len(out)) != size {
		err = errors.New("it has another length")
	}
	return out, err
}

// recent knows texts that are stored, as far as they were needed not long ago.
type recent struct {
	mu       sync.Mutex
	now, old map[textHash]int64 // numbers
}

// mostRecent bounds each half of what recent knows.
const mostRecent = 8192

func (r *recent) has(hash textHash) bool {
	_, ok := r.get(hash)
	return ok
}

func (r *recent) get(hash textHash) (id int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, ok = r.now[hash]; ok {
		return id, true
	}
	if id, ok = r.old[hash]; ok {
		r.put(hash, id)
	}
	return id, ok
}

func (r *recent) add(hash textHash, id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(hash, id)
}

func (r *recent) put(hash textHash, id int64) {
	if r.now == nil || len(r.now) >= mostRecent {
		r.now, r.old = make(map[textHash]int64), r.now
	}
	r.now[hash] = id
}

// beside writes what is kept next to the entries: the index of items, and what was said in
// calls inside episodes. Where that is damaged nothing more is written of it, and the
// entries are still written. All but recent and packer is the writer's.
type beside struct {
	conn   *sql.Conn
	recent recent
	packer packer

	find, text, exchange, block *sql.Stmt // nil before the first of each

	marks []uint32 // of the entries behind the last block
	seq   int64    // of the last of them
	fault error    // why nothing more is written; nil: it is
	at    int64    // the entry from which on
}

// Statements that write the tables with what is kept next to the entries.
const (
	findText    = "SELECT id FROM texts WHERE hash = ?"
	putText     = "INSERT INTO texts (hash, size, data) VALUES (?, ?, ?)"
	putExchange = "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?)"
	putBlock    = "INSERT OR REPLACE INTO items VALUES (?, ?, ?)"
)

// statement prepares a statement when it is first needed.
func (s *beside) statement(stmt **sql.Stmt, query string) (err error) {
	if *stmt == nil {
		*stmt, err = s.conn.PrepareContext(unboundedContext(), query)
	}
	return err
}

func (s *beside) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{s.find, s.text, s.exchange, s.block} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// take writes what is kept next to an entry that was written. Its error is one of the whole
// file.
func (s *beside) take(r *Record) error {
	if s.fault != nil {
		return nil
	}
	err := s.mark(r.Seq, keyMark(r.Key, r.Kind.ledger()))
	if err == nil && r.Exchange != nil && r.Kind.ledger() {
		err = s.say(r.Seq, r.Exchange)
	}
	if err != nil && isDamage(err) {
		s.fault, s.at = err, r.Seq
		return nil
	}
	return err
}

// mark takes the mark of an entry, and writes a block when it is full.
func (s *beside) mark(seq int64, m uint32) error {
	s.marks, s.seq = append(s.marks, m), seq
	return s.flush()
}

// begin writes the blocks that are missing when the journal is opened, since they were
// damaged.
func (s *beside) begin() error {
	if len(s.marks) < blockEntries {
		return nil
	}
	if _, err := s.conn.ExecContext(unboundedContext(), "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		_, _ = s.conn.ExecContext(unboundedContext(), "ROLLBACK") // the first error counts
		if isDamage(err) {
			s.fault, s.at = err, s.seq+1
			return nil
		}
		return err
	}
	_, err := s.conn.ExecContext(unboundedContext(), "COMMIT")
	return err
}

// flush writes the blocks that are full.
func (s *beside) flush() error {
	for first := s.seq - int64(len(s.marks)); len(s.marks) >= blockEntries; first += blockEntries {
		if err := s.statement(&s.block, putBlock); err != nil {
			return err
		}
		block, data := first/blockEntries+1, encodeMarks(s.marks[:blockEntries])
		if _, err := s.block.ExecContext(unboundedContext(), block, marksSum(block, data), data); err != nil {
			return err
		}
		if s.marks = s.marks[blockEntries:]; len(s.marks) == 0 {
			s.marks = nil
		}
	}
	return nil
}

// say writes what was said in a call.
func (s *beside) say(seq int64, x *Exchange) error {
	var refs []byte
	for _, t := range x.ready {
		id, err := s.store(t)
		if err != nil {
			return err
		}
		refs = appendRefs(refs, []int64{id})
	}
	if err := s.statement(&s.exchange, putExchange); err != nil {
		return err
	}
	form := s.packer.pack(x.Form)
	_, err := s.exchange.ExecContext(unboundedContext(), seq, exchangeSum(seq, refs, form), blobOrNull(refs), int64(len(x.Form)), form)
	return err
}

// store returns the number of a text, which is stored if it was not before.
func (s *beside) store(t storedText) (id int64, err error) {
	if id, ok := s.recent.get(t.hash); ok {
		return id, nil
	}
	if err := errors.Join(s.statement(&s.find, findText), s.statement(&s.text, putText)); err != nil {
		return 0, err
	}
	err = s.find.QueryRowContext(unboundedContext(), t.hash[:]).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		packed := t.packed
		if packed == nil {
			packed = s.packer.pack([]byte(t.text))
		}
		var done sql.Result
		if done, err = s.text.ExecContext(unboundedContext(), t.hash[:], int64(len(t.text)), packed); err == nil {
			id, err = done.LastInsertId()
		}
	}
	if err == nil {
		s.recent.add(t.hash, id)
	}
	return id, err
}

// exchangeSum covers a row of what was said.
func exchangeSum(seq int64, refs, form []byte) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := binary.AppendVarint(nil, seq)
	buf = append(binary.AppendUvarint(buf, uint64(len(refs))), refs...)
	return int64(crc32.Update(crc32.Checksum(buf, table), table, form))
}

// BesideError says that what a journal keeps next to its entries, the words of calls inside
// episodes and an index, is damaged. The entries are whole, and nothing rests on it.
type BesideError struct {
	Path string
	From int64 // the entry from which on nothing of it was written
	Err  error
}

func (e *BesideError) Error() string {
	return fmt.Sprintf("what the journal %s keeps of calls inside episodes is damaged, and from entry %d on nothing of it was kept (results, costs and decisions are whole): %v", e.Path, e.From, e.Err)
}

func (e *BesideError) Unwrap() error { return e.Err }

// Said is a call inside an episode with what was said in it.
type Said struct {
	Record
	Form  []byte   // nil: nothing was kept, or it is damaged
	Texts []string // in their order; a damaged one says so
	// Damage is a *CorruptError when what was kept is not what was written; nil: it is, or
	// nothing was kept.
	Damage error
}

// ReadExchanges reads what was said in calls, by the numbers of their entries.
func (v *View) ReadExchanges(ctx context.Context, of []Record) ([]Said, error) {
	out := make([]Said, len(of))
	texts := make(map[int64]string)
	for i, r := range of {
		out[i].Record = r
		if err := v.readExchange(ctx, &out[i], texts); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			out[i].Damage = &CorruptError{Path: v.path, Reason: fmt.Sprintf("what was said in entry %d is not what was written", r.Seq), Err: err}
		}
	}
	return out, nil
}

var errOther = errors.New("its checksum is another")

func (v *View) readExchange(ctx context.Context, s *Said, known map[int64]string) error {
	var sum, size int64
	var refs, form []byte
	err := v.one(ctx, "SELECT checksum, texts, size, form FROM exchanges WHERE seq = ?", []any{s.Seq}, &sum, &refs, &size, &form)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if exchangeSum(s.Seq, refs, form) != sum {
		return errOther
	}
	if form, err = unpack(form, size); err != nil {
		return err
	}
	ids, ok := parseRefs(refs)
	if !ok {
		return errOther
	}
	s.Form = form
	for _, id := range ids {
		text, ok := known[id]
		if !ok {
			var terr error
			if text, terr = v.text(ctx, id); terr != nil {
				text, err = "[damaged: this piece of the text is not what was written]", terr
			}
			known[id] = text
		}
		s.Texts = append(s.Texts, text)
	}
	return err
}

// text reads a text of an exchange.
func (v *View) text(ctx context.Context, id int64) (string, error) {
	var hash, data []byte
	var size int64
	if err := v.one(ctx, "SELECT hash, size, data FROM texts WHERE id = ?", []any{id}, &hash, &size, &data); err != nil {
		return "", fmt.Errorf("text %d: %w", id, err)
	}
	data, err := unpack(data, size)
	if err != nil {
		return "", fmt.Errorf("text %d: %w", id, err)
	}
	text := string(data)
	if sum := hashText(text); !bytes.Equal(sum[:], hash) {
		return "", fmt.Errorf("text %d: %w", id, errOther)
	}
	return text, nil
}
