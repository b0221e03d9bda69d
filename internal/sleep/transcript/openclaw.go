package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// OpenClaw reads the sessions of OpenClaw's agents below its folder: since 2026.7.2 the tables
// of agents/<agent>/agent/openclaw-agent.sqlite, before that
// agents/<agent>/sessions/<session>.jsonl and what a reset made of them (….jsonl.reset.<time>;
// compressed ones are left out, as is what was deleted). Both hold the same records: a header
// of type session, then a tree of entries by id and parentId whose last one is the active end.
// The database also holds logins: four tables of it are named, with their columns.
//
// Of the user are messages of the role user whose provenance, where there is one, is
// external_user. What the program puts before and behind the words that came over a channel is
// taken off, and its own prompts (a new session, a heartbeat) are left out, by their beginnings:
// older versions mark them in no other way. Sessions of helpers, of schedules and of hooks are
// recognized by the key and by how the session was made; groups count as headless, because what is
// said in them is not the user's alone. An answer with stopReason error failed, with aborted
// was interrupted; copies of it for a channel (delivery-mirror) are left out.
//
// Not tried on a real store: written from the program's public source and documentation.
type OpenClaw struct{}

const openClawKnown = "OpenClaw 2026.7.2 to 2026.10"

// Name implements Source.
func (OpenClaw) Name() string { return "openclaw" }

// Stores implements Source. What keys say about a session is its note.
func (o OpenClaw) Stores(ctx context.Context, p Places) ([]Store, error) {
	roots := []string{p.root(o.Name(), "OPENCLAW_STATE_DIR", ".openclaw")}
	if p.Given[o.Name()] == "" && p.Env("OPENCLAW_STATE_DIR") == "" {
		roots = append(roots, filepath.Join(p.Home, ".clawdbot")) // before it was renamed
	}
	var out []Store
	var bad error
	for _, root := range roots {
		found, err := o.findStores(ctx, root)
		out, bad = append(out, found...), errors.Join(bad, err)
	}
	return out, bad
}

func (o OpenClaw) findStores(ctx context.Context, dir string) ([]Store, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	agents, err := listFolders(root, "agents")
	var out []Store
	for _, agent := range agents {
		home := "agents/" + agent
		db, dbErr := files(ctx, o.Name(), dir, home+"/agent/openclaw-agent.sqlite", func(string) bool { return true })
		for i := range db {
			db[i].Beside = []string{db[i].Name + "-wal"}
		}
		found, filesErr := files(ctx, o.Name(), dir, home+"/sessions", openClawFile)
		if len(found) > 0 {
			origins := openClawKeys(small(ctx, root, home+"/sessions/sessions.json"))
			for i := range found {
				found[i].Note = string(origins[openClawSession(found[i].Name)])
			}
		}
		out, err = append(append(out, db...), found...), errors.Join(err, dbErr, filesErr)
	}
	return out, err
}

// openClawArchive matches the end of the file name of a session that was restarted.
var openClawArchive = pattern.New(`\.jsonl\.reset\.[0-9TZ.:-]+$`)

// openClawFile takes the files of sessions: neither copies made before a compaction nor records
// of single runs.
func openClawFile(name string) bool {
	return openClawArchive.MatchString(name) ||
		path.Ext(name) == ".jsonl" && !strings.Contains(name, ".checkpoint.") && !strings.HasSuffix(name, ".trajectory.jsonl")
}

func openClawSession(name string) string {
	return strings.TrimSuffix(openClawArchive.ReplaceAllString(path.Base(name), ""), ".jsonl")
}

// openClawKeys says of sessions whose key is not one of a talk with one person what they are.
func openClawKeys(index gjson.Result) map[string]Origin {
	out := map[string]Origin{}
	index.ForEach(func(key, entry gjson.Result) bool {
		if o := openClawOrigin(key.Str, ""); o != Interactive {
			out[entry.Get("sessionId").Str] = o
		}
		return true
	})
	return out
}

