package transcript

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Codex reads the sessions of Codex, of its command line and its desktop program alike:
// sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl and archived_sessions/rollout-<time>-<id>.jsonl
// below CODEX_HOME, usually ~/.codex. Old ones are packed: their names end in .zst. A session
// that lies at two places is read from the first of sessions and archived_sessions, and there
// as the plain file. The databases next to them (state_5.sqlite, thread_history_1.sqlite) are
// an index and are not read: the files are whole.
//
// A message is written up to three times: as a response_item, as an event item_completed, and
// as an event user_message or agent_message of older versions. Within a turn of the agent the
// same words count as often as the place that has them most often. Of a response_item the
// user's are the parts of content_item_kinds user.text, without inherited_user_message; where
// a version does not say kinds, only events are the user's words. Versions before September 2025
// wrote bare items without events: there what is wrapped in the program's own tags is left out, all
// turns have the time at which the session began, and the folder is that of the environment's text or
// of the first call that names one. The oldest wrote them as one document, rollout-….json.
//
// A fork copies its parent's records under their own ids: the first session_meta is that of
// the session. thread_rolled_back takes turns back; a session of history_mode paginated continues in a
// file <name>_<id>, whose history_base says up to where the records of the earlier files count. A compaction repeats what was said and is
// not read. Headless are the sources exec and mcp and the originators codex_exec and codex_sdk;
// a source subagent, or a thread_source other than user, is a helper. task_complete.error and
// the event error are failures; turn_aborted is an interruption. A skill at work is recognized by
// its body, which the program puts in where the user names it (skills.selected_skill_…), by a
// part of the user's input of type skill, and by reading its SKILL.md.
//
// A person at a terminal is originator codex-tui, of source vscode, since a server of the program
// in the background keeps the session. What is typed while the agent works is a message like
// others; the person's own commands, and what is said of an interruption, are messages whose
// kind is not user.text.
//
// Tried on files of 0.169.0, of scripts and of a terminal; other versions from their public
// sources.
type Codex struct{}

// Name implements Source.
func (Codex) Name() string { return "codex" }

// Stores implements Source.
func (c Codex) Stores(ctx context.Context, p Places) ([]Store, error) {
	root := p.root(c.Name(), "CODEX_HOME", ".codex")
	rollout := func(name string) bool {
		ext := path.Ext(strings.TrimSuffix(name, packed))
		return strings.HasPrefix(path.Base(name), "rollout-") && (ext == ".jsonl" || ext == ".json")
	}
	live, err := files(ctx, c.Name(), root, "sessions", rollout)
	archived, err2 := files(ctx, c.Name(), root, "archived_sessions", rollout)
	return withSegments(onceByName(append(live, archived...))), errors.Join(err, err2)
}

// segment is the name of a file that continues a session from before its end: the session's
// id and its own.
var segment = pattern.New(`([0-9a-f-]{36})_[0-9a-f-]{36}\.jsonl(\.zst)?$`)

// withSegments gives the files of a session that was taken back those that continue it: they
// are written later, and say how much of the earlier ones still counts.
func withSegments(stores []Store) []Store {
	later := map[string][]string{}
	for _, s := range stores {
		if m := segment.FindStringSubmatch(s.Name); m != nil {
			later[m[1]] = append(later[m[1]], s.Name)
		}
	}
	if len(later) == 0 {
		return stores
	}
	for i := range stores {
		for _, name := range later[rolloutID(stores[i].Name)] {
			if path.Base(name) > path.Base(stores[i].Name) { // a name begins with its time
				stores[i].Beside = append(stores[i].Beside, name)
			}
		}
	}
	return stores
}

