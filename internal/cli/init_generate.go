package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

type initFlags struct {
	skill, optimizer, target, config string
	generate                         int
	seed                             int64
	yes                              bool
}

// generated says whether tasks are to be drafted, and whether the flags fit that.
func (f initFlags) generated() (bool, error) {
	switch {
	case f.generate == 0 && f.skill+f.optimizer+f.target+f.config == "":
		return false, nil
	case f.generate == 0:
		return false, usagef("--skill, --optimizer, --target and --config go with --generate N, which has the optimizer draft N tasks")
	case f.generate < 0 || f.generate > draft.MaxTasks:
		return false, usagef("--generate %d: want 1 to %d", f.generate, draft.MaxTasks)
	case f.skill == "":
		return false, usagef("--generate %d needs --skill with the skill that the tasks are to test: a folder with SKILL.md, or a Markdown file", f.generate)
	case f.config == "" && f.optimizer == "":
		return false, usagef("--generate %d needs --optimizer PROVIDER/MODEL, the model that drafts, or --config with a config whose models.optimizer does", f.generate)
	case f.config != "" && f.optimizer+f.target != "":
		return false, usagef("--config names the models: leave out --optimizer and --target")
	}
	return true, nil
}

// workFiles are what init --generate writes.
const (
	workConfig = "config.yaml"
	workTasks  = "tasks.jsonl"
)

// generateTasks drafts tasks for a skill and writes a folder to train in.
func (a *app) generateTasks(ctx context.Context, dir string, f initFlags) error {
	l, err := a.draftConfig(f)
	if err != nil {
		return err
	}
	full := a.absolute(dir)
	for _, name := range []string{workConfig, workTasks} {
		if _, err := os.Lstat(filepath.Join(full, name)); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return fmt.Errorf("look for files to keep: %w", err)
			}
			return usagef("%s is there already; `skillopt init` overwrites nothing, choose another folder", filepath.Join(dir, name))
		}
	}
	text, err := a.workConfig(full, f, l)
	if err != nil {
		return err
	}
	_, before := os.Lstat(full)
	d, err := a.draft(ctx, full, f, l)
	if err != nil {
		if before != nil {
			_ = os.Remove(full) // which is empty if the draft was not begun, and stays if not
		}
		if !exists(filepath.Join(full, draft.RunDir)) {
			return err
		}
		return goesOn(err)
	}
	if d.Kept == 0 {
		return fmt.Errorf("none of the drafts could be kept, nothing is written:\n%s", strings.TrimSpace(fallen(d)))
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{workTasks, d.Tasks}, {workConfig, text}} {
		if err := run.WriteExport(filepath.Join(full, file.name), file.data); err != nil {
			return err
		}
	}
	if a.json {
		return printJSON(a.Out, struct {
			Dir string `json:"dir"`
			*skillopt.Drafted
		}{full, d})
	}
	return a.writeDrafted(a.results(), dir, d)
}

// draftConfig reads the config that names the models, or makes one of flags.
func (a *app) draftConfig(f initFlags) (*config.Loaded, error) {
	if f.config != "" {
		l, err := a.loadConfig(f.config, nil, nil)
		if err == nil && l.Config.Models.Optimizer.Provider == "" {
			err = usagef("%s names no models.optimizer, which is to draft the tasks", f.config)
		}
		return l, err
	}
	var flags []config.Setting
	for _, m := range []struct{ role, text string }{
		{"optimizer", f.optimizer},
		{"target", cmp.Or(f.target, f.optimizer)},
	} {
		provider, name, ok := strings.Cut(m.text, "/")
		if !ok || provider == "" || name == "" {
			return nil, usagef("--%s %s: want PROVIDER/MODEL, for example openai/gpt-5-mini", m.role, m.text)
		}
		key := "model"
		if provider == "sim" {
			key = "world"
		}
		flags = append(flags,
			config.Setting{Key: "models." + m.role + ".provider", Value: provider, Origin: "--" + m.role},
			config.Setting{Key: "models." + m.role + "." + key, Value: name, Origin: "--" + m.role})
	}
	return a.loadConfig("", nil, flags)
}

