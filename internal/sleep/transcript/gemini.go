package transcript

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Gemini reads the sessions of Gemini CLI: tmp/<project>/chats/session-<time>-<id>.jsonl below
// ~/.gemini (GEMINI_CLI_HOME names another home folder), and the .json files of versions
// before that, which are one object. The folder of a project is named in .project_root next to
// chats, or in projects.json; older folders are named by the digest of the project's path.
//
// A file is a log of operations: a message with a known id replaces it, $rewindTo takes back,
// and $set of messages is what the model is shown from then on. That says nothing of what was
// said: what it leaves out was said all the same, and a message of a user that is found nowhere
// else was made by the program, as <session_context> and summaries are.
//
// The log does not say whether a person was there. Messages of type info, warning and error
// are written by the terminal alone, and so is logs.json next to chats, which names the sessions in
// which somebody typed: of it only the ids of sessions are looked at. A session with neither
// is headless. Files of helpers, below chats/<session>, are not read. A message of type error
// is a failure; so is a prompt that the program takes out of what the model is shown before
// there is an answer, which is all that a headless run leaves of one.
// Skills are recognized by the tool activate_skill.
//
// The program deletes sessions when it starts (general.sessionRetention): those that are old, and
// those in which it finds nothing to resume. In 2 of 7 drives of 0.61.0 that was a session of two
// turns that had been resumed just before.
//
// Tried on files of 0.61.0; older ones by the source of the program.
type Gemini struct{}

// Name implements Source.
func (Gemini) Name() string { return "gemini" }

// Stores implements Source.
func (g Gemini) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := p.root(g.Name(), "", ".gemini")
	if home := p.Env("GEMINI_CLI_HOME"); home != "" && p.Given[g.Name()] == "" {
		root = filepath.Join(home, ".gemini")
	}
	stores, err := files(ctx, g.Name(), root, "tmp", func(name string) bool {
		parts := strings.Split(name, "/")
		return len(parts) == 4 && parts[2] == "chats" && strings.HasPrefix(parts[3], "session-") &&
			(path.Ext(name) == ".jsonl" || path.Ext(name) == ".json")
	})
	// A resumed .json continues as a .jsonl that holds all of it.
	stores = slices.DeleteFunc(stores, func(s Store) bool {
		return path.Ext(s.Name) == ".json" && slices.ContainsFunc(stores, func(o Store) bool { return o.Name == s.Name+"l" })
	})
	if len(stores) == 0 {
		return nil, err
	}
	return stores, errors.Join(err, geminiProjects(ctx, root, stores))
}

// geminiProjects notes the project of each store.
func geminiProjects(ctx context.Context, dir string, stores []Store) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("list sessions of gemini: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	known := map[string]string{}        // folder -> project
	typed, bad := typedSessions(ctx, Gemini{}.Name(), dir)
	if data, err := disk.ReadIn(ctx, root, "projects.json", MaxLine); err == nil {
		gjson.GetBytes(data, "projects").ForEach(func(project, slug gjson.Result) bool {
			sum := sha256.Sum256([]byte(project.Str))
			known[slug.Str], known[hex.EncodeToString(sum[:])] = project.Str, project.Str
			return true
		})
	} else if !errors.Is(err, fs.ErrNotExist) {
		bad = fmt.Errorf("read %s: %w", filepath.Join(dir, "projects.json"), err)
	}
	for i := range stores {
		folder := path.Base(path.Dir(path.Dir(stores[i].Name)))
		marker := path.Join("tmp", folder, ".project_root")
		if data, err := disk.ReadIn(ctx, root, marker, MaxPath); err == nil {
			known[folder] = string(bytes.TrimSpace(data))
		}
		stores[i].Note = known[folder] + "\n" + typedNote(stores[i], typed)
	}
	return bad
}

// typedSessions returns the sessions in which somebody typed: logs of what was typed name them, one
// log for each folder. Of a log nothing else is looked at.
func typedSessions(ctx context.Context, source, dir string) (ids []string, err error) {
	logs, err := files(ctx, source, dir, "tmp", func(name string) bool {
		return path.Base(name) == "logs.json" && strings.Count(name, "/") == 2
	})
	for _, log := range logs {
		data, readErr := disk.Read(ctx, log.Path(), 2*MaxLine)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("read %s: %w", log.Path(), readErr))
			continue
		}
		gjson.ParseBytes(data).ForEach(func(_, entry gjson.Result) bool {
			if entry.Get("type").Str == "user" {
				ids = append(ids, entry.Get("sessionId").Str)
			}
			return true
		})
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// typedNote returns those of some ids that a file may have by its name, which has at least the beginning
// of the id of its session. Each is on a line.
func typedNote(s Store, ids []string) string {
	var out []string
	for _, id := range ids {
		if begin, _, _ := strings.Cut(id, "-"); strings.Contains(path.Base(s.Name), begin) {
			out = append(out, id)
		}
	}
	return strings.Join(out, "\n")
}

