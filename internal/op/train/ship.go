package train

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// shipper keeps the folder best_skill of a run what the best skill is. A skill of SKILL.md
// alone has none.
type shipper struct {
	run  *run.Run
	held map[string]string // digest of each file that is there; "": not known
}

// newShipper looks at what the folder of a run holds: a session before may have ended with
// another best skill.
func newShipper(r *run.Run) (*shipper, error) {
	s := &shipper{run: r, held: map[string]string{}}
	root := filepath.Join(r.Dir, run.BestFolder)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		s.held[filepath.ToSlash(rel)] = ""
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return s, err
}

// ship makes best what the folder holds.
func (s *shipper) ship(best skill.Skill) error {
	names := best.Files()
	if len(best.Others()) == 0 {
		names = nil
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
		if err := s.put(name, best); err != nil {
			return err
		}
	}
	for name := range s.held {
		if wanted[name] {
			continue
		}
		if err := s.run.RemoveFile(path.Join(run.BestFolder, name)); err != nil {
			return err
		}
		delete(s.held, name)
	}
	return nil
}

// put writes a file, unless it is there as it is to be.
func (s *shipper) put(name string, best skill.Skill) error {
	digest := best.FileDigest(name)
	if s.held[name] == digest {
		return nil
	}
	s.held[name] = digest
	return s.run.WriteSkillFile(run.BestFolder, name, best)
}
