package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Copilot reads the sessions of Copilot CLI: session-state/<session>/events.jsonl below its
// folder, in older versions session-state/<session>.jsonl, and of session-store.db those that
// have no events any more. A resume appends to the events.
//
// Of the user are events user.message with their content (never transformedContent), unless
// source says that a skill, an agent or the program wrote it, or autopilot continued by itself.
// Events of helpers have an agentId or a parentToolCallId and are left out. Skills are recorded
// (skill.invoked), failures as session.error, and session.snapshot_rewind takes turns back.
//
// No member says that a session was a prompt on a command line. But a terminal writes which
// model and mode it begins with (session.model_change, session.mode_changed), and versions
// between gave the mode with each message (agentMode): of version 1.0 on a session with none of
// them is headless, even if it was taken up in a terminal later, which writes nothing of it.
// The database holds neither this nor skills, tools, failures. The names that sessions are given repeat the first prompt
// (workspace.yaml, sessions.summary, the index for search): they are never read.
//
// Tried on files of 1.0.102, of a terminal and of a command line.
type Copilot struct{}

const copilotKnown = "Copilot CLI 1.0 (schema_version 8)"

// Name implements Source.
func (Copilot) Name() string { return "copilot" }

// Stores implements Source.
func (c Copilot) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := p.root(c.Name(), "COPILOT_HOME", ".copilot")
	out, err := files(ctx, c.Name(), root, "session-state", func(name string) bool {
		parts := strings.Split(name, "/")
		return len(parts) == 3 && parts[2] == "events.jsonl" || len(parts) == 2 && path.Ext(name) == ".jsonl"
	})
	db, dbErr := files(ctx, c.Name(), root, "session-store.db", func(string) bool { return true })
	for i := range db {
		db[i].Beside, db[i].Note = []string{db[i].Name + "-wal"}, copilotEventful(out)
	}
	return append(out, db...), errors.Join(err, dbErr)
}

