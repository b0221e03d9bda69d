package record

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// skillAt reads a version of the skill: the document, and in a folder of the same name
// without .md the other files that edits may change.
func (r *reader) skillAt(document string) (skill.Skill, bool) {
	text, found := r.text(document)
	s := skill.New(text)
	folder := strings.TrimSuffix(document, ".md")
	for _, name := range r.filesIn(folder) {
		if content, ok := r.text(path.Join(folder, name)); ok {
			s = s.WithFile(name, content)
		}
	}
	return s, found
}

// best reads the best skill with the files that edits may change: best_skill has all.
func (r *reader) best() (skill.Skill, bool) {
	whole, found := r.skillAt(run.BestFile)
	changeable := map[string]bool{}
	versions, _ := fs.Glob(r.root.FS(), "skills/skill_v*")
	for _, v := range versions {
		if strings.HasSuffix(v, ".md") {
			continue
		}
		for _, name := range r.filesIn(v) {
			changeable[name] = true
		}
	}
	s := skill.New(whole.Text())
	for _, name := range whole.Others() {
		if content, _ := whole.File(name); changeable[name] {
			s = s.WithFile(name, content)
		}
	}
	return s, found
}

// filesIn lists the files in a folder and below it, but for SKILL.md, as many as a skill
// may have. What is no regular file is none.
func (r *reader) filesIn(folder string) (names []string) {
	err := fs.WalkDir(r.root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || len(names) == skill.MaxFiles {
			return fs.SkipAll // there is none, or it cannot be read: text tells of what is needed
		}
		if rel := strings.TrimPrefix(name, folder+"/"); d.Type().IsRegular() && rel != skill.Main {
			names = append(names, rel)
		}
		return nil
	})
	r.problem(err)
	return names
}

// Version reads the skill of the run in dir after a step ("0" is the seed skill), or the
// best one, with the files beside SKILL.md that edits may change. found is false where the
// run has none. Nothing outside of the directory is read.
func Version(dir, version string) (s skill.Skill, found bool, err error) {
	root, err := openRun(dir, dir)
	if err != nil {
		return s, false, err
	}
	defer root.Close()
	r := &reader{root: root, run: &Training{}}
	if version == "best" {
		s, found = r.best()
	} else {
		s, found = r.skillAt("skills/skill_v" + version + ".md")
	}
	if len(r.run.Problems) > 0 {
		return s, found, fmt.Errorf("read the skill of run %s: %s", dir, r.run.Problems[0])
	}
	return s, found, nil
}
