package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// maxFile is how much is read of a file of a run of which no more is kept than what is looked for, in
// bytes.
const maxFile = 256 << 20

// Run is a run that is read. Its methods may be called concurrently.
type Run struct {
	Manifest run.Manifest
	History  result.History // empty for a run that trains nothing, or has not begun a step

	dir  string
	root *os.Root
	view *journal.View
}

// Open opens the run in dir. Nothing outside of it is read, whatever links it holds. A
// directory without a manifest is a *run.MissingError, one whose record is missing or damaged a
// *run.DamagedError; other methods return that too.
func Open(ctx context.Context, dir string) (r *Run, err error) {
	m, found, err := run.ReadManifest(dir)
	if err != nil {
		return nil, run.Unreadable(dir, err)
	}
	if !found {
		return nil, &run.MissingError{Dir: dir}
	}
	out := &Run{Manifest: m}
	if out.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("open run %s: %w", dir, err)
	}
	if _, err := out.decode(run.HistoryFile, &out.History); err != nil {
		return nil, errors.Join(err, out.root.Close())
	}
	out.dir = dir
	if out.view, err = journal.OpenView(ctx, path.Join(dir, run.DBFile)); err != nil {
		return nil, errors.Join(out.wrapDamage(err), out.root.Close())
	}
	return out, nil
}

// wrapDamage returns a *run.DamagedError for a record that is missing or cannot be trusted, and other errors as they are.
func (r *Run) wrapDamage(err error) error {
	var corrupt *journal.CorruptError
	if errors.Is(err, journal.ErrMissing) || errors.As(err, &corrupt) {
		return &run.DamagedError{Dir: r.dir, Err: err}
	}
	return err
}

// Close lets go of the files.
func (r *Run) Close() error { return errors.Join(r.view.Close(), r.root.Close()) }

// decode reads a JSON file of the run; found is false if there is none.
func (r *Run) decode(name string, v any) (found bool, err error) {
	data, found, err := r.file(name)
	if err != nil || !found {
		return false, err
	}
	return true, decodeFile(name, data, v)
}

func decodeFile(name string, data []byte, v any) error {
	err := run.Decode(name, data, v)
	if errors.Is(err, disk.ErrTooLarge) {
		return fmt.Errorf("read run: %w", err)
	}
	if err != nil {
		return fmt.Errorf("read run: %s is damaged: %w; the same command, on the run, writes it again", name, err)
	}
	return nil
}

// file reads a file of the run; found is false if there is none.
func (r *Run) file(name string) (data []byte, found bool, err error) {
	data, found, err = readIn(r.root, name)
	if err != nil {
		return nil, false, fmt.Errorf("read run: %w", err)
	}
	return data, found, nil
}

