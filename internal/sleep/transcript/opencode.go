package transcript

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// OpenCode reads the sessions of OpenCode: opencode.db, or opencode-<channel>.db, in
// $XDG_DATA_HOME/opencode, which is ~/.local/share/opencode on every system, or what
// OPENCODE_DB names; on Windows also below LOCALAPPDATA and APPDATA. Of the database the
// tables session, message and part are read, or session_v2 and session_message where a newer
// version has moved sessions into them. Others, with the tokens of accounts, are not.
//
// Of the user are parts of type text that are neither synthetic nor ignored. Sessions with a
// parent are helpers'. A session whose permissions deny questions was begun by "opencode run",
// which puts a prompt of several words in quotes; those are taken off. What a session has
// reverted is left out. A forked session holds copies of messages under other ids, with the
// time of the first: they are given the ids of the first. A message with an error is a failure,
// one that was aborted is an interruption. Skills are recognized by the tool skill.
//
// A session with a message or a part that is no JSON object is named and left out.
//
// Tried on a database of 1.18.33; session_v2 by the source of the program. Files below storage/,
// of versions before 1.2, are not read.
type OpenCode struct{}

// Name implements Source.
func (OpenCode) Name() string { return "opencode" }

// openCodeVersions are the versions whose tables are known.
const openCodeVersions = "1.2 to 1.18"

// Stores implements Source.
func (o OpenCode) Stores(_ context.Context, p Places) ([]Store, error) {
	dirs := o.folders(p)
	if file := first(p.Given[o.Name()], p.Env("OPENCODE_DB")); path.Ext(filepath.ToSlash(file)) == ".db" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dirs[0], file)
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return []Store{o.store(filepath.Dir(file), filepath.Base(file))}, nil
	}
	var out []Store
	var bad error
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				bad = errors.Join(bad, fmt.Errorf("list sessions of opencode: %w", err))
			}
			continue
		}
		found := len(out)
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasPrefix(e.Name(), "opencode") && path.Ext(e.Name()) == ".db" {
				out = append(out, o.store(dir, e.Name()))
			}
		}
		old := filepath.Join(dir, "storage", "session")
		if _, err := os.Stat(old); err == nil && len(out) == found {
			bad = errors.Join(bad, fmt.Errorf("%s: sessions of OpenCode before 1.2, in files; %s are read, in opencode.db: a newer OpenCode moves them there when it is started", old, openCodeVersions))
		}
	}
	return out, bad
}

func (o OpenCode) store(dir, name string) Store {
	return Store{Source: o.Name(), Root: dir, Name: name, Beside: []string{name + "-wal"}}
}

// folders returns the folders in which a database may lie.
func (o OpenCode) folders(p Places) []string {
	if dir := p.Given[o.Name()]; dir != "" && path.Ext(filepath.ToSlash(dir)) != ".db" {
		return []string{dir}
	}
	out := []string{filepath.Join(first(p.Env("XDG_DATA_HOME"), filepath.Join(p.Home, ".local", "share")), "opencode")}
	if p.OS == "windows" {
		out = append(out, filepath.Join(p.data(), "opencode"), filepath.Join(p.config(), "opencode"))
	}
	return out
}

// Read implements Source.
func (o OpenCode) Read(ctx context.Context, s Store, r *Reading) error {
	return r.database(ctx, s, func(db *sql.DB) error {
		d := &openCodeDB{db: db, store: s, r: r, first: map[string]openCodeFirst{}}
		sessions, err := d.sessions(ctx)
		if err != nil {
			return err
		}
		for _, session := range sessions {
			if err := d.read(ctx, session); err != nil {
				return err
			}
		}
		return nil
	})
}

// openCodeDB is a copy of a database that is being read.
type openCodeDB struct {
	db    *sql.DB
	store Store
	r     *Reading
	first map[string]openCodeFirst // by time and words of a message
	next  bool                     // it has session_message
}

func (d *openCodeDB) rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	if err := sqlstore.Each(ctx, d.db, query, args, each); err != nil {
		return fmt.Errorf("read the copy of %s: %w", d.store.Path(), err)
	}
	return nil
}

// openCodeSession is a row of session or session_v2.
type openCodeSession struct {
	id, directory, version, parent, agent, permission, revert, metadata string

	next bool // of session_v2
}