// Read implements Source.
func (g Gemini) Read(ctx context.Context, s Store, r *Reading) error {
	b := r.Builder(g.Name())
	project, typed, _ := strings.Cut(s.Note, "\n")
	b.Project(project)
	b.Origin(Headless)
	log := geminiLog{lines: r.Lines, at: map[string]int{}, same: map[string]string{}}
	if path.Ext(s.Name) == ".json" {
		doc, ok, err := r.document(ctx, s)
		if err != nil || !ok || !r.wantsSession(b) {
			return err
		}
		log.record(doc)
	} else if err := r.lines(ctx, s, nil, func(_ int, rec gjson.Result) error {
		if !r.wantsSession(b) {
			return errStop
		}
		log.record(rec)
		return nil
	}); err != nil {
		return err
	}
	if log.session == "" || !r.wantsSession(b) {
		return nil
	}
	b.Session(log.session, "")
	log.build(b)
	switch {
	case log.helper:
		b.Origin(Subagent)
	case slices.Contains(strings.Split(typed, "\n"), log.session) || log.terminal:
		b.Origin(Interactive)
	}
	return r.Done(b)
}

// geminiLog is the result of the operations of a file.
type geminiLog struct {
	lines    bool // what tools show of files is read
	session  string
	helper   bool // a helper's session
	terminal bool // something was written that only the terminal writes
	said     []geminiMessage
	at       map[string]int    // id -> index in said; -1: the program's
	same     map[string]string // id of a message that was recorded again -> the first's
}

type geminiMessage struct {
	id, kind, text string
	time           gjson.Result
	calls          []geminiCall
	model          bool // a model answered it: it was not recorded again
	failed         bool // the program has taken it out of what the model is shown, unanswered
}

type geminiCall struct {
	id, name, status, skill, wrote, read, command string

	looked string // the file that it shows
	sums   sums   // of its lines
	shows  bool   // there are any
	exit   *int
}

// record carries out one operation.
func (l *geminiLog) record(rec gjson.Result) {
	if back := rec.Get("$rewindTo"); back.Exists() {
		l.rewind(back.Str)
		return
	}
	if id := rec.Get("id"); id.Type == gjson.String {
		l.message(rec, id.Str)
		return
	}
	set := rec.Get("$set")
	for _, about := range []gjson.Result{rec, set} {
		l.session = first(l.session, strings.Clone(about.Get("sessionId").Str))
		l.helper = l.helper || about.Get("kind").Str == "subagent"
	}
	if set.Exists() {
		l.applyHistory(set.Get("messages"))
		return
	}
	rec.Get("messages").ForEach(func(_, m gjson.Result) bool {
		if id := m.Get("id").Str; id != "" {
			l.message(m, id)
		}
		return true
	})
}

// rewind takes a message back and what came after it; an unknown one takes back all.
func (l *geminiLog) rewind(id string) {
	from := 0
	if i, known := l.at[first(l.same[id], id)]; known && i >= 0 {
		from = i
	}
	l.cut(from)
}

func (l *geminiLog) cut(from int) {
	for _, m := range l.said[from:] {
		delete(l.at, m.id)
	}
	l.said = l.said[:from]
}

// message adds a message, or what is new of one that is known.
func (l *geminiLog) message(rec gjson.Result, id string) {
	m := geminiMessage{id: strings.Clone(id), kind: strings.Clone(rec.Get("type").Str), time: rec.Get("timestamp"), model: rec.Get("model").Str != ""}
	m.time.Raw, m.time.Str = "", strings.Clone(m.time.Str)
	switch m.kind {
	case "user":
		m.text = geminiWords(rec)
	case "gemini":
		m.text = strings.Clone(geminiText(rec.Get("content"), true))
		rec.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
			m.calls = append(m.calls, parseGeminiCall(call, l.lines))
			return true
		})
	case "info", "warning", "error":
		// What tools show a model is kept as info, too, but is no text of the terminal.
		text := geminiText(rec.Get("content"), false)
		l.terminal = l.terminal || text != ""
		m.text = strings.Clone(text[:min(len(text), 100)])
	}
	i, known := l.at[m.id]
	switch {
	case !known:
		l.at[m.id] = len(l.said)
		l.said = append(l.said, m)
	case i >= 0 && m.kind == "gemini":
		old := &l.said[i]
		old.text, old.model = first(m.text, old.text), old.model || m.model
		if len(m.calls) > 0 {
			old.calls = m.calls
		}
	}
}