// draft has the tasks drafted, with the record in a folder of its own.
func (a *app) draft(ctx context.Context, dir string, f initFlags, l *config.Loaded) (*skillopt.Drafted, error) {
	ctx, opts, end, err := a.session(ctx, l, sessionFlags{run: filepath.Join(dir, draft.RunDir), yes: f.yes})
	if err != nil {
		return nil, err
	}
	opts = append(opts, skillopt.WithConfirm(a.confirmDraft(f)))
	d, err := skillopt.Draft(ctx, l.Config, skillopt.DraftRequest{Skill: a.absolute(f.skill), Tasks: f.generate, Seed: f.seed}, opts...)
	return d, errors.Join(err, end())
}

func (a *app) confirmDraft(f initFlags) func(skillopt.Plan) error {
	ask := a.confirm(f.yes)
	return func(p skillopt.Plan) error {
		if p.Simulated {
			a.writePlan(p) // without the words about training
			fmt.Fprintln(a.Err, "the models are simulated: the tasks come from templates in the world file")
			return nil
		}
		if err := ask(p); err != nil {
			return usagef("not started; a smaller --generate makes it cheaper")
		}
		return nil
	}
}

// workConfig is the config of the folder: it refers to the skill, which training
// never changes, and to the models.
func (a *app) workConfig(dir string, f initFlags, l *config.Loaded) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Trains a skill on tasks that a model drafted from it. Until they are accepted with\n#   skillopt tasks review %s\n# what is measured on them is exploratory.\n", workConfig)
	if f.config != "" {
		fmt.Fprintf(&b, "extends: %s\n", quoted(from(dir, l.File)))
	}
	fmt.Fprintf(&b, "skill: %s\n\n", quoted(skillFrom(dir, a.absolute(f.skill))))
	fmt.Fprintf(&b, "tasks:\n  path: %s\n  prompt: |-\n    %s\n  extract: {tag: %s}\n",
		workTasks, strings.ReplaceAll(draft.AnswerRequest, "\n\n", "\n\n    "), draft.AnswerTag)
	if f.config != "" {
		return []byte(b.String()), nil
	}
	c := config.Default()
	c.Models = l.Config.Models
	for _, m := range []*config.Model{&c.Models.Target, &c.Models.Optimizer} {
		if m.World != "" {
			m.World = from(dir, m.World)
		}
	}
	models, err := c.YAML(true)
	if err != nil {
		return nil, err
	}
	return append([]byte(b.String()+"\n"), models...), nil
}

// from is a path as a file in dir names it.
func from(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func skillFrom(dir, path string) string {
	rel := from(dir, path)
	if rel == "." {
		return skill.Main
	}
	return rel
}

// quoted is a text that YAML reads as it is.
func quoted(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return text
	}
	return strconv.Quote(text)
}

// writeDrafted says what the draft came to.
func (a *app) writeDrafted(out io.Writer, dir string, d *skillopt.Drafted) error {
	for _, name := range []string{workTasks, workConfig} {
		fmt.Fprintf(out, "wrote %s\n", filepath.Join(dir, name))
	}
	fmt.Fprintf(out, "asked for %s, kept %d", plural.Of(d.Asked, "task", "tasks"), d.Kept)
	if d.Doubtful > 0 {
		fmt.Fprintf(out, ", %d of them with a doubt", d.Doubtful)
	}
	fmt.Fprintf(out, "\n%s", fallen(d))
	for _, s := range d.Skipped {
		fmt.Fprintf(out, "left out %s\n", oneLine(s))
	}
	a.writeUsage(out, &skillopt.Summary{Calls: d.Calls, Tokens: d.Tokens, CostUSD: d.CostUSD, Unknown: d.Unknown, WallS: d.WallS, Simulated: d.Simulated})
	if d.Recorded > 0 {
		fmt.Fprintf(out, "%s by an earlier session and not made again\n", plural.Of(d.Recorded, "call was recorded", "calls were recorded"))
	}
	if d.Simulated {
		fmt.Fprintln(out, "simulated models: the tasks come from the world file")
	}
	_, err := fmt.Fprintf(out, "nobody has reviewed the tasks yet: runs on them are exploratory\nnext: skillopt tasks review %s\n", quote(dir))
	return err
}

// fallen lists why drafts were not kept.
func fallen(d *skillopt.Drafted) string {
	var b strings.Builder
	for _, f := range d.Fell {
		if b.Len() == 0 {
			b.WriteString("drafts that were not kept, because they\n")
		}
		fmt.Fprintf(&b, "  %3d  %s\n", f.N, f.Reason)
		if f.Example != "" {
			fmt.Fprintf(&b, "       such as: %s\n", oneLine(f.Example))
		}
	}
	return b.String()
}
