package transcript

import (
	"bytes"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Qwen reads the sessions of Qwen Code: projects/<folder>/chats/<session>.jsonl below its
// folder, which QWEN_RUNTIME_DIR or QWEN_HOME may name; archived sessions lie in a folder
// below chats. Records form a tree by uuid and parentUuid: the branch that ends at the last
// record is read, so that what was rewound is left out. A session that was branched off
// another holds that one's records under the same ids.
//
// Of the user are records of type user without a subtype, with that of words said while the agent
// works, or with provenance real_user. Files that a message refers to follow its words
// and are left out; at_command, slash_command and prompts of timers are no words. Where the
// record keeps what was typed (displayText) it is taken.
//
// The records do not say whether a person was there: tmp/*/logs.json
// names the sessions in which somebody typed, and prompts that came over the program's daemon
// have a daemonPromptId. A session with neither, or of a surface that begins with sdk, is
// headless. qwen-code.api_error is a failure unless an answer follows. Skills are recognized by the
// tool skill. Helpers' records (isSidechain, agentId), and requests that telemetry gives a
// subagent_name, are left out; a session with a parent_session is a helper's.
//
// Tried on files of 0.15.10 and 0.24.4.
type Qwen struct{}

// Name implements Source.
func (Qwen) Name() string { return "qwen" }

// Stores implements Source.
func (q Qwen) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := first(p.Given[q.Name()], p.Env("QWEN_RUNTIME_DIR"), p.Env("QWEN_HOME"), filepath.Join(p.Home, ".qwen"))
	out, err := files(ctx, q.Name(), root, "projects", func(name string) bool {
		return path.Ext(name) == ".jsonl" && strings.Contains(name, "/chats/") &&
			!strings.Contains(name, "/subagents/") && !strings.HasPrefix(path.Base(name), "agent-")
	})
	typed, err2 := typedSessions(ctx, q.Name(), root)
	for i := range out {
		out[i].Note = typedNote(out[i], typed)
	}
	return out, errors.Join(err, err2)
}

// Read implements Source.
func (q Qwen) Read(ctx context.Context, s Store, r *Reading) error {
	b := r.Builder(q.Name())
	b.Session(strings.TrimSuffix(path.Base(s.Name), ".jsonl"), "")
	log := qwenLog{lines: r.Lines, at: map[string]int{}, called: map[string]string{}, after: map[string][]qwenEvent{}, looks: map[string]*look{}}
	err := r.lines(ctx, s, log.hasToolOutput, func(_ int, rec gjson.Result) error {
		b.Project(rec.Get("cwd").Str)
		if !r.wantsSession(b) {
			return errStop
		}
		if rec.Get("isSidechain").Bool() || rec.Get("agentId").Str != "" {
			return nil
		}
		b.Session(rec.Get("sessionId").Str, rec.Get("version").Str)
		b.At(rec.Get("gitBranch").Str, "")
		log.record(rec)
		return nil
	})
	if err != nil || !r.wantsSession(b) {
		return err
	}
	for _, event := range log.events {
		event.build(b)
	}
	typed := slices.Contains(strings.Split(s.Note, "\n"), b.t.ID)
	switch {
	case log.child:
		b.Origin(Subagent)
	case log.sdk || !typed && !log.daemon:
		b.Origin(Headless)
	}
	return r.Done(b)
}

// qwenLog is the active branch of a session.
type qwenLog struct {
	events []qwenEvent
	at     map[string]int         // id of a record -> number of events up to it
	called map[string]string      // id of a call, which may come again -> the last call under it
	after  map[string][]qwenEvent // call -> what holds once it has succeeded
	looks  map[string]*look       // call -> the file that it shows, until its result is there
	lines  bool                   // what is shown is read

	sdk, daemon, child bool
}

// qwenEvent is a record, or a part of one.
type qwenEvent struct {
	kind qwenKind
	id   string
	text string // words, the name of a tool, the word for a failure
	time gjson.Result
	ok   bool
	code int
	sums sums
}

type qwenKind int

const (
	qwenUser qwenKind = iota
	qwenAgent
	qwenCall
	qwenResult
	qwenWrote
	qwenRead
	qwenSkill
	qwenFail
	qwenStop
	qwenSeen
	qwenCommand
	qwenExit
	qwenRefused
	qwenLooked
	qwenShown
)

