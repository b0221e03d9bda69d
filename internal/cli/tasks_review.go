package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// tasksReviewOptions are the flags of tasks review.
type tasksReviewOptions struct {
	acceptAll bool
	editor    string
}

func tasksReviewCommand(a *app) *cobra.Command {
	var o tasksReviewOptions
	c := &cobra.Command{
		Use:   "review CONFIG_OR_DIR | TASKS",
		Short: "Go through tasks that a model drafted, and accept or reject them",
		Long: `Go through tasks that a model drafted (reviewed: false), one by one, and
answer with a letter and Enter:

  a  accept: the task is as good as one of your own
  e  edit it in the editor that --editor names, then decide
  r  reject: it moves to rejected.jsonl next to the tasks
  s  skip: it stays unreviewed
  q  quit; the same command continues where you stopped

Every decision is written at once. Runs on tasks that no one has accepted are
exploratory.`,
		Example: `  skillopt tasks review my-skill
  skillopt tasks review my-skill/tasks.jsonl --editor nano
  skillopt tasks review my-skill --accept-all --json`,
		Args: exactArgs(1, "a config, a directory or a task file"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args[0]) },
	}
	c.Flags().BoolVar(&o.acceptAll, "accept-all", false, "accept every task without showing it")
	c.Flags().StringVar(&o.editor, "editor", "", "editor to edit with, such as nano or \"code --wait\"")
	return c
}

// reviewCounts is the result of a review.
type reviewCounts struct {
	Files    []string `json:"files"`
	Accepted int      `json:"accepted"`
	Rejected int      `json:"rejected"`
	Edited   int      `json:"edited"`
	Skipped  int      `json:"skipped"`
	Pending  int      `json:"left"` // still unreviewed
}

// run has drafted tasks reviewed.
func (o *tasksReviewOptions) run(a *app, path string) error {
	l, err := a.loadConfigOrTasks(path, nil)
	if err != nil {
		return err
	}
	files, err := reviewFiles(l.Config.Tasks.Path)
	if err != nil {
		return err
	}
	w := &reviewer{app: a, options: *o, out: a.Out, in: bufio.NewReader(a.In), lookup: l.Lookup}
	if a.json {
		w.out = onScreen(a.Err)
	}
	for _, file := range files {
		r, err := draft.OpenReview(file)
		if err != nil {
			return usagef("%v", err)
		}
		w.counts.Files = append(w.counts.Files, a.relative(file))
		w.total += len(r.PendingLines())
		w.reviews = append(w.reviews, r)
	}
	if w.total > 0 && !o.acceptAll && !isTerminal(a.In) {
		return usagef("%s to be reviewed, but there is no terminal to ask on; run this in a terminal, or accept them unseen with --accept-all", wording.Plural(w.total, "task is", "tasks are"))
	}
	switch err := w.all(); {
	case errors.Is(err, errInterrupted):
		return &shownError{errors.Join(err, w.print())}
	case err != nil && !errors.Is(err, errQuit):
		return err
	}
	return w.print()
}

// isTerminal reports whether in is a terminal.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// reviewFiles lists the JSONL files of a set.
func reviewFiles(path string) ([]string, error) {
	if path == "" {
		return nil, usagef("the config names no tasks: set tasks.path to a folder of task files or to one JSONL file")
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, usagef("%s: %v", path, stripPath(err))
	}
	if !st.IsDir() {
		if !isLines(path) {
			return nil, usagef("%s: a review changes .jsonl files; in other files set reviewed to true, or take it out, by hand", path)
		}
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(globEscaped(path), pattern))
		if err != nil {
			return nil, fmt.Errorf("look for tasks: %w", err)
		}
		for _, name := range found {
			if isLines(name) && filepath.Base(name) != task.RejectedFile {
				files = append(files, name)
			}
		}
	}
	if len(files) == 0 {
		return nil, usagef("%s holds no .jsonl file; a review changes those only", path)
	}
	return files, nil
}

func isLines(path string) bool {
	return slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(path)))
}

