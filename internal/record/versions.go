package record

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// skillAt reads a version of the skill: the document, and in a folder of the same name
// without .md the other files that edits may change.
func (r *reader) skillAt(document string) (skill.Skill, bool) {
	text, found := r.text(document)
	s := skill.New(text)
	folder := strings.TrimSuffix(document, ".md")
	if path.Base(document) == skill.Main {
		folder = path.Dir(document)
	}
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
			return fs.SkipAll // there is none, or it cannot be read: text reports the files that are needed
		}
		if rel := strings.TrimPrefix(name, folder+"/"); d.Type().IsRegular() && rel != skill.Main {
			names = append(names, rel)
		}
		return nil
	})
	r.problem(err)
	return names
}

// A VersionError says that a run has no version of a skill under a name.
type VersionError struct {
	Run, Version, Allowed string

	Steps bool // versions are steps
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("run %s has no version %q: allowed are %s", e.Run, e.Version, e.Allowed)
}

// IsStep reports whether the version is a number, as those of steps are.
func (e *VersionError) IsStep() bool {
	_, err := strconv.ParseUint(e.Version, 10, 31)
	return err == nil
}

// ErrorKind says whose business the error is.
func (*VersionError) ErrorKind() string { return string(fault.BadInput) }

// An UnreadSkillError says why files of a skill of a run cannot be read.
type UnreadSkillError struct{ Run, Reason string }

func (e *UnreadSkillError) Error() string {
	return fmt.Sprintf("the skill of run %s cannot be read: %s", e.Run, e.Reason)
}

// documentFile returns the file of a version's document. Those next to it lie in a folder of the
// same name without .md.
func documentFile(kind result.Kind, version string) (file, allowed string) {
	named := map[string]string{"best": run.BestFile}
	switch kind {
	case result.Compare:
		named, allowed = map[string]string{"a": "skill_a.md", "b": "skill_b.md"}, "a and b"
	case result.Evaluate:
		named, allowed = map[string]string{"tuned": run.TunedFolder + "/" + skill.Main}, "tuned, of a skill that was edited by hand"
	case result.Ablate, result.Prune:
		named, allowed = map[string]string{"whole": result.WholeFile, "pruned": result.PrunedFile}, "whole, and pruned where rules were removed"
	default:
		allowed = "0, the seed skill, a step that the run has done, and best"
		if n, err := strconv.ParseUint(version, 10, 31); err == nil {
			return fmt.Sprintf("skills/skill_v%04d.md", n), allowed
		}
	}
	return named[version], allowed
}

// Version reads the skill of the run in dir after a step ("0" is the seed skill), or the
// best one, with the files next to SKILL.md that edits may change; of a comparison the skills a
// and b, of an ablation or pruning whole and pruned. A version that the run has not is a
// *VersionError. Nothing outside of the directory is read.
func Version(dir, version string) (skill.Skill, error) {
	r, err := openVersions(dir)
	if err != nil {
		return skill.Skill{}, err
	}
	defer r.root.Close()
	return r.version(dir, version)
}

// openVersions opens a run whose skills are read. A directory that is none is a
// *run.MissingError.
func openVersions(dir string) (*reader, error) {
	m, found, err := run.ReadManifest(dir)
	if err != nil {
		return nil, run.Unreadable(dir, err)
	}
	if !found {
		return nil, &run.MissingError{Dir: dir}
	}
	root, err := openRun(dir, dir)
	if err != nil {
		return nil, err
	}
	return &reader{root: root, run: &Training{Name: dir, Manifest: m}}, nil
}

func (r *reader) version(dir, version string) (s skill.Skill, err error) {
	file, allowed := documentFile(r.run.Manifest.Kind, version)
	found := false
	switch {
	case file == run.BestFile:
		s, found = r.best()
	case file != "":
		s, found = r.skillAt(file)
	}
	switch {
	case len(r.run.Problems) > 0:
		return s, &UnreadSkillError{dir, r.run.Problems[0]}
	case !found:
		return s, &VersionError{dir, version, allowed, strings.HasPrefix(allowed, "0")}
	}
	return s, nil
}