// readIn reads a regular file below a folder; found is false if there is none. What is too large
// is not begun.
func readIn(root *os.Root, name string) (data []byte, found bool, err error) {
	data, err = run.ReadIn(root, name, run.Most(filepath.ToSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if errors.Is(err, disk.ErrTooLarge) {
		return nil, false, err // which names the file
	}
	if err != nil {
		return nil, false, &unreadError{name, err}
	}
	return data, true, nil
}

// unreadError says why a file of a run is not read, by its name within the run.
type unreadError struct {
	name string
	err  error
}

func (e *unreadError) Error() string { return e.name + ": " + disk.Reason(e.err) }

func (e *unreadError) Unwrap() error { return e.err }

// open opens a regular file of the run, however large it is; found is false if there is none.
func (r *Run) open(name string) (f *disk.File, found bool, err error) {
	f, err = disk.OpenIn(context.Background(), r.root, name, math.MaxInt64)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read run: %w", &unreadError{name, err})
	}
	return f, true, nil
}

// Call is an entry of the record: a call of a model, an episode of an agent or environment,
// an attempt that gave no result, or something else that was decided or checked.
type Call struct {
	Seq  int64        `json:"seq"` // in the order of commits, from 1
	Key  string       `json:"key"`
	Kind journal.Kind `json:"kind"`
	Place
	Role      string        `json:"role,omitempty"`
	Model     string        `json:"model,omitempty"`
	Code      string        `json:"code,omitempty"`   // of an attempt that gave no result, its class
	Origin    *Origin       `json:"origin,omitempty"` // of an answer that another run paid for, where that is known
	Usage     journal.Usage `json:"usage"`
	USD       *float64      `json:"usd"` // null: no price is known
	Estimate  bool          `json:"estimate,omitempty"`
	StartedAt string        `json:"started_at,omitempty"`
	Seconds   float64       `json:"seconds"`
	Stage     string        `json:"stage,omitempty"` // what it was made for, such as merge

	began bool // it was sent: an attempt that gave no result may also be that of a whole episode
}

// InEpisode reports whether it is a call that was made inside an episode. Attempt is then
// that of the episode, from 0.
func (c Call) InEpisode() bool {
	return c.Kind == journal.Inner || c.Kind == journal.Fault && c.Task != "" && c.Turn == 0 && c.began
}

// Origin is where an answer was taken from.
type Origin struct {
	RunID string `json:"run_id"`
	Entry int64  `json:"entry"` // of the record of that run
}

const nanosOfUSD = 1e9

func newCall(rec journal.Record) Call {
	c := Call{
		Seq: rec.Seq, Key: rec.Key, Kind: rec.Kind, Place: ParsePlace(rec.Key), Role: rec.Role, Model: rec.Model, Code: rec.Code,
		Usage: rec.Usage, Estimate: rec.Estimate, Seconds: rec.Took.Seconds(), Stage: rec.Stage,
	}
	if rec.Kind.InTry() && c.Turn == 0 {
		c.Attempt = rec.Attempt
	}
	if rec.Cost != nil {
		usd := float64(*rec.Cost) / nanosOfUSD
		c.USD = &usd
	}
	if rec.Origin != (journal.Origin{}) {
		c.Origin = &Origin{RunID: rec.Origin.Run, Entry: rec.Origin.Entry}
	}
	if c.began = !rec.StartedAt.IsZero(); c.began {
		c.StartedAt = rec.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	return c
}

// Calls returns the entries of the record that a filter lets through, in the order of
// commits.
func (r *Run) Calls(ctx context.Context, f Filter) ([]Call, error) {
	var out []Call
	err := r.calls(ctx, f, func(c Call, _ []byte) { out = append(out, c) })
	return out, err
}

// calls gives each with what was answered, as it is recorded.
func (r *Run) calls(ctx context.Context, f Filter, each func(c Call, answer []byte)) error {
	for rec, err := range r.view.Entries(ctx, f.query()) {
		if err != nil {
			return r.wrapDamage(err)
		}
		if c := newCall(rec); f.lets(c) {
			each(c, rec.Result)
		}
	}
	return nil
}

// Filter says which entries of the record are wanted: those that all of it holds for.
type Filter struct {
	Key    string // that of the entry
	Stage  string // what calls are made for, such as merge
	Task   string // id
	Failed bool   // attempts that gave no result
}

func (f Filter) query() journal.Query {
	q := journal.Query{Key: f.Key, Stage: f.Stage, Faults: f.Failed}
	if f.Task != "" {
		q.Item = escapeID(f.Task)
	}
	return q
}

// lets reports whether an entry passes what the query cannot decide: an id may be in the
// key of another task.
func (f Filter) lets(c Call) bool { return f.Task == "" || c.Task == f.Task }

// ErrNoCall says that the record has no call of a model under a key.
var ErrNoCall = errors.New("the record has no call of a model under this key")

// Conversation reads what a model was sent and its reply, by the key of the call. The
// latest of several counts. An episode, whose calls are not recorded one by one, is
// ErrNoCall.
func (r *Run) Conversation(ctx context.Context, key string) (caller.Conversation, error) {
	var found *journal.Record
	q := journal.Query{Key: key}
	if p := ParsePlace(key); p.Task != "" {
		q.Item = escapeID(p.Task) // which is in the index
	}
	for rec, err := range r.view.Entries(ctx, q) {
		if err != nil {
			return caller.Conversation{}, r.wrapDamage(err)
		}
		if rec.Kind == journal.Call {
			found = &rec
		}
	}
	if found == nil {
		return caller.Conversation{}, fmt.Errorf("%s: %w", key, ErrNoCall)
	}
	in, err := r.view.Input(ctx, found.Seq)
	if err != nil {
		return caller.Conversation{}, r.wrapDamage(err)
	}
	return caller.ReadConversation(in, found.Result)
}

// Candidates returns the skills that were put to the gate; none of a run that trains nothing.
func (r *Run) Candidates() (out result.Candidates, err error) {
	_, err = r.decode("candidates.json", &out)
	return out, err
}

// Decision returns what was decided under a key, as it is recorded; nil if nothing was.
func (r *Run) Decision(ctx context.Context, key string) ([]byte, error) {
	var out []byte
	for rec, err := range r.view.Entries(ctx, journal.Query{Key: key}) {
		if err != nil {
			return nil, r.wrapDamage(err)
		}
		if rec.Kind == journal.Decision {
			out = rec.Result
		}
	}
	return out, nil
}
