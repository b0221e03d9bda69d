package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// runsExportOptions are the flags of runs export.
type runsExportOptions struct{ to, format, config, split, arm string }

func runsExportCommand(a *app) *cobra.Command {
	var o runsExportOptions
	c := &cobra.Command{
		Use:   "export RUN [--to FILE | --to DIR] [--format skill | report | cassette | inspect]",
		Short: "Write the best skill of a run to a file or folder, its report, or what it recorded",
		Long: `Write the best skill of a run to a file, or with all its files to a folder. A file or
another program gets the skill byte for byte. On a terminal characters that would steer
it are shown as escapes, such as \u001b. What is replaced is kept in the run, in the folder
replaced.

--format report writes the page that a run has at its end as report.html, also of a run that
has not ended; to a name that ends in .md the text for a pull request.

--format cassette writes all answers that the run recorded: what models, agents and checks
answered, not what they were asked. From it anybody can repeat the run with the same config
and tasks, without a network or a key: skillopt train CONFIG --replay FILE. Keys are taken
out: what has the shape of one, and the values of the variables that the run's config names.
With --config those of another config are too, with the .env file next to it.

--format inspect writes a log that "inspect view" of inspect_ai opens (version 2, JSON):
the answers of the best skill to the tasks that judged it, with scores, checks and tokens,
or those that --split and --arm name. What could not be measured is an error there, and has
no score. Secrets are taken out as from a cassette.

A cassette or log with answers to test tasks is a reading of the test set: it is noted, and
later runs count it.`,
		Example: `  skillopt runs export runs/quickstart-1 --to SKILL.md
  skillopt runs export runs/quickstart-1 --to -
  skillopt runs export runs/my-skill-1 --to my-skill/
  skillopt runs export runs/my-skill-1 --format report --to report.html
  skillopt runs export runs/quickstart-1 --format cassette --to bug.cassette
  skillopt runs export runs/quickstart-1 --format inspect --to logs/quickstart.json
  skillopt runs export runs/quickstart-1 --format inspect --split test --arm seed --to logs/seed.json`,
		Args: exactArgs(1, "a run directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.to, "to", "-", "file to write, or for a skill the folder of all its files; - is standard output, for SKILL.md alone")
	c.Flags().StringVar(&o.format, "format", formatSkill, "skill, report, cassette or inspect (a log of inspect_ai)")
	c.Flags().StringVar(&o.config, "config", "", "with --format cassette and inspect: also take out the secrets of this config")
	c.Flags().StringVar(&o.split, "split", "", "with --format inspect: answers to the tasks of this split")
	c.Flags().StringVar(&o.arm, "arm", "", "with --format inspect: whose answers: seed, current, candidate, best, final, skill")
	return c
}

// What runs export writes.
const (
	formatSkill    = "skill"
	formatReport   = "report"
	formatCassette = "cassette"
	formatInspect  = "inspect"
)

// run writes a skill, a report or a record.
func (o *runsExportOptions) run(ctx context.Context, a *app, path string) error {
	switch {
	case !slices.Contains([]string{formatSkill, formatReport, formatCassette, formatInspect}, o.format):
		return usagef("--format: found %q, allowed: skill, report, cassette, inspect", o.format)
	case (o.split != "" || o.arm != "") && o.format != formatInspect:
		return usagef("--split and --arm go with --format inspect")
	case o.config != "" && o.format != formatCassette && o.format != formatInspect:
		return usagef("--config goes with --format cassette or inspect")
	case o.format != formatSkill && (o.to == "-" || o.to == ""):
		return usagef("--format %s writes to a file: name it with --to FILE", o.format)
	}
	switch o.format {
	case formatReport:
		return o.exportReport(ctx, a, path)
	case formatCassette:
		return o.exportCassette(ctx, a, path)
	case formatInspect:
		return o.exportLog(ctx, a, path)
	}
	return o.exportSkill(ctx, a, path)
}

// exportSkill writes the best skill of a run.
func (o *runsExportOptions) exportSkill(ctx context.Context, a *app, dir string) error {
	s, err := skillVersion(a, dir, "best")
	if err != nil {
		return err
	}
	whole, err := record.Best(a.absolute(dir))
	if err != nil {
		return usagef("%v; resume the run to write it again", err)
	}
	if o.to == "-" {
		return o.printDocument(a, s, whole)
	}
	out := newExportedSkill(a.absolute(o.to), a.namesFolder(o.to, whole), s, whole)
	if out.Replaced, err = run.KeepReplaced(ctx, a.absolute(dir), cmp.Or(out.Dir, filepath.Dir(out.File)), out.contents); err != nil {
		return err
	}
	if out.Dir != "" {
		err = run.ExportFolder(out.Dir, whole)
	} else {
		err = run.WriteExport(out.File, []byte(s.Text()))
	}
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, out)
	}
	return out.print(a, whole)
}

