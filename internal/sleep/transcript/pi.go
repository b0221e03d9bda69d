package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Pi reads the sessions of pi: sessions/--<working folder>--/<time>_<id>.jsonl below
// PI_CODING_AGENT_DIR, usually ~/.pi/agent, and below PI_CODING_AGENT_SESSION_DIR where it is
// set. A folder that the settings of pi name (sessionDir) is named in the profile.
//
// The first record is the session. In versions 2 and 3 of the format the others are a tree by
// id and parentId, the last one is the active leaf: what does not lead to it is not read. In
// version 1, or without a version, they are a list. A record that is damaged, occurs twice, or
// names a parent that does not come before it could move the leaf: such a session is named and
// left out as a whole. A fork copies records with their times: a message keeps its id in it.
//
// Of the user are messages of role user, without the files that a command line attached and
// without the body of a skill that /skill:name put in, which names the skill at work. Commands
// that a person ran (bashExecution), what extensions put in (custom_message), and summaries
// are not read. stopReason error is a failure, aborted an interruption. Nothing in a session
// distinguishes a script's from a person's: none counts as headless.
//
// Tried on files of 0.74.2; other versions from their public sources.
type Pi struct{}

// Name implements Source.
func (Pi) Name() string { return "pi" }

// Stores implements Source.
func (c Pi) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := p.root(c.Name(), "PI_CODING_AGENT_DIR", ".pi", "agent")
	session := func(name string) bool { return path.Ext(name) == ".jsonl" }
	out, err := files(ctx, c.Name(), root, "sessions", session)
	apart := p.Env("PI_CODING_AGENT_SESSION_DIR")
	if apart == "" || p.Given[c.Name()] != "" || filepath.Clean(apart) == filepath.Join(root, "sessions") {
		return out, err
	}
	more, err2 := files(ctx, c.Name(), apart, ".", session)
	return append(out, more...), errors.Join(err, err2)
}

// Read implements Source. A session without forks is read once; where there was one, the file
// is read again for what leads to the leaf.
func (c Pi) Read(ctx context.Context, s Store, r *Reading) error {
	t := &piTree{line: map[string]int32{}}
	x := c.session(r)
	before := len(r.Problems) + r.More
	err := r.lines(ctx, s, x.hasToolOutput, func(n int, rec gjson.Result) error {
		if !t.begun {
			return errors.Join(t.begin(s, rec), x.begin(rec, r))
		}
		if err := t.add(n, rec); err != nil {
			return err
		}
		if !t.forked {
			x.record(n, rec)
		}
		return nil
	})
	var bad *piDamage
	switch {
	case errors.As(err, &bad):
		r.problem(Problem{Path: s.Path(), Line: bad.line, What: bad.what + ": the session is left out"})
		return nil
	case err != nil:
		return err
	case !r.wantsSession(x.b):
		return nil
	case len(r.Problems)+r.More > before:
		r.problem(Problem{Path: s.Path(), What: "the session may continue a record that cannot be read: it is left out"})
		return nil
	case t.forked:
		return c.second(ctx, s, r, t)
	}
	return r.Done(x.b)
}

// second reads what leads to the leaf. The file may have grown since: the mark is that of the
// first time, so that the next reading has the rest.
func (c Pi) second(ctx context.Context, s Store, r *Reading, t *piTree) error {
	mark, bytes := r.Mark, r.Bytes
	x := c.session(r)
	active := t.active()
	i := -1
	err := r.lines(ctx, s, x.hasToolOutput, func(n int, rec gjson.Result) error {
		switch {
		case i < 0:
			i = 0
			return x.begin(rec, r)
		case i >= len(active):
			return errStop
		case active[i]:
			x.record(n, rec)
		}
		i++
		return nil
	})
	anew := r.Mark.Inode != mark.Inode || r.Mark.Size < mark.Size || i < len(active)
	r.Mark, r.Bytes = mark, bytes
	switch {
	case err != nil:
		return err
	case anew:
		return fmt.Errorf("%s: the file was replaced while it was read; it is read in the next harvest", s.Path())
	}
	return r.Done(x.b)
}

// maxEntries is the number of records above which a session is left out: its tree would not
// fit into memory.
const maxEntries = 500_000

// piDamage is a session whose tree does not hold together.
type piDamage struct {
	line int
	what string
}

func (e *piDamage) Error() string { return e.what }

// piTree is the tree of the records of a session.
type piTree struct {
	begun   bool
	version int
	line    map[string]int32 // id -> index in parents
	parents []int32          // index of the parent; -1: none
	forked  bool             // a record does not continue from the one before it
}

