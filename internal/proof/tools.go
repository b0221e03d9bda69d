package proof

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// planFor chooses tools for the deeds. Without one that runs commands or writes files
// there is no plan.
func (s *Script) planFor(tools []model.Tool) []step {
	ways := []struct {
		deed deed
		ways []chooser
	}{
		{loads, append([]chooser{loadByName, s.readFile(skillFolder + skill.Main)}, s.shells("cat "+skillFolder+skill.Main)...)},
		{refers, append([]chooser{s.readFile(skillFolder + referenceName)}, s.shells("cat "+skillFolder+referenceName)...)},
		{executes, s.shells(skillFolder + scriptName)},
		{runs, s.shells(`printf '%s\n' "$PATH" > ` + commandFile)},
		{writes, []chooser{s.write}},
	}
	var plan []step
	able := false
	if s.expect.File != "" { // there is no skill
		ways = ways[3:]
	}
	for _, w := range ways {
		if st, ok := pickFirst(tools, w.ways...); ok {
			st.deed = w.deed
			plan, able = append(plan, st), able || w.deed == runs || w.deed == writes
		}
	}
	if !able {
		return nil
	}
	return plan
}

// skillFolder is where every agent's workspace has the skill.
const skillFolder = ".agents/skills/" + skillName + "/"

// chooser returns the arguments for a tool that can do a deed, nil for another one.
type chooser func(t model.Tool, f form) map[string]any

// pick returns the call of the first tool that can do a deed.
func pick(tools []model.Tool, choose chooser) (step, bool) {
	for _, t := range tools {
		f, ok := parseForm(t.Parameters)
		if !ok {
			continue
		}
		args := choose(t, f)
		if args == nil || !f.complete(args) {
			continue
		}
		data, err := json.Marshal(args)
		if err != nil {
			continue
		}
		return step{tool: t.Name, args: data}, true
	}
	return step{}, false
}

// pickFirst returns the call of a tool by the first way that some tool allows.
func pickFirst(tools []model.Tool, ways ...chooser) (step, bool) {
	for _, w := range ways {
		if st, ok := pick(tools, w); ok {
			return st, true
		}
	}
	return step{}, false
}

// shells returns the ways to run a line of a shell.
func (s *Script) shells(line string) []chooser { return []chooser{s.command(line), code(line)} }

// code runs a line by a tool that takes a program in JavaScript, from which it calls
// the others.
func code(line string) chooser {
	return func(t model.Tool, f form) map[string]any {
		name := f.first("input", "code")
		const inner = "tools.exec_command("
		if name == "" || !strings.Contains(t.Description, inner) {
			return nil
		}
		args, err := json.Marshal(map[string]string{"cmd": line})
		if err != nil {
			return nil
		}
		return map[string]any{name: "text(JSON.stringify(await " + inner + string(args) + ")));\n"}
	}
}

// command runs a line of a shell.
func (s *Script) command(line string) chooser {
	return func(_ model.Tool, f form) map[string]any {
		name := f.first("command", "cmd", "script")
		switch {
		case name == "" || f.first("path", "file_path", "filePath", "old_string") != "":
			return nil
		case f.kind(name) == "array":
			return map[string]any{name: []string{"sh", "-c", line}}
		}
		return map[string]any{name: line}
	}
}

// write makes a file of one text.
func (s *Script) write(_ model.Tool, f form) map[string]any {
	path, content := f.first(pathNames()...), f.first("content", "contents", "text", "file_text")
	if path == "" || content == "" || f.first("old_string", "oldString", "old") != "" {
		return nil
	}
	return map[string]any{path: s.at(writtenFile), content: writtenText}
}

// loadByName loads a skill by its name.
func loadByName(t model.Tool, f form) map[string]any {
	if !strings.Contains(strings.ToLower(t.Name), "skill") {
		return nil
	}
	name := f.first("skill", "name", "skill_name", "skillName", "command")
	if name == "" {
		return nil
	}
	return map[string]any{name: skillName}
}

// readFile returns the chooser of a call that reads a file of the workspace.
func (s *Script) readFile(name string) chooser {
	return func(t model.Tool, f form) map[string]any {
		path := f.first(pathNames()...)
		if path == "" || !strings.Contains(strings.ToLower(t.Name), "read") {
			return nil
		}
		return map[string]any{path: s.at(name)}
	}
}

func pathNames() []string {
	return []string{"file_path", "filePath", "absolute_path", "path", "filename"}
}

// at returns a path in the workspace as the agent takes it.
func (s *Script) at(name string) string {
	if s.expect.Folder == "" {
		return name
	}
	return strings.TrimRight(s.expect.Folder, "/") + "/" + name
}

// form is what a tool takes, as far as it matters here.
type form struct {
	Properties map[string]struct {
		Type json.RawMessage   `json:"type"`
		Enum []json.RawMessage `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func parseForm(schema json.RawMessage) (form, bool) {
	var f form
	if len(schema) == 0 || json.Unmarshal(schema, &f) != nil {
		return form{}, false
	}
	return f, true
}

// first returns the first of these names that is a parameter, "" if none is.
func (f form) first(names ...string) string {
	for _, n := range names {
		if _, ok := f.Properties[n]; ok {
			return n
		}
	}
	return ""
}

// kind returns the type of a parameter, in small letters.
func (f form) kind(name string) string {
	var text string
	if json.Unmarshal(f.Properties[name].Type, &text) != nil {
		return ""
	}
	return strings.ToLower(text)
}

// complete fills in what else is required, and reports whether that was possible.
func (f form) complete(args map[string]any) bool {
	for _, name := range f.Required {
		if _, ok := args[name]; ok {
			continue
		}
		v, ok := f.some(name)
		if !ok {
			return false
		}
		args[name] = v
	}
	return true
}

// some returns any value that a parameter may have.
func (f form) some(name string) (any, bool) {
	if enum := f.Properties[name].Enum; len(enum) > 0 {
		return enum[0], true
	}
	values := map[string]any{"string": "the setup is proven", "boolean": false, "integer": 10, "number": 10, "array": []any{}, "object": map[string]any{}}
	v, ok := values[f.kind(name)]
	return v, ok && slices.Contains(f.Required, name)
}