// findEnd returns the ordinal of the first record of a file that no longer counts, -1 where all do:
// the first record of each file that continues the session says it.
func (c Codex) findEnd(ctx context.Context, s Store) (int64, error) {
	end := int64(-1)
	for _, name := range s.Beside {
		err := (&Reading{}).lines(ctx, Store{Source: s.Source, Root: s.Root, Name: name}, nil, func(_ int, rec gjson.Result) error {
			base := rec.Get("payload.history_base")
			at := base.Get("end_ordinal_exclusive")
			if base.Get("thread_id").Str == rolloutID(s.Name) && at.Type == gjson.Number && (end < 0 || at.Int() < end) {
				end = at.Int()
			}
			return errStop
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return end, nil
}

// packed ends the name of a file that Codex has packed.
const packed = ".zst"

// onceByName returns the stores without those whose file name was there before, packed or not.
func onceByName(stores []Store) []Store {
	seen := map[string]bool{}
	var out []Store
	for _, s := range stores {
		if base := strings.TrimSuffix(path.Base(s.Name), packed); !seen[base] {
			seen[base] = true
			out = append(out, s)
		}
	}
	return out
}

// Read implements Source.
func (c Codex) Read(ctx context.Context, s Store, r *Reading) error {
	x := &codexSession{b: r.Builder(c.Name()), calls: map[string]string{}, patches: map[string]codexPatch{}, known: map[string]bool{}}
	x.said.reset()
	x.b.Session(rolloutID(s.Name), "")
	if path.Ext(s.Name) == ".json" {
		return x.document(ctx, s, r)
	}
	end, err := c.findEnd(ctx, s)
	if err != nil {
		return err
	}
	// The program's own words about an output are around it, at its ends.
	outputs := mentions(`"function_call_output"`, `"custom_tool_call_output"`, `"CommandExecution"`, `"exec_command_end"`, `"FileChange"`, `"patch_apply_end"`, `"McpToolCall"`, `"mcp_tool_call_end"`)
	printed := func(line []byte) bool { return outputs(line) && !x.b.awaits(line) }
	err = r.lines(ctx, s, printed, func(n int, rec gjson.Result) error {
		if at := rec.Get("ordinal"); end >= 0 && at.Type == gjson.Number && at.Int() >= end {
			return errStop
		}
		x.n = n
		if mode := rec.Get("payload.history_mode"); !x.met && mode.Exists() && mode.Str != "legacy" && mode.Str != "paginated" {
			r.problem(Problem{Path: s.Path(), Line: n, What: "history_mode is neither legacy nor paginated: what the session keeps elsewhere is left out; a newer version of this program may know it"})
		}
		asked := x.b.t.Project != ""
		x.record(rec)
		if !asked && !r.wantsSession(x.b) {
			return errStop
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Done(x.b)
}

// document reads a session that is one document.
func (x *codexSession) document(ctx context.Context, s Store, r *Reading) error {
	doc, ok, err := r.document(ctx, s)
	if err != nil || !ok {
		return err
	}
	x.meta(doc.Get("session"))
	doc.Get("items").ForEach(func(_, item gjson.Result) bool {
		x.n++
		x.item(item, item, true)
		return true
	})
	return r.Done(x.b)
}

// rolloutID returns the id of a session as the name of its file says it.
func rolloutID(name string) string {
	if m := segment.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	base := strings.TrimSuffix(path.Base(name), packed)
	base = strings.TrimSuffix(base, path.Ext(base))
	const uuid = 36
	if len(base) > uuid {
		return base[len(base)-uuid:]
	}
	return base
}

// codexSession is one file that is being read.
type codexSession struct {
	b      *Builder
	n      int  // the line
	met    bool // its session_meta was there
	bare   bool // the items are bare
	began  time.Time
	helper bool   // a subagent's session
	root   string // the session at which a chain of forks began
	users  int    // messages of the user so far
	turn   string // of the agent
	inTurn int    // messages of the user in it
	asks   bool   // the user is asked before tools run
	said   said
	skills []string          // named before the words of the user that they belong to
	calls  map[string]string // id of a call -> our key for the newest call of it
	known  map[string]bool   // calls whose success an event reported
	// patches are the files that calls of apply_patch name, until it is known that they succeeded.
	patches map[string]codexPatch
}

func (x *codexSession) record(rec gjson.Result) {
	switch kind := rec.Get("type").Str; kind {
	case "session_meta":
		x.meta(rec.Get("payload"))
	case "turn_context":
		x.begin(rec.Get("payload.turn_id").Str)
		x.asks = rec.Get("payload.approval_policy").Str != "never"
	case "response_item":
		if read(rec, itemTypes) {
			x.item(rec, rec.Get("payload"), false)
		}
	case "event_msg":
		if read(rec, eventTypes) {
			x.event(rec, rec.Get("payload"))
		}
	case "": // a bare session_meta
		if !x.met && rec.Get("id").Type == gjson.String && rec.Get("timestamp").Exists() {
			x.meta(rec)
		}
	default:
		if !rec.Get("payload").Exists() {
			x.item(rec, rec, true)
		}
	}
}

// The types of payloads that are read: what others hold is not even looked for, as it may be
// long.
const (
	itemTypes  = " message function_call custom_tool_call local_shell_call web_search_call tool_search_call image_generation_call function_call_output custom_tool_call_output "
	eventTypes = " task_started turn_started user_message agent_message item_completed exec_command_end patch_apply_end mcp_tool_call_end error task_complete turn_complete turn_aborted thread_rolled_back "
)

func read(rec gjson.Result, types string) bool {
	return strings.Contains(types, " "+rec.Get("payload.type").Str+" ")
}

// meta reads what the file says of its session. A second one is of the session of which this
// one is a fork.
func (x *codexSession) meta(p gjson.Result) {
	x.root = first(p.Get("id").Str, x.root)
	if x.met {
		return
	}
	x.met, x.began = true, instant(p.Get("timestamp"))
	x.b.Session(p.Get("id").Str, p.Get("cli_version").Str)
	x.b.Project(p.Get("cwd").Str)
	x.b.At(p.Get("git.branch").Str, p.Get("git.commit_hash").Str)
	source, by := p.Get("source"), p.Get("originator").Str
	thread := p.Get("thread_source").Str
	switch {
	case source.Get("subagent").Exists() || strings.HasPrefix(source.Str, "subagent") || source.Get("internal").Exists() || thread != "" && thread != "user":
		x.helper = true
		x.b.Origin(Subagent)
	case source.Str == "exec" || source.Str == "mcp" || strings.HasPrefix(by, "codex_exec") || strings.HasPrefix(by, "codex_sdk"):
		x.b.Origin(Headless)
	}
}

// begin begins a turn of the agent, unless it is the one that is in progress.
func (x *codexSession) begin(turn string) {
	if turn == x.turn {
		return
	}
	x.turn, x.inTurn = turn, 0
	x.said.reset()
}

// The places at which a message of the user is written.
const (
	asItem = iota
	asEvent
	asOldEvent
	places
)

// said counts messages of the user within a turn of the agent, so that what is written at
// several places is one message, and equal messages that are apart are two.
type said struct {
	taken map[string]int
	seen  [places]map[string]int
}

func (s *said) reset() {
	s.taken = map[string]int{}
	for i := range s.seen {
		s.seen[i] = map[string]int{}
	}
}

// isNew counts a text at a place, and reports whether it is a message that was not at another one.
func (s *said) isNew(place int, text string) bool {
	key := digest(strings.Join(strings.Fields(text), ""))
	s.seen[place][key]++
	if s.seen[place][key] <= s.taken[key] {
		return false
	}
	s.taken[key]++
	return true
}

// user notes a message of the user.
func (x *codexSession) user(place int, id, text string, at gjson.Result) {
	text = ownWords(text)
	if strings.TrimSpace(text) == "" || !x.said.isNew(place, text) {
		return
	}
	when := instant(at)
	if when.IsZero() {
		when = x.began
	}
	if x.b.User(x.id(id, text), text, when) {
		clear(x.calls)
		clear(x.known)
		clear(x.patches)
	}
	x.users++
	x.inTurn++
	for _, skill := range x.skills {
		x.b.Skill(skill, ByRecord)
	}
	x.skills = nil
}

// id returns the id of a message: its own, else its place in the turn of the agent. A fork keeps
// both. Without either it returns the message's place in the session at which a chain of forks
// began. A helper's ids are its own.
func (x *codexSession) id(id, text string) string {
	const uuid = 36
	switch {
	case id != "":
	case len(x.turn) >= uuid:
		id = x.turn + "#" + strconv.Itoa(x.inTurn)
	default:
		clean, _, _ := x.b.text(text, MaxUser)
		id = digest("codex", first(x.root, x.b.t.ID), strconv.Itoa(x.users), clean)
	}
	if x.helper {
		return x.b.t.ID + "/" + id
	}
	return id
}

// ownWords returns the user's words in a message to which an editor has added what is open in it.
func ownWords(text string) string {
	const request = "## My request for Codex:"
	if i := strings.LastIndex(text, request); i >= 0 && strings.HasPrefix(strings.TrimSpace(text), "# Context from my IDE setup:") {
		return text[i+len(request):]
	}
	return text
}

// skill notes a skill that the program was asked to use. It is a skill of the words that follow,
// where the turn of the agent has none yet.
func (x *codexSession) skill(name string) {
	if x.inTurn == 0 && x.turn != "" {
		x.skills = append(x.skills, name)
		return
	}
	x.b.Skill(name, ByRecord)
}

// item reads a response_item: a part of the conversation as the model is shown it.
func (x *codexSession) item(rec, p gjson.Result, bare bool) {
	at := rec.Get("timestamp")
	x.bare = bare
	switch p.Get("type").Str {
	case "message":
		x.message(rec, p, bare)
		return
	case "function_call", "custom_tool_call", "local_shell_call":
		x.call(p)
	case "web_search_call", "tool_search_call", "image_generation_call":
		x.b.Call(p.Get("type").Str+"@"+strconv.Itoa(x.n), strings.TrimSuffix(p.Get("type").Str, "_call"))
	case "function_call_output", "custom_tool_call_output":
		x.output(p)
	default:
		return
	}
	x.b.Seen(instant(at))
}

func (x *codexSession) message(rec, p gjson.Result, bare bool) {
	switch p.Get("role").Str {
	case "assistant":
		x.b.Agent(texts(p.Get("content"), "output_text", "text"), instant(rec.Get("timestamp")))
	case "user":
		if rec.Get("metadata.inherited_user_message").Bool() {
			return
		}
		about := p.Get("internal_chat_message_metadata_passthrough")
		kinds := about.Get("content_item_kinds")
		at := about.Get("create_time")
		if instant(at).IsZero() {
			at = rec.Get("timestamp")
		}
		if text := x.parts(p.Get("content"), kinds, bare); text != "" {
			x.user(asItem, p.Get("id").Str, text, at)
		}
	}
}

// parts returns the user's words in the parts of a message. It notes skills whose bodies the
// program has put in.
func (x *codexSession) parts(content, kinds gjson.Result, bare bool) string {
	kind := kinds.Array()
	var out []string
	for i, part := range content.Array() {
		text := part.Get("text").Str
		if skill, is := skillBody(text); is && (!kinds.Exists() || i < len(kind) && strings.Contains(kind[i].Str, "skill")) {
			x.skill(skill)
			continue
		}
		own := bare && !isProgramText(text)
		if kinds.Exists() {
			own = i < len(kind) && kind[i].Str == "user.text" && !imageTag(text)
		}
		if own {
			out = append(out, text)
		} else if bare {
			x.b.Project(strings.TrimSpace(first(textBetween(text, "<cwd>", "</cwd>"), textBetween(text, "\nCurrent working directory:", "\n"))))
		}
	}
	return strings.Join(out, "\n")
}

// skillBody returns the name of the skill whose body a text is.
func skillBody(text string) (skill string, is bool) {
	if !strings.HasPrefix(text, "<skill>") {
		return "", false
	}
	return textBetween(text, "<name>", "</name>"), true
}

// imageTag reports whether a text is the tag that the program puts before or after an image.
func imageTag(text string) bool {
	text = strings.TrimSpace(text)
	return text == "</image>" || strings.HasPrefix(text, "<image") && strings.Index(text, ">") == len(text)-1
}

// isProgramText reports whether a text of a version that does not say kinds is the program's.
func isProgramText(text string) bool {
	text = strings.TrimSpace(text)
	for _, begin := range []string{
		"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<codex_internal_context",
		"<user_shell_command>", "<turn_aborted>", "<subagent_notification>", "<hook_prompt", "<user_action>", "<skill>",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// textBetween returns what is between two marks, "" where they are not there.
func textBetween(text, from, to string) string {
	_, text, found := strings.Cut(text, from)
	if !found {
		return ""
	}
	text, _, found = strings.Cut(text, to)
	if !found {
		return ""
	}
	return text
}
