package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// A tool is a command, as a model may call it.
type tool struct {
	name    string
	command string   // such as runs list
	args    []mcpArg // its positional arguments
	flags   []string // that a model may give
	paths   []string // of these, those that name files
	note    string   // what the help of the command does not say

	fixed func(args mcp.Args) []string // further words; nil: none
	keep  []string                     // the members of its document that are shown, such as summary.test; none: all
	drop  []string                     // those that are not
	list  string                       // the member that is shown in parts
	waits bool                         // it takes wait

	// run carries out a call with the words that it amounts to; nil: as any command.
	run func(ctx context.Context, s *mcpServer, call *mcp.Call, g *config.Guard, words []string) ([]byte, error)
}

// mcpArg is a positional argument.
type mcpArg struct {
	name, description string
	path              bool
	needed            bool
	number            bool
	missing           string // instead of one that is not given; newest: the newest run
}

// newest is instead of a run that is not named.
const newest = "\x00"

// toolTable lists the tools that cost nothing.
func toolTable() []tool {
	skillArg := mcpArg{name: "skill", description: "the folder of a skill, or its SKILL.md", path: true, needed: true}
	configArg := mcpArg{name: "config", description: "a config, or a folder with config.yaml", path: true, needed: true}
	runArg := mcpArg{name: "run", description: "the folder of a run, such as runs/my-skill-1; default: the newest in the folder runs", path: true, missing: newest}
	oneRun := mcpArg{name: "run", description: "the folder of a run, such as runs/my-skill-1", path: true, needed: true}
	return []tool{
		{name: "skill_lint", command: "skill lint", args: []mcpArg{skillArg}, flags: []string{"strict"}, list: "findings"},
		{name: "tasks_lint", command: "tasks lint", args: []mcpArg{{name: "config", description: "a config, a folder with config.yaml, or a file of tasks", path: true, needed: true}}, list: "findings"},
		{
			name: "train_plan", command: "train", args: []mcpArg{configArg}, flags: []string{"set", "limit"},
			fixed: func(mcp.Args) []string { return []string{"--plan"} },
			note:  "This tool trains nothing: it says what a training would take in calls, tokens, money and time (train --plan), and sends nothing.",
		},
		{
			name: "runs_list", command: "runs list", flags: []string{"status", "tag"}, list: "runs",
			args: []mcpArg{{name: "folder", description: "a folder with runs; default: runs", path: true, missing: "runs"}},
		},
		{
			name: "runs_show", command: "runs show", list: "history.steps", drop: []string{"manifest.identity", "manifest.operational"},
			args: []mcpArg{runArg, {name: "step", description: "the number of a step: all that it proposed and decided", number: true}},
		},
		{
			name: "runs_failures", command: "runs tasks", flags: []string{"step", "type", "prompt"}, list: "failing",
			args: []mcpArg{runArg, {name: "task", description: "the id of a task: all that was asked and answered of this one"}},
			fixed: func(args mcp.Args) []string {
				if _, one := argument(args["task"]); one {
					return nil
				}
				return []string{"--failing"}
			},
			note: "This tool lists the tasks that fail on the selection split, or shows one. Of test tasks it shows nothing.",
		},
		{
			name: "runs_diff", command: "runs diff", flags: []string{"from", "to"}, list: "diff",
			args: []mcpArg{oneRun, {name: "other", description: "another run", path: true}},
		},
		{name: "runs_blame", command: "runs blame", args: []mcpArg{runArg}, flags: []string{"at", "line", "file"}, list: "lines"},
		{
			name: "runs_certificate", command: "runs show", args: []mcpArg{runArg},
			keep: []string{"run_dir", "manifest.status", "score", "change", "summary.certificate", "summary.test", "summary.simulated", "summary.exploratory", "comparison.look", "comparison.verdict"},
			note: "This tool shows of that how sure the result is: the certificate, which compares the best skill with the seed skill on test tasks that training has not read. null: there is none.",
		},
		{name: "sleep_status", command: "sleep status", run: runSleepTool, keep: []string{"profile_found", "last_read", "week"}, drop: []string{"week.problems", "week.scheduled"}},
		{
			name: "sleep_show", command: "sleep show", flags: []string{"why"}, args: []mcpArg{nightArgument()}, run: runSleepTool, drop: []string{"texts", "diffs.diff", "words", "adopt_by"},
			note: "sleep_diff shows the texts.",
		},
		{name: "sleep_diff", command: "sleep show", args: []mcpArg{nightArgument()}, run: runSleepTool, keep: []string{"id", "project", "diffs"}, list: "diffs"},
	}
}

