package transcript

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// VSCode reads the chats with GitHub Copilot in Visual Studio Code:
// User/workspaceStorage/<workspace>/chatSessions/<session>.jsonl below the folder of its
// settings, in older versions <session>.json. The first is a log of operations: 0 the whole
// state, 1 a member set, 2 items appended to a list, cut before, 3 a member deleted.
//
// The project is that of workspace.json; windows without a folder and folders of another
// machine have none and are left out. Of the user is message.text of requests to the extension
// github.copilot-chat that the program did not make itself (isSystemInitiated, confirmation)
// and that were not taken back (shouldBeRemovedOnSend, isHidden). Of an answer the parts without
// a kind, or markdownContent, are words; what the model thought, contexts, arguments and results
// of tools are not looked at. A failed request has result.errorDetails; one that was stopped
// modelState 2.
//
// Not tried on a real store: written from the program's public source up to 1.11x.
type VSCode struct{}

const copilotChat = "github.copilot-chat"

// Name implements Source.
func (VSCode) Name() string { return "vscode" }

// Stores implements Source.
func (v VSCode) Stores(ctx context.Context, p Places) ([]Store, error) {
	roots := []string{filepath.Join(p.config(), "Code"), filepath.Join(p.config(), "Code - Insiders")}
	if portable := p.Env("VSCODE_PORTABLE"); portable != "" {
		roots = append([]string{filepath.Join(portable, "user-data")}, roots...)
	}
	if given := p.Given[v.Name()]; given != "" {
		roots = []string{given}
	}
	var out []Store
	var bad error
	for _, root := range roots {
		found, err := v.findStores(ctx, root)
		out, bad = append(out, found...), errors.Join(bad, err)
	}
	return out, bad
}

// findStores finds the stores below a folder of settings.
func (v VSCode) findStores(ctx context.Context, dir string) ([]Store, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	workspaces, err := listFolders(root, "User/workspaceStorage")
	var out []Store
	for _, w := range workspaces {
		w = "User/workspaceStorage/" + w
		project := workspaceFolder(small(ctx, root, w+"/workspace.json"))
		if project == "" {
			continue
		}
		found, filesErr := files(ctx, v.Name(), dir, w+"/chatSessions", func(name string) bool {
			return path.Ext(name) == ".jsonl" || path.Ext(name) == ".json"
		})
		err = errors.Join(err, filesErr)
		log := map[string]bool{}
		for _, s := range found {
			log[s.Name] = path.Ext(s.Name) == ".jsonl"
		}
		for _, s := range found {
			if s.Note = project; !log[s.Name+"l"] { // the program continues the log
				out = append(out, s)
			}
		}
	}
	return out, err
}

// workspaceFolder returns the folder on this machine of a workspace.json. For a workspace of
// several folders it returns that of its file.
func workspaceFolder(w gjson.Result) string {
	if folder := filePath(w.Get("folder").Str); folder != "" {
		return folder
	}
	if file := filePath(w.Get("workspace").Str); file != "" {
		return path.Dir(file)
	}
	return ""
}

// filePath returns the path of a file URI.
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	if u.Host != "" && u.Host != "localhost" {
		return "//" + u.Host + u.Path
	}
	if len(u.Path) > 2 && u.Path[2] == ':' { // a drive of Windows
		return u.Path[1:]
	}
	return u.Path
}

// Read implements Source.
func (v VSCode) Read(ctx context.Context, s Store, r *Reading) error {
	b := r.Builder(v.Name())
	b.Session(strings.TrimSuffix(strings.TrimSuffix(path.Base(s.Name), "l"), ".json"), "")
	b.Project(s.Note)
	if !r.wantsSession(b) {
		return r.mark(ctx, s)
	}
	log := &mutationLog{shape: chatShape()}
	if path.Ext(s.Name) == ".json" {
		if err := r.mark(ctx, s); err != nil {
			return err
		}
		doc, _, err := r.whole(ctx, s, s.Name)
		if err != nil {
			return err
		}
		log.state = log.shape.take(doc)
	} else if err := r.lines(ctx, s, nil, func(_ int, rec gjson.Result) error { log.apply(rec); return nil }); err != nil {
		return err
	}
	chat := tree{log.state}
	b.Session(chat.at("sessionId").text(), "")
	for _, q := range chat.at("requests").list() {
		v.request(b, q, chat)
	}
	return r.Done(b)
}