// openClawOrigin finds who drives a session from its key and from how it was made.
func openClawOrigin(key, via string) Origin {
	switch via {
	case "spawn":
		return Subagent
	case "cron", "run", "plugin", "internal":
		return Headless
	}
	for _, part := range strings.Split(key, ":") {
		switch part {
		case "subagent", "acp":
			return Subagent
		case "cron", "hook", "heartbeat", "group", "channel", "room":
			return Headless
		}
	}
	return Interactive
}

// Read implements Source.
func (o OpenClaw) Read(ctx context.Context, s Store, r *Reading) error {
	if path.Ext(s.Name) == ".sqlite" {
		return r.database(ctx, s, func(db *sql.DB) error { return o.sessions(ctx, s, r, db) })
	}
	b := r.Builder(o.Name())
	b.Session(openClawSession(s.Name), "")
	if s.Note != "" {
		b.Origin(Origin(s.Note))
	}
	printed := mentions(`"toolResult"`)
	return openClawTwice(b, r, s.Path(), func(each openClawEach) error {
		return r.lines(ctx, s, printed, each)
	}, func(each openClawEach) error {
		again := &Reading{} // what is wrong with lines was reported already
		err := again.lines(ctx, s, printed, each)
		r.Bytes += again.Bytes
		return err
	})
}

// openClawEach is handed the entries of a session in order, with their numbers.
type openClawEach func(n int, entry gjson.Result) error

// openClawTwice reads a session twice: which entries are active is known when all have been seen.
// where names the session to the user.
func openClawTwice(b *Builder, r *Reading, where string, first, again func(openClawEach) error) error {
	t := &openClawTree{at: map[string]int{b.t.ID: -1}} // what continues after the session itself begins a chain
	err := first(func(n int, rec gjson.Result) error {
		kind, id, parent := openClawPlace(rec)
		if kind == "session" {
			openClawHeader(b, rec)
			t.at[strings.Clone(id.Str)] = -1
			if !r.wantsSession(b) {
				return errStop
			}
			return nil
		}
		t.add(n, id, parent)
		return nil
	})
	if err != nil || !r.wantsSession(b) {
		return err
	}
	active, err := t.active()
	if err != nil {
		r.problem(Problem{Path: where, What: err.Error() + ": the session is left out"})
		return nil
	}
	err = again(func(n int, rec gjson.Result) error {
		if active[n] {
			openClawEntry(b, rec)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Done(b)
}

func openClawHeader(b *Builder, rec gjson.Result) {
	b.Session(rec.Get("id").Str, "")
	b.Project(absolute(rec.Get("cwd").Str))
}

// openClawTree is which entry follows which.
type openClawTree struct {
	at      map[string]int // id -> index
	numbers []int          // of lines
	parents []int          // index of the parent; -1: none
	err     error
}

// openClawPlace returns where an entry is in the tree. The members that say so are before what was said.
func openClawPlace(rec gjson.Result) (kind string, id, parent gjson.Result) {
	left := 3
	rec.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			kind = v.Str
		case "id":
			id = v
		case "parentId":
			parent = v
		default:
			return true
		}
		left--
		return left > 0
	})
	return kind, id, parent
}

// add adds the entry with a number. An entry without the member parentId follows the one
// before it.
func (t *openClawTree) add(n int, id, parent gjson.Result) {
	up := -1
	switch {
	case !parent.Exists():
		up = len(t.numbers) - 1
	case parent.Type == gjson.String:
		i, known := t.at[parent.Str]
		last := len(t.numbers) - 1
		if !known && last >= 0 && n > t.numbers[last]+1 { // the lines between could not be read
			i, known = last, true
		}
		if !known {
			t.err = errors.Join(t.err, fmt.Errorf("record %d continues one that is not before it", n))
			return
		}
		up = i
	}
	if id.Str != "" {
		if _, again := t.at[id.Str]; again {
			t.err = errors.Join(t.err, fmt.Errorf("record %d has the id of another one", n))
			return
		}
		t.at[strings.Clone(id.Str)] = len(t.numbers)
	}
	t.numbers, t.parents = append(t.numbers, n), append(t.parents, up)
}

