package transcript

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// call notes a call of a tool. Ids of calls come again where the model's server gives no new ones,
// so a call of a line is one of its own.
func (x *codexSession) call(p gjson.Result) {
	id, name := p.Get("call_id").Str, p.Get("name").Str
	key := id + "@" + strconv.Itoa(x.n)
	x.calls[id] = key
	if space := strings.TrimRight(p.Get("namespace").Str, "_"); space != "" {
		name = x.b.name(space) + "__" + x.b.name(name) // a secret is known by where it begins
	}
	if p.Get("type").Str == "local_shell_call" {
		name = "local_shell"
	}
	x.b.Call(key, name)
	if name == "apply_patch" {
		x.patches[key] = x.parsePatch(first(p.Get("input").Str, gjson.Get(p.Get("arguments").Str, "input").Str), "")
		return
	}
	if p.Get("namespace").Str == "" {
		x.runs(key, id, p)
	}
	for _, member := range []string{"arguments", "input", "action.command"} {
		if v := p.Get(member); strings.Contains(v.Raw, "SKILL.md") {
			x.b.Read(command(v))
		}
	}
}

// codexPatch is what a call of apply_patch changes.
type codexPatch struct {
	files []string
	lines map[string][]string // by file: that were there, where they are wanted
}

// parsePatch returns what a patch changes that is applied in a folder.
func (x *codexSession) parsePatch(patch, dir string) codexPatch {
	out := codexPatch{lines: map[string][]string{}}
	for _, file := range patchFiles(patch) {
		out.files = append(out.files, inFolder(dir, file))
	}
	if !x.b.lines {
		return out
	}
	for file, lines := range patchLines(patch) {
		out.lines[inFolder(dir, file)] = lines
	}
	return out
}

// runs notes a call that runs a command. The program reports a patch that the command applies as a
// change of files, except where items are bare.
func (x *codexSession) runs(key, id string, p gjson.Result) {
	args, member := p, "action.command"
	if p.Get("type").Str != "local_shell_call" {
		if !validJSON(p.Get("arguments").Str) {
			return
		}
		args, member = gjson.Parse(p.Get("arguments").Str), "command"
	}
	v := args.Get(member)
	text := first(args.Get("cmd").Str, v.Str)
	if v.IsArray() {
		text = script(v)
		if v.Get("0").Str == "apply_patch" {
			text = "apply_patch " + v.Get("1").Str
		}
	}
	dir := first(args.Get("workdir").Str, args.Get("action.working_directory").Str)
	if x.bare {
		x.b.Project(absolute(dir))
	}
	if strings.HasPrefix(strings.TrimSpace(text), "apply_patch") {
		p := x.parsePatch(text, dir)
		if !x.bare {
			p.files = nil
		}
		x.patches[key] = p
		return
	}
	x.b.Command(key, text)
	if file, form := fileIn(text); file != "" {
		x.b.Look(key, id, inFolder(dir, file), uncut(form))
	}
}

// uncut returns a form of which nothing is known where the program has cut the middle out of an output.
func uncut(f form) form {
	return func(text string) ([]string, bool) {
		for _, mark := range []string{" tokens truncated…", " chars truncated…", "[... omitted "} {
			if strings.Contains(text, mark) {
				return nil, false
			}
		}
		return f(text)
	}
}

// command returns the text of a call in which a file may be named: the member cmd or command of
// arguments, or all of an input that is not JSON.
func command(v gjson.Result) string {
	if v.IsArray() {
		return joinArray(v)
	}
	if !validJSON(v.Str) {
		return v.Str
	}
	args := gjson.Parse(v.Str)
	for _, member := range []string{"cmd", "command", "path", "file_path"} {
		if m := args.Get(member); m.IsArray() {
			return joinArray(m)
		} else if m.Str != "" {
			return m.Str
		}
	}
	return ""
}

func joinArray(v gjson.Result) string {
	out := ""
	for _, w := range v.Array() {
		out += w.Str + "\n"
	}
	return out
}

// patchFiles returns the files that a patch names.
func patchFiles(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if file, is := strings.CutPrefix(line, mark); is {
				out = append(out, strings.TrimSpace(file))
			}
		}
	}
	return out
}

// output reads what a tool gave to the model. It looks for whether the tool succeeded, in the
// program's own words around it.
func (x *codexSession) output(p gjson.Result) {
	key, called := x.calls[p.Get("call_id").Str]
	if !called || x.known[key] {
		return
	}
	out := p.Get("output")
	ok := out.Get("success")
	if out.IsArray() {
		out = out.Get("0.text")
	}
	code, told := exitCode(out.Raw)
	if told {
		x.b.Exit(key, code)
	}
	if told && code == 0 && looksAt(x.b, key) {
		text := ""
		if needsOutput(x.b, key) {
			_, text, _ = strings.Cut(out.Str, "Output:\n")
		}
		x.b.Output(key, text)
	}
	switch {
	case ok.IsBool():
		x.result(key, ok.Bool())
	case told:
		x.result(key, code == 0)
	}
}

// result says whether the call of a key succeeded: then its patch was written.
func (x *codexSession) result(key string, ok bool) {
	if ok {
		x.notePatchLines(key)
		for _, file := range x.patches[key].files {
			x.b.Wrote(file)
		}
	}
	x.b.Result(key, ok)
	delete(x.patches, key)
}

// notePatchLines notes what lines a patch has found in the files that it changed.
func (x *codexSession) notePatchLines(key string) {
	for file, lines := range x.patches[key].lines {
		x.b.AddLines(file, lines)
	}
}

// noteResult notes a result that an event of the program reports.
func (x *codexSession) noteResult(id string, ok bool) {
	if key, called := x.calls[id]; called {
		x.known[key] = true
		if ok {
			x.notePatchLines(key)
		}
		delete(x.patches, key) // the event names the files itself
		x.b.Result(key, ok)
	}
}

// exitCode finds the code with which a command ended in the frame that the program puts
// around its output, as raw JSON. What the command itself printed is not looked at.
func exitCode(raw string) (code int, told bool) {
	const frame = 400
	head, tail := raw[:min(len(raw), frame)], raw[max(0, len(raw)-frame):]
	const exited, metadata = "Process exited with code ", `\"metadata\":{\"exit_code\":`
	switch {
	case strings.HasPrefix(head, `"Exit code: `):
		return number(head[len(`"Exit code: `):])
	case strings.HasPrefix(head, `"{\"output\":`):
		if i := strings.LastIndex(tail, metadata); i >= 0 {
			return number(tail[i+len(metadata):])
		}
	case strings.HasPrefix(head, `"apply_patch verification failed`), strings.HasPrefix(head, `"exec_command failed`):
		return 1, true
	case strings.HasPrefix(head, `"Chunk ID: `), strings.HasPrefix(head, `"Wall time: `):
		head, _, _ = strings.Cut(head, `\nOutput:`)
		if _, rest, found := strings.Cut(head, exited); found {
			return number(rest)
		}
	}
	return 0, false
}

// number returns the number with which a text begins.
func number(text string) (n int, is bool) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	return n, err == nil
}
