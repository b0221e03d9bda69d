package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// generates says whether tasks are to be drafted, and whether the flags fit that.
func (o *initOptions) generates() (bool, error) {
	switch {
	case o.generate == 0 && o.skill+o.optimizer+o.target+o.config == "":
		return false, nil
	case o.generate == 0:
		return false, usagef("--skill, --optimizer, --target and --config need tasks: --tasks FILE, or --generate N, which has the optimizer draft N, or --triggers N")
	case o.generate < 0 || o.generate > draft.MaxTasks:
		return false, usagef("--generate %d: want 1 to %d", o.generate, draft.MaxTasks)
	case o.skill == "":
		return false, usagef("--generate %d needs --skill with the skill that the tasks are to test: a folder with SKILL.md, or a Markdown file", o.generate)
	case o.config == "" && o.optimizer == "":
		return false, usagef("--generate %d needs --optimizer PROVIDER/MODEL, the model that drafts, or --config with a config whose models.optimizer does", o.generate)
	case o.config != "" && o.optimizer+o.target != "":
		return false, usagef("--config names the models: leave out --optimizer and --target")
	}
	return true, nil
}

// workFiles are what init --generate writes.
const (
	workConfig = "config.yaml"
	workTasks  = "tasks.jsonl"
)

// runGenerate carries out init --generate: it drafts tasks for a skill and writes a folder to train
// in.
func (o *initOptions) runGenerate(ctx context.Context, a *app, folder newFolder) error {
	l, err := o.load(a)
	if err != nil {
		return err
	}
	if err := folder.check(workConfig, workTasks); err != nil {
		return err
	}
	text, err := o.workConfig(a, folder.dir, l)
	if err != nil {
		return err
	}
	d, err := o.runDraft(folder.dir, draft.RunDir, func() (*result.Draft, error) { return o.draft(ctx, a, folder.dir, l) })
	if err != nil {
		return err
	}
	if d.Kept == 0 {
		return fmt.Errorf("none of the drafts could be kept, nothing is written:\n%s", strings.TrimSpace(droppedText(d)))
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{workTasks, d.Tasks}, {workConfig, text}} {
		if err := run.WriteExport(filepath.Join(folder.dir, file.name), file.data); err != nil {
			return err
		}
	}
	if a.json {
		return printJSON(a.Out, struct {
			Dir string `json:"dir"`
			*result.Draft
		}{folder.dir, d})
	}
	return writeDrafted(a.results(), folder.name, d)
}

// runDraft drafts tasks by work, with the record in a folder of dir. A record that a later call can
// resume is kept; a folder that was made in vain is removed.
func (o *initOptions) runDraft(dir, record string, work func() (*result.Draft, error)) (*result.Draft, error) {
	_, before := os.Lstat(dir)
	d, err := work()
	if err == nil {
		return d, nil
	}
	if before != nil {
		_ = os.Remove(dir) // which is empty if the draft was not begun, and stays if not
	}
	if exists(filepath.Join(dir, record)) {
		err = withSameCommand(err)
	}
	return nil, err
}

// draft has the tasks drafted, with the record in a folder of its own.
func (o *initOptions) draft(ctx context.Context, a *app, dir string, l *config.Loaded) (*result.Draft, error) {
	ctx, opts, end, err := a.session(ctx, l, sessionOptions{runDir: filepath.Join(dir, draft.RunDir), yes: o.yes})
	if err != nil {
		return nil, err
	}
	opts = append(opts, skillopt.WithConfirm(o.confirm(a, "--generate")))
	d, err := skillopt.Draft(ctx, l.Config, skillopt.DraftRequest{Skill: a.absolute(o.skill), Tasks: o.generate, Seed: o.seed}, opts...)
	return d, errors.Join(err, end())
}

// confirm shows what drafting as many tasks as flag says takes, and asks before it spends.
func (o *initOptions) confirm(a *app, flag string) func(result.Plan) error {
	ask := a.confirm(o.yes)
	return func(p result.Plan) error {
		if p.Simulated {
			writeBound(a.printer(a.Err), p) // without the words about training
			fmt.Fprintln(a.Err, "the models are simulated: the tasks come from templates in the world file")
			return nil
		}
		if err := ask(p); err != nil {
			return usagef("not started; a smaller %s makes it cheaper", flag)
		}
		return nil
	}
}

// workConfig returns the config of the folder. It refers to the skill, which training never
// changes, and to the models.
func (o *initOptions) workConfig(a *app, dir string, l *config.Loaded) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Trains a skill on tasks that a model drafted from it. Until they are accepted with\n#   skillopt tasks review %s\n# what is measured on them is exploratory.\n", workConfig)
	fmt.Fprintf(&b, "%sskill: %s\n\n", o.extends(dir, l), yamlWord(skillFrom(dir, a.absolute(o.skill))))
	fmt.Fprintf(&b, "tasks:\n  path: %s\n  prompt: |-\n    %s\n  extract: {tag: %s}\n",
		workTasks, strings.ReplaceAll(draft.AnswerRequest, "\n\n", "\n\n    "), draft.AnswerTag)
	return o.withModels(b.String(), dir, l)
}

// extends returns the line of a config in dir that refers to the config of --config, if there is one.
func (o *initOptions) extends(dir string, l *config.Loaded) string {
	if o.config == "" {
		return ""
	}
	return fmt.Sprintf("extends: %s\n", yamlWord(from(dir, l.File)))
}

// withModels returns the text of a config in dir with the models that flags name.
func (o *initOptions) withModels(text, dir string, l *config.Loaded) ([]byte, error) {
	if o.config != "" {
		return []byte(text), nil
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
	return append([]byte(text+"\n"), models...), nil
}

// from returns a path as a file in dir names it.
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

// yamlWord returns a text in a form that YAML reads as it is.
func yamlWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return text
	}
	return strconv.Quote(text)
}

// writeDrafted prints the result of drafting.
func writeDrafted(out printer, dir string, d *result.Draft) error {
	for _, name := range []string{workTasks, workConfig} {
		fmt.Fprintf(out, "wrote %s\n", filepath.Join(dir, name))
	}
	fmt.Fprintf(out, "asked for %s, kept %d", wording.Plural(d.Asked, "task", "tasks"), d.Kept)
	writeDoubtful(out, d)
	writeRest(out, d)
	_, err := fmt.Fprintf(out, "the tasks are not reviewed yet: runs on them are exploratory\nnext: skillopt tasks review %s\n", shellWord(dir))
	return err
}

// writeDoubtful ends the line that says how many drafts were kept.
func writeDoubtful(out printer, d *result.Draft) {
	if d.Doubtful > 0 {
		fmt.Fprintf(out, ", %d of them with a doubt", d.Doubtful)
	}
	fmt.Fprintln(out)
}

// writeRest prints what there is to say of any draft apart from what was kept.
func writeRest(out printer, d *result.Draft) {
	fmt.Fprint(out, droppedText(d))
	for _, s := range d.Skipped {
		fmt.Fprintf(out, "left out %s\n", oneLine(s))
	}
	writeUsage(out, &result.Summary{Usage: d.Usage, Simulated: d.Simulated})
	if d.Recorded > 0 {
		fmt.Fprintf(out, "%s by an earlier session and not made again\n", wording.Plural(d.Recorded, "call was recorded", "calls were recorded"))
	}
	if d.Simulated {
		fmt.Fprintln(out, "simulated models: the tasks come from the world file")
	}
}

// droppedText lists why drafts were not kept.
func droppedText(d *result.Draft) string {
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