// sessions returns the sessions of both layouts, in the order of their beginning. It reads a
// session that was moved where it is now.
func (d *openCodeDB) sessions(ctx context.Context) ([]openCodeSession, error) {
	next, err := readColumns(ctx, d.store, d.db, "session_message")
	if err != nil {
		return nil, err
	}
	d.next = next["session_id"] && next["type"] && next["seq"] && next["data"]
	moved, err := readColumns(ctx, d.store, d.db, "session_v2")
	if err != nil {
		return nil, err
	}
	var out []openCodeSession
	seen := map[string]bool{}
	take := func(table string, next bool) error {
		return d.table(ctx, table, func(s openCodeSession) {
			if s.next = next; !seen[s.id] {
				seen[s.id] = true
				out = append(out, s)
			}
		})
	}
	if len(moved) > 0 {
		if err := errors.Join(needColumns(ctx, d.store, d.db, "OpenCode "+openCodeVersions, "session_message", "id", "session_id", "type", "seq", "data"), take("session_v2", true)); err != nil {
			return nil, err
		}
	}
	old, err := readColumns(ctx, d.store, d.db, "session")
	if err != nil {
		return nil, err
	}
	if len(old) > 0 || len(moved) == 0 {
		if err := errors.Join(
			needColumns(ctx, d.store, d.db, "OpenCode "+openCodeVersions, "message", "id", "session_id", "time_created", "data"), needColumns(ctx, d.store, d.db, "OpenCode "+openCodeVersions, "part", "id", "message_id", "data"),
			take("session", false)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// table reads the rows of a table of sessions.
func (d *openCodeDB) table(ctx context.Context, table string, each func(openCodeSession)) error {
	if err := needColumns(ctx, d.store, d.db, "OpenCode "+openCodeVersions, table, "id", "parent_id", "directory", "version", "time_created"); err != nil {
		return err
	}
	have, err := readColumns(ctx, d.store, d.db, table)
	if err != nil {
		return err
	}
	query := `SELECT id, directory, version, coalesce(parent_id, '')`
	for _, c := range []string{"agent", "permission", "revert", "metadata"} { // of some versions
		if have[c] {
			query += `, coalesce(` + c + `, '')`
		} else {
			query += `, ''`
		}
	}
	from := ` FROM session ORDER BY time_created, id`
	if table == "session_v2" {
		from = ` FROM session_v2 ORDER BY time_created, id`
	}
	return d.rows(ctx, query+from, nil, func(rows *sql.Rows) error {
		var s openCodeSession
		err := rows.Scan(&s.id, &s.directory, &s.version, &s.parent, &s.agent, &s.permission, &s.revert, &s.metadata)
		each(s)
		return err
	})
}

// ownAgent is the name of an agent under which other programs of this kind replay tasks.
var ownAgent = pattern.New(`^skillopt-sleep-[0-9a-f]{32}$`)

func (s openCodeSession) origin() Origin {
	switch {
	case ownAgent.MatchString(s.agent):
		return Replay
	case s.parent != "":
		return Subagent
	}
	origin := Interactive
	gjson.Parse(s.permission).ForEach(func(_, rule gjson.Result) bool {
		if rule.Get("permission").Str == "question" && rule.Get("action").Str == "deny" {
			origin = Headless
		}
		return origin == Interactive
	})
	return origin
}

// errMalformed is a session with a row that is no JSON object.
var errMalformed = errors.New("malformed")

// read reads one session.
func (d *openCodeDB) read(ctx context.Context, s openCodeSession) error {
	b := d.r.Builder("opencode")
	b.Session(s.id, s.version)
	b.Project(s.directory)
	b.At(gjson.Get(s.metadata, "gitBranch").Str, "")
	b.Origin(s.origin())
	if !d.r.wantsSession(b) {
		return nil
	}
	var err error
	if s.next {
		err = d.messagesNext(ctx, b, s)
	} else {
		err = d.messages(ctx, b, s)
	}
	if errors.Is(err, errMalformed) {
		d.r.problem(Problem{Path: d.store.Path(), What: "session " + b.t.ID + " has a message or a part that is no JSON object, or is longer than what is read: it is left out"})
		return nil
	}
	if err != nil {
		return err
	}
	return d.r.Done(b)
}

// object parses a member data.
func object(data sql.NullString) (gjson.Result, error) {
	if !data.Valid || !validJSON(data.String) {
		return gjson.Result{}, errMalformed
	}
	if v := gjson.Parse(data.String); v.IsObject() {
		return v, nil
	}
	return gjson.Result{}, errMalformed
}

// openCodeMessage is what is kept of a message while its parts are read.
type openCodeMessage struct {
	id, role, failed string
	created, ended   time.Time
	summary          bool // the program's summary of the talk so far
}

// messages reads a session of the tables message and part.
func (d *openCodeDB) messages(ctx context.Context, b *Builder, s openCodeSession) error {
	var list []openCodeMessage
	err := d.rows(ctx, `SELECT id, time_created, CASE WHEN length(data) <= ? THEN data END FROM message WHERE session_id = ?`,
		[]any{MaxLine, s.id}, func(rows *sql.Rows) error {
			var m openCodeMessage
			var created float64
			var data sql.NullString
			if err := rows.Scan(&m.id, &created, &data); err != nil {
				return err
			}
			v, err := object(data)
			if err != nil {
				return err
			}
			m.role, m.failed = strings.Clone(v.Get("role").Str), openCodeError(v)
			m.summary = v.Get("summary").Type == gjson.True
			if m.created = instant(v.Get("time.created")); m.created.IsZero() {
				m.created = ofMillis(created)
			}
			m.ended = instant(v.Get("time.completed"))
			list = append(list, m)
			return nil
		})
	if err != nil {
		return err
	}
	if len(list) == 0 && d.next {
		return d.messagesNext(ctx, b, s)
	}
	sort.SliceStable(list, func(i, j int) bool {
		if !list[i].created.Equal(list[j].created) {
			return list[i].created.Before(list[j].created)
		}
		return list[i].id < list[j].id
	})
	back := gjson.Parse(s.revert)
	for _, m := range list {
		until := ""
		if m.id == back.Get("messageID").Str {
			if until = back.Get("partID").Str; until == "" {
				return nil
			}
		}
		if err := d.parts(ctx, b, m, until); err != nil || until != "" {
			return err
		}
	}
	return nil
}

// openCodeError returns the name of what went wrong with a message.
func openCodeError(v gjson.Result) string {
	err := v.Get("error")
	if !err.Exists() || err.Type == gjson.Null {
		return ""
	}
	return strings.Clone(first(err.Get("name").Str, err.Get("type").Str, "error"))
}

// parts reads a message, up to a part that was reverted.
func (d *openCodeDB) parts(ctx context.Context, b *Builder, m openCodeMessage, until string) error {
	var words []string
	err := d.rows(ctx, `SELECT id, CASE WHEN length(data) <= ? THEN data END FROM part WHERE message_id = ? ORDER BY id`,
		[]any{MaxLine, m.id}, func(rows *sql.Rows) error {
			var id string
			var data sql.NullString
			if err := rows.Scan(&id, &data); err != nil {
				return err
			}
			if until != "" && id >= until {
				return nil
			}
			part, err := object(data)
			if err != nil {
				return err
			}
			switch part.Get("type").Str {
			case "text":
				if text := part.Get("text").Str; text != "" && !part.Get("synthetic").Bool() && !part.Get("ignored").Bool() {
					words = append(words, text)
				}
			case "tool":
				if m.role == "assistant" {
					openCodeTool(b, m.id+"/"+first(part.Get("callID").Str, id), part.Get("tool").Str, part.Get("state"))
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	d.addMessage(b, m, strings.Join(words, "\n"))
	return nil
}

// addMessage adds a message and its words to a builder.
func (d *openCodeDB) addMessage(b *Builder, m openCodeMessage, words string) {
	switch m.role {
	case "user":
		if words == "" {
			return
		}
		if b.t.Origin == Headless {
			words = unquotePrompt(words)
		}
		said := d.firstMessage(m, words)
		b.User(said.id, said.words, m.created)
	case "assistant":
		if !m.summary {
			b.Agent(words, m.created)
		}
		switch {
		case strings.Contains(strings.ToLower(m.failed), "abort"):
			b.Interrupt()
		case m.failed != "":
			b.Fail(m.failed)
		}
		b.Seen(m.created)
		b.Seen(m.ended)
	}
}

// openCodeFirst is a message of the user where it was said first.
type openCodeFirst struct{ id, words string }

// firstMessage returns the first message with these words at this time: a fork copies messages
// under other ids, and does not say that it began as a fork of a session without a person.
func (d *openCodeDB) firstMessage(m openCodeMessage, words string) openCodeFirst {
	sum := sha256.Sum256([]byte(unquotePrompt(words)))
	key := strconv.FormatInt(m.created.UnixMilli(), 10) + hex.EncodeToString(sum[:])
	if d.first[key].id == "" {
		d.first[key] = openCodeFirst{m.id, words}
	}
	return d.first[key]
}

// unquotePrompt returns a prompt as it was given to "opencode run", which puts an argument with
// spaces in quotes. What is not one argument stays as it is.
func unquotePrompt(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	inner := text[1 : len(text)-1]
	if !strings.Contains(inner, " ") || strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) {
		return text
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// openCodeTool adds to a builder a call and what happened to it.
func openCodeTool(b *Builder, id, tool string, state gjson.Result) {
	b.Call(id, tool)
	input := state.Get("input")
	done := state.Get("status").Str == "completed"
	if tool == "bash" {
		openCodeCommand(b, id, state)
	}
	switch state.Get("status").Str {
	case "completed":
		b.Result(id, true)
	case "error":
		b.Result(id, false)
		if strings.Contains(state.Get("error").Str, "rejected permission to use this specific tool call") {
			b.Refused(id)
			b.Interrupt()
		}
		return
	}
	switch tool {
	case "skill":
		b.Skill(first(input.Get("name").Str, input.Get("skill").Str), ByTool)
	case "read":
		b.Read(input.Get("filePath").Str)
		if done && !strings.Contains(state.Get("output").Str, "<type>directory</type>") {
			b.AddRead(input.Get("filePath").Str)
			openCodeShown(b, input.Get("filePath").Str, state, "output", withNumbers)
		}
	case "bash":
		b.Read(input.Get("command").Str)
	case "write", "edit", "multiedit":
		if done {
			openCodeShown(b, input.Get("filePath").Str, state, "metadata.diff", diffLines)
			b.Wrote(input.Get("filePath").Str)
		}
	case "apply_patch", "patch":
		state.Get("metadata.files").ForEach(func(_, file gjson.Result) bool {
			name := first(file.Get("filePath").Str, file.Get("relativePath").Str)
			openCodeShown(b, name, file, "diff", diffLines)
			b.Wrote(name)
			return true
		})
	}
}

// openCodeShown passes to a builder what a member shows of a file, where that is wanted.
func openCodeShown(b *Builder, file string, in gjson.Result, member string, form form) {
	if b.lines {
		b.addText(file, in.Get(member).Str, form)
	}
}

// openCodeCommand adds to a builder a command, its exit code and the file that it did nothing but
// print.
func openCodeCommand(b *Builder, id string, state gjson.Result) {
	command := state.Get("input.command").Str
	b.Command(id, command)
	exit := state.Get("metadata.exit")
	if exit.Type != gjson.Number {
		return
	}
	b.Exit(id, int(exit.Int()))
	if file, form := fileIn(command); file != "" && exit.Int() == 0 {
		file = inFolder(state.Get("input.workdir").Str, file)
		b.AddRead(file)
		if state.Get("metadata.truncated").Bool() {
			b.sums(file, sums{})
		}
		openCodeShown(b, file, state, "output", form)
	}
}

// messagesNext reads a session of the table session_message.
func (d *openCodeDB) messagesNext(ctx context.Context, b *Builder, s openCodeSession) error {
	back := gjson.Get(s.revert, "messageID").Str
	over := false
	return d.rows(ctx, `SELECT id, type, CASE WHEN length(data) <= ? THEN data END FROM session_message WHERE session_id = ? ORDER BY seq`,
		[]any{MaxLine, s.id}, func(rows *sql.Rows) error {
			var id, kind string
			var data sql.NullString
			if err := rows.Scan(&id, &kind, &data); err != nil {
				return err
			}
			if over = over || back != "" && id == back; over {
				return nil
			}
			v, err := object(data)
			if err != nil {
				return err
			}
			m := openCodeMessage{id: id, role: kind, failed: openCodeError(v), created: instant(v.Get("time.created")), ended: instant(v.Get("time.completed"))}
			switch kind {
			case "user":
				d.addMessage(b, m, v.Get("text").Str)
			case "assistant":
				d.addMessage(b, m, openCodeContent(b, m, v.Get("content")))
			}
			return nil
		})
}

// openCodeContent adds to a builder the calls in a message of session_message and returns
// its words.
func openCodeContent(b *Builder, m openCodeMessage, content gjson.Result) string {
	var words []string
	content.ForEach(func(_, part gjson.Result) bool {
		switch part.Get("type").Str {
		case "text":
			if text := part.Get("text").Str; text != "" && !part.Get("synthetic").Bool() && !part.Get("ignored").Bool() {
				words = append(words, text)
			}
		case "tool":
			openCodeTool(b, m.id+"/"+part.Get("id").Str, part.Get("name").Str, part.Get("state"))
		}
		return true
	})
	return strings.Join(words, "\n")
}