// applyHistory reads the list of messages that the model is shown from now on. What is in it for
// the first time was made by the program. Where the program has recorded its history again under
// other ids, the messages before are those that were said.
func (l *geminiLog) applyHistory(list gjson.Result) {
	if !list.IsArray() {
		return
	}
	now := map[string]bool{}
	list.ForEach(func(_, m gjson.Result) bool {
		id := strings.Clone(m.Get("id").Str)
		if _, known := l.at[id]; !known && l.same[id] == "" {
			l.at[id] = -1
		}
		now[first(l.same[id], id)] = true
		return true
	})
	if n := len(l.said); n > 0 && l.said[n-1].kind == "user" && !now[l.said[n-1].id] {
		l.said[n-1].failed = true
	}
	from := len(l.said)
	next := 0 // the first message that may be the one that was recorded again
	for i, m := range l.said {
		if m.kind != "user" || m.text == "" || !now[m.id] || l.hasAnswer(i) {
			continue
		}
		for j := next; j < i && j < from; j++ {
			if old := l.said[j]; old.kind == "user" && old.text == m.text && !now[old.id] {
				l.same[m.id] = old.id
				from, next = min(from, i), j+1
				break
			}
		}
	}
	l.cut(from)
}

// hasAnswer reports whether a model answered a message of the user.
func (l *geminiLog) hasAnswer(i int) bool {
	for _, m := range l.said[i+1:] {
		if m.kind == "user" && m.text != "" {
			return false
		}
		if m.model || len(m.calls) > 0 {
			return true
		}
	}
	return false
}

// cancels reports whether a message says that the user stopped the agent.
func (m geminiMessage) cancels() bool {
	return m.kind == "info" && strings.HasPrefix(m.text, "Request cancelled")
}

// isCancelled reports whether the user stopped the agent before the next words.
func (l *geminiLog) isCancelled(i int) bool {
	for _, m := range l.said[i+1:] {
		if m.cancels() || m.kind == "user" && m.text != "" {
			return m.cancels()
		}
	}
	return false
}

// build makes turns of what was said.
func (l *geminiLog) build(b *Builder) {
	words := false // the agent has said something in this turn
	for i, m := range l.said {
		at := instant(m.time)
		switch m.kind {
		case "user":
			if m.text != "" && b.User(m.id, m.text, at) {
				words = false
			}
			if m.failed && !l.isCancelled(i) {
				b.Fail("unanswered")
			}
		case "gemini":
			b.Agent(m.text, at)
			words = words || m.text != ""
			for _, c := range m.calls {
				c.build(b)
			}
			b.Seen(at)
		case "info":
			if m.cancels() {
				b.Interrupt()
			}
		case "error":
			// The terminal also says here that a command of its own failed.
			if !words || strings.HasPrefix(strings.TrimSpace(m.text), "[API Error") {
				b.Fail("error")
				b.Seen(at)
			}
		}
	}
}

func (c geminiCall) build(b *Builder) {
	b.Call(c.id, c.name)
	b.Command(c.id, c.command)
	if c.exit != nil {
		b.Exit(c.id, *c.exit)
	}
	switch c.status {
	case "success":
		b.Result(c.id, true)
		c.tell(b)
		b.Wrote(c.wrote)
		b.Skill(c.skill, ByTool)
	case "error":
		b.Result(c.id, false)
	case "cancelled":
		b.Refused(c.id)
		b.Result(c.id, false)
		b.Interrupt()
	}
	b.Read(c.read)
}

// tell reports what the call has shown of a file.
func (c geminiCall) tell(b *Builder) {
	b.AddRead(c.looked)
	if c.shows {
		b.sums(first(c.looked, c.wrote), c.sums)
	}
}