func nightArgument() mcpArg {
	return mcpArg{name: "night", description: "the name of a night; default: the last one"}
}

// tools makes tools of commands.
func (s *mcpServer) tools() []mcp.Tool {
	var out []mcp.Tool
	for _, t := range toolTable() {
		out = append(out, t.build(s))
	}
	out = append(out, s.adoptTool())
	for _, t := range s.paidTools() {
		b := t.build(s)
		b.Writes = true
		out = append(out, b)
	}
	return out
}

// build makes the tool.
func (t tool) build(s *mcpServer) mcp.Tool {
	c, _, err := rootCommand(&app{}).Find(strings.Fields(t.command))
	if err != nil {
		panic(err) // the table names commands
	}
	out := mcp.Tool{Name: t.name, Title: c.Short, Description: describeTool(c, t.note)}
	for _, a := range t.args {
		p := mcp.Param{Name: a.name, Description: a.description, Type: mcp.Text, Required: a.needed}
		if a.number {
			p.Type = mcp.Integer
		}
		out.Params = append(out.Params, p)
	}
	for _, name := range t.flags {
		out.Params = append(out.Params, flagParam(c.Flags().Lookup(name)))
	}
	if t.list != "" {
		what := t.list[strings.LastIndexByte(t.list, '.')+1:]
		out.Params = append(out.Params,
			mcp.Param{Name: "after", Description: "leave out this number of " + what + ", from the first", Type: mcp.Integer},
			mcp.Param{Name: "limit", Description: "show at most this number of " + what + "; default: as many as fit", Type: mcp.Integer})
	}
	if t.waits {
		out.Params = append(out.Params, mcp.Param{Name: "wait", Description: "seconds that the call waits for the end before it says how far the training is, 0 to 600; default: 45", Type: mcp.Integer})
	}
	out.Run = func(ctx context.Context, call *mcp.Call) (string, error) { return t.call(ctx, s, call) }
	return out
}

// flagParam makes a parameter of a flag.
func flagParam(f *pflag.Flag) mcp.Param {
	p := mcp.Param{Name: strings.ReplaceAll(f.Name, "-", "_"), Description: f.Usage, Type: mcp.Text}
	switch f.Value.Type() {
	case "bool":
		p.Type = mcp.Boolean
	case "int":
		p.Type = mcp.Integer
	case "stringArray", "stringSlice":
		p.Type = mcp.Texts
	}
	return p
}

// maxDescription is the length of what is said of a tool, in bytes.
const maxDescription = 900

// exitCodes are the paragraphs of help about exit codes.
var exitCodes = pattern.New(`(?s)Exit codes?\b.*$`)

// describeTool returns what the help of a command says to a model: the paragraphs that fit, with flags as arguments.
func describeTool(c *cobra.Command, note string) string {
	text := c.Short + "."
	for p := range strings.SplitSeq(strings.TrimSpace(exitCodes.ReplaceAllString(c.Long, "")), "\n\n") {
		if p = strings.ReplaceAll(strings.Join(strings.Fields(p), " "), " --", " "); len(text)+len(p)+len(note) > maxDescription {
			break
		} else if p != "" {
			text += "\n\n" + p
		}
	}
	if note != "" {
		text += "\n\n" + note
	}
	return text
}