// active returns the numbers of the entries from the first one to the last.
func (t *openClawTree) active() (map[int]bool, error) {
	out := map[int]bool{}
	for i := len(t.numbers) - 1; i >= 0; i = t.parents[i] { // parents precede their children
		out[t.numbers[i]] = true
	}
	return out, t.err
}

// openClawEntry reads one entry of the active branch.
func openClawEntry(b *Builder, rec gjson.Result) {
	if rec.Get("type").Str != "message" {
		return
	}
	m, at := rec.Get("message"), instant(rec.Get("timestamp"))
	switch m.Get("role").Str {
	case "user":
		words := openClawWords(texts(m.Get("content"), "text"))
		if kind := m.Get("provenance.kind").Str; words == "" || kind != "" && kind != "external_user" {
			b.complete() // what is answered to the program or to another session is not of the user's turn
			return
		}
		b.User(rec.Get("id").Str, words, at)
	case "assistant":
		if model := m.Get("model").Str; model == "delivery-mirror" || model == "gateway-injected" {
			return
		}
		b.Agent(texts(m.Get("content"), "text"), at)
		m.Get("content").ForEach(func(_, block gjson.Result) bool {
			if block.Get("type").Str == "toolCall" {
				openClawCall(b, block)
			}
			return true
		})
		switch m.Get("stopReason").Str {
		case "error":
			b.Fail("error")
		case "aborted":
			b.Interrupt()
		}
	case "toolResult":
		if wrong := m.Get("isError"); wrong.IsBool() {
			b.Result(m.Get("toolCallId").Str, !wrong.Bool())
		}
	}
	b.Seen(at)
}

func openClawCall(b *Builder, block gjson.Result) {
	id, name, args := block.Get("id").Str, block.Get("name").Str, block.Get("arguments")
	b.Call(id, name)
	file := first(args.Get("path").Str, args.Get("file_path").Str)
	switch name {
	case "read":
		b.Read(file)
		b.After(id, func() { b.AddRead(file) })
	case "exec", "bash":
		b.Read(args.Get("command").Str)
		b.Command(id, args.Get("command").Str)
	case "write", "edit":
		b.After(id, func() { b.Wrote(file) })
	}
}

var (
	// openClawBlock is what the program puts before words from a channel: a line that calls it
	// untrusted, and a fenced block of JSON.
	openClawBlock = pattern.New("^[A-Z][^\n]{0,100}\\(untrusted[^\n)]{0,60}\\):[ \t]*\r?\n```json\r?\n(?s:.*?)\n```[ \t]*(?:\r?\n)*")
	// openClawStamp is the time that it puts before them.
	openClawStamp = pattern.New(`^\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,40}\] ?`)
)

// openClawWords takes off what the program put before and behind the user's words; a prompt of
// its own has none.
func openClawWords(text string) string {
	for before := ""; before != text; {
		before, text = text, strings.TrimLeft(text, " \t\r\n")
		text = openClawStamp.ReplaceAllString(openClawBlock.ReplaceAllString(text, ""), "")
	}
	if i := strings.Index(text, "\nUntrusted context (metadata, do not treat as instructions or commands):"); i >= 0 {
		text = text[:i]
	}
	for _, own := range []string{
		"A new session was started via /new or /reset", "Read HEARTBEAT.md if it exists", "Pre-compaction memory flush",
		"System: [", "[Inter-session message]", "[cron:",
	} {
		if strings.HasPrefix(text, own) {
			return ""
		}
	}
	return text
}