// globEscaped returns a path in which the characters that a pattern would read otherwise are escaped.
func globEscaped(path string) string {
	if os.PathSeparator == '\\' {
		return path // where nothing can be quoted
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// reviewer goes through the unreviewed tasks of files with the user.
type reviewer struct {
	app     *app
	options tasksReviewOptions
	in      *bufio.Reader
	out     io.Writer
	lookup  func(string) (string, bool)
	reviews []*draft.Review
	counts  reviewCounts
	total   int
	shown   int

	mined   bool                           // tasks are of sessions, in a file that belongs to no one
	edited  func(line []byte) error        // takes an edited task, instead of the rules for drafts; an error says why not
	decided func(id string, ok bool) error // gets each decision before it is written; nil: no one does
}

// What ends a review before the last task, in good order.
var (
	errQuit        = errors.New("quit")
	errInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)
)

// print prints the result of the review.
func (w *reviewer) print() error {
	for _, r := range w.reviews {
		w.counts.Pending += len(r.PendingLines())
	}
	c := w.counts
	if w.app.json {
		return printJSON(w.app.Out, c)
	}
	if w.total == 0 {
		_, err := fmt.Fprintln(w.app.Out, "nothing to review: no task says reviewed: false")
		return err
	}
	fmt.Fprintf(w.app.Out, "%d accepted, %d rejected, %d skipped", c.Accepted, c.Rejected, c.Skipped)
	if c.Edited > 0 {
		fmt.Fprintf(w.app.Out, ", %d edited", c.Edited)
	}
	if c.Pending > 0 {
		_, err := fmt.Fprintf(w.app.Out, "; %d left, the same command continues\n", c.Pending)
		return err
	}
	_, err := fmt.Fprintln(w.app.Out, "; none left: runs on these tasks are no longer exploratory")
	return err
}

func (w *reviewer) all() error {
	for _, r := range w.reviews {
		if err := w.file(r); err != nil {
			return err
		}
	}
	return nil
}

func (w *reviewer) file(r *draft.Review) error {
	pending := r.PendingLines()
	if w.options.acceptAll {
		w.counts.Accepted += len(pending)
		return r.Accept(pending...)
	}
	for _, i := range pending {
		w.shown++
		w.show(r, i)
		if err := w.decide(r, i); err != nil {
			return err
		}
	}
	return nil
}

// decide asks about a task until there is a decision.
func (w *reviewer) decide(r *draft.Review, i int) error {
	for {
		answer, err := w.ask()
		if err != nil {
			return err
		}
		switch answer {
		case "a", "accept":
			if err := w.note(r, i, true); err != nil {
				return err
			}
			w.counts.Accepted++
			return r.Accept(i)
		case "r", "reject":
			if err := w.note(r, i, false); err != nil {
				return err
			}
			w.counts.Rejected++
			return r.Reject(i)
		case "s", "skip":
			w.counts.Skipped++
			return nil
		case "q", "quit":
			return errQuit
		case "e", "edit":
			if err := w.edit(r, i); err != nil {
				return err
			}
			w.show(r, i)
		default:
			fmt.Fprintln(w.out, "a, e, r, s or q, then Enter")
		}
	}
}

// note reports a decision to the one who wants to know it.
func (w *reviewer) note(r *draft.Review, i int, ok bool) error {
	if w.decided == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Line(i), &fields); err != nil {
		return fmt.Errorf("%s:%d: %w", r.Path(), r.Number(i), err)
	}
	return w.decided(textField(fields["id"]), ok)
}

// ask reads an answer. The end of the input and an interrupt mean to stop; what
// was decided is on the disk.
func (w *reviewer) ask() (string, error) {
	fmt.Fprint(w.out, "[a]ccept [e]dit [r]eject [s]kip [q]uit > ")
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	// Nothing can call a read of a terminal back: after an interrupt it ends with
	// the program.
	go func() {
		text, err := w.in.ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-w.app.Signals:
		fmt.Fprintln(w.out)
		return "", errInterrupted
	case l := <-read:
		text := strings.ToLower(strings.TrimSpace(l.text))
		if l.err != nil && text == "" {
			fmt.Fprintln(w.out)
			return "", errQuit
		}
		return text, nil
	}
}

// show prints a task.
func (w *reviewer) show(r *draft.Review, i int) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Line(i), &fields); err != nil {
		fmt.Fprintf(w.out, "%s:%d: %v\n", w.app.relative(r.Path()), r.Number(i), err)
		return
	}
	place := fmt.Sprintf("%s:%d  ", w.app.relative(r.Path()), r.Number(i))
	if w.mined {
		place = "" // the file belongs to no one
	}
	fmt.Fprintf(w.out, "\ntask %d of %d  %s%s\n", w.shown, w.total, place, oneLine(textField(fields["id"])))
	for _, name := range fieldOrder(fields) {
		for n, text := range fieldTexts(name, fields[name]) {
			if n == 0 {
				fmt.Fprintf(w.out, "%s\n", fieldLabel(name))
			}
			w.block(text)
		}
	}
}

