package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// workTriggers is the file of trigger tasks that have none of a config to go into.
const workTriggers = "triggers.jsonl"

// builtinAgent is the agent that a new config names: nothing has to be installed for it.
const builtinAgent = "builtin"

// nativeMode is the mode of an agent that finds the skill by itself, or does not.
const nativeMode = "native"

// checkTriggers says whether the flags fit --triggers.
func (o *initOptions) checkTriggers() error {
	switch {
	case o.triggers < draft.MinTriggers || o.triggers > draft.MaxTasks:
		return usagef("--triggers %d: want %d to %d", o.triggers, draft.MinTriggers, draft.MaxTasks)
	case o.generate != 0:
		return usagef("--triggers and --generate are two drafts: run init with --generate first, then with --triggers, which adds to what is there")
	case o.config != "" && o.optimizer+o.target != "":
		return usagef("--config names the models: leave out --optimizer and --target")
	}
	return nil
}

// triggerDraft is where trigger tasks come from and go to.
type triggerDraft struct {
	models *config.Loaded // whose optimizer drafts
	skill  string         // absolute
	file   string         // that they are written to, absolute
	config []byte         // of a folder that has none; nil: it has one
	apart  string         // why the file is not that of the folder's config; "": it is
	with   string         // settings by which commands measure the tasks, as flags

	describes bool // the folder's config trains the description
	there     bool // the file holds tasks already
}

// runTriggers carries out init --triggers. It drafts trigger tasks for a skill, and adds them to
// the tasks of the folder's config where that can measure them.
func (o *initOptions) runTriggers(ctx context.Context, a *app, folder newFolder) error {
	t, err := o.triggerDraft(a, folder)
	if err != nil {
		return err
	}
	before, err := draft.OpenTriggerFile(t.file)
	if err != nil {
		return usagef("%v", err)
	}
	t.there = before.Tasks > 0
	d, err := o.draftTriggers(ctx, a, folder.dir, t, before.Prompts)
	if err != nil {
		return err
	}
	if d.Triggers.Should == 0 || d.Triggers.ShouldNot == 0 {
		return fmt.Errorf("%d drafts that should load the skill and %d that should not could be kept; a description is judged by both kinds: nothing is written\n%s",
			d.Triggers.Should, d.Triggers.ShouldNot, strings.TrimSpace(droppedText(d)))
	}
	added, err := t.write(folder, d)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, struct {
			Dir   string `json:"dir"`
			File  string `json:"file"`
			Added int    `json:"added"`
			*result.Draft
		}{folder.dir, t.file, added, d})
	}
	return t.print(a, folder.name, d, added)
}

// write adds the tasks to their file, which somebody may have changed since the draft was
// begun, and writes the config of a new folder.
func (t *triggerDraft) write(folder newFolder, d *result.Draft) (int, error) {
	added := 0
	file, err := draft.OpenTriggerFile(t.file)
	if err == nil {
		added, err = file.Add(d.Tasks)
	}
	if err != nil {
		return 0, fmt.Errorf("%w\nwhat was drafted is recorded: the same command adds it, and pays for nothing twice", err)
	}
	if t.config != nil {
		err = run.WriteExport(filepath.Join(folder.dir, workConfig), t.config)
	}
	return added, err
}

// draftTriggers has the trigger tasks drafted, with the record in a folder of its own.
func (o *initOptions) draftTriggers(ctx context.Context, a *app, dir string, t *triggerDraft, known []string) (*result.Draft, error) {
	return o.runDraft(dir, draft.TriggerDir, func() (*result.Draft, error) {
		ctx, opts, end, err := a.session(ctx, t.models, sessionOptions{runDir: filepath.Join(dir, draft.TriggerDir), yes: o.yes})
		if err != nil {
			return nil, err
		}
		opts = append(opts, skillopt.WithConfirm(o.confirm(a, "--triggers")))
		d, err := skillopt.Draft(ctx, t.models.Config, skillopt.DraftRequest{Skill: t.skill, Tasks: o.triggers, Seed: o.seed, Triggers: true, Known: known}, opts...)
		return d, errors.Join(err, end())
	})
}

