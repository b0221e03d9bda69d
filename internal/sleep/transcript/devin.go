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
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Devin reads the sessions of Devin's command line: the tables sessions and message_nodes of
// sessions.db below its folder, and of the transcripts/<session>.json next to it (Agent
// Trajectory Interchange Format, ATIF-v1) those whose session the database does not hold.
// The database is the fresher one, and it alone says where a session ran.
//
// In the database a session is a forest of messages; what leads from main_chain_id to its root,
// and on through what a summary was made from, is the active branch. Of the user are messages
// of the role user with is_user_input, or where versions do not say so, with a telemetry.source
// of user or without one. In a transcript they are steps of the source user, unless their
// member extra says the same of them or they are copied from another session. The project of a
// transcript without its session in the database is the folder of Devin's editor in which the
// first file lies that a tool was given; without one it has none. Hidden sessions count as
// headless. Whether a tool succeeded is in the database alone.
//
// Not tried on a real store: written from public descriptions of versions to 3000.10 and of
// ATIF-v1.0 to v1.7.
type Devin struct{}

const devinKnown = "Devin CLI 3000 (schema 16 and 17)"

// Name implements Source.
func (Devin) Name() string { return "devin" }

// Stores implements Source: all of a folder is one store, because its files refer to each other.
// Its note are the folders of Devin's editor, one a line.
func (d Devin) Stores(ctx context.Context, p Places) ([]Store, error) {
	roots := []string{filepath.Join(p.data(), "devin", "cli")}
	switch p.OS {
	case "windows":
		roots = append(roots, filepath.Join(p.config(), "devin", "cli"))
	case "darwin":
		roots = append(roots, filepath.Join(p.config(), "devin", "cli"))
	}
	if given := p.Given[d.Name()]; given != "" {
		roots = []string{given}
	}
	var out []Store
	var bad error
	for _, root := range roots {
		all, err := files(ctx, d.Name(), root, "sessions.db", func(string) bool { return true })
		more, moreErr := files(ctx, d.Name(), root, "transcripts", func(name string) bool { return path.Ext(name) == ".json" })
		bad = errors.Join(bad, err, moreErr)
		if all = append(all, more...); len(all) == 0 {
			continue
		}
		s := all[0]
		if s.Name == "sessions.db" {
			s.Beside = []string{s.Name + "-wal"}
		}
		for _, t := range all[1:] {
			s.Beside = append(s.Beside, t.Name)
		}
		s.Note = strings.Join(d.workspaces(ctx, filepath.Join(p.config(), "Devin")), "\n")
		out = append(out, s)
	}
	return out, bad
}

// workspaces returns the folders that Devin's editor was opened with.
func (Devin) workspaces(ctx context.Context, dir string) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil // without the editor there are none
	}
	defer func() { _ = root.Close() }() // it was only read
	names, err := listFolders(root, "User/workspaceStorage")
	if err != nil {
		return nil
	}
	var out []string
	for _, name := range names {
		if folder := workspaceFolder(small(ctx, root, "User/workspaceStorage/"+name+"/workspace.json")); folder != "" {
			out = append(out, folder)
		}
	}
	return out
}

// Read implements Source.
func (d Devin) Read(ctx context.Context, s Store, r *Reading) error {
	known := map[string]devinSession{}
	var bad error
	if s.Name == "sessions.db" {
		bad = r.database(ctx, s, func(db *sql.DB) error { return d.sessions(ctx, s, r, db, known) })
	} else if err := r.mark(ctx, s); err != nil {
		return err
	}
	for _, name := range append([]string{s.Name}, s.Beside...) {
		if path.Ext(name) != ".json" || known[strings.TrimSuffix(path.Base(name), ".json")].read {
			continue
		}
		if err := d.transcript(ctx, s, r, name, known); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was deleted meanwhile
			}
			return errors.Join(bad, err)
		}
	}
	return bad
}

// devinSession is what the database says of a session.
type devinSession struct {
	project string
	tip     int64
	origin  Origin
	read    bool // its messages were passed on, or are not wanted
}

