package spreadsheet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// The tools.
const (
	toolShell = "bash"
	toolWrite = "write_file"
)

// Bounds of tools.
const (
	commandTime = 60 * time.Second
	maxShown    = 4000 // characters of what a command prints
	maxWrite    = 1 << 20
)

// tools is an episode in which the model has tools, and a folder that lasts.
type tools struct {
	bench
	folder *folder
	code   string // solution.py as it ran last with success, "" if it has not
	left   bool   // there is an output
	failed string // what was wrong last
}

// Close removes the folder in which programs ran.
func (t *tools) Close() error { return errors.Join(t.folder.close(), t.bench.Close()) }

// Start shows the workbook and the tools.
func (t *tools) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: preview(t.input) + `

## How to work
Your folder holds input.xlsx. Write a program solution.py that reads the workbook at INPUT_PATH and saves the changed one at OUTPUT_PATH: both variables are defined when you run "python solution.py". The same program then has to work on other workbooks of this form. Leave everything else in the workbook as it is. Write the values themselves into the cells that are asked for: a formula that openpyxl writes has no value yet. Look at output.xlsx when the program has run, and reply without a tool call when it is right.`, Tools: descriptions()}, nil
}

// descriptions returns the tools as the model sees them.
func descriptions() []model.Tool {
	return []model.Tool{
		{
			Name: toolShell, Description: "Runs Python in your folder and returns what it prints: python FILE, or python -c CODE. There is no shell: no pipes, no other programs.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string","description":"such as: python solution.py"}},"required":["cmd"]}`),
		},
		{
			Name: toolWrite, Description: "Writes a text file in your folder, and replaces one that is there.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"within your folder, such as solution.py"},"content":{"type":"string"}},"required":["path","content"]}`),
		},
	}
}

// Act carries out a call. A reply without one ends the episode.
func (t *tools) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	var args struct {
		Cmd     string
		Path    string
		Content string
	}
	switch {
	case a.Call == nil:
		return t.end(ctx)
	case json.Unmarshal(a.Call.Arguments, &args) != nil:
		return refuse("The arguments are not an object of texts. bash takes {cmd}, write_file takes {path, content}."), nil
	case a.Call.Name == toolWrite:
		return t.write(args.Path, args.Content), nil
	case a.Call.Name != toolShell:
		return refuse(fmt.Sprintf("There is no tool %q. There are bash and write_file.", a.Call.Name)), nil
	}
	o, err := t.shell(ctx, args.Cmd)
	if err != nil || !a.Last {
		return o, err
	}
	return t.end(ctx)
}

func refuse(text string) world.Observation { return world.Observation{Text: text, Failed: true} }

// end applies the program to the other cases.
func (t *tools) end(ctx context.Context) (world.Observation, error) {
	if !t.left {
		if t.failed == "" {
			t.failed = "no program has written output.xlsx"
		}
		return world.Observation{Failure: "exec: " + lastLine(t.failed)}, nil
	}
	if t.code == "" { // by other means than solution.py, which others cannot be made with
		return world.Observation{Done: true}, nil
	}
	return world.Observation{Done: true}, t.rest(ctx, t.code)
}

// write writes a file of the model.
func (t *tools) write(name, content string) world.Observation {
	name = filepath.ToSlash(filepath.Clean(name))
	switch {
	case !filepath.IsLocal(name) || name == ".":
		return refuse("The path leads out of your folder. Allowed: a path within it, such as solution.py.")
	case len(content) > maxWrite:
		return refuse(fmt.Sprintf("The content has %s, at most %s are allowed.", disk.Size(int64(len(content))), disk.Size(maxWrite)))
	}
	if err := t.folder.put(name, []byte(content)); err != nil {
		return refuse("The file was not written: " + t.folder.plain(err.Error()))
	}
	return world.Observation{Text: fmt.Sprintf("%s has %d bytes now.", name, len(content))}
}

// shell runs Python, and keeps the output of a command that ended well.
func (t *tools) shell(ctx context.Context, line string) (world.Observation, error) {
	args, why := parseCommand(line)
	if why != "" {
		return refuse(why), nil
	}
	solves := len(args) == 1 && filepath.Clean(args[0]) == nameProgram
	run := append([]string{"-s"}, args...)
	if solves {
		run = programArgs()
	}
	out, err := t.world.run(ctx, t.folder, run, commandTime)
	if err != nil {
		return world.Observation{}, err
	}
	said := out.errors // warnings
	if out.failure != "" {
		said = out.report()
	}
	text := strings.TrimSpace(keepEnd(strings.TrimSpace(out.printed+"\n"+said), maxShown))
	note, err := t.keep(ctx, out, solves)
	if err != nil {
		return world.Observation{}, err
	}
	if text = strings.TrimSpace(text + note); text == "" {
		text = "(it printed nothing)"
	}
	return world.Observation{Text: text, Failed: out.failure != ""}, nil
}

// keep leaves what a command wrote as output, if it ended well, and returns a note about it.
func (t *tools) keep(ctx context.Context, out outcome, solves bool) (note string, err error) {
	if out.failure != "" {
		if t.failed = out.report(); solves {
			_ = t.folder.root.Remove(nameOutput) // it may not be there, and is not looked at
		}
		return "", nil
	}
	book, failure, err := t.folder.take(ctx)
	switch {
	case err != nil || failure != "" && !solves:
		return "", err
	case failure != "":
		t.failed = failure
		return "\n\n" + failure, nil
	}
	if err := t.leave(nameOutput, book); err != nil {
		return "", err
	}
	if t.left = true; !solves {
		return "", nil
	}
	code, err := disk.ReadIn(ctx, t.folder.root, nameProgram, maxWrite)
	if err != nil && ctx.Err() == nil {
		return "\n\nsolution.py cannot be read any more.", nil
	}
	t.code = string(code)
	return "\n\n" + outputNote(book), err
}

// outputNote says what is in an output.
func outputNote(book []byte) string {
	text := "output.xlsx is there. " + strings.TrimPrefix(preview(book), "## ")
	open, err := openBook(book)
	if err != nil {
		return text
	}
	cells, err := open.WithoutValue()
	if err != nil || len(cells) == 0 {
		return text
	}
	var names []string
	for _, c := range cells[:min(len(cells), 10)] {
		names = append(names, c.Sheet+"!"+c.At.String())
	}
	return text + fmt.Sprintf("\n\nCells with a formula and no value, which count as empty: %s (%d in all). Write the values.", strings.Join(names, ", "), len(cells))
}

// parseCommand splits a command as a shell does, and returns the arguments of Python; or what is wrong with it.
func parseCommand(line string) (args []string, why string) {
	words, ok := splitWords(line)
	const allowed = ` Allowed: python FILE, and python -c "CODE". To write a file, use write_file.`
	switch {
	case !ok:
		return nil, "A quote in the command is not closed." + allowed
	case len(words) == 0 || words[0] != "python" && words[0] != "python3":
		return nil, "There is no shell here." + allowed
	case len(words) == 1 || words[1] == "-":
		return nil, "Python has no input here." + allowed
	}
	return words[1:], ""
}

// splitWords splits a line at blanks. Quotes keep blanks; a backslash keeps the next sign, except between single
// quotes. It is false for a quote that is not closed.
func splitWords(line string) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	began, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, began = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, began = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if began {
				words = append(words, word.String())
			}
			word.Reset()
			began = false
		default:
			word.WriteRune(r)
			began = true
		}
	}
	if began {
		words = append(words, word.String())
	}
	return words, quote == 0 && !escaped
}
