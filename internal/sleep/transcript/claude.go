package transcript

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Claude reads the sessions of Claude Code: projects/<folder>/<session>.jsonl below its folder.
// One record a message, or a block of one. A resume appends to the same file, or writes what
// was said so far, under the same ids, into a new one.
//
// Of the user are records of type user with a text that are neither isMeta (what the program
// put in, such as the body of a skill) nor results of tools nor isSidechain (a helper's).
// Headless sessions are recognized by entrypoint and promptSource. isApiErrorMessage is a failure.
//
// A person at a terminal (entrypoint cli, promptSource typed or queued, origin human) says
// more than that, and otherwise: what is typed while the agent works is an attachment
// queued_command; what is said with the refusal of a tool is in that tool's result; a
// prompt that calls a skill or a command by /name is <command-message> with its
// <command-args>, while the program's own commands are records of type system, or begin with
// <command-name>. Esc writes "[Request interrupted by user]" where the agent had begun. A
// prompt that was taken back, by Esc before there was an answer or by /rewind, stays in the
// file: the next one has a parent before it. "No response requested." of the model
// <synthetic>, written by a resume, is no failure. And the first records of the agent may
// precede the prompt that they answer: the file is begun late, and by several at once.
//
// Tried on files of 2.1.197, of scripts and of a terminal.
type Claude struct{}

// Name implements Source.
func (Claude) Name() string { return "claude" }

// Stores implements Source. Files of helpers are not sessions of the user.
func (c Claude) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := p.root(c.Name(), "CLAUDE_CONFIG_DIR", ".claude")
	return files(ctx, c.Name(), root, "projects", func(name string) bool {
		return path.Ext(name) == ".jsonl" && !strings.HasPrefix(path.Base(name), "agent-") && !strings.Contains(name, "/subagents/")
	})
}

