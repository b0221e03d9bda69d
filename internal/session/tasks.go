package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
)

const taskFiles = "a .jsonl, .json, .yaml or .csv file, or a directory with train/, val/ and test/"

func (s *loader) loadTasks(ctx context.Context) (err error) {
	rules := task.Rules{Prompt: s.Config.Tasks.Prompt, System: s.Config.Tasks.System, Checker: s.Suite, Values: s.templateValues(), OwnScore: s.OwnEnv() || s.WorldScores(), NoTriggers: s.noTriggers(), Columns: s.Config.Tasks.Columns, Reads: s.fieldsRead(), Published: s.Config.Bench.Name != ""}
	if s.Scorer != nil {
		rules.Checker = nil
	}
	if g := s.Loaded.Guard; g != nil {
		rules.Guard = taskGuard{g, s.Inputs}
	}
	switch {
	case s.Tasks != nil:
		s.Set, err = task.NewSet(s.Tasks, rules)
	case s.Config.Tasks.Path == "" && s.inProgram() && s.Replay == nil:
		s.Set, err = s.programTasks(ctx, rules)
	case s.Config.Tasks.Path == "":
		return fault.Input(fmt.Errorf("tasks.path: found nothing, allowed: %s", taskFiles))
	case s.Counting:
		s.Set, err = task.Survey(ctx, s.Config.Tasks.Path, rules, task.FieldImages, rollout.FieldWorkspace)
	default:
		s.Set, err = task.LoadContext(ctx, s.Config.Tasks.Path, rules)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("load tasks: %w", context.Cause(ctx))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s.fileError("tasks.path", s.Config.Tasks.Path, taskFiles, err)
	}
	if err != nil {
		return fault.Input(err)
	}
	s.Triggers = s.Set.Triggers()
	s.Warnings = append(append(s.Warnings, s.Set.Warnings()...), s.Commands().Lint()...)
	s.Warnings = append(s.Warnings, s.nameWarnings()...)
	if s.Counting && s.Tasks == nil {
		return nil // a survey keeps less than the identity of a run is made of
	}
	s.Contents["tasks.path"], err = DigestTasks(s.Set.Tasks(), s.RawGold())
	return err
}

// fieldsRead returns the fields that something reads apart from templates and task.
func (s *loader) fieldsRead() []string {
	var names []string
	if s.Config.Gate.Group != "" {
		names = append(names, s.Config.Gate.Group)
	}
	if s.Config.Agent.Name != "" {
		names = append(names, rollout.FieldWorkspace, rollout.FieldFiles)
	}
	if s.repository != nil {
		names = append(names, repository.Field)
	}
	return names
}

// RawGold reports whether the environment is given gold as the task has it, which is then a
// part of what is measured.
func (s *Inputs) RawGold() bool {
	return s.Env == nil && len(s.Config.Env.Command) > 0
}

// DigestTasks sums up the JSON of a list of tasks, of which only one at a time is in
// memory. raw adds their gold as it is in the file.
func DigestTasks(tasks []task.Task, raw bool) (string, error) {
	if len(tasks) == 0 {
		return Digest([]byte("null")), nil // as the JSON of no tasks was
	}
	h := sha256.New()
	between := []byte("[")
	for _, t := range tasks {
		var what any = t
		if raw {
			what = env.Seen(t)
		}
		text, err := json.Marshal(what)
		if err != nil {
			return "", fmt.Errorf("digest tasks: %w", err)
		}
		h.Write(between)
		h.Write(text)
		between = []byte(",")
	}
	h.Write([]byte("]"))
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// fileError says which key names a file that cannot be used, and where the key
// is.
func (s *Inputs) fileError(key, path, allowed string, err error) error {
	at := where(s.Loaded, key)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Input(fmt.Errorf("%s: found nothing at %s, allowed: %s", at, path, allowed))
	}
	return fault.Input(fmt.Errorf("%s: %s: %w", at, path, err))
}

func (s *loader) templateValues() map[string]any {
	values := map[string]any{"skill": s.Skill.Text()}
	if len(s.Config.Extras) > 0 {
		values["extras"] = s.Config.Extras
	}
	return values
}

// divide gives every task a split.
func (s *loader) divide(context.Context) (err error) {
	if s.Assigned = s.Set.Assigned(); !s.Assigned {
		parts, err := s.cut(s.Set.Len())
		if err != nil {
			return err
		}
		if s.Counting { // to deal them out would copy them all
			s.Sizes = map[task.Split]int{task.Train: s.limitSplit(len(parts.Train)), task.Selection: s.limitSplit(len(parts.Selection)), task.Test: s.limitSplit(len(parts.Test))}
			return nil
		}
		if s.Set, err = s.Set.Assign(byName(parts)); err != nil {
			return err
		}
	}
	if most := s.Config.Tasks.Limit; most > 0 {
		s.Set = s.Set.Only(func(task.Task) bool { return true }, most)
	}
	return s.divideTriggers()
}

// limitSplit returns how many of n tasks of a split are used.
func (s *Inputs) limitSplit(n int) int {
	if most := s.Config.Tasks.Limit; most > 0 {
		return min(n, most)
	}
	return n
}

