package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/task"
)

// This file answers shells that complete a command line. An answer is quick, read from the
// folder runs and the files that the line names alone, and is none rather than an error.

// Bounds of what is read for an answer.
const (
	completionTime = 300 * time.Millisecond
	completionFile = 4 << 20 // bytes of a task file
	completionMany = 2000    // answers
	completionWord = 4096    // bytes of one answer
)

// completions gives every command of a tree what it completes.
func (a *app) completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		a.completions(c)
	}
	switch path := strings.TrimPrefix(root.CommandPath(), "skillopt "); path {
	case "runs blame", "runs export", "runs calls", "runs diff", "runs watch", "runs check", "runs rm", "runs skill", "runs compare", "runs note", "rescore", "ablate", "prune":
		root.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.offer(a.runNames(), word)
		}
	case "runs show":
		root.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.offer(a.runNames(), word)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	case "runs tasks":
		root.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return a.offer(a.runNames(), word)
			}
			return a.offer(a.listTaskValues(args, taskID), word)
		}
	case "config explain":
		root.ValidArgsFunction = func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.offer(configKeys(""), word)
		}
	}
	for flag, of := range map[string]func(args []string) []string{
		"set": func([]string) []string { return configKeys("=") },
		"split": func([]string) []string {
			return []string{string(task.Train), string(task.Selection), string(task.Test), "all"}
		},
		"task":      func(args []string) []string { return a.listTaskValues(args, taskID) },
		"type":      func(args []string) []string { return a.listTaskValues(args, taskType) },
		"continue":  func([]string) []string { return a.runNames() },
		"status":    func([]string) []string { return listedStatuses() },
		"by":        func([]string) []string { return spentBy() },
		"target":    func([]string) []string { return modelNames() },
		"optimizer": func([]string) []string { return modelNames() },
		"memory":    func([]string) []string { return a.runNames() },
		"run":       func([]string) []string { return a.runNames() },
		"fork":      func([]string) []string { return a.runNames() },
		"color":     func([]string) []string { return []string{colorAuto, colorAlways, colorNever} },
	} {
		if root.LocalNonPersistentFlags().Lookup(flag) == nil && (flag != "color" || root.HasParent()) {
			continue
		}
		// It fails only where a flag is not there, or is completed already.
		_ = root.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if values, known := keyValues(word); flag == "set" && known {
				return a.offer(values, word)
			}
			return a.offer(of(args), word)
		})
	}
}

// offer answers with those words that continue what is there. Words with characters that
// steer a terminal, or that a shell would take apart, are left out. Files are offered where
// nothing fits.
func (a *app) offer(words []string, begun string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, begun) && len(w) < completionWord && printable(w) == w && !strings.ContainsAny(w, "\n\t\"'`$\\;&|<>(){}*?!# ") && len(out) < completionMany {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	how := cobra.ShellCompDirectiveDefault
	if len(out) > 0 {
		how = cobra.ShellCompDirectiveNoFileComp
	}
	if len(out) == 1 && strings.HasSuffix(out[0], "=") {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return out, how
}

// runNames returns the runs below the folder runs, links left out.
func (a *app) runNames() []string {
	root, err := os.OpenRoot(filepath.Join(a.Dir, config.Default().Run.Dir))
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }() // it was only read
	dir, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	entries, _ := dir.ReadDir(10 * completionMany)
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, err := root.Lstat(filepath.Join(e.Name(), run.ManifestFile)); err == nil {
			names = append(names, config.Default().Run.Dir+"/"+e.Name())
		}
	}
	return names
}

func taskID(t task.Task) string   { return t.ID }
func taskType(t task.Task) string { return t.Type }

// listTaskValues returns what the tasks of a config, or of a run, have of something, each once.
func (a *app) listTaskValues(args []string, what func(task.Task) string) []string {
	if len(args) == 0 || args[0] == "" {
		return nil
	}
	path := args[0]
	if ran := filepath.Join(a.absolute(path), run.ConfigFile); exists(ran) && exists(filepath.Join(a.absolute(path), run.ManifestFile)) {
		path = ran
	}
	l, err := config.Load(config.Options{Path: path, Dir: a.Dir, Guard: a.guard})
	if err != nil {
		return nil
	}
	if st, err := os.Stat(l.Config.Tasks.Path); err != nil || !st.Mode().IsRegular() || st.Size() > completionFile {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), completionTime)
	defer stop()
	set, err := task.Survey(ctx, l.Config.Tasks.Path, task.Rules{OwnScore: true, Columns: l.Config.Tasks.Columns})
	if err != nil {
		return nil
	}
	var found []string
	for _, t := range set.Tasks() {
		if w := what(t); w != "" {
			found = append(found, w)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// configKeys returns all keys, each with an end.
func configKeys(end string) []string {
	var out []string
	for _, k := range config.Default().Keys() {
		out = append(out, k.Path+end)
	}
	return out
}

// keyValues returns the settings that a key can have whose value is one of a few.
func keyValues(begun string) (values []string, known bool) {
	key, _, ok := strings.Cut(begun, "=")
	if !ok {
		return nil, false
	}
	for _, k := range config.Default().Keys() {
		if k.Path != key {
			continue
		}
		names := k.Values
		if k.Type == "true or false" {
			names = []string{"true", "false"}
		}
		for _, v := range names {
			values = append(values, key+"="+v)
		}
	}
	return values, true
}

// modelNames returns PROVIDER/MODEL of what has a price, and the providers.
func modelNames() []string {
	var out []string
	table, err := price.Default()
	if err != nil {
		return nil
	}
	for _, e := range table.Entries() {
		out = append(out, e.Provider+"/"+e.Model)
	}
	for _, k := range config.Default().Keys() {
		if k.Path == "models.target.provider" {
			for _, p := range k.Values {
				out = append(out, p+"/")
			}
		}
	}
	return out
}