// sessions reads the sessions of a database and says in known which there are.
func (d Devin) sessions(ctx context.Context, s Store, r *Reading, db *sql.DB, known map[string]devinSession) error {
	if err := needColumns(ctx, s, db, devinKnown, "sessions", "id", "working_directory"); err != nil {
		return err
	}
	statement := "SELECT id, coalesce(working_directory, ''), %s, %s FROM sessions ORDER BY id"
	tip, hidden := "0", "0"
	if ok, _, _, err := hasColumns(ctx, s, db, "sessions", "main_chain_id"); err == nil && ok {
		tip = "coalesce(main_chain_id, 0)"
	}
	if ok, _, _, err := hasColumns(ctx, s, db, "sessions", "hidden"); err == nil && ok {
		hidden = "coalesce(hidden, 0)"
	}
	var ids []string
	err := sqlstore.Each(ctx, db, fmt.Sprintf(statement, tip, hidden), nil, func(rows *sql.Rows) error {
		var id string
		var session devinSession
		var hidden bool
		if err := rows.Scan(&id, &session.project, &session.tip, &hidden); err != nil {
			return err
		}
		if session.origin = Interactive; hidden {
			session.origin = Headless
		}
		ids, known[id] = append(ids, id), session
		return nil
	})
	if err != nil {
		return fmt.Errorf("read sessions of %s: %w", s.Path(), err)
	}
	if err := needColumns(ctx, s, db, devinKnown, "message_nodes", "session_id", "node_id", "parent_node_id", "chat_message", "created_at"); err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.session(ctx, s, r, db, id, known); err != nil {
			return err
		}
	}
	return nil
}

// session reads a session of the database. Without messages its transcript is read.
func (d Devin) session(ctx context.Context, s Store, r *Reading, db *sql.DB, id string, known map[string]devinSession) error {
	session := known[id]
	x := newDevin(r, id, session)
	if !r.wantsSession(x.b) {
		session.read = true
		known[id] = session
		return nil
	}
	nodes, err := d.chain(ctx, s, db, id, session.tip)
	if err != nil {
		return fmt.Errorf("read session %s of %s: %w", id, s.Path(), err)
	}
	for _, node := range nodes {
		var text string
		var at any
		err := db.QueryRowContext(ctx, "SELECT chat_message, created_at FROM message_nodes WHERE session_id = ? AND node_id = ? AND length(chat_message) <= ?",
			id, node, MaxLine).Scan(&text, &at)
		if errors.Is(err, sql.ErrNoRows) {
			r.problem(Problem{Path: s.Path(), What: fmt.Sprintf("session %s: message %d is too long", id, node)})
			continue
		}
		if err != nil {
			return fmt.Errorf("read session %s of %s: %w", id, s.Path(), err)
		}
		if !validJSON(text) {
			r.problem(Problem{Path: s.Path(), What: fmt.Sprintf("session %s: message %d is not JSON", id, node)})
			continue
		}
		x.message(gjson.Parse(text), at)
	}
	session.read = len(nodes) > 0
	known[id] = session
	if len(nodes) == 0 {
		return nil
	}
	return r.Done(x.b)
}

// chain returns the nodes of the active branch, the first one first.
func (Devin) chain(ctx context.Context, s Store, db *sql.DB, id string, tip int64) ([]int64, error) {
	from := "NULL"
	if ok, _, _, err := hasColumns(ctx, s, db, "message_nodes", "metadata"); err == nil && ok {
		from = "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.summarized_from') END"
	}
	query := "SELECT node_id, coalesce(parent_node_id, " + from + ", -1) FROM message_nodes WHERE session_id = ? ORDER BY node_id"
	parents, last := map[int64]int64{}, int64(-1)
	err := sqlstore.Each(ctx, db, query, []any{id}, func(rows *sql.Rows) error {
		var node, parent int64
		err := rows.Scan(&node, &parent)
		parents[node], last = parent, node
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, there := parents[tip]; !there {
		tip = last
	}
	var out []int64
	for node := tip; ; {
		parent, there := parents[node]
		if !there { // the root, or a circle: each node is walked once
			break
		}
		delete(parents, node)
		out, node = append(out, node), parent
	}
	slices.Reverse(out)
	return out, nil
}

// devinReader reads one session, from either store.
type devinReader struct {
	b    *Builder
	said map[string]int
	seen map[string]bool // ids of messages: the database holds copies
}

func newDevin(r *Reading, id string, session devinSession) *devinReader {
	x := &devinReader{b: r.Builder(Devin{}.Name()), said: map[string]int{}, seen: map[string]bool{}}
	x.b.Session(id, "")
	x.b.Project(absolute(session.project))
	if session.origin != "" {
		x.b.Origin(session.origin)
	}
	return x
}

// devinUser reports whether what is said of a message of the user's role makes it the user's.
func devinUser(about gjson.Result) bool {
	if input := about.Get("is_user_input"); input.Exists() && input.Type != gjson.Null {
		return input.Bool()
	}
	source := about.Get("telemetry.source").Str
	return source == "" || source == "user"
}

// message reads a message of the database.
func (x *devinReader) message(m gjson.Result, created any) {
	about := m.Get("metadata")
	at := instant(about.Get("created_at"))
	if n, ok := created.(int64); ok && at.IsZero() {
		at = ofMillis(float64(n))
	}
	if id := m.Get("message_id").Str; id != "" {
		if x.seen[id] {
			return
		}
		x.seen[id] = true
	}
	switch m.Get("role").Str {
	case "user":
		if text := texts(m.Get("content"), "text"); devinUser(about) {
			x.b.User(x.b.newMessageID(text, x.said), text, at)
		}
		return
	case "assistant":
		x.b.Agent(texts(m.Get("content"), "text"), at)
		m.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
			name, args := first(call.Get("name").Str, call.Get("function.name").Str), call.Get("arguments")
			x.call(call.Get("id").Str, name, args)
			return true
		})
	case "tool":
		if ok := about.Get(`extensions.chisel/tool_result_meta.success`); ok.IsBool() {
			x.b.Result(m.Get("tool_call_id").Str, ok.Bool())
		}
	default:
		return
	}
	x.b.Seen(at)
}