// Read implements Source.
func (c Copilot) Read(ctx context.Context, s Store, r *Reading) error {
	if path.Ext(s.Name) == ".db" {
		return r.database(ctx, s, func(db *sql.DB) error { return c.sessions(ctx, s, r, db) })
	}
	id := copilotSession(s)
	e := &copilotEvents{b: r.Builder(c.Name()), calls: map[string]copilotCall{}, turnOf: map[string]string{}}
	e.b.Session(id, "")
	err := r.lines(ctx, s, nil, func(_ int, rec gjson.Result) error {
		e.event(rec)
		if !r.wantsSession(e.b) {
			return errStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case e.helper:
		e.b.Origin(Subagent)
	case !e.typed && e.b.t.Version != "" && !strings.HasPrefix(e.b.t.Version, "0."):
		e.b.Origin(Headless)
	}
	return r.Done(e.b)
}

// copilotEvents is one session that is read event by event.
type copilotEvents struct {
	b      *Builder
	calls  map[string]copilotCall // by toolCallId, which a model may give twice
	turnOf map[string]string      // event -> the user's message that it came after; "" before the first
	turn   string                 // id of the user's message that is in progress
	typed  bool                   // a terminal wrote the events
	helper bool                   // the session works for another one
}

type copilotCall struct {
	id, file string
	looked   string // the file that it shows
	form     form
}

// event reads one event.
func (e *copilotEvents) event(rec gjson.Result) {
	var kind, id, helper string
	var data gjson.Result
	var at time.Time
	rec.ForEach(func(key, v gjson.Result) bool { // one pass: most of a record is what a tool printed
		switch key.Str {
		case "type":
			kind = v.Str
		case "id":
			id = v.Str
		case "agentId":
			helper = v.Str
		case "timestamp":
			at = instant(v)
		case "data":
			data = v
		}
		return true
	})
	if helper != "" || data.Get("parentToolCallId").Str != "" {
		return
	}
	switch kind {
	case "session.start":
		e.b.Session(data.Get("sessionId").Str, data.Get("copilotVersion").Str)
		e.b.Project(data.Get("context.cwd").Str)
		e.b.At(data.Get("context.branch").Str, data.Get("context.headCommit").Str)
		e.helper = data.Get("detachedFromSpawningParentSessionId").Str != ""
	case "user.message":
		e.user(id, data, at)
		at = time.Time{}
	case "assistant.message":
		e.b.Agent(data.Get("content").Str, at)
	case "tool.execution_start":
		e.start(id, data)
	case "tool.execution_complete":
		e.complete(data)
	case "skill.invoked":
		e.b.Skill(data.Get("name").Str, ByRecord)
	case "session.error":
		e.b.Fail(data.Get("errorType").Str)
	case "abort":
		if data.Get("reason").Str != "autopilot_credit_limit" {
			e.b.Interrupt()
		}
	case "permission.completed":
		if data.Get("result.kind").Str == "denied-interactively-by-user" {
			e.b.Interrupt()
		}
	case "session.model_change", "session.mode_changed":
		e.typed, at = true, time.Time{}
	case "session.snapshot_rewind":
		e.rewind(data.Get("upToEventId").Str)
		return
	default:
		at = time.Time{} // what the program does for itself is not of the turn
	}
	e.b.Seen(at)
	e.turnOf[id] = e.turn
}

func (e *copilotEvents) user(id string, data gjson.Result, at time.Time) {
	if data.Get("isAutopilotContinuation").Bool() || copilotWrites(data.Get("source").Str) {
		return
	}
	e.typed = e.typed || data.Get("agentMode").Str != ""
	if e.b.User(id, data.Get("content").Str, at) {
		e.turn = e.b.turn.ID
	}
}

// copilotWrites reports whether the source of a message is not the user.
func copilotWrites(source string) bool {
	for _, prefix := range []string{"skill-", "agent-", "system", "autopilot"} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return false
}

func (e *copilotEvents) start(id string, data gjson.Result) {
	name, args := data.Get("toolName").Str, data.Get("arguments")
	call := copilotCall{id: id}
	e.b.Call(id, name)
	switch name {
	case "skill":
		e.b.Skill(first(args.Get("skill").Str, args.Get("name").Str), ByTool)
	case "view":
		e.b.Read(args.Get("path").Str)
		call.looked, call.form = args.Get("path").Str, withNumbers
	case "bash", "powershell", "shell":
		e.b.Read(args.Get("command").Str)
		e.b.Command(id, args.Get("command").Str)
		call.looked, call.form = fileIn(args.Get("command").Str)
	case "create", "edit", "str_replace", "insert":
		call.file = args.Get("path").Str
	case "str_replace_editor":
		if args.Get("command").Str == "view" {
			e.b.Read(args.Get("path").Str)
			call.looked, call.form = args.Get("path").Str, withNumbers
		} else {
			call.file = args.Get("path").Str
		}
	}
	e.calls[data.Get("toolCallId").Str] = call
}

func (e *copilotEvents) complete(data gjson.Result) {
	call, known := e.calls[data.Get("toolCallId").Str]
	ok := data.Get("success")
	if !known || !ok.IsBool() {
		return
	}
	e.b.Result(call.id, ok.Bool())
	e.readOutput(call, data.Get("result"), ok.Bool())
	if !ok.Bool() {
		return
	}
	if call.file != "" && e.b.lines {
		e.b.addText(call.file, data.Get("result.detailedContent").Str, diffLines)
	}
	if edits := data.Get("fileEdits"); edits.IsArray() {
		for _, edit := range edits.Array() {
			e.b.Wrote(edit.Get("path").Str)
		}
		return
	}
	e.b.Wrote(call.file)
}

// readOutput reads what a call has printed: the code with which a command ended is after its
// output, in tags; nothing is known of a file that was shown in another form.
func (e *copilotEvents) readOutput(call copilotCall, result gjson.Result, ok bool) {
	_, ran := runs(e.b, call.id)
	text := ""
	if ran || e.b.lines && call.looked != "" {
		text = result.Get("content").Str
	}
	if ran {
		code, told := codeAfter(text, " exit code ")
		i := strings.LastIndex(text, "<")
		if !told || i < 0 || !strings.HasSuffix(strings.TrimSpace(text), ">") || !strings.Contains(text[i:], "exited with exit code ") {
			return
		}
		e.b.Exit(call.id, code)
		text, ok = text[:i], ok && code == 0
	}
	if ok && call.looked != "" {
		e.b.AddRead(call.looked)
		e.b.addText(call.looked, text, call.form)
	}
}

// rewind takes back what came from an event on: the turn that it began, or those after it.
func (e *copilotEvents) rewind(event string) {
	turn, known := e.turnOf[event]
	if !known {
		return
	}
	if turn != event { // within a turn, which stays with what was said before
		turn = e.after(turn)
	}
	e.b.Rewind(turn)
}

// after returns the turn that follows another one, "" where there is none.
func (e *copilotEvents) after(turn string) string {
	ids := make([]string, 0, len(e.b.t.Turns)+1)
	for _, t := range e.b.t.Turns {
		ids = append(ids, t.ID)
	}
	if e.b.turn != nil {
		ids = append(ids, e.b.turn.ID)
	}
	for i, id := range ids {
		if id == turn && i+1 < len(ids) {
			return ids[i+1]
		}
	}
	if turn == "" && len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// sessions reads those sessions of the database that have no events.
func (c Copilot) sessions(ctx context.Context, s Store, r *Reading, db *sql.DB) error {
	for table, columns := range map[string][]string{
		"sessions":      {"id", "cwd", "branch", "created_at"},
		"turns":         {"session_id", "turn_index", "user_message", "assistant_response", "timestamp"},
		"session_files": {"session_id", "file_path", "tool_name", "turn_index"},
	} {
		if err := needColumns(ctx, s, db, copilotKnown, table, columns...); err != nil {
			return err
		}
	}
	eventful := strings.Split(s.Note, "\n")
	rows, err := db.QueryContext(ctx, "SELECT id, coalesce(cwd, ''), coalesce(branch, '') FROM sessions ORDER BY created_at, id")
	if err != nil {
		return fmt.Errorf("read sessions of %s: %w", s.Path(), err)
	}
	defer func() { _ = rows.Close() }() // Err is asked
	for rows.Next() {
		var id, cwd, branch string
		if err := rows.Scan(&id, &cwd, &branch); err != nil {
			return fmt.Errorf("read sessions of %s: %w", s.Path(), err)
		}
		if slices.Contains(eventful, id) {
			continue
		}
		b := r.Builder(c.Name())
		b.Session(id, "")
		b.Project(cwd)
		b.At(branch, "")
		if !r.wantsSession(b) {
			continue
		}
		if err := c.turns(ctx, db, id, b); err != nil {
			return fmt.Errorf("read session %s of %s: %w", id, s.Path(), err)
		}
		if err := r.Done(b); err != nil {
			return err
		}
	}
	return rows.Err()
}

// copilotEventful returns the sessions whose events are there, each on a line.
func copilotEventful(events []Store) string {
	var out []string
	for _, s := range events {
		if info, err := os.Lstat(s.Path()); err == nil && info.Size() > 0 {
			out = append(out, copilotSession(s))
		}
	}
	return strings.Join(out, "\n")
}

// copilotSession returns the session of a file of events.
func copilotSession(s Store) string {
	if path.Base(s.Name) == "events.jsonl" {
		return path.Base(path.Dir(s.Name))
	}
	return strings.TrimSuffix(path.Base(s.Name), ".jsonl")
}

func (c Copilot) turns(ctx context.Context, db *sql.DB, session string, b *Builder) error {
	query := `SELECT turn_index, coalesce(user_message, ''), coalesce(assistant_response, ''), coalesce(timestamp, '')
		FROM turns WHERE session_id = ? ORDER BY turn_index`
	return sqlstore.Each(ctx, db, query, []any{session}, func(rows *sql.Rows) error {
		var n int64
		var user, agent, stamp string
		if err := rows.Scan(&n, &user, &agent, &stamp); err != nil {
			return err
		}
		at := instant(gjson.Result{Type: gjson.String, Str: stamp})
		if !b.User(fmt.Sprintf("%s/%d", session, n), user, at) {
			return nil
		}
		if err := c.files(ctx, db, session, n, b); err != nil {
			return err
		}
		b.Agent(agent, at)
		return nil
	})
}

// files reads the files of a turn: those that a tool wrote.
func (Copilot) files(ctx context.Context, db *sql.DB, session string, turn int64, b *Builder) error {
	query := `SELECT coalesce(file_path, ''), coalesce(tool_name, '') FROM session_files
		WHERE session_id = ? AND turn_index = ? ORDER BY file_path`
	return sqlstore.Each(ctx, db, query, []any{session, turn}, func(rows *sql.Rows) error {
		var file, tool string
		err := rows.Scan(&file, &tool)
		if tool == "create" || tool == "edit" || tool == "str_replace" || tool == "insert" || tool == "apply_patch" {
			b.Wrote(file)
		}
		return err
	})
}