// hasToolOutput reports whether a line is a result of a tool that is not read whole.
func (l *qwenLog) hasToolOutput(line []byte) bool {
	if !bytes.Contains(line, []byte(`"tool_result"`)) {
		return false
	}
	if !l.lines {
		return true
	}
	for _, look := range l.looks {
		if look.raw != "" && bytes.Contains(line, []byte(look.raw)) {
			if len(line) <= maxOutput {
				return false
			}
			look.cut = true
		}
	}
	return true
}

// record adds what a record says.
func (l *qwenLog) record(rec gjson.Result) {
	kind, subtype := rec.Get("type").Str, rec.Get("subtype").Str
	l.daemon = l.daemon || rec.Get("daemonPromptId").Str != ""
	l.branch(rec, kind, subtype)
	at := rec.Get("timestamp")
	at.Raw, at.Str = "", strings.Clone(at.Str)
	switch kind {
	case "user":
		l.user(rec, subtype, at)
	case "assistant":
		l.assistant(rec, at)
	case "tool_result":
		l.result(rec, at)
	case "system":
		l.system(rec, subtype, at)
	}
	l.at[strings.Clone(rec.Get("uuid").Str)] = len(l.events)
}

// branch takes back what is not on the way to a record. A record whose parent is not there
// follows the one before it, as does one of the program's that says nothing of the talk.
func (l *qwenLog) branch(rec gjson.Result, kind, subtype string) {
	if kind == "system" && subtype != "rewind" {
		return
	}
	parent := rec.Get("parentUuid")
	keep, known := l.at[parent.Str]
	if parent.Type == gjson.Null && subtype == "rewind" {
		keep, known = 0, true
	}
	if known && keep < len(l.events) {
		l.events = l.events[:keep]
	}
}

func (l *qwenLog) add(kind qwenKind, id, text string, at gjson.Result, ok bool) {
	l.events = append(l.events, qwenEvent{kind: kind, id: strings.Clone(id), text: strings.Clone(text), time: at, ok: ok})
}

func (l *qwenLog) user(rec gjson.Result, subtype string, at gjson.Result) {
	switch source := rec.Get("provenance").Str; {
	case source == "real_user":
	case source != "":
		return
	case subtype != "" && subtype != "mid_turn_user_message" && subtype != "realtime_message":
		return
	}
	clear(l.looks)
	text := rec.Get("systemPayload.displayText").Str
	if text == "" {
		text = qwenText(rec.Get("message.parts"))
	}
	l.add(qwenUser, rec.Get("uuid").Str, text, at, true)
}

// qwenText joins the texts of a message up to the files that it refers to. Thoughts and what
// hooks and reminders have added are no text.
func qwenText(parts gjson.Result) string {
	var out []string
	parts.ForEach(func(_, part gjson.Result) bool {
		text := part.Get("text").Str
		trimmed := strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(trimmed, "--- Content from referenced files ---"):
			return false
		case trimmed == "", part.Get("thought").Bool(),
			strings.HasPrefix(trimmed, "<system-reminder>"), strings.HasPrefix(trimmed, "<hook_context>"):
		default:
			out = append(out, text)
		}
		return true
	})
	return strings.Join(out, "\n")
}

func (l *qwenLog) assistant(rec, at gjson.Result) {
	parts := rec.Get("message.parts")
	l.clearFailures()
	l.add(qwenAgent, "", qwenText(parts), at, true)
	parts.ForEach(func(_, part gjson.Result) bool {
		if call := part.Get("functionCall"); call.Exists() {
			l.call(rec.Get("uuid").Str, call, at)
		}
		return true
	})
}

// clearFailures takes failures of the turn back: the model has answered after them.
func (l *qwenLog) clearFailures() {
	for i := len(l.events) - 1; i >= 0 && l.events[i].kind != qwenUser; i-- {
		if l.events[i].kind == qwenFail {
			l.events[i].kind = qwenSeen
		}
	}
}

func (l *qwenLog) call(record string, call, at gjson.Result) {
	id, name, args := call.Get("id").Str, call.Get("name").Str, call.Get("args")
	key := record + "/" + id
	l.called[strings.Clone(id)] = key
	l.add(qwenCall, key, name, at, true)
	switch name {
	case "skill":
		l.after[key] = append(l.after[key], qwenEvent{kind: qwenSkill, text: strings.Clone(first(args.Get("skill").Str, args.Get("name").Str))})
	case "write_file", "edit", "replace":
		file := strings.Clone(first(args.Get("file_path").Str, args.Get("absolute_path").Str))
		l.after[key] = append(l.after[key], qwenEvent{kind: qwenWrote, text: file})
		if l.lines {
			l.looks[key] = &look{file: file, raw: strings.Clone(id), form: diffLines}
		}
	case "read_file":
		file := strings.Clone(first(args.Get("file_path").Str, args.Get("absolute_path").Str))
		l.add(qwenRead, key, file, at, true)
		l.looks[key] = &look{file: file, raw: strings.Clone(id), form: skipHead("\n---\n", "\n\n---\n\n")}
	case "run_shell_command":
		command := args.Get("command").Str
		if strings.Contains(command, "SKILL.md") {
			l.add(qwenRead, key, command, at, true)
		}
		l.add(qwenCommand, key, command, at, true)
		if file, form := fileIn(command); file != "" {
			l.looks[key] = &look{file: strings.Clone(inFolder(args.Get("directory").Str, file)), raw: strings.Clone(id), form: qwenOutput(form)}
		}
	}
}

