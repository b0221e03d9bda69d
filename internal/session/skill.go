package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

func (s *loader) loadSkill(ctx context.Context) error {
	switch {
	case s.Options.Skill != nil:
		s.Skill = s.TargetSkill(*s.Options.Skill)
	case s.Config.Skill != "":
		path := run.SkillPath(filepath.Clean(s.Config.Skill))
		if err := s.readSkill(ctx, path); err != nil {
			return err
		}
		s.lint(path)
	}
	if err := s.checkHead(); err != nil {
		return err
	}
	s.Contents["skill"] = Digest([]byte(s.Skill.Text()))
	return s.loadScope()
}

// checkHead fails if agents could not read the front matter of the skill, and warns if it has none.
func (s *loader) checkHead() error {
	name := "the skill"
	if s.Config.Skill != "" && s.Options.Skill == nil {
		name = documentName(s.Config.Skill)
	}
	return CheckHead(name, s.Skill)
}

// CheckHead fails if a skill has front matter that is no YAML: agents that read it load no such
// skill.
func CheckHead(name string, sk skill.Skill) error {
	if _, err := skill.Parse(sk.Text()); err != nil {
		return fault.Input(fmt.Errorf("%s, %w; agents do not load such a skill", name, err))
	}
	return nil
}

// documentName returns the name of the document of the skill at path.
func documentName(path string) string {
	if filepath.Ext(path) == ".md" {
		return path
	}
	return filepath.Join(path, skill.Main)
}

// loadScope checks which files edits may change.
func (s *loader) loadScope() (err error) {
	edits := s.Config.Edits
	s.Scope, err = skill.NewScope(s.Skill, edits.Files, edits.NewFiles)
	if edits.Description {
		s.Scope = s.Scope.WithDescription()
	}
	s.Scope = s.Scope.WithTidy(edits.Tidy).WithRegion(skill.Region(edits.Region))
	var bad *skill.ScopeError
	switch {
	case errors.As(err, &bad) && errors.Is(err, skill.ErrNoMatch):
		return fault.Input(fmt.Errorf("edits.files: %w; the skill has %s; edits.new_files lets training add files", err, listedFiles(s.Skill)))
	case err != nil:
		return fault.Input(fmt.Errorf("edits.files: %w", err))
	}
	for _, name := range s.Scope.Of(s.Skill) {
		if program := s.Skill.Executable(name) || strings.HasPrefix(name, "scripts/"); program && len(edits.Verify.Command) == 0 {
			return fault.Input(fmt.Errorf("edits.files: %s is a program, which is trained only with a check that it still runs: edits.verify.command", name))
		}
	}
	return nil
}

// TrainRegion adds an empty learned region to a document that is to be trained in one and has
// none, and fails if the document cannot be trained within edits.region; an operation that
// trains calls it before anything else. The identity knows the document as it was given.
func TrainRegion(in *Inputs) error {
	name := cmp.Or(in.Config.Skill, "the skill")
	if skill.Region(in.Config.Edits.Region) == skill.LearnedRegion {
		text, err := skill.InjectLearned(in.Skill.Text())
		switch {
		case err != nil:
			return fault.Input(fmt.Errorf("edits.region: %s, %w", name, err))
		case len(text) > skill.MaxBytes:
			return fault.Input(fmt.Errorf("edits.region: %s: with a learned region it has %d bytes, at most %d are allowed", name, len(text), skill.MaxBytes))
		}
		in.Skill = in.Skill.WithText(text)
	}
	if err := in.Scope.CheckRegion(in.Skill, in.Config.SlowUpdate.Enabled, in.Config.Reflect.SkillAware); err != nil {
		return fault.Input(fmt.Errorf("edits.region: %s, %w", name, err))
	}
	return nil
}

// TrainExamples fails if the skill shows tasks that are to judge it as worked examples; an
// operation that trains calls it before anything else.
func TrainExamples(in *Inputs) error {
	for _, of := range []struct {
		split task.Split
		tasks []task.Task
	}{{task.Selection, in.Data.Selection}, {task.Test, in.Data.Test}} {
		if shown := in.Data.ShownBy(in.Skill, of.tasks); len(shown) > 0 {
			return fault.Input(fmt.Errorf("%s shows %s of this configuration as worked examples (%s): a score on them says nothing; give these tasks the split train, or take the region %s out of the document",
				cmp.Or(in.Config.Skill, "the skill"), wording.Plural(len(shown), string(of.split)+" task", string(of.split)+" tasks"), firstNames(shown), skill.ExamplesStart))
		}
	}
	return nil
}

// WarnOfExamples warns of tasks to be scored that a skill shows as worked examples.
func WarnOfExamples(s *Session, sk skill.Skill, tasks []task.Task) {
	if shown := s.Data.ShownBy(sk, tasks); len(shown) > 0 {
		s.Emit(event.Warning{Text: fmt.Sprintf("the skill shows %d of these %d tasks as worked examples: its score on them says nothing of others", len(shown), len(tasks))})
	}
}