// Read implements Source.
func (c Claude) Read(ctx context.Context, s Store, r *Reading) error {
	b := r.Builder(c.Name())
	b.Session(strings.TrimSuffix(path.Base(s.Name), ".jsonl"), "")
	x := &claudeSession{Claude: c, b: b, turn: map[uint64]int32{}}
	printed := func(line []byte) bool { return claudePrinted(line) && !b.awaits(line) }
	err := r.lines(ctx, s, printed, func(_ int, rec gjson.Result) error {
		m := c.record(rec)
		if m.sidechain {
			return nil
		}
		b.Project(m.cwd)
		if !r.wantsSession(b) {
			return errStop
		}
		if !x.tooEarly(rec, m) {
			x.take(m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Done(b)
}

// claudePrinted finds results of tools. One with which the user refused a tool has the user's
// words.
func claudePrinted(line []byte) bool {
	return bytes.Contains(line, []byte(`"tool_result"`)) && bytes.Contains(line, []byte(`"type":"user"`)) && !bytes.Contains(line, []byte("doesn't want to proceed"))
}

// claudeSession is a file that is being read. Its records are a tree by uuid and parentUuid; of
// what was taken back only whole turns are recognized, since results of tools that ran side by side
// have several children as well.
type claudeSession struct {
	Claude

	b      *Builder
	turn   map[uint64]int32 // record -> the turn that it is in
	active []int32          // turns that were not taken back
	begun  int32            // turns so far
	early  []claudeRecord   // those before the first turn that wait for their parents
	bytes  int              // in them
}

// The most that waits for the first turn.
const (
	maxEarly      = 200
	maxEarlyBytes = 8 << 20
)

// tooEarly reports whether a record of the agent precedes the first prompt in the file though it belongs
// after it. It is kept for later.
func (x *claudeSession) tooEarly(rec gjson.Result, m claudeRecord) bool {
	if x.begun > 0 || m.parent == "" || len(x.early) >= maxEarly || x.bytes+len(rec.Raw) > maxEarlyBytes {
		return false
	}
	if _, known := x.turn[recordKey(m.parent)]; known || m.kind != "assistant" && m.content.Get("0.type").Str != "tool_result" {
		return false
	}
	x.bytes += len(rec.Raw)
	x.early = append(x.early, x.record(gjson.Parse(strings.Clone(rec.Raw))))
	return true
}

// take reads a record, and those that waited for it.
func (x *claudeSession) take(m claudeRecord) {
	x.put(m)
	for i := 0; i < len(x.early); i++ {
		if next := x.early[i]; m.uuid != "" && next.parent == m.uuid {
			x.early = slices.Delete(x.early, i, i+1)
			x.take(next)
			i = -1
		}
	}
}

func (x *claudeSession) put(m claudeRecord) {
	if _, again := x.turn[recordKey(m.uuid)]; again {
		return
	}
	at := x.now()
	if of, known := x.turn[recordKey(m.parent)]; known {
		at = of
	}
	words := ""
	switch m.kind {
	case "user":
		words = x.user(x.b, m)
	case "assistant":
		x.assistant(x.b, m)
	case "attachment":
		words = x.attachment(x.b, m)
	}
	if words = strings.TrimSpace(words); words != "" {
		x.back(at)
		if x.b.User(m.uuid, words, m.at) {
			x.begun++
			x.active, at = append(x.active, x.begun), x.begun
		}
	}
	if m.uuid != "" {
		x.turn[recordKey(m.uuid)] = at
	}
}

// now returns the turn that is in progress, 0 for none.
func (x *claudeSession) now() int32 {
	if len(x.active) == 0 {
		return 0
	}
	return x.active[len(x.active)-1]
}

// back takes back the turns after one. What came before the first turn, or was itself taken
// back, says nothing.
func (x *claudeSession) back(to int32) {
	if i := slices.Index(x.active, to); i >= 0 {
		x.b.Back(len(x.active) - 1 - i)
		x.active = x.active[:i+1]
	}
}

// recordKey represents the id of a record, which is random.
func recordKey(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// claudeRecord is what is read of a record.
type claudeRecord struct {
	kind, uuid, parent, cwd, branch, version string
	headless, meta, sidechain                bool
	skill, failure                           string
	synthetic                                bool         // the program wrote it in the model's place
	failed                                   gjson.Result // isApiErrorMessage
	at                                       time.Time
	content, toolUse, attachment             gjson.Result
}

// record reads a record in one pass over its members: most of its bytes are results of tools,
// which are passed over.
func (Claude) record(rec gjson.Result) (m claudeRecord) {
	rec.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			m.kind = v.Str
		case "uuid":
			m.uuid = v.Str
		case "parentUuid":
			m.parent = v.Str
		case "cwd":
			m.cwd = v.Str
		case "gitBranch":
			m.branch = v.Str
		case "version":
			m.version = v.Str
		case "timestamp":
			m.at = instant(v)
		case "isSidechain":
			m.sidechain = v.Bool()
		case "isMeta", "isCompactSummary":
			m.meta = m.meta || v.Bool()
		case "entrypoint":
			m.headless = m.headless || strings.HasPrefix(v.Str, "sdk")
		case "promptSource":
			m.headless = m.headless || v.Str == "sdk"
		case "attributionSkill":
			m.skill = v.Str
		case "isApiErrorMessage":
			m.failed = v
		case "error":
			m.failure = v.Str
		case "toolUseResult":
			m.toolUse = v
		case "attachment":
			m.attachment = v
		case "message":
			v.ForEach(func(key, v gjson.Result) bool {
				switch key.Str {
				case "content":
					m.content = v
				case "model":
					m.synthetic = v.Str == "<synthetic>"
				}
				return true
			})
		}
		return !m.sidechain
	})
	return m
}

// about reads what every record says of the session.
func (Claude) about(b *Builder, m claudeRecord) {
	b.Session("", m.version)
	b.At(m.branch, "")
	if m.headless {
		b.Origin(Headless)
	}
}

// user reads a record of type user, and returns the user's words in it.
func (c Claude) user(b *Builder, m claudeRecord) (words string) {
	c.about(b, m)
	if said, any := c.results(b, m); any || m.meta {
		return said
	}
	text := texts(m.content, "text")
	switch {
	case strings.HasPrefix(text, "[Request interrupted by user"):
		b.Interrupt()
	case strings.HasPrefix(text, "<command-message>"): // of a skill or a command whose text the program puts in
		return first(strings.TrimSpace(textBetween(text, "<command-args>", "</command-args>")), strings.TrimSpace(textBetween(text, "<command-name>", "</command-name>")))
	case programs(text):
	default:
		return text
	}
	return ""
}

// attachment returns the user's words that were typed while the agent worked. A file that the
// user named is one that the agent was shown.
func (Claude) attachment(b *Builder, m claudeRecord) (words string) {
	a := m.attachment
	if a.Get("type").Str == "file" {
		file := a.Get("content.file")
		b.AddRead(file.Get("filePath").Str)
		if b.lines {
			b.addText(file.Get("filePath").Str, file.Get("content").Str, asPrinted)
		}
	}
	by := a.Get("origin.kind").Str
	if a.Get("type").Str != "queued_command" || a.Get("commandMode").Str != "prompt" || a.Get("isMeta").Bool() || by != "" && by != "human" {
		return ""
	}
	return texts(a.Get("prompt"), "text")
}

// programs reports whether a text of a user's record was made by the program: a command of
// its own and what it printed.
func programs(text string) bool {
	for _, tag := range []string{"<command-name>", "<command-message>", "<local-command-", "<bash-stdout>", "<bash-stderr>", "<bash-input>", "<system-reminder>"} {
		if strings.HasPrefix(strings.TrimSpace(text), tag) {
			return true
		}
	}
	return strings.HasPrefix(text, "Caveat: The messages below were generated by the user while running local commands")
}

// results reads the results of tools in a message, and reports whether there are any. What the
// user said with the refusal of a tool is returned.
func (Claude) results(b *Builder, m claudeRecord) (said string, any bool) {
	if !m.content.IsArray() {
		return "", false
	}
	var ids []string
	m.content.ForEach(func(_, block gjson.Result) bool {
		// One member at a time: to go through all would unescape what the tool printed.
		if block.Get("type").Str == "tool_result" {
			any = true
			failed := strings.Contains(block.Raw, `"is_error"`) && block.Get("is_error").Bool() // seldom, and behind all that was printed
			ids = append(ids, block.Get("tool_use_id").Str)
			claudeResult(b, ids[len(ids)-1], failed, block, m.toolUse)
		}
		return true
	})
	if !any {
		return "", false
	}
	if m.toolUse.Type == gjson.String && strings.Contains(m.toolUse.Str, "doesn't want to proceed") {
		b.Interrupt()
		for _, id := range ids {
			b.Refused(id)
		}
		if strings.HasPrefix(strings.TrimPrefix(m.toolUse.Str, "Error: "), "The user doesn't want to proceed") {
			_, said, _ = strings.Cut(m.toolUse.Str, "To tell you how to proceed, the user said:\n")
		}
	}
	b.Seen(m.at)
	return said, true
}

// claudeResult reads the result of a call.
func claudeResult(b *Builder, id string, failed bool, block, about gjson.Result) {
	if looksAt(b, id) && !failed {
		b.Output(id, claudeShown(b, id, block, about))
	}
	if _, ran := runs(b, id); ran {
		claudeExit(b, id, failed, block, about)
	}
	b.Result(id, !failed)
}

// claudeShown returns what a call shows of a file, "" where it is not looked at.
func claudeShown(b *Builder, id string, block, about gjson.Result) string {
	if !needsOutput(b, id) {
		return ""
	}
	if patch := about.Get("structuredPatch"); patch.IsArray() {
		return hunks(patch)
	}
	return texts(block.Get("content"), "text")
}

// hunks returns a structuredPatch as a diff.
func hunks(patch gjson.Result) string {
	var out strings.Builder
	patch.ForEach(func(_, hunk gjson.Result) bool {
		out.WriteString("@@\n")
		hunk.Get("lines").ForEach(func(_, line gjson.Result) bool {
			out.WriteString(line.Str + "\n")
			return true
		})
		return true
	})
	return out.String()
}

// claudeExit reports with what code a command ended. One that did not fail ended with 0, unless the
// program says how it read another code, or the command continued in the background.
func claudeExit(b *Builder, id string, failed bool, block, about gjson.Result) {
	if failed {
		if code, told := codeBefore(texts(block.Get("content"), "text"), "Exit code "); told {
			b.Exit(id, code)
		}
		return
	}
	for _, other := range []string{"returnCodeInterpretation", "backgroundTaskId", "interrupted"} {
		if v := about.Get(other); v.Str != "" || v.Bool() {
			return
		}
	}
	b.Exit(id, 0)
}

func (c Claude) assistant(b *Builder, m claudeRecord) {
	c.about(b, m)
	switch {
	case m.synthetic && m.failed.Exists() && !m.failed.Bool():
		return // neither the model nor a failure
	case m.synthetic || m.failed.Bool():
		b.Fail(first(m.failure, "api_error"))
		b.Seen(m.at)
		return
	}
	if m.skill != "" {
		b.Skill(m.skill, ByRecord)
	}
	b.Agent(texts(m.content, "text"), m.at)
	m.content.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "tool_use" {
			c.call(b, block)
		}
		return true
	})
	b.Seen(m.at)
}

func (Claude) call(b *Builder, block gjson.Result) {
	id, name, input := block.Get("id").Str, block.Get("name").Str, block.Get("input")
	b.Call(id, name)
	switch name {
	case "Skill":
		if skill := input.Get("skill"); skill.Type == gjson.String {
			b.After(id, func() { b.Skill(skill.Str, ByTool) })
		}
	case "Read":
		b.After(id, func() { b.Read(input.Get("file_path").Str) })
		b.Look(id, id, input.Get("file_path").Str, withNumbers)
	case "Bash":
		b.After(id, func() { b.Read(input.Get("command").Str) })
		b.Command(id, input.Get("command").Str)
		if file, form := fileIn(input.Get("command").Str); file != "" {
			b.Look(id, id, file, form)
		}
	case "Write", "Edit", "MultiEdit":
		b.After(id, func() { b.Wrote(input.Get("file_path").Str) })
		b.Patch(id, id, input.Get("file_path").Str, diffLines)
	case "NotebookEdit":
		b.After(id, func() { b.Wrote(input.Get("notebook_path").Str) })
	}
}