func (x *devinReader) call(id, name string, args gjson.Result) {
	x.b.Call(id, name)
	file := first(args.Get("file_path").Str, args.Get("path").Str)
	switch name {
	case "skill":
		x.b.Skill(first(args.Get("skill").Str, args.Get("name").Str), ByTool)
	case "read":
		x.b.Read(file)
		x.b.After(id, func() { x.b.AddRead(file) })
	case "exec", "bash", "shell":
		x.b.Read(args.Get("command").Str)
		x.b.Command(id, args.Get("command").Str)
	case "write", "edit", "create", "multi_edit", "str_replace":
		x.b.After(id, func() { x.b.Wrote(file) })
	}
}

// transcript reads a transcript.
func (d Devin) transcript(ctx context.Context, s Store, r *Reading, name string, known map[string]devinSession) error {
	doc, ok, err := r.whole(ctx, s, name)
	if err != nil || !ok {
		return err
	}
	file := filepath.Join(s.Root, filepath.FromSlash(name))
	if version := doc.Get("schema_version").Str; !strings.HasPrefix(version, "ATIF-v1.") {
		r.problem(Problem{Path: file, What: fmt.Sprintf("the schema_version is %.40q: transcripts of ATIF-v1 are read", version)})
		return nil
	}
	id := first(doc.Get("session_id").Str, strings.TrimSuffix(path.Base(name), ".json"))
	session := known[id]
	if session.read {
		return nil
	}
	if session.project == "" {
		session.project = devinProject(doc, strings.Split(s.Note, "\n"))
	}
	x := newDevin(r, id, session)
	x.b.Session("", doc.Get("agent.version").Str)
	if !r.wantsSession(x.b) {
		return nil
	}
	doc.Get("steps").ForEach(func(_, step gjson.Result) bool { x.step(step); return true })
	return r.Done(x.b)
}

// devinProject returns the longest of the folders that hold the first file that a tool was given.
func devinProject(doc gjson.Result, folders []string) string {
	longest := ""
	doc.Get("steps").ForEach(func(_, step gjson.Result) bool {
		step.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
			call.Get("arguments").ForEach(func(_, v gjson.Result) bool {
				for _, folder := range folders {
					if v.Type == gjson.String && folder != "" && len(folder) > len(longest) && (v.Str == folder || strings.HasPrefix(v.Str, folder+"/")) {
						longest = folder
					}
				}
				return true
			})
			return longest == ""
		})
		return longest == ""
	})
	return longest
}

// step reads a step of a transcript, in one pass: most of it is what tools printed.
func (x *devinReader) step(step gjson.Result) {
	var source string
	var message, extra, calls gjson.Result
	var at time.Time
	copied := false
	step.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "source":
			source = v.Str
		case "message":
			message = v
		case "timestamp":
			at = instant(v)
		case "extra":
			extra = v
		case "tool_calls":
			calls = v
		case "is_copied_context":
			copied = v.Bool()
		}
		return true
	})
	text := texts(message, "text")
	switch {
	case copied:
	case source == "user":
		if devinUser(extra) {
			x.b.User(x.b.newMessageID(text, x.said), text, at)
		}
	case source == "agent":
		x.b.Agent(text, at)
		calls.ForEach(func(_, call gjson.Result) bool {
			x.call(call.Get("tool_call_id").Str, call.Get("function_name").Str, call.Get("arguments"))
			return true
		})
		x.b.Seen(at)
	}
}
