package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// loader reads an existing file into memory and refuses a damaged one.
type loader struct {
	path  string
	conn  *sql.Conn
	state *state
	deep  bool // read every byte, inputs and shared parts included
	names map[string]string
	parts []Blob // shared parts by number, from 1; without text

	marking bool     // collect the marks of entries that the index of items does not cover
	covered int64    // entries that it covers
	marks   []uint32 // of those behind them
}

// load checks and reads the file. After a crash pages of the log may have been
// copied into the file only in part, so everything is read and compared then, also
// when the log is gone; after a clean end the length of the file and the checksums are proof enough.
func (l *loader) load(ctx context.Context, f files) error {
	l.deep, l.names = f.unclean() || f.open, make(map[string]string)
	empty, err := l.version(ctx)
	if err != nil || empty {
		return err
	}
	steps := []func(context.Context) error{l.meta, l.blobs, l.entries}
	if l.deep {
		steps = slices.Insert(steps, 0, l.quickCheck)
	} else if err := l.length(ctx, f.size); err != nil {
		return err
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// version refuses other formats and foreign files. A file without a version and
// without tables was left by a process that died while it created it.
func (l *loader) version(ctx context.Context) (empty bool, err error) {
	found, err := userVersion(ctx, l.conn)
	if err != nil {
		return false, readError(l.path, "open", err)
	}
	if found != 0 && found != version {
		return false, &VersionError{Path: l.path, Found: found}
	}
	if err := tablesAlone(ctx, l.conn, l.path); err != nil {
		return false, err
	}
	if found == version {
		if l.marking {
			l.covered = l.countBlocks(ctx) * blockEntries
		}
		return false, nil
	}
	if empty, err = sqlstore.Empty(ctx, l.conn); err != nil {
		return false, readError(l.path, "open", err)
	}
	if !empty {
		return false, l.corrupt("it is another program's database")
	}
	return true, nil
}

func (l *loader) corrupt(format string, args ...any) error {
	return &CorruptError{Path: l.path, Reason: fmt.Sprintf(format, args...)}
}

// length compares the size of the file with the number of its pages. SQLite
// itself reads a page that is cut in two as one that ends in zeros.
func (l *loader) length(ctx context.Context, size int64) error {
	var pages, page int64
	if err := l.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return readError(l.path, "open", err)
	}
	if err := l.conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
		return readError(l.path, "open", err)
	}
	if size != pages*page {
		return l.corrupt("it has %d bytes where %d belong", size, pages*page)
	}
	return nil
}

// quickCheck checks the tables that results rest on.
func (l *loader) quickCheck(ctx context.Context) error {
	for _, table := range []string{"sqlite_schema", "meta", "blobs", "entries"} {
		var verdict string
		if err := l.conn.QueryRowContext(ctx, "PRAGMA quick_check("+table+")").Scan(&verdict); err != nil {
			return readError(l.path, "check", err)
		}
		if verdict != "ok" {
			verdict = strings.Join(strings.Fields(verdict), " ")
			return l.corrupt("its check says: %s", verdict)
		}
	}
	return nil
}

// each runs a query and hands its rows to scan.
func (l *loader) each(ctx context.Context, query string, scan func(*sql.Rows) error) (err error) {
	rows, err := l.conn.QueryContext(ctx, query)
	if err != nil {
		return readError(l.path, "read", err)
	}
	defer func() {
		if e := rows.Close(); err == nil && e != nil {
			err = readError(l.path, "read", e)
		}
	}()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return readError(l.path, "read", err)
	}
	return nil
}

func (l *loader) meta(ctx context.Context) error {
	return l.each(ctx, "SELECT key, value FROM meta", func(rows *sql.Rows) error {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return readError(l.path, "read", err)
		}
		l.state.meta[key] = value
		return nil
	})
}

