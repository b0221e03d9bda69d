package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/importer/evals"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// tasksImportOptions are the flags of tasks import.
type tasksImportOptions struct {
	out, format, root string
	columns           []string
	partial           bool
}

func tasksImportCommand(a *app) *cobra.Command {
	var o tasksImportOptions
	c := &cobra.Command{
		Use:   "import PATH --out DIR",
		Short: "Make a folder of tasks of another program's evals",
		Long: `Make a folder of tasks, checks, a config and a skill of what another program keeps to
evaluate models with: a configuration of promptfoo, a data set or log of inspect_ai, an
eval of OpenAI, rows of Hugging Face (JSONL, CSV, Parquet), the evals of a skill folder.
It says what was taken over, what is judged otherwise, what has no counterpart and which
rows are left out, each with its file and key. Where answers would be judged by less than they were, nothing is
written unless --partial is given.

Files are read below the folder of PATH, or below --root, and nowhere else; code that they
name is not run, nothing is fetched, and variables of the environment are not read.`,
		Example: `  skillopt tasks import promptfooconfig.yaml --out my-skill
  skillopt tasks import logs/2026-11-20_arc.eval --out arc
  skillopt tasks import evals/registry/evals/arithmetic.yaml --root evals/registry --out arithmetic
  skillopt tasks import train.jsonl --map prompt=question --map gold=answer.text --out qa
  skillopt tasks import skills/pdf --out pdf-tasks --json`,
		Args: exactArgs(1, "a file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.out, "out", "", "the folder to write, which is not there yet or is empty")
	c.Flags().StringVar(&o.format, "format", "", "what it is: "+strings.Join(evals.Formats(), ", ")+"; default: what it looks like")
	c.Flags().StringArrayVar(&o.columns, "map", nil, "of rows: FIELD=COLUMN, or FIELD={{column}} with text around it; repeat it")
	c.Flags().StringVar(&o.root, "root", "", "the folder below which files are read; default: that of PATH")
	c.Flags().BoolVar(&o.partial, "partial", false, "write the folder though assertions are lost")
	return c
}

// run imports.
func (o *tasksImportOptions) run(ctx context.Context, a *app, path string) error {
	if o.out == "" {
		return usagef("--out names no folder: skillopt tasks import %s --out DIR", shellWord(path))
	}
	if err := checkEmpty(a.absolute(o.out), o.out); err != nil {
		return err
	}
	columns, err := o.parseColumns()
	if err != nil {
		return err
	}
	dir, file, err := o.source(a, path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usagef("open %s: %v", a.relative(dir), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	folder, report, err := evals.Import(ctx, evals.Source{FS: root.FS(), Root: root, File: filepath.ToSlash(file)}, evals.Options{Format: o.format, Map: columns})
	if err != nil {
		return placedIn(a.relative(dir), err)
	}
	if report.Lost > 0 && !o.partial {
		return placedIn(a.relative(dir), lostError(report))
	}
	if err := writeImported(a.absolute(o.out), root.FS(), folder); err != nil {
		return err
	}
	names := append(slices.Collect(maps.Keys(folder.Files)), slices.Collect(maps.Keys(folder.Copies))...)
	slices.Sort(names)
	if a.json {
		return printJSON(a.Out, imported{Dir: a.absolute(o.out), Files: names, Report: report})
	}
	return o.print(a, len(names), report)
}

// imported is the result of tasks import.
type imported struct {
	Dir    string       `json:"dir"`
	Files  []string     `json:"files"`
	Report evals.Report `json:"report"`
}

// parseColumns reads the flags that say which column is which field.
func (o *tasksImportOptions) parseColumns() (map[string]string, error) {
	out := map[string]string{}
	for _, one := range o.columns {
		field, column, ok := strings.Cut(one, "=")
		if field = strings.TrimSpace(field); !ok || field == "" || column == "" {
			return nil, usagef("--map: found %q, allowed: FIELD=COLUMN, such as prompt=question", one)
		}
		out[field] = column
	}
	return out, nil
}

// source returns the folder below which files are read, and what is imported as a path in it.
func (o *tasksImportOptions) source(a *app, path string) (dir, file string, err error) {
	full := a.absolute(path)
	info, err := os.Stat(full)
	if err != nil {
		return "", "", usagef("%s: %v; name a file or a folder that is there", path, stripPath(err))
	}
	if o.root == "" {
		if info.IsDir() {
			return full, ".", nil
		}
		dir = filepath.Dir(full)
		above := filepath.Dir(dir)
		if there, _ := isThere(filepath.Join(above, "SKILL.md")); there && filepath.Base(dir) == "evals" { // the evals of a skill
			return above, filepath.Join("evals", filepath.Base(full)), nil
		}
		return dir, filepath.Base(full), nil
	}
	dir = a.absolute(o.root)
	file, err = filepath.Rel(dir, full)
	if err != nil || !filepath.IsLocal(file) {
		return "", "", usagef("%s does not lie below --root %s", path, o.root)
	}
	return dir, file, nil
}

// placedIn names files of problems as the user does.
func placedIn(dir string, err error) error {
	var problems *task.Error
	if !errors.As(err, &problems) {
		return err
	}
	out := slices.Clone(problems.Problems)
	for i := range out {
		out[i].Origin = filepath.Join(dir, filepath.FromSlash(out[i].Origin))
	}
	return &task.Error{Problems: out}
}

// lostError names everything by which answers were judged and would not be.
func lostError(report evals.Report) error {
	e := &task.Error{}
	for _, row := range report.Rows {
		if row.Lost {
			e.Problems = append(e.Problems, task.Problem{
				Origin: row.File, Msg: strings.TrimPrefix(row.Key+": "+row.Note, ": ") + "; --partial imports the rest without it",
			})
		}
	}
	return e
}

// checkEmpty returns an error if there is something in the folder that is to be written.
func checkEmpty(dir, name string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		if there, _ := isThere(dir); there && !isFolder(dir) {
			return usagef("%s is there already, and is no folder; choose another one with --out", name)
		}
		return fmt.Errorf("look into the folder: %w", err)
	case len(entries) > 0:
		return usagef("%s is not empty; nothing is overwritten, choose another folder with --out", name)
	}
	return nil
}

// writeImported writes a folder as a whole or not at all: first next to its place, and then there.
func writeImported(dir string, from fs.FS, folder evals.Folder) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	stage, err := os.MkdirTemp(filepath.Dir(dir), ".skillopt-import-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(stage))
		}
	}()
	root, err := os.OpenRoot(stage)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	defer func() { _ = root.Close() }() // what is in it is closed already
	for _, name := range slices.Sorted(maps.Keys(folder.Files)) {
		if err := writeBelow(root, name, func(w io.Writer) error { _, err := w.Write(folder.Files[name]); return err }); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(folder.Copies)) {
		if err := writeBelow(root, name, func(w io.Writer) error { return copyFrom(w, from, folder.Copies[name]) }); err != nil {
			return err
		}
	}
	if err := os.Chmod(stage, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one gives way
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Rename(stage, dir); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return nil
}

// writeBelow writes one file below a folder, with the folders that it lies in.
func writeBelow(root *os.Root, name string, write func(io.Writer) error) (err error) {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// maxCopied is the largest file that is copied, in bytes.
const maxCopied = 64 << 20

func copyFrom(w io.Writer, from fs.FS, name string) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	n, err := io.Copy(w, io.LimitReader(f, maxCopied+1))
	if err == nil && n > maxCopied {
		err = fmt.Errorf("it has more than %d MB", maxCopied>>20)
	}
	return err
}

// maxReported is how many rows of a kind the report shows.
const maxReported = 25

// print says what was written, and what happened to the source.
func (o *tasksImportOptions) print(a *app, files int, report evals.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s: %s from %s, %s", o.out, wording.Plural(report.Tasks, "task", "tasks"), report.Format, wording.Plural(files, "file", "files"))
	if report.LeftOut > 0 {
		fmt.Fprintf(&b, "; %d left out", report.LeftOut)
	}
	b.WriteByte('\n')
	for _, section := range []struct {
		title string
		state evals.State
	}{
		{"taken over", evals.Taken},
		{"changed", evals.Changed},
		{"added", evals.Added},
		{"not needed", evals.NotNeeded},
		{"no counterpart", evals.NoCounterpart},
		{"left out", evals.LeftOut},
	} {
		rows := report.Of(section.state)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s (%d):\n", section.title, len(rows))
		for i, row := range rows {
			if i == maxReported {
				fmt.Fprintf(&b, "  and %d more (--json lists all)\n", len(rows)-i)
				break
			}
			where := strings.TrimSpace(row.File + " " + row.Key)
			fmt.Fprintf(&b, "  %s\n", oneLine(fmt.Sprintf("%s (%s)", where, row.Note)))
		}
	}
	if _, err := io.WriteString(a.Out, printable(b.String())); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	_, err := fmt.Fprintf(a.Out, "next: skillopt tasks lint %s\n", shellWord(o.out))
	return err
}