// triggerDraft finds out where trigger tasks come from and go to.
func (o *initOptions) triggerDraft(a *app, folder newFolder) (*triggerDraft, error) {
	path := filepath.Join(folder.dir, workConfig)
	switch there, err := isThere(path); {
	case err != nil:
		return nil, fmt.Errorf("look for a config: %w", err)
	case there:
		return o.intoFolder(a, folder, path)
	}
	if own := filepath.Join(folder.dir, skill.Main); o.skill == "" && exists(own) {
		o.skill = own
	}
	if o.skill == "" {
		return nil, usagef("--triggers %d needs --skill with the skill whose description the tasks are to test, or a folder with a SKILL.md or a config.yaml that names one; %s has neither", o.triggers, folder.name)
	}
	if o.config == "" && o.optimizer == "" {
		return nil, usagef("--triggers %d needs --optimizer PROVIDER/MODEL, the model that drafts, or --config with a config whose models.optimizer does", o.triggers)
	}
	l, err := o.load(a)
	if err != nil {
		return nil, err
	}
	t := &triggerDraft{models: l, describes: true, skill: a.absolute(o.skill), file: filepath.Join(folder.dir, workTriggers)}
	t.config, err = o.triggerConfig(a, folder.dir, l)
	return t, err
}

// intoFolder returns a draft for a folder that has a config. Its skill, models and tasks are those
// of the config, as far as flags do not say otherwise.
func (o *initOptions) intoFolder(a *app, folder newFolder, path string) (*triggerDraft, error) {
	l, err := a.loadConfig(path, nil, nil)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(folder.name, workConfig)
	t := &triggerDraft{models: l, describes: l.Config.Edits.Description, skill: l.Config.Skill, file: l.Config.Tasks.Path}
	switch given := a.absolute(o.skill); {
	case o.target != "":
		return nil, usagef("--target goes into a new config, and %s is there already: leave it out", name)
	case given == "" && t.skill == "":
		return nil, usagef("%s names no skill: set skill there, or give --skill", name)
	case given != "" && t.skill != "" && !sameSkill(given, t.skill):
		return nil, usagef("--skill %s, but %s trains %s: leave --skill out, or choose another folder", o.skill, name, a.relative(t.skill))
	case t.skill == "":
		t.skill = given
	}
	if o.config+o.optimizer != "" {
		if t.models, err = o.load(a); err != nil {
			return nil, err
		}
	} else if l.Config.Models.Optimizer.Provider == "" {
		return nil, usagef("%s names no models.optimizer, which is to draft the tasks: set it there, or give --optimizer PROVIDER/MODEL", name)
	}
	return t, t.place(a, l.Config, folder, name)
}

// place finds the file that the tasks go into, for the config of the folder, which is named
// name, and the settings by which they are measured there.
func (t *triggerDraft) place(a *app, c config.Config, folder newFolder, name string) error {
	if len(c.Env.Command) > 0 {
		return usagef("%s has an environment carry out the tasks (env.command), and trigger tasks need an agent that finds the skill by itself (agent.name, agent.mode: native); choose another folder, with --skill", name)
	}
	if t.apart = ownFileReason(c, name); t.apart != "" {
		t.file = filepath.Join(folder.dir, workTriggers)
		if filepath.Clean(c.Tasks.Path) == folder.dir {
			return usagef("%s reads its tasks from the folder itself (tasks.path), where another file would be one of them; name the file there, or choose another folder, with --skill", name)
		}
		t.with = " --set tasks.path=" + shellWord(a.relative(t.file))
	}
	if c.Agent.Name == "" {
		t.with += " --set agent.name=" + builtinAgent
	}
	if c.Agent.Mode != nativeMode {
		t.with += " --set agent.mode=" + nativeMode
	}
	return nil
}