// chatShape returns what is read of a chat. The rest is not even kept in memory.
func chatShape() shape {
	is := shape{}
	return shape{
		"sessionId": is, "creationDate": is,
		"requests": {"*": {
			"requestId": is, "timestamp": is, "confirmation": is, "isSystemInitiated": is, "isCanceled": is, "isHidden": is,
			"shouldBeRemovedOnSend": {"requestId": is},
			"message":               {"text": is},
			"agent":                 {"extensionId": {"_lower": is, "value": is}},
			"modelState":            {"value": is, "completedAt": is},
			"result":                {"errorDetails": {"code": is, "responseIsFiltered": is}},
			"response": {"*": {
				"kind": is, "value": is, "toolId": is, "toolCallId": is, "subAgentInvocationId": is,
				"content":           {"value": is},
				"isConfirmed":       {"type": is},
				"resultDetails":     {"isError": is},
				"toolSpecificData":  {"kind": is, "terminalCommandState": {"exitCode": is}},
				"invocationMessage": {"value": is},
				"uri":               {"scheme": is, "path": is},
			}},
		}},
	}
}

// request reads one request.
func (v VSCode) request(b *Builder, q, chat tree) {
	extension := q.at("agent", "extensionId")
	name := first(extension.text(), extension.at("_lower").text(), extension.at("value").text())
	text := first(q.at("message", "text").text(), q.at("message").text())
	switch {
	case !strings.EqualFold(name, copilotChat), q.at("isSystemInitiated").yes(), q.at("confirmation").text() != "":
		return
	case q.at("isHidden").yes(), q.at("shouldBeRemovedOnSend").exists():
		return
	}
	at := ofMillis(q.at("timestamp").number())
	if at.IsZero() {
		at = ofMillis(chat.at("creationDate").number())
	}
	if !b.User(q.at("requestId").text(), text, at) {
		return
	}
	words := ""
	for _, part := range q.at("response").list() {
		switch kind := part.at("kind").text(); kind {
		case "", "markdownContent":
			words += first(part.at("value").text(), part.at("content", "value").text(), part.text())
		case "toolInvocationSerialized":
			b.Agent(words, at)
			words = "" // what comes behind the last tool is the answer
			if part.at("subAgentInvocationId").text() == "" {
				v.tool(b, part)
			}
		case "textEditGroup", "notebookEditGroup":
			if part.at("uri", "scheme").text() == "file" {
				b.Wrote(filePath("file://" + (&url.URL{Path: part.at("uri", "path").text()}).EscapedPath()))
			}
		}
	}
	b.Agent(words, ofMillis(q.at("modelState", "completedAt").number()))
	v.end(b, q)
}

// end says how a request ended.
func (VSCode) end(b *Builder, q tree) {
	wrong := q.at("result", "errorDetails")
	b.Seen(ofMillis(q.at("modelState", "completedAt").number()))
	switch {
	case q.at("modelState", "value").number() == 2, q.at("isCanceled").yes(), wrong.at("code").text() == "canceled":
		b.Interrupt()
	case wrong.at("responseIsFiltered").yes():
		b.Fail(first(wrong.at("code").text(), "filtered"))
	case wrong.exists():
		b.Fail(wrong.at("code").text())
	case q.at("modelState", "value").number() == 3:
		b.Fail("failed")
	}
}

// tool reads a call of a tool: it failed where its details or its exit code say so, and was
// refused where the user did not confirm it.
func (VSCode) tool(b *Builder, part tree) {
	id, name := first(part.at("toolCallId").text(), "?"), part.at("toolId").text()
	b.Call(id, name)
	if strings.Contains(strings.ToLower(name), "readfile") {
		b.Read(part.at("invocationMessage", "value").text())
	}
	confirmed := part.at("isConfirmed")
	refused := confirmed.exists() && (confirmed.is(false) || confirmed.at("type").is(float64(0)))
	exit := part.at("toolSpecificData", "terminalCommandState", "exitCode")
	failed := part.at("resultDetails", "isError")
	switch {
	case refused:
		b.Result(id, false)
		b.Interrupt()
	case exit.exists():
		b.Result(id, exit.number() == 0)
	case failed.exists():
		b.Result(id, !failed.yes())
	}
}

// shape says which members of a JSON value are read: an empty one takes a value that has no
// members, "*" represents the items of a list.
type shape map[string]shape