// listedFiles names the files of a skill, the first few.
func listedFiles(sk skill.Skill) string { return firstNames(sk.Files()) }

// firstNames lists names, at most 8 of them.
func firstNames(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func (s *loader) readSkill(ctx context.Context, path string) (err error) {
	in := *s.Loaded
	in.Config = s.Config
	s.Skill, err = ReadSkill(ctx, path, &in)
	if fault.Of(err) == fault.BadInput {
		return err
	}
	if err != nil {
		return s.fileError("skill", s.Config.Skill, "a SKILL.md or a directory with one", err)
	}
	return nil
}

// ReadSkill reads the skill at path, or what skill_files of a configuration says of it. A directory that is
// the project too, with a config, tasks, prompts or runs, is read as its SKILL.md: with
// scripts, references and assets alone. Nothing is read that leads out of the folders of the guard.
func ReadSkill(ctx context.Context, path string, l *config.Loaded) (skill.Skill, error) {
	read, cfg := skill.ReadDocument, l.Config
	if cfg.SkillFiles != config.FilesDocument {
		own := map[string]string{"tasks.path": cfg.Tasks.Path, "run.dir": cfg.Run.Dir, "prompts": cfg.Prompts, "the configuration": l.File}
		path, read = findDocument(path, own), skill.Read
		if err := keptApart(path, own); err != nil {
			return skill.Skill{}, err
		}
	}
	dir, name := filepath.Split(path)
	return read(l.Guard.Dir(ctx, filepath.Clean(dir), math.MaxInt64), name)
}

// findDocument returns the SKILL.md of a directory that is a project too, else path.
func findDocument(path string, own map[string]string) string {
	document := filepath.Join(path, skill.Main)
	if _, err := os.Stat(document); err != nil {
		return path
	}
	if _, err := os.Stat(filepath.Join(path, "config.yaml")); err == nil {
		return document
	}
	for _, there := range own {
		if there != "" && containsPath(path, there) {
			return document
		}
	}
	return path
}

// TargetSkill returns what of a skill reaches the target, by skill_files.
func (s *Inputs) TargetSkill(sk skill.Skill) skill.Skill {
	if s.Config.SkillFiles == config.FilesDocument {
		return skill.New(sk.Text())
	}
	return sk
}

// keptApart refuses a SKILL.md whose files would be the tasks, with what is expected, or
// other things of the run: an agent would be handed them with the skill.
func keptApart(path string, own map[string]string) error {
	if filepath.Base(path) != skill.Main {
		return nil
	}
	for _, what := range slices.Sorted(maps.Keys(own)) {
		for _, name := range skill.StandardFolders() {
			root := filepath.Join(filepath.Dir(path), name)
			if own[what] != "" && containsPath(root, own[what]) {
				return fault.Input(fmt.Errorf("skill: %s holds %s (%s), which the target would be handed with the skill: keep them apart, or set skill_files: document", root, what, own[what]))
			}
		}
	}
	return nil
}

// containsPath reports whether path is a folder, or lies in it where skills are read: not below
// a name that begins with a dot, nor in the evals.
func containsPath(folder, path string) bool {
	rel, err := filepath.Rel(resolvePath(folder), resolvePath(path))
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	return rel == "." || parts[0] != "evals" && !slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") })
}

// resolvePath returns an absolute path without links, as far as there is something.
func resolvePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolvePath(parent), filepath.Base(path))
	}
	return path
}

// skillNotIn refuses a workspace that brings a skill under the name of the one that is
// trained: neither would be what is measured.
func (s *loader) skillNotIn(workspace string) error {
	if s.Config.Agent.Mode == string(agent.File) {
		if err := wiring.CheckAgentFile(os.DirFS(workspace), s.Config.Agent); err != nil {
			return fault.Input(fmt.Errorf("agent.file: %s: %w", workspace, err))
		}
		return nil
	}
	if strings.TrimSpace(s.Skill.Text()) == "" {
		return nil
	}
	if there := wiring.SameSkill(os.DirFS(workspace), s.Skill, s.Config.Agent.SkillName); there != "" {
		return fault.Input(fmt.Errorf("the workspace %s brings %s, a skill of the name of the one that is trained: take it out of the workspace, or name the skill otherwise with agent.skill_name", workspace, there))
	}
	return nil
}

// FileEntries returns the entries of an identity for the files of a skill next to SKILL.md: one
// each, so that a change names the file.
func FileEntries(under string, sk skill.Skill) map[string]string {
	out := map[string]string{}
	for _, path := range sk.Others() {
		out[under+"/"+path] = strconv.Quote(sk.FileDigest(path))
	}
	return out
}

// CompareWith is the entry of the identity for the second skill of a comparison, without
// "library.".
const CompareWith = "compare.with"