// ownFileReason returns why the trigger tasks of a folder need a file of their own: with the config
// named name they could not be measured next to what is there, and it would be refused.
func ownFileReason(c config.Config, name string) string {
	switch {
	case c.Agent.Name == "":
		return name + " names no agent (agent.name)"
	case c.Agent.Mode != nativeMode:
		return fmt.Sprintf("%s has agent.mode %s, which makes the agent load the skill", name, c.Agent.Mode)
	case c.Tasks.Path == "":
		return name + " names no tasks (tasks.path)"
	case !isLines(c.Tasks.Path) || isFolder(c.Tasks.Path):
		return fmt.Sprintf("the tasks of %s are in no .jsonl file (tasks.path)", name)
	}
	if f, err := draft.OpenTriggerFile(c.Tasks.Path); err == nil && f.Splits {
		return fmt.Sprintf("the trigger tasks of %s name their splits, and drafted ones do not", name)
	}
	return ""
}

// sameSkill reports whether two paths name the same skill: a folder and its SKILL.md do.
func sameSkill(a, b string) bool {
	main := func(path string) string {
		path = filepath.Clean(path)
		if isFolder(path) {
			return filepath.Join(path, skill.Main)
		}
		return path
	}
	return main(a) == main(b)
}

// triggerConfig returns the config of a new folder. The description of its skill is trained by
// trigger tasks alone.
func (o *initOptions) triggerConfig(a *app, dir string, l *config.Loaded) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Trains the description of a skill by trigger tasks that a model drafted from it. Until\n# they are accepted with\n#   skillopt tasks review %s\n# what is measured on them is exploratory.\n", workConfig)
	fmt.Fprintf(&b, "%sskill: %s\n\ntasks:\n  path: %s\n\nedits:\n  description: true\n", o.extends(dir, l), yamlWord(skillFrom(dir, a.absolute(o.skill))), workTriggers)
	if l.Config.Agent.Name == "" || l.Config.Agent.Mode != nativeMode {
		fmt.Fprintf(&b, "\n# The agent that is measured: it finds the skill by itself, or does not. Others are codex,\n# claude, gemini, ...; builtin is our own.\nagent:\n  name: %s\n  mode: %s\n", builtinAgent, nativeMode)
	}
	return o.withModels(b.String(), dir, l)
}

// print prints the result of drafting trigger tasks.
func (t *triggerDraft) print(a *app, dir string, d *result.Draft, added int) error {
	out := a.results()
	file := a.relative(t.file)
	switch {
	case added == 0:
		fmt.Fprintf(out, "nothing to add: %s has the tasks of this draft already, or a review has rejected them\n", file)
	case t.there:
		fmt.Fprintf(out, "added %s to %s\n", wording.Plural(added, "task", "tasks"), file)
	default:
		fmt.Fprintf(out, "wrote %s\n", file)
	}
	if t.config != nil {
		fmt.Fprintf(out, "wrote %s\n", filepath.Join(dir, workConfig))
	}
	fmt.Fprintf(out, "asked for %s, kept %d: %d that should load the skill, %d that should not", wording.Plural(d.Asked, "trigger task", "trigger tasks"), d.Kept, d.Triggers.Should, d.Triggers.ShouldNot)
	writeDoubtful(out, d)
	writeRest(out, d)
	if t.apart != "" {
		fmt.Fprintf(out, "%s: the tasks are in a file of their own\n", t.apart)
	}
	if added > 0 {
		fmt.Fprintln(out, "the tasks are not reviewed yet: runs on them are exploratory")
	}
	return t.next(a, out, shellWord(dir))
}

// next prints the commands that continue from here. The test split is left for training, which
// counts who has read it.
func (t *triggerDraft) next(a *app, out printer, dir string) error {
	review, train := dir, t.with
	if t.apart != "" {
		review = shellWord(a.relative(t.file))
	}
	if !t.describes {
		train += " --set edits.description=true"
	}
	_, err := fmt.Fprintf(out, "next: skillopt tasks review %s\nthen: skillopt eval %s --split selection%s\n      skillopt train %s%s\n", review, dir, t.with, dir, train)
	return err
}