// call carries out a call.
func (t tool) call(ctx context.Context, s *mcpServer, call *mcp.Call) (string, error) {
	g, err := s.guard(ctx, call.Peer)
	if err != nil {
		return "", err
	}
	words, err := t.words(g, call.Args)
	if err != nil {
		return "", err
	}
	run := t.run
	if run == nil {
		run = runFree
	}
	doc, err := run(ctx, s, call, g, words)
	if len(doc) == 0 {
		return "", err
	}
	after, _ := call.Args["after"].(int)
	limit, _ := call.Args["limit"].(int)
	if slices.Contains(t.flags, "limit") { // it is one of the command's
		limit = 0
	}
	return mcp.Page{List: t.list, After: max(0, after), Limit: max(0, limit)}.Shorten(t.choose(doc)), err
}

// runFree carries out a command that costs nothing.
func runFree(ctx context.Context, s *mcpServer, _ *mcp.Call, g *config.Guard, words []string) ([]byte, error) {
	return s.carryOut(ctx, sub{guard: g}, words...)
}

// choose returns a document with the members that the tool shows.
func (t tool) choose(doc []byte) []byte {
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if len(t.keep)+len(t.drop) == 0 || d.Decode(&all) != nil {
		return doc
	}
	out := all
	if len(t.keep) > 0 {
		out = map[string]any{}
	}
	for _, path := range t.keep {
		at, name, _ := strings.Cut(path, ".")
		if name == "" {
			out[at] = all[at]
		} else if inner, ok := all[at].(map[string]any); ok {
			out[name] = inner[name]
		}
	}
	for _, path := range t.drop {
		at, name, _ := strings.Cut(path, ".")
		if name == "" {
			delete(out, at)
		}
		list, many := out[at].([]any)
		if !many {
			list = []any{out[at]}
		}
		for _, item := range list {
			if m, ok := item.(map[string]any); ok {
				delete(m, name)
			}
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return doc
	}
	return data
}

// words makes a command line.
func (t tool) words(g *config.Guard, args mcp.Args) ([]string, error) {
	if _, err := insideRoots(g, "runs"); err != nil { // which is looked into where no run is named
		return nil, err
	}
	words := append(strings.Fields(t.command), "--json")
	if t.fixed != nil {
		words = append(words, t.fixed(args)...)
	}
	for _, name := range t.flags {
		values, err := t.values(g, name, args[strings.ReplaceAll(name, "-", "_")])
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			words = append(words, "--"+name+"="+v)
		}
	}
	words = append(words, "--")
	for _, a := range t.args {
		v, there := argument(args[a.name])
		if !there && a.missing == "" {
			continue
		}
		if !there {
			v = a.missing
		}
		if v == newest {
			var err error
			if v, err = newestRun(g); err != nil {
				return nil, err
			}
		}
		if a.path {
			full, err := insideRoots(g, v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			v = full
		}
		words = append(words, v)
	}
	return words, nil
}

// newestRun returns the newest run in the folder runs.
func newestRun(g *config.Guard) (string, error) {
	return runOrNewest(&app{Streams: Streams{Dir: g.Roots[0]}}, nil)
}

// values returns the values of a flag as words.
func (t tool) values(g *config.Guard, name string, given any) ([]string, error) {
	list, many := given.([]string)
	if one, ok := argument(given); ok && !many {
		list = []string{one}
	}
	for i, v := range list {
		switch {
		case name == "set" && (strings.HasPrefix(v, "tasks") || strings.HasPrefix(v, "split")):
			return nil, usagef("set %s: which tasks there are, and which are kept for the test, is said by the config alone", v)
		case slices.Contains(t.paths, name):
			full, err := insideRoots(g, v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			list[i] = full
		}
	}
	return list, nil
}

// argument returns a value as a word.
func argument(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
