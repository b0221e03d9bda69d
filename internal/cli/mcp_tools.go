package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// A tool is a command whose flags are allow-listed.
type tool struct {
	name    string
	command string   // the command that it is, such as runs list
	args    []mcpArg // what stands for its positional arguments
	flags   []string // those that a model may give
	paths   []string // of these, those that name files
	fixed   []string // words that are always there
	list    string   // the member of its document that is shown in parts
	note    string   // what the help of the command does not say
}

// mcpArg is a positional argument.
type mcpArg struct {
	name, description string
	path              bool
	needed            bool
	missing           string // instead of one that is not given
}

var (
	skillArg = mcpArg{name: "skill", description: "the folder of a skill, or its SKILL.md", path: true, needed: true}
	runsArg  = mcpArg{name: "folder", description: "a folder with runs; default: runs", path: true, missing: "runs"}
)

// toolTable lists the tools that cost nothing.
func toolTable() []tool {
	return []tool{
		{name: "skill_lint", command: "skill lint", args: []mcpArg{skillArg}, flags: []string{"strict"}, list: "findings"},
		{name: "runs_list", command: "runs list", args: []mcpArg{runsArg}, flags: []string{"status", "tag"}, list: "runs"},
	}
}

// tools makes tools of commands.
func (s *mcpServer) tools() []mcp.Tool {
	var out []mcp.Tool
	for _, t := range toolTable() {
		out = append(out, t.build(s))
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
		out.Params = append(out.Params, mcp.Param{Name: a.name, Description: a.description, Type: mcp.Text, Required: a.needed})
	}
	for _, name := range t.flags {
		out.Params = append(out.Params, flagParam(c.Flags().Lookup(name)))
	}
	if t.list != "" {
		out.Params = append(out.Params,
			mcp.Param{Name: "after", Description: "leave out so many of " + t.list, Type: mcp.Integer},
			mcp.Param{Name: "limit", Description: "show at most so many of " + t.list + "; default: what fits", Type: mcp.Integer})
	}
	out.Run = func(ctx context.Context, call *mcp.Call) (string, error) { return t.run(ctx, s, call) }
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
const maxDescription = 1500

// terminalOnly is what help says of terminals and other flags.
var terminalOnly = pattern.New(`(?s)Exit code.*$`)

// describeTool returns what the help of a command says to a model.
func describeTool(c *cobra.Command, note string) string {
	long := strings.TrimSpace(terminalOnly.ReplaceAllString(c.Long, ""))
	var kept []string
	size := 0
	for _, p := range strings.Split(long, "\n\n") {
		if size += len(p); size > maxDescription {
			break
		}
		kept = append(kept, p)
	}
	text := strings.Join(kept, "\n\n")
	if text == "" {
		text = c.Short + "."
	}
	if note != "" {
		text += "\n\n" + note
	}
	return text
}

// run carries out a call.
func (t tool) run(ctx context.Context, s *mcpServer, call *mcp.Call) (string, error) {
	g, err := s.guard(ctx, call.Peer)
	if err != nil {
		return "", err
	}
	words, err := t.words(g, call.Args)
	if err != nil {
		return "", err
	}
	doc, err := s.carryOut(ctx, g, make(chan os.Signal), words...)
	if len(doc) == 0 {
		return "", err
	}
	return t.page(call.Args).Shorten(doc), err
}

func (t tool) page(args mcp.Args) mcp.Page {
	after, _ := args["after"].(int)
	limit, _ := args["limit"].(int)
	return mcp.Page{List: t.list, After: max(0, after), Limit: max(0, limit)}
}

// words makes a command line.
func (t tool) words(g *config.Guard, args mcp.Args) ([]string, error) {
	words := append(strings.Fields(t.command), "--json")
	words = append(words, t.fixed...)
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
		if !there {
			if v = a.missing; v == "" {
				break
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

// values are those of a flag as words.
func (t tool) values(g *config.Guard, name string, given any) ([]string, error) {
	list, many := given.([]string)
	if one, ok := argument(given); ok && !many {
		list = []string{one}
	}
	if !slices.Contains(t.paths, name) {
		return list, nil
	}
	for i, v := range list {
		full, err := insideRoots(g, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list[i] = full
	}
	return list, nil
}

// argument is a value as a word.
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