// begin reads the record of the session.
func (t *piTree) begin(s Store, rec gjson.Result) error {
	t.begun = true
	if rec.Get("kind").Str == "header" {
		return piVersion(s, rec)
	}
	if id := rec.Get("id"); rec.Get("type").Str != "session" || id.Type != gjson.String || id.Str == "" {
		return &piDamage{line: 1, what: `the first record is not of type "session" with an id`}
	}
	version := rec.Get("version")
	switch {
	case !version.Exists():
		t.version = 1
	case version.Type != gjson.Number || version.Num != 1 && version.Num != 2 && version.Num != 3:
		return piVersion(s, rec)
	default:
		t.version = int(version.Num)
	}
	return nil
}

// piVersion refuses a format that is not known.
func piVersion(s Store, rec gjson.Result) error {
	return fmt.Errorf("%s: version %.20q of the format of pi; known are 1, 2 and 3: a newer version of this program may read it", s.Path(), rec.Get("version").Raw)
}

// add adds a record.
func (t *piTree) add(n int, rec gjson.Result) error {
	if len(t.parents) >= maxEntries {
		return &piDamage{line: n, what: fmt.Sprintf("more than %d records", maxEntries)}
	}
	if rec.Get("type").Str == "session" {
		return &piDamage{line: n, what: "a second record of type \"session\""}
	}
	if t.version == 1 {
		t.parents = append(t.parents, int32(len(t.parents))-1)
		return nil
	}
	id := rec.Get("id")
	if _, twice := t.line[id.Str]; id.Type != gjson.String || id.Str == "" || twice {
		return &piDamage{line: n, what: "a record without an id of its own"}
	}
	at, err := t.findRecord(n, rec, "parentId")
	if err == nil && rec.Get("type").Str == "leaf" { // the session continued from another record
		at, err = t.findRecord(n, rec, "targetId")
	}
	if err != nil {
		return err
	}
	t.forked = t.forked || at != int32(len(t.parents))-1
	t.line[id.Str] = int32(len(t.parents))
	t.parents = append(t.parents, at)
	return nil
}

// findRecord returns the earlier record that a member of a record names, -1 for none.
func (t *piTree) findRecord(n int, rec gjson.Result, member string) (int32, error) {
	named := rec.Get(member)
	if named.Raw == "null" {
		return -1, nil
	}
	at, known := t.line[named.Str]
	if named.Type != gjson.String || !known {
		return 0, &piDamage{line: n, what: fmt.Sprintf("a record whose %s is not that of a record before it", member)}
	}
	return at, nil
}

// active says of each record whether it leads to the leaf.
func (t *piTree) active() []bool {
	out := make([]bool, len(t.parents))
	for i := int32(len(t.parents)) - 1; i >= 0; i = t.parents[i] {
		out[i] = true
	}
	return out
}

// piSession is the active branch that is being read.
type piSession struct {
	b     *Builder
	calls map[string]piCall // by their id, the newest
	times map[string]int    // messages of the user, by time and length
}

type piCall struct {
	key   string
	wrote string // the file, if the call succeeds

	replaced []string // lines of it
}

func (c Pi) session(r *Reading) *piSession {
	return &piSession{b: r.Builder(c.Name()), calls: map[string]piCall{}, times: map[string]int{}}
}

// hasToolOutput reports whether a line is a result of a tool that is not read whole.
func (x *piSession) hasToolOutput(line []byte) bool {
	return bytes.Contains(line, []byte(`"toolResult"`)) && !x.b.awaits(line)
}

// begin reads the record of the session.
func (x *piSession) begin(rec gjson.Result, r *Reading) error {
	x.b.Session(rec.Get("id").Str, "")
	x.b.Project(rec.Get("cwd").Str)
	if !r.wantsSession(x.b) {
		return errStop
	}
	return nil
}

// record reads a record of the active branch.
func (x *piSession) record(n int, rec gjson.Result) {
	if rec.Get("type").Str == "message" {
		x.message(n, rec)
	}
}

func (x *piSession) message(n int, rec gjson.Result) {
	m := rec.Get("message")
	at := instant(rec.Get("timestamp"))
	switch m.Get("role").Str {
	case "user":
		x.user(rec, m)
	case "assistant":
		x.assistant(n, m)
	case "toolResult":
		x.result(m)
	default:
		return
	}
	x.b.Seen(at)
}