// listTasks makes the splits into lists of tasks, which many tasks take room for. Who only
// counts them needs none.
func (s *Inputs) listTasks(context.Context) error {
	if s.Counting || s.Set.Len() == 0 {
		return nil
	}
	s.Data = train.Data{Train: s.Set.Split(task.Train), Selection: s.Set.Split(task.Selection), Test: s.Set.Split(task.Test)}
	if s.Config.Eval.Selection == "train" {
		s.Data.Selection = s.Data.Train
	}
	auto := 0
	if !s.Assigned && s.Config.Split.Ratio == "" {
		auto = schedule.DefaultFolds(s.Set.Len())
	}
	if folds := s.Config.Folds(len(s.Data.Train)+len(s.Data.Selection), auto); folds > 0 {
		s.Data = s.Data.CrossFit(folds, s.Config.Split.Seed)
	}
	s.Data.Example = s.example()
	return nil
}

// cut divides n tasks by the ratio of the config, or by their number.
func (s *Inputs) cut(n int) (schedule.Split, error) {
	if s.Config.Split.Ratio == "" {
		return schedule.Cut(schedule.DefaultCounts(n), s.Config.Split.Seed), nil
	}
	ratio, err := schedule.ParseRatio(s.Config.Split.Ratio)
	if err != nil {
		return schedule.Split{}, fault.Input(fmt.Errorf("split.ratio: %w", err))
	}
	return schedule.RatioSplit(n, schedule.SplitConfig{Ratio: ratio, Seed: s.Config.Split.Seed, KeepOne: true}), nil
}

// RequireSplits fails when a split that the run needs is empty.
func (s *Inputs) RequireSplits() error {
	if err := s.RequireScored(); err != nil {
		return err
	}
	needs := []task.Split{task.Train}
	if gate.Mode(s.Config.Gate.Mode) != gate.ModeOff && s.Config.Eval.Selection != "train" {
		needs = append(needs, task.Selection)
	}
	if s.Config.Eval.Test {
		needs = append(needs, task.Test)
	}
	return s.Set.Require(needs...)
}

// TasksDir returns the folder that paths in tasks are relative to: for a benchmark its data, in
// which the tasks lie in a folder of their own.
func (s *Inputs) TasksDir() string {
	path := s.Config.Tasks.Path
	if data := s.Config.Bench.Data; data != "" && path == filepath.Join(data, config.FolderOfTasks) {
		return data
	}
	if path == "" {
		return s.Loaded.Dir
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// workspacesDir returns the folder that the workspaces of tasks are relative to.
func workspacesDir(s *Inputs) string { return cmp.Or(s.Folders, s.TasksDir()) }

// loadImages looks at the pictures of the tasks. What an environment makes of that
// field is its own affair.
func (s *loader) loadImages(ctx context.Context) (err error) {
	if s.OwnEnv() {
		return nil
	}
	if s.Images, err = rollout.NewImages(ctx, s.TasksDir(), slices.Concat(s.Set.Tasks(), s.Triggers.Tasks())); err != nil {
		return fault.Input(err)
	}
	for _, t := range s.Triggers.Tasks() {
		s.brought.triggers += s.Images.Digest(t)
	}
	var sums []string
	for _, t := range s.Set.Tasks() {
		if sum := s.Images.Digest(t); sum != "" {
			sums = append(sums, sum)
		}
	}
	if len(sums) > 0 {
		s.Contents["tasks.path"] = Digest([]byte(s.Contents["tasks.path"] + strings.Join(sums, "")))
	}
	return nil
}

// digestWorkspaces sums up the folders that tasks and config name for agents.
func (s *loader) digestWorkspaces(context.Context) error {
	if !s.worksInFolders() {
		return nil
	}
	folders := []string{}
	if s.Config.Agent.Workspace != "" {
		folders = append(folders, s.Config.Agent.Workspace)
	}
	sum, err := s.sumFolders(append(folders, s.taskWorkspaces(s.Set.Tasks())...))
	if err != nil {
		return err
	}
	s.Contents["agent.workspace"] = sum
	if own := s.taskWorkspaces(s.Triggers.Tasks()); len(own) > 0 {
		if sum, err = s.sumFolders(own); err != nil {
			return err
		}
		s.brought.triggers += sum
	}
	return nil
}

// taskWorkspaces returns the folders that tasks name as their workspaces.
func (s *loader) taskWorkspaces(tasks []task.Task) []string {
	var folders []string
	for _, t := range tasks {
		if name, ok := t.Data[rollout.FieldWorkspace].(string); ok && filepath.IsLocal(name) {
			folders = append(folders, filepath.Join(workspacesDir(s.Inputs), name))
		}
	}
	return folders
}

// sumFolders sums up folders with what is in them.
func (s *loader) sumFolders(folders []string) (string, error) {
	if s.brought.folders == nil {
		s.brought.folders = map[string]string{}
	}
	for _, dir := range folders {
		if _, done := s.brought.folders[dir]; done {
			continue
		}
		m, err := check.Snapshot(dir)
		if err != nil {
			return "", s.fileError("agent.workspace", dir, "a folder", err)
		}
		if err := s.skillNotIn(dir); err != nil {
			return "", err
		}
		text, err := json.Marshal(m)
		if err != nil {
			return "", fmt.Errorf("digest %s: %w", dir, err)
		}
		s.brought.folders[dir] = Digest(text)
	}
	var all []string
	for _, dir := range folders {
		all = append(all, s.brought.folders[dir])
	}
	return Digest([]byte(fmt.Sprint(all))), nil
}

// where returns how a message about a key begins: where it was set, if it was, and the key.
func where(l *config.Loaded, key string) string {
	if o := l.Origins[key]; o != "" {
		return o + ": " + key
	}
	return key
}