// fieldOrder lists what is shown: the rule first, then what is asked and what is
// expected, then everything else.
func fieldOrder(fields map[string]json.RawMessage) []string {
	order := []string{"source", "prompt", "trigger", "why", "gold", "answer", "answers", "checks", "hidden", "doubts"}
	var rest []string
	for name := range fields {
		if !slices.Contains(order, name) && !slices.Contains([]string{"id", "type", "task_type", "split", "reviewed"}, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}

func fieldLabel(name string) string {
	switch name {
	case "source":
		return "tests"
	case "prompt":
		return "asks"
	case "gold", "answer", "answers":
		return "expects"
	case "checks":
		return "is scored by"
	case "trigger":
		return "loads the skill"
	case "why":
		return "because"
	case "hidden":
		return "for analysts"
	case "doubts":
		return "is doubtful"
	}
	return oneLine(name)
}

// fieldTexts returns the values of a field as texts.
func fieldTexts(name string, raw json.RawMessage) []string {
	var list []json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = textField(v)
		if name == "checks" {
			out[i] = checkText(v)
		}
	}
	return out
}

// textField returns a text as it is, and any other value as JSON.
func textField(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// checkText shows a check by its type, then its other keys.
func checkText(raw json.RawMessage) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil || keys["type"] == nil {
		return textField(raw)
	}
	words := []string{textField(keys["type"])}
	delete(keys, "type")
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		words = append(words, name+" "+string(keys[name]))
	}
	return strings.Join(words, ", ")
}

// block prints a text, indented and folded to the width of the terminal.
func (w *reviewer) block(text string) {
	const indent = "  "
	width := w.app.Width
	if width <= 0 {
		width = 80
	}
	for line := range strings.SplitSeq(strings.TrimRight(printable(text), "\n"), "\n") {
		for part := range strings.SplitSeq(fold(line, width-len(indent)-1), "\n") {
			fmt.Fprintf(w.out, "%s%s\n", indent, part)
		}
	}
}

// edit has the user's editor change a task. What it leaves is linted; a task that
// is broken is not taken.
func (w *reviewer) edit(r *draft.Review, i int) (err error) {
	argv := strings.Fields(w.options.editor)
	if len(argv) == 0 {
		command := "tasks review ..."
		if w.mined {
			command = "sleep review"
		}
		fmt.Fprintf(w.out, "name an editor to edit with: skillopt %s --editor nano\n", command)
		return nil
	}
	dir, err := os.MkdirTemp("", "skillopt-review-*")
	if err != nil {
		return fmt.Errorf("edit task: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var text bytes.Buffer
	if err := json.Indent(&text, r.Line(i), "", "  "); err != nil {
		return fmt.Errorf("edit task: %w", err)
	}
	path := filepath.Join(dir, "task.json")
	if err := os.WriteFile(path, append(text.Bytes(), '\n'), 0o600); err != nil {
		return fmt.Errorf("edit task: %w", err)
	}
	if err := w.runEditor(argv, path); err != nil {
		fmt.Fprintf(w.out, "the editor failed, the task is as it was: %v\n", err)
		return nil
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("edit task: %w", err)
	}
	if bytes.Equal(bytes.TrimSpace(now), text.Bytes()) {
		return nil
	}
	taken := w.edited
	if taken == nil {
		taken = func(line []byte) error { return draft.Lint(dir, line) }
	}
	if err := taken(now); err != nil {
		fmt.Fprintf(w.out, "not taken, the task is as it was:\n%s\n", err)
		return nil
	}
	w.counts.Edited++
	return r.Replace(i, now)
}

// runEditor starts the editor on the terminal of this program. It is the user's
// own choice and sees what ordinary programs need, and no keys.
func (w *reviewer) runEditor(argv []string, path string) error {
	cmd := exec.Command(argv[0], append(slices.Clone(argv[1:]), path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.app.In, underlyingWriter(w.app.Err), underlyingWriter(w.app.Err)
	cmd.Dir = w.app.Dir
	cmd.Env = env.AllowedVariables(w.lookup)
	for _, name := range []string{"TERM", "COLORTERM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"} {
		if v, ok := w.lookup(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd.Run()
}
