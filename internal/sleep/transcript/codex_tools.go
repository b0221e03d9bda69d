package transcript

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// call is a call of a tool. Ids of calls come again where the model's server gives no new
// ones: a call of a line is one of its own.
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
		x.patches[key] = patched(first(p.Get("input").Str, gjson.Get(p.Get("arguments").Str, "input").Str))
		return
	}
	for _, member := range []string{"arguments", "input", "action.command"} {
		if v := p.Get(member); strings.Contains(v.Raw, "SKILL.md") {
			x.b.Read(command(v))
		}
	}
}

// command is the text of a call in which a file may be named: the member cmd or command of
// arguments, or all of an input that is none of JSON.
func command(v gjson.Result) string {
	if v.IsArray() {
		return joined(v)
	}
	if !validJSON(v.Str) {
		return v.Str
	}
	args := gjson.Parse(v.Str)
	for _, member := range []string{"cmd", "command", "path", "file_path"} {
		if m := args.Get(member); m.IsArray() {
			return joined(m)
		} else if m.Str != "" {
			return m.Str
		}
	}
	return ""
}

func joined(v gjson.Result) string {
	out := ""
	for _, w := range v.Array() {
		out += w.Str + "\n"
	}
	return out
}

// patched are the files that a patch names.
func patched(patch string) []string {
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

// output is what a tool gave to the model: only whether it succeeded is looked for, in the
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
	switch code, told := exitCode(out.Raw); {
	case ok.IsBool():
		x.result(key, ok.Bool())
	case told:
		x.result(key, code == 0)
	}
}

// result says whether the call of a key succeeded: then its patch was written.
func (x *codexSession) result(key string, ok bool) {
	x.b.Result(key, ok)
	if ok {
		for _, file := range x.patches[key] {
			x.b.Wrote(file)
		}
	}
	delete(x.patches, key)
}

// told is a result that an event of the program tells.
func (x *codexSession) told(id string, ok bool) {
	if key, called := x.calls[id]; called {
		x.known[key] = true
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

// number is the number with which a text begins.
func number(text string) (n int, is bool) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	return n, err == nil
}