func (l *loader) blobs(ctx context.Context) error {
	query := "SELECT id, hash, NULL FROM blobs ORDER BY id"
	if l.deep {
		query = "SELECT id, hash, data FROM blobs ORDER BY id"
	}
	return l.each(ctx, query, func(rows *sql.Rows) error {
		var id int64
		var hash, data sql.RawBytes
		if err := rows.Scan(&id, &hash, &data); err != nil {
			return readError(l.path, "read", err)
		}
		if id != int64(len(l.parts))+1 || len(hash) != len(Digest{}) {
			return l.corrupt("shared part %d is missing", len(l.parts)+1)
		}
		if l.deep && NewBlob(string(data)).hash != Digest(hash) {
			return l.corrupt("shared part %d is not what was written", id)
		}
		l.state.blobs[Digest(hash)] = id
		l.parts = append(l.parts, Blob{hash: Digest(hash)})
		return nil
	})
}

// row is an entry as it is in the file.
type row struct {
	record      Record
	cost        sql.NullInt64
	startedUS   int64
	tookUS      int64
	checksum    int64
	digest      sql.RawBytes
	result      sql.RawBytes
	shared, own sql.RawBytes
	kind        sql.RawBytes
	stage       sql.RawBytes
	role        sql.RawBytes
	model       sql.RawBytes
	code        sql.RawBytes
}

const entryColumns = `seq, kind, key, stage, role, model, attempt, ordinal, code,
	input_tokens, output_tokens, cached_tokens, reasoning_tokens, written_tokens, cost_nano_usd,
	started_us, took_us, checksum, digest, result`

func (w *row) targets() []any {
	r := &w.record
	return []any{
		&r.Seq, &w.kind, &r.Key, &w.stage, &w.role, &w.model, &r.Attempt, &r.Ordinal, &w.code,
		&r.Usage.Input, &r.Usage.Output, &r.Usage.Cached, &r.Usage.Reasoning, &r.Usage.CacheWrite, &w.cost,
		&w.startedUS, &w.tookUS, &w.checksum, &w.digest, &w.result, &w.shared, &w.own,
	}
}

func (l *loader) entries(ctx context.Context) error {
	query := "SELECT " + entryColumns + ", shared, NULL FROM entries ORDER BY seq"
	if l.deep {
		query = "SELECT " + entryColumns + ", shared, own FROM entries ORDER BY seq"
	}
	var w row
	targets := w.targets()
	return l.each(ctx, query, func(rows *sql.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return l.corrupt("entry %d cannot be read: %v", l.state.seq+1, err)
		}
		return l.entry(&w)
	})
}

// entry checks one entry and takes it into the state.
func (l *loader) entry(w *row) error {
	r := l.record(w)
	if want := l.state.seq + 1; r.Seq != want {
		return l.corrupt("entry %d is missing", want)
	}
	if int64(checksum(&r)) != w.checksum {
		return l.corrupt("entry %d is not what was written", r.Seq)
	}
	refs, ok := parseRefs(w.shared)
	if !ok || (len(refs) > 0 && slices.Max(refs) > int64(len(l.parts))) {
		return l.corrupt("a shared part of entry %d is missing", r.Seq)
	}
	if l.deep && !l.inputIntact(&r, refs, w.own) {
		return l.corrupt("the input of entry %d is not what was written", r.Seq)
	}
	l.state.take(&r)
	if l.marking && r.Seq > l.covered {
		l.marks = append(l.marks, keyMark(r.Key, r.Kind.ledger()))
	}
	return nil
}

// record turns a row into a record that shares no memory with it.
func (l *loader) record(w *row) Record {
	r := w.record
	r.Kind = Kind(l.intern(w.kind))
	r.Stage, r.Role, r.Model = l.intern(w.stage), l.intern(w.role), l.intern(w.model)
	if bytes.Contains(w.code, []byte(originMark)) { // nearly each is another one
		r.Code, r.Estimate = strings.CutSuffix(string(w.code), estimateMark)
		r.Code, r.Origin = cutOrigin(r.Code)
		r.Code, r.Origin.Run = l.intern([]byte(r.Code)), l.intern([]byte(r.Origin.Run))
	} else {
		r.Code, r.Estimate = strings.CutSuffix(l.intern(w.code), estimateMark)
	}
	if len(w.digest) == len(r.Digest) {
		r.Digest = Digest(w.digest)
	}
	if w.result != nil {
		r.Result = bytes.Clone(w.result)
	}
	if w.cost.Valid {
		cost := w.cost.Int64
		r.Cost = &cost
	}
	r.StartedAt, r.Took = fromMicros(w.startedUS), time.Duration(w.tookUS)*time.Microsecond
	return r
}

