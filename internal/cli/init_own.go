package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/skill"
)

// startingSkill is what training begins with where there is no skill yet.
const startingSkill = `---
name: %s
description: How to answer the questions of %s.
---

# %s

Answer the question. Reply with the answer alone, in the form in which it is asked for.
`

// runOwn writes a folder that trains a skill on tasks that are there.
func (o *initOptions) runOwn(ctx context.Context, a *app, folder newFolder) error {
	if o.generate != 0 {
		return usagef("--tasks has tasks, and --generate drafts some: give one of them")
	}
	if o.config == "" && o.target == "" {
		return usagef("--tasks %s needs --target PROVIDER/MODEL, the model that carries them out, or --config with a config whose models do", o.tasks)
	}
	if o.config != "" && o.optimizer+o.target != "" {
		return usagef("--config names the models: leave out --optimizer and --target")
	}
	l, err := o.load(a)
	if err != nil {
		return err
	}
	files, path := map[string][]byte{}, skill.Main
	if o.skill != "" {
		path = skillFrom(folder.dir, a.absolute(o.skill))
	} else {
		name := skillName(folder.dir)
		files[skill.Main] = fmt.Appendf(nil, startingSkill, strings.ToLower(name), name, name)
	}
	text := fmt.Sprintf("# `skillopt config explain` says what each key does, and which there are.\n%sskill: %s\n\ntasks:\n  path: %s\n",
		o.extends(folder.dir, l), yamlWord(path), yamlWord(from(folder.dir, a.absolute(o.tasks))))
	if files[workConfig], err = o.withModels(text, folder.dir, l); err != nil {
		return err
	}
	return o.writeAndTry(ctx, a, folder, files)
}

// triedTasks is how many tasks init tries.
const triedTasks = 3

// writeAndTry writes a folder, tries some of its tasks, and prints the command that is next.
func (o *initOptions) writeAndTry(ctx context.Context, a *app, folder newFolder, files map[string][]byte) error {
	if o.noTry {
		return folder.writeToTrain(a, files, map[string]any{})
	}
	names, err := folder.write(files)
	if err != nil {
		return err
	}
	if !a.json {
		folder.print(a, names)
	}
	var t tryOptions
	t.repeat, t.split, t.yes, t.only.Limit = 1, "train", o.yes, triedTasks
	evaluated, err := t.evaluate(ctx, a, folder.dir)
	if err != nil {
		return fmt.Errorf("%w\n%s is written; next: skillopt try %s", err, folder.name, shellWord(folder.name))
	}
	shown, err := readEvaluations(ctx, evaluated)
	if err != nil {
		return err
	}
	shown = shareable(shown)
	if a.json {
		return printJSON(a.Out, map[string]any{"dir": folder.dir, "files": names, "evaluations": shown})
	}
	if err := t.print(a.results(), evaluated, shown); err != nil {
		return err
	}
	return folder.printNext(a)
}

// writeToTrain writes files that can be trained, and prints which, or a document with more.
func (f newFolder) writeToTrain(a *app, files map[string][]byte, more map[string]any) error {
	names, err := f.write(files)
	if err != nil {
		return err
	}
	if a.json {
		doc := map[string]any{"dir": f.dir, "files": names}
		maps.Copy(doc, more)
		return printJSON(a.Out, doc)
	}
	f.print(a, names)
	return f.printNext(a)
}

func (f newFolder) print(a *app, names []string) {
	for _, name := range names {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(f.name, name))
	}
}

func (f newFolder) printNext(a *app) error {
	_, err := fmt.Fprintf(a.Out, "next: skillopt train %s\n", shellWord(f.name))
	return err
}

// load reads the config that names the models, or makes one of flags.
func (o *initOptions) load(a *app) (*config.Loaded, error) {
	if o.config != "" {
		l, err := a.loadConfig(o.config, nil, nil)
		if err == nil && o.tasks == "" && l.Config.Models.Optimizer.Provider == "" {
			err = usagef("%s names no models.optimizer, which is to draft the tasks: set models.optimizer.provider and .model there", o.config)
		}
		return l, err
	}
	if o.target == "" {
		o.target = o.optimizer
	}
	var flags []config.Setting
	for _, m := range []struct{ role, text string }{{"optimizer", o.optimizer}, {"target", o.target}} {
		if m.text == "" { // worked examples alone are tried
			continue
		}
		model, err := modelSettings(m.role, m.text)
		if err != nil {
			return nil, err
		}
		flags = append(flags, model...)
	}
	return a.loadConfig("", nil, flags)
}