// parseGeminiCall reads a call; lines: also what it has shown of a file.
func parseGeminiCall(call gjson.Result, lines bool) geminiCall {
	c := geminiCall{id: strings.Clone(call.Get("id").Str), name: strings.Clone(call.Get("name").Str), status: strings.Clone(call.Get("status").Str)}
	args := call.Get("args")
	switch c.name {
	case "activate_skill":
		c.skill = strings.Clone(args.Get("name").Str)
	case "write_file", "replace", "edit":
		c.wrote = strings.Clone(first(args.Get("file_path").Str, args.Get("absolute_path").Str))
		if lines {
			c.show(call.Get("resultDisplay.fileDiff").Str, diffLines)
		}
	case "read_file":
		c.read = strings.Clone(first(args.Get("file_path").Str, args.Get("absolute_path").Str))
		c.looked = c.read
		if lines {
			c.show(geminiOutput(call), skipHead("\n--- FILE CONTENT (truncated) ---\n"))
		}
	case "run_shell_command":
		c.command = strings.Clone(args.Get("command").Str)
		if strings.Contains(c.command, "SKILL.md") {
			c.read = c.command
		}
		c.ran(args, geminiOutput(call), lines)
	}
	return c
}

// show keeps the lines of a file that the call has shown.
func (c *geminiCall) show(text string, form form) {
	if text == "" || c.status != "success" {
		return
	}
	c.shows, c.sums = true, shownSums(text, form)
}

// ran keeps the exit code of a command, and what it printed of the one file that it printed. The
// program names a code that is not 0 behind the output, older ones any.
func (c *geminiCall) ran(args gjson.Result, output string, lines bool) {
	code, told := codeAfter(output, "\nExit Code: ")
	text, plain := strings.CutPrefix(output, "Output: ")
	if !told && (!plain || c.status != "success" || endedOtherwise(output)) {
		return
	}
	c.exit = &code
	if file, form := fileIn(c.command); file != "" && plain && code == 0 {
		c.looked = inFolder(first(args.Get("dir_path").Str, args.Get("directory").Str), file)
		if !lines {
			return
		}
		if i := strings.LastIndex(text, "\nProcess Group PGID: "); i >= 0 {
			text = text[:i]
		}
		c.show(text, form)
	}
}

// endedOtherwise reports whether a command was stopped by a signal, or could not be run.
func endedOtherwise(output string) bool {
	const most = 600
	end := output[max(0, len(output)-most):]
	return strings.Contains(end, "\nSignal: ") || strings.Contains(end, "\nError: ")
}

// geminiOutput returns what a call gave to the model.
func geminiOutput(call gjson.Result) string {
	return call.Get("result.0.functionResponse.response.output").Str
}

// geminiWords returns the user's words of a message: what was typed, where the program has kept it
// next to what it made of it.
func geminiWords(rec gjson.Result) string {
	content, typed := rec.Get("content"), rec.Get("displayContent")
	text := geminiText(content, false)
	if typed.Exists() {
		if text == "Please continue." { // the program's own; the words before are kept with it
			return ""
		}
		text = geminiText(typed, false)
	}
	for _, made := range []string{
		"<session_context>", "<hook_context>", "<state_snapshot>", "System: Potential loop detected.",
		"Here is the user's editor context as a JSON object", "Here is a summary of changes in the user's editor context",
		"This is the Gemini CLI. We are setting up the context for our chat.", "I'm currently working in the following directories:",
	} {
		if strings.HasPrefix(strings.TrimSpace(text), made) {
			return ""
		}
	}
	return strings.Clone(text)
}

// geminiText joins the texts of a content: a text, a part, or a list of both. Thoughts are no
// text, nor is what follows the mark of files that a message refers to.
func geminiText(content gjson.Result, agent bool) string {
	switch {
	case content.Type == gjson.String:
		return content.Str
	case content.IsObject():
		return geminiPart(content)
	}
	var out []string
	content.ForEach(func(_, part gjson.Result) bool {
		text := geminiPart(part)
		if !agent && strings.HasPrefix(strings.TrimSpace(text), "--- Content from referenced files ---") {
			return false
		}
		if text != "" && !strings.HasPrefix(text, "<hook_context>") {
			out = append(out, text)
		}
		return true
	})
	return strings.Join(out, "\n")
}

func geminiPart(part gjson.Result) string {
	switch {
	case part.Type == gjson.String:
		return part.Str
	case part.Get("thought").Bool():
		return ""
	}
	return part.Get("text").Str
}