// Files reads a version of the skill of the run in dir, or the best one with all its files,
// those that edits may not change among them. The errors are those of Version.
func Files(dir, version string) (result.SkillFiles, error) {
	out := result.SkillFiles{RunDir: dir, Version: version, Files: []result.SkillFile{}}
	s, err := Version(dir, version)
	if err != nil {
		return out, err
	}
	if version == "best" {
		if whole, err := Best(dir); err == nil { // else a file of it is no text: those that edits may change are shown
			s = whole
		}
	}
	for _, path := range s.Files() {
		text, _ := s.File(path)
		f := result.SkillFile{Path: path, Size: len(text)}
		if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
			f.Text = &text
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// Versions lists the skills that the run in dir has made, the seed first: each that became the
// current one. Where a step and the end of its epoch both changed the skill, the version has
// what both did. A run that trains nothing lists the skills that it was about.
func Versions(dir string) (result.Versions, error) {
	out := result.Versions{RunDir: dir, Versions: []result.Version{}}
	r, err := openVersions(dir)
	if err != nil {
		return out, err
	}
	defer r.root.Close()
	kind := r.run.Manifest.Kind
	if kind != result.Train {
		return out, r.otherVersions(dir, kind, &out)
	}
	if _, err := r.decode(run.HistoryFile, &r.run.History); err != nil {
		return out, &FileError{Path: path.Join(dir, run.HistoryFile), Err: err}
	}
	r.run.Steps = make([]Step, len(r.run.History.Steps)) // nothing of their files is needed
	out.Versions = r.run.versions()
	for i, v := range out.Versions {
		file, _ := documentFile(kind, v.Version)
		out.Versions[i].Files = append([]string{skill.Main}, r.filesIn(strings.TrimSuffix(file, ".md"))...)
	}
	if out.Best = r.bestVersion(out.Versions); len(r.run.Problems) > 0 {
		return out, &UnreadSkillError{dir, r.run.Problems[0]}
	}
	return out, nil
}

// versions returns the versions that became the current skill.
func (r *Training) versions() []result.Version {
	out := []result.Version{}
	add := func(v result.Version) {
		v.Version = strconv.Itoa(v.Step)
		if n := len(out); n > 0 && out[n-1].Version == v.Version { // the end of an epoch behind its last step
			v.Origin = out[n-1].Origin + " and " + v.Origin
			out = out[:n-1]
		}
		out = append(out, v)
	}
	r.Walk(func(s result.StepRecord, _ Step) {
		v := result.Version{Step: s.Step, Epoch: s.Epoch, Origin: s.CurrentOrigin, Hash: s.SkillHash, Score: s.Candidate, N: s.SelectionN, Unanswered: s.SelectionUnanswered, Taken: s.Action}
		switch {
		case s.Step == 0:
			v.Score = s.Current
		case !gate.Action(s.Action).Accepted():
			return
		}
		add(v)
	}, func(e result.EpochRecord, last int) {
		if SlowAccepted(e) {
			add(result.Version{Step: last, Epoch: e.Epoch, Origin: fmt.Sprintf("slow update, epoch %d", e.Epoch), Hash: e.SkillHash, Score: e.Score, Taken: e.SlowUpdate})
		}
	})
	return out
}

// bestVersion returns the version that is the best skill: best itself if none is any more.
func (r *reader) bestVersion(all []result.Version) string {
	best, found := r.best()
	if !found {
		return ""
	}
	for _, v := range slices.Backward(all) {
		file, _ := documentFile(result.Train, v.Version)
		if s, _ := r.skillAt(file); s.Equal(best) {
			return v.Version
		}
	}
	return "best"
}

// otherVersions lists the skills of a run that does not train.
func (r *reader) otherVersions(dir string, kind result.Kind, out *result.Versions) error {
	for _, name := range []string{"a", "b", "whole", "pruned", "tuned"} {
		if file, _ := documentFile(kind, name); file == "" {
			continue
		}
		s, err := r.version(dir, name)
		var none *VersionError
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return err
		}
		out.Versions = append(out.Versions, result.Version{Version: name, Origin: name, Hash: s.Digest(), Files: s.Files()})
		out.Best = name
	}
	return nil
}