// newExportedSkill returns what is about to be written where.
func newExportedSkill(path string, inFolder bool, s, whole skill.Skill) exportedSkill {
	if inFolder && len(whole.Others()) > 0 {
		out := exportedSkill{Dir: path, Files: whole.Files(), contents: map[string]string{}}
		for _, name := range out.Files {
			out.contents[name], _ = whole.File(name)
		}
		return out
	}
	if inFolder {
		s, path = whole, filepath.Join(path, skill.Main)
	}
	return exportedSkill{File: path, Files: []string{skill.Main}, contents: map[string]string{filepath.Base(path): s.Text()}}
}

// print says what was written, and where that is which it has replaced.
func (e exportedSkill) print(a *app, whole skill.Skill) error {
	out := a.printer(a.Err)
	if e.Dir != "" {
		out.line(fmt.Sprintf("wrote %s: %s", out.path(e.Dir), wording.Plural(len(e.Files), "file", "files")))
	} else {
		a.sayOthers(whole)
		out.line("wrote " + out.path(e.File))
	}
	if e.Replaced != "" {
		out.line("what it replaced is kept in " + out.path(e.Replaced))
	}
	return nil
}

// namesFolder reports whether --to is a folder: one that is there, a name with a slash at
// its end or, of a skill with more files, one that is not that of a document.
func (a *app) namesFolder(to string, s skill.Skill) bool {
	if st, err := os.Stat(a.absolute(to)); err == nil {
		return st.IsDir()
	}
	return strings.HasSuffix(filepath.ToSlash(to), "/") || len(s.Others()) > 0 && !strings.EqualFold(filepath.Ext(to), ".md")
}

// sayOthers says that a skill has more than the SKILL.md that is written, if it has.
func (a *app) sayOthers(s skill.Skill) {
	if n := len(s.Others()); n > 0 {
		fmt.Fprintf(a.Err, "the skill has %s next to %s: --to DIR/ writes all of it\n", wording.Plural(n, "file", "files"), skill.Main)
	}
}

// printDocument prints the SKILL.md of a skill.
func (o *runsExportOptions) printDocument(a *app, s, whole skill.Skill) error {
	if a.json {
		return printJSON(a.Out, exportedSkill{Files: []string{skill.Main}, Text: s.Text()})
	}
	a.sayOthers(whole)
	out := rawWriter(a.Out)
	if a.Shown {
		out = a.Out // a terminal gets escapes; a file or another program gets it byte for byte
	}
	_, err := fmt.Fprint(out, s.Text())
	return err
}

// exportedSkill is the result of exporting a skill.
type exportedSkill struct {
	File     string   `json:"file,omitempty"`     // that SKILL.md was written to
	Dir      string   `json:"dir,omitempty"`      // folder that all files were written to
	Files    []string `json:"files"`              // of the skill, that were written
	Replaced string   `json:"replaced,omitempty"` // folder with what was there before
	Text     string   `json:"text,omitempty"`     // of SKILL.md, where it was written nowhere

	contents map[string]string
}

// exported is the result of exporting a cassette.
type exported struct {
	result.Exported
	File   string `json:"file"`
	Status string `json:"run_status"`
}