// intern returns the one string for a value that many entries share.
func (l *loader) intern(b []byte) string {
	if s, ok := l.names[string(b)]; ok {
		return s
	}
	if len(l.names) >= mostCounted { // it is no run of ours; nothing rests on the sharing
		clear(l.names)
	}
	s := string(b)
	l.names[s] = s
	return s
}

func (l *loader) inputIntact(r *Record, refs []int64, own []byte) bool {
	if r.Digest.IsZero() {
		return len(refs) == 0 && len(own) == 0
	}
	in := Input{Own: own}
	for _, id := range refs {
		in.Shared = append(in.Shared, l.parts[id-1])
	}
	return in.Digest() == r.Digest
}

// take counts a durable entry and, when it is a result, makes it known.
func (s *state) take(r *Record) {
	s.seq, s.lastKey = r.Seq, r.Key
	s.totals.add(r)
	s.noteTry(r)
	s.count(r)
	if !r.Kind.ledger() {
		s.place(r)
	}
}

// noteTry remembers that a try of an episode left a trace. It may be called for an entry more than
// once.
func (s *state) noteTry(r *Record) {
	if r.Kind == Inner || r.Kind == Episode {
		id := hashKey(r.Key)
		s.attempts[id] = max(s.attempts[id], r.Attempt+1)
	}
}

// count counts a durable call in the last try of its episode, up to the result.
func (s *state) count(r *Record) {
	if r.Kind != Inner && r.Kind != Episode {
		return
	}
	id := hashKey(r.Key)
	n := s.inner[id]
	if r.Attempt < n.Attempt || r.Attempt == n.Attempt && n.Ended {
		return
	}
	if r.Attempt > n.Attempt {
		n = Inside{Attempt: r.Attempt}
	}
	switch {
	case r.Kind == Episode:
		n.Ended = true
	case r.Code == CodeCut:
		n.Calls, n.Cut = n.Calls+1, n.Cut+1
	case r.Code != "":
		if n.Calls++; n.Refused == nil {
			n.Refused = map[string]int{}
		}
		n.Refused[r.Code]++
	default:
		n.Calls++
	}
	s.inner[id] = n
}

// checksum covers every column of an entry but the input, which its digest
// covers.
func checksum(r *Record) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, 0, 512)
	for _, s := range []string{string(r.Kind), r.Key, r.Stage, r.Role, r.Model, r.storedCode()} {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	cost := int64(-1)
	if r.Cost != nil {
		cost = *r.Cost
	}
	for _, n := range []int64{
		r.Seq, int64(r.Attempt), int64(r.Ordinal), r.Usage.Input, r.Usage.Output,
		r.Usage.Cached, r.Usage.Reasoning, r.Usage.CacheWrite, cost, micros(r.StartedAt), r.Took.Microseconds(),
	} {
		buf = binary.AppendVarint(buf, n)
	}
	buf = append(buf, r.Digest[:]...)
	return crc32.Update(crc32.Checksum(buf, table), table, r.Result)
}

// appendRefs encodes the numbers of shared parts.
func appendRefs(b []byte, ids []int64) []byte {
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return b
}

func parseRefs(b []byte) ([]int64, bool) {
	var ids []int64
	for len(b) > 0 {
		id, n := binary.Uvarint(b)
		if n <= 0 || id == 0 || id > 1<<62 {
			return nil, false
		}
		ids, b = append(ids, int64(id)), b[n:]
	}
	return ids, true
}