// qwenOutput returns a form of what a command printed, with the words of the program around it.
func qwenOutput(f form) form {
	return func(text string) ([]string, bool) {
		from, to := strings.Index(text, "\nOutput: "), strings.LastIndex(text, "\nError: ")
		if from < 0 || to < from {
			return nil, false
		}
		return f(text[from+len("\nOutput: ") : to])
	}
}

// addOutput adds what the result of a call reports of its command, or of the file that it has shown.
func (l *qwenLog) addOutput(key string, about, answer, at gjson.Result) {
	output := answer.Get("response.output").Str
	code, told := codeAfter(output, "\nExit Code: ")
	if told && strings.HasPrefix(output, "Command: ") {
		l.add(qwenExit, key, "", at, true)
		l.events[len(l.events)-1].code = code
	}
	look := l.looks[key]
	if delete(l.looks, key); look == nil || told && code != 0 {
		return
	}
	diff := about.Get("resultDisplay.fileDiff")
	if diff.Exists() {
		output = diff.Str
	} else {
		l.add(qwenLooked, key, look.file, at, true)
	}
	if !l.lines {
		return
	}
	l.add(qwenShown, key, look.file, at, true)
	if !look.cut {
		l.events[len(l.events)-1].sums = shownSums(output, look.form)
	}
}

func (l *qwenLog) result(rec, at gjson.Result) {
	about := rec.Get("toolCallResult")
	answer := rec.Get("message.parts.0.functionResponse")
	key := l.called[first(about.Get("callId").Str, answer.Get("id").Str)]
	if key == "" {
		return
	}
	switch status := about.Get("status").Str; {
	case status == "success":
		l.add(qwenResult, key, "", at, true)
		l.addOutput(key, about, answer, at)
		l.events = append(l.events, l.after[key]...)
	case status == "cancelled":
		l.add(qwenRefused, key, "", at, false)
		l.add(qwenResult, key, "", at, false)
		l.add(qwenStop, "", "", at, true)
	case status == "error", answer.Get("response.error").Exists():
		delete(l.looks, key)
		l.add(qwenResult, key, "", at, false)
	}
}

func (l *qwenLog) system(rec gjson.Result, subtype string, at gjson.Result) {
	payload := rec.Get("systemPayload")
	switch subtype {
	case "parent_session":
		l.child = true
	case "attribution_snapshot":
		l.sdk = l.sdk || strings.HasPrefix(payload.Get("snapshot.surface").Str, "sdk")
	case "ui_telemetry":
		event := payload.Get("uiEvent")
		if event.Get("subagent_name").Str != "" {
			return
		}
		if event.Get("event\\.name").Str == "qwen-code.api_error" {
			l.add(qwenFail, "", first(event.Get("error_type").Str, "api_error"), at, true)
		}
	}
}

// build adds an event to a builder.
func (e qwenEvent) build(b *Builder) {
	at := instant(e.time)
	switch e.kind {
	case qwenUser:
		b.User(e.id, e.text, at)
		return
	case qwenAgent:
		b.Agent(e.text, at)
	case qwenCall:
		b.Call(e.id, e.text)
	case qwenResult:
		b.Result(e.id, e.ok)
	case qwenWrote:
		b.Wrote(e.text)
	case qwenRead:
		b.Read(e.text)
	case qwenSkill:
		b.Skill(e.text, ByTool)
	case qwenFail:
		b.Fail(e.text)
	case qwenStop:
		b.Interrupt()
	case qwenCommand:
		b.Command(e.id, e.text)
	case qwenExit:
		b.Exit(e.id, e.code)
	case qwenRefused:
		b.Refused(e.id)
	case qwenLooked:
		b.AddRead(e.text)
	case qwenShown:
		b.sums(e.text, e.sums)
	case qwenSeen:
	}
	b.Seen(at)
}