// exportCassette writes what a run recorded.
func (o *runsExportOptions) exportCassette(ctx context.Context, a *app, path string) error {
	v, err := readRun(a.absolute(path), path)
	if err != nil {
		return err
	}
	secrets, err := readSecrets(a, v.Dir, o.config)
	if err != nil {
		return err
	}
	out := exported{File: a.absolute(o.to), Status: string(v.Manifest.Status)}
	if out.Exported, err = skillopt.ExportCassette(ctx, v.Dir, out.File, secrets...); err != nil {
		return err
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	if ofTest, err := ask.AnswersTest(ctx, r); err != nil {
		return err
	} else if ofTest {
		noteLook(ctx, a, path, r, "runs export")
	}
	if a.json {
		return printJSON(a.Out, out)
	}
	return writeExported(a.printer(a.Out), out)
}

// exportedLog is the result of exporting a log.
type exportedLog struct {
	result.ExportedLog
	File string `json:"file"`
}

// exportLog writes a log of inspect_ai.
func (o *runsExportOptions) exportLog(ctx context.Context, a *app, path string) error {
	if !strings.EqualFold(filepath.Ext(o.to), ".json") {
		return usagef("--to: found %q, allowed: a name that ends in .json, by which inspect knows its logs", o.to)
	}
	if err := checkOut(a, o.to); err != nil {
		return err
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	secrets, err := readSecrets(a, a.absolute(path), o.config)
	if err != nil {
		return err
	}
	out := exportedLog{File: a.absolute(o.to)}
	if err := os.MkdirAll(filepath.Dir(out.File), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if out.ExportedLog, err = skillopt.ExportInspect(ctx, a.absolute(path), out.File, o.split, o.arm, secrets...); err != nil {
		return err
	}
	if out.Split == "test" {
		noteLook(ctx, a, path, r, "runs export")
	}
	if a.json {
		return printJSON(a.Out, out)
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s: %s of %s on %s, %d of them not measured\nopen it: inspect view --log-dir %s\n",
		a.relative(out.File), wording.Plural(out.Samples, "answer", "answers"), out.Arm, out.Split, out.Unmeasured, shellWord(a.relative(filepath.Dir(out.File))))
	return err
}

// readSecrets returns the values of the variables that a run's config, and another
// one, name.
func readSecrets(a *app, dir, conf string) ([]string, error) {
	var out []string
	add := func(l *config.Loaded) {
		out = append(append(out, wiring.Secrets(l.Config, l.Lookup)...), l.Secrets()...)
	}
	// The run's own copy may hold what this version does not know; its variables
	// are then unknown, and shapes and --config are left.
	l, err := a.loadConfig(filepath.Join(dir, run.ConfigFile), nil, nil)
	if err == nil {
		add(l)
	} else {
		fmt.Fprintf(a.Err, "warning: the config of the run cannot be read, so the variables that it names are not known: %v\n", err)
	}
	if conf == "" {
		return out, nil
	}
	if l, err = a.loadConfig(conf, nil, nil); err != nil {
		return nil, err
	}
	add(l)
	return out, nil
}

// shownKeys is how many keys of steps a message names.
const shownKeys = 5

func writeExported(w printer, e exported) error {
	fmt.Fprintf(w, "wrote %s: %s\n", w.path(e.File), wording.Plural(e.Steps, "recorded step", "recorded steps"))
	if n := len(e.Redacted); n > 0 {
		fmt.Fprintf(w, "secrets were taken out of %d of them; what was asked with such an answer is not found in a replay:\n", n)
		for i, key := range e.Redacted {
			if i == shownKeys {
				fmt.Fprintf(w, "  and %d more\n", n-i)
				break
			}
			fmt.Fprintf(w, "  %s\n", oneLine(key))
		}
	} else {
		fmt.Fprintln(w, "no secrets were found in it")
	}
	if e.Status != "completed" {
		fmt.Fprintf(w, "the run is %s: a replay ends where its record does\n", e.Status)
	}
	_, err := fmt.Fprintf(w, "replay it with the config, tasks and skill of the run: skillopt train CONFIG --replay %s\n", shellWord(w.path(e.File)))
	return err
}