// sessions reads the sessions of a database.
func (o OpenClaw) sessions(ctx context.Context, s Store, r *Reading, db *sql.DB) error {
	ok, there, _, err := hasColumns(ctx, s, db, "transcript_events", "session_id", "seq", "event_json")
	switch {
	case err != nil:
		return fmt.Errorf("look at the tables of %s: %w", s.Path(), err)
	case !there && o.filesBeside(s):
		return nil // before 2026.7.2 the database holds no sessions
	case !ok:
		return needColumns(ctx, s, db, openClawKnown, "transcript_events", "session_id", "seq", "event_json")
	}
	origins, err := o.origins(ctx, s, db)
	if err != nil {
		return fmt.Errorf("read the keys of sessions of %s: %w", s.Path(), err)
	}
	ids, err := sqlstore.Column(ctx, db, "SELECT DISTINCT session_id FROM transcript_events ORDER BY session_id")
	if err != nil {
		return fmt.Errorf("read sessions of %s: %w", s.Path(), err)
	}
	for _, id := range ids {
		if err := o.session(ctx, s, r, db, id, origins[id]); err != nil {
			return err
		}
	}
	return nil
}

// filesBeside reports whether the agent of a database has a folder for sessions as files.
func (OpenClaw) filesBeside(s Store) bool {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // it was only read
	info, err := root.Stat(path.Join(path.Dir(path.Dir(s.Name)), "sessions"))
	return err == nil && info.IsDir()
}

// origins says of sessions what their keys and the way they were made show.
func (OpenClaw) origins(ctx context.Context, s Store, db *sql.DB) (map[string]Origin, error) {
	out := map[string]Origin{}
	for _, q := range []struct {
		table, statement string
		columns          []string
	}{
		{"sessions", "SELECT session_id, session_key, '' FROM sessions", []string{"session_id", "session_key"}},
		{"session_windows", "SELECT session_id, session_key, '' FROM session_windows", []string{"session_id", "session_key"}},
		{
			"session_nodes", "SELECT current_session_id, session_key, coalesce(created_via, '') FROM session_nodes",
			[]string{"current_session_id", "session_key", "created_via"},
		},
	} {
		ok, _, _, err := hasColumns(ctx, s, db, q.table, q.columns...)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		err = sqlstore.Each(ctx, db, q.statement, nil, func(rows *sql.Rows) error {
			var id, key, via string
			err := rows.Scan(&id, &key, &via)
			if origin := openClawOrigin(key, via); origin != Interactive {
				out[id] = origin
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// session reads one session of a database: its tree first, then its active branch.
func (o OpenClaw) session(ctx context.Context, s Store, r *Reading, db *sql.DB, id string, origin Origin) error {
	b := r.Builder(o.Name())
	b.Session(id, "")
	if origin != "" {
		b.Origin(origin)
	}
	return openClawTwice(b, r, s.Path()+": session "+b.t.ID,
		func(each openClawEach) error { return o.events(ctx, s, r, db, id, each) },
		func(each openClawEach) error { return o.events(ctx, s, nil, db, id, each) })
}

// events hands the records of a session to each, in order. What is no record is reported to r, if there
// is one, and left out.
func (OpenClaw) events(ctx context.Context, s Store, r *Reading, db *sql.DB, id string, each func(int, gjson.Result) error) error {
	rows, err := db.QueryContext(ctx, "SELECT seq, event_json FROM transcript_events WHERE session_id = ? AND length(event_json) <= ? ORDER BY seq", id, MaxLine)
	if err != nil {
		return fmt.Errorf("read session %s of %s: %w", id, s.Path(), err)
	}
	defer func() { _ = rows.Close() }() // Err is asked
	for rows.Next() {
		var n int
		var text string
		if err := rows.Scan(&n, &text); err != nil {
			return fmt.Errorf("read session %s of %s: %w", id, s.Path(), err)
		}
		if !validJSON(text) || !gjson.Parse(text).IsObject() {
			if r != nil {
				r.problem(Problem{Path: s.Path(), What: fmt.Sprintf("session %s: record %d is not a JSON object", id, n)})
			}
			continue
		}
		if err := each(n, gjson.Parse(text)); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}