// take copies out of a value what the shape has. A text where members are expected is taken
// too, since older versions wrote texts in their place.
func (s shape) take(v gjson.Result) any {
	switch {
	case v.IsArray():
		items, listed := s["*"]
		if !listed {
			return nil
		}
		out := []any{}
		v.ForEach(func(_, item gjson.Result) bool { out = append(out, items.take(item)); return true })
		return out
	case v.IsObject() && len(s) <= 2: // not even a look at the others, which may be what tools printed
		out := map[string]any{}
		for key, inner := range s {
			if member := v.Get(key); member.Exists() {
				out[key] = inner.take(member)
			}
		}
		return out
	case v.IsObject():
		out := map[string]any{}
		v.ForEach(func(key, member gjson.Result) bool {
			if inner, ok := s[key.Str]; ok {
				out[strings.Clone(key.Str)] = inner.take(member)
			}
			return true
		})
		return out
	case v.Type == gjson.String:
		return strings.Clone(v.Str)
	}
	return v.Value()
}

// mutationLog replays a log of operations on a JSON value, as far as the shape of it is read.
type mutationLog struct {
	shape shape
	state any
}

// maxItems is how many items a list of a replayed value may have.
const maxItems = 1 << 20

// apply applies one operation. One that does not fit what is there does nothing.
func (m *mutationLog) apply(op gjson.Result) {
	kind, at := op.Get("kind"), op.Get("k").Array()
	if kind.Type != gjson.Number {
		return
	}
	switch kind.Num {
	case 0:
		m.state = m.shape.take(op.Get("v"))
	case 1, 2, 3:
		if s := m.shape.on(at); s != nil && len(at) > 0 {
			m.state = m.change(m.state, at, func(old any) (any, bool) { return operate(int(kind.Num), op, s, old) })
		}
	}
}

// on returns the shape of the value at a path, nil if it is not read.
func (s shape) on(at []gjson.Result) shape {
	for _, key := range at {
		name := key.Str
		if key.Type == gjson.Number {
			name = "*"
		}
		inner, ok := s[name]
		if !ok {
			return nil
		}
		s = inner
	}
	return s
}

// operate makes the new value of one that is set, appended to or deleted. false: leave it.
func operate(kind int, op gjson.Result, s shape, old any) (any, bool) {
	switch kind {
	case 1:
		return s.take(op.Get("v")), true
	case 3:
		return nil, true
	}
	list, _ := old.([]any)
	cut, more := op.Get("i"), op.Get("v")
	if cut.Exists() {
		if cut.Type != gjson.Number || cut.Num < 0 || cut.Num > float64(len(list)) || cut.Num != float64(int(cut.Num)) {
			return old, false
		}
		list = list[:int(cut.Num)]
	}
	items, _ := s.take(more).([]any)
	if len(list)+len(items) > maxItems || !more.IsArray() && !cut.Exists() {
		return old, false
	}
	return append(list, items...), true
}

// change changes the value at a path below v.
func (m *mutationLog) change(v any, at []gjson.Result, how func(any) (any, bool)) any {
	if len(at) == 0 {
		if out, ok := how(v); ok {
			return out
		}
		return v
	}
	switch in := v.(type) {
	case map[string]any:
		if at[0].Type == gjson.String {
			if old, there := in[at[0].Str]; there || len(at) == 1 {
				in[strings.Clone(at[0].Str)] = m.change(old, at[1:], how)
			}
		}
	case []any:
		i := int(at[0].Num)
		if at[0].Type != gjson.Number || float64(i) != at[0].Num || i < 0 || i > len(in) || i == len(in) && (len(at) > 1 || i >= maxItems) {
			return v
		}
		if i == len(in) {
			in = append(in, nil)
		}
		in[i] = m.change(in[i], at[1:], how)
		return in
	}
	return v
}

// tree is a value of JSON to look into.
type tree struct{ v any }

func (t tree) at(keys ...string) tree {
	for _, k := range keys {
		m, _ := t.v.(map[string]any)
		t = tree{m[k]}
	}
	return t
}

func (t tree) list() []tree {
	items, _ := t.v.([]any)
	out := make([]tree, len(items))
	for i, item := range items {
		out[i] = tree{item}
	}
	return out
}

func (t tree) text() string    { s, _ := t.v.(string); return s }
func (t tree) number() float64 { n, _ := t.v.(float64); return n }
func (t tree) yes() bool       { return t.v == true }
func (t tree) exists() bool    { return t.v != nil }
func (t tree) is(v any) bool {
	switch t.v.(type) {
	case string, float64, bool:
		return t.v == v
	}
	return false
}
