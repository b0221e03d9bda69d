package ask

import (
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Skill reads the skill of a run after a step, or the best one; path is what messages call
// the run.
func Skill(dir, path, version string) (skill.Skill, error) {
	s, err := record.Version(dir, version)
	return s, readable(err, path)
}

// Versions lists the skills that a run has made.
func Versions(dir, path string) (result.Versions, error) {
	v, err := record.Versions(dir)
	return Shareable(v), readable(err, path)
}

// Files reads the files of a version of the skill, the best one if none is named.
func Files(dir, path, version string) (result.SkillFiles, error) {
	if version == "" {
		v, err := record.Versions(dir)
		if err != nil {
			return result.SkillFiles{}, readable(err, path)
		}
		if version = "best"; len(v.Versions) > 0 && v.Versions[0].Version != "0" { // it does not train
			version = v.Best
		}
	}
	f, err := record.Files(dir, version)
	return f, readable(err, path)
}

// Side is a version of the skill of a run.
type Side struct {
	Dir, Path string // Path is what messages and headings call the run
	Version   string
}

// Diff says how one skill differs from another. A side without a version is the seed skill and
// the best one, of two runs the best one of either; where a run does not train, the first and
// the last of its versions.
func Diff(from, to Side) (result.Difference, error) {
	if err := from.complete(from.Dir == to.Dir); err != nil {
		return result.Difference{}, err
	}
	if err := to.complete(false); err != nil {
		return result.Difference{}, err
	}
	a, err := Skill(from.Dir, from.Path, from.Version)
	if err != nil {
		return result.Difference{}, err
	}
	b, err := Skill(to.Dir, to.Path, to.Version)
	if err != nil {
		return result.Difference{}, err
	}
	return record.Diff(a, b, from.Path+" "+from.Version, to.Path+" "+to.Version), nil
}

// complete gives a side that has none a version.
func (s *Side) complete(first bool) error {
	if s.Version != "" {
		return nil
	}
	v, err := record.Versions(s.Dir)
	if err != nil {
		return readable(err, s.Path)
	}
	s.Version = "best"
	if first {
		s.Version = "0"
	}
	if n := len(v.Versions); n > 0 && v.Versions[0].Version != "0" {
		s.Version = v.Versions[n-1].Version
		if first {
			s.Version = v.Versions[0].Version
		}
	}
	return nil
}

// readable returns an error about a run, with the run named as the caller named it.
func readable(err error, path string) error {
	var none *run.MissingError
	var version *record.VersionError
	switch {
	case errors.As(err, &none):
		return missingErrorf("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	case errors.As(err, &version) && !version.IsStep() && version.Version != "best" && version.Steps:
		return wrong("", "version %q: want a step, or best", version.Version)
	case errors.As(err, &version):
		return missingErrorf("run %s has no version %s yet: allowed are %s; `skillopt runs skill %s --list` lists them", path, version.Version, version.Allowed, path)
	}
	return err
}