func (x *piSession) user(rec, m gjson.Result) {
	text, skill := piWords(texts(m.Get("content"), "text"))
	at := rec.Get("timestamp")
	if instant(at).IsZero() {
		at = m.Get("timestamp")
	}
	// The ids of records are short, and pi makes new ones when it brings an old file to its newest
	// format; the times are kept, in forks too.
	id := digest("pi", at.String(), m.Get("timestamp").Raw, strconv.Itoa(len(text)))
	if x.times[id]++; x.times[id] > 1 {
		id = digest(id, strconv.Itoa(x.times[id]))
	}
	if x.b.User(id, text, instant(at)) {
		clear(x.calls)
	}
	x.b.Skill(skill, ByRecord)
}

// piWords returns the user's words in a message, and the skill whose body pi has put into it.
func piWords(text string) (words, skill string) {
	const fileEnd, skillEnd = "</file>\n", "\n</skill>"
	if name := textBetween(text, `<file name="`, `"`); name != "" && strings.HasPrefix(text, `<file name="`) {
		if i := strings.LastIndex(text, fileEnd); i >= 0 {
			text = first(text[i+len(fileEnd):], "@"+name)
		}
	}
	if !strings.HasPrefix(text, `<skill name="`) {
		return text, ""
	}
	skill = textBetween(text, `<skill name="`, `"`)
	for rest, from := text, 0; ; {
		i := strings.Index(rest, skillEnd)
		if i < 0 {
			return text, ""
		}
		from += i + len(skillEnd)
		rest = text[from:]
		if rest == "" || strings.HasPrefix(rest, "\n\n") {
			return first(strings.TrimSpace(rest), "/skill:"+skill), skill
		}
	}
}

func (x *piSession) assistant(n int, m gjson.Result) {
	content := m.Get("content")
	stop := m.Get("stopReason").Str
	if stop != "error" {
		x.b.Agent(texts(content, "text"), instant(m.Get("timestamp")))
	}
	content.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "toolCall" {
			x.call(n, block)
		}
		return true
	})
	switch stop {
	case "error":
		x.b.Fail(first(m.Get("errorMessage").Str, stop))
	case "aborted":
		x.b.Interrupt()
	}
}

// call notes a call of a tool. Ids of calls come again where the model's server gives no new ones,
// so a call of a record is one of its own.
func (x *piSession) call(n int, block gjson.Result) {
	id, name, args := block.Get("id").Str, block.Get("name").Str, block.Get("arguments")
	call := piCall{key: id + "@" + strconv.Itoa(n)}
	file := first(args.Get("path").Str, args.Get("file_path").Str)
	switch name {
	case "read":
		x.b.Read(file)
		x.b.Look(call.key, id, file, dropNote)
	case "bash":
		command := args.Get("command").Str
		x.b.Read(command)
		x.b.Command(call.key, command)
		if file, form := fileIn(command); file != "" {
			x.b.Look(call.key, id, file, requireWhole(form))
		}
	case "write", "edit":
		call.wrote = file
		if x.b.lines {
			call.replaced = piReplaced(args)
		}
	}
	x.b.Call(call.key, name)
	x.calls[id] = call
}

// piReplaced returns the lines that a call replaces.
func piReplaced(args gjson.Result) []string {
	out := wholeLines(args.Get("oldText").Str)
	args.Get("edits").ForEach(func(_, edit gjson.Result) bool {
		out = append(out, wholeLines(edit.Get("oldText").Str)...)
		return true
	})
	return out
}

func (x *piSession) result(m gjson.Result) {
	call, called := x.calls[m.Get("toolCallId").Str]
	bad := m.Get("isError")
	if !called || !bad.IsBool() {
		return
	}
	x.exit(call.key, bad.Bool(), m.Get("content"))
	if !bad.Bool() {
		if looksAt(x.b, call.key) {
			text := ""
			if needsOutput(x.b, call.key) {
				text = texts(m.Get("content"), "text")
			}
			x.b.Output(call.key, text)
		}
		x.b.AddLines(call.wrote, call.replaced)
		x.b.Wrote(call.wrote)
	}
	x.b.Result(call.key, !bad.Bool())
}

// exit notes with what code a command ended: pi says any but 0 as the last words of the output.
func (x *piSession) exit(key string, failed bool, content gjson.Result) {
	if _, ran := runs(x.b, key); !ran {
		return
	}
	if !failed {
		x.b.Exit(key, 0)
	} else if code, told := codeAfter(texts(content, "text"), "Command exited with code "); told {
		x.b.Exit(key, code)
	}
}

// requireWhole returns a form of which nothing is known where pi has cut an output.
func requireWhole(f form) form {
	return func(text string) ([]string, bool) {
		if strings.HasSuffix(strings.TrimSpace(text), "]") && strings.Contains(text, "\n\n[Showing ") {
			return nil, false
		}
		return f(text)
	}
}
