package train

import (
	"fmt"
	"maps"
	"slices"
)

// write lays out the files of a step. They are for eyes: a resumed run writes
// them again from the record.
func (s *step) write() error {
	dir := fmt.Sprintf("steps/step_%04d/", s.number)
	s.files["step_record.json"] = s.record
	if err := s.writeFiles(dir, s.files); err != nil {
		return err
	}
	return s.writeSkill(s.number)
}

func (e *epochEnd) write() error {
	e.files["record.json"] = e.record
	if err := e.writeFiles(fmt.Sprintf("epochs/epoch_%02d/", e.epoch), e.files); err != nil {
		return err
	}
	return e.writeSkill(e.lastStep())
}

func (t *trainer) writeFiles(dir string, files map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := t.writeOne(dir+name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func (t *trainer) writeOne(name string, v any) error {
	if text, ok := v.(string); ok {
		return t.Files.WriteFile(name, []byte(text))
	}
	return t.Files.WriteJSON(name, v)
}

// writeSkill writes the incumbent after a step, best so far and the history.
func (t *trainer) writeSkill(step int) error {
	if err := t.Files.WriteFile(fmt.Sprintf("skills/skill_v%04d.md", step), []byte(t.skills.current.skill.Text())); err != nil {
		return err
	}
	return t.writeFinal()
}

func (t *trainer) writeFinal() error {
	if err := t.Files.WriteFile("best_skill.md", []byte(t.skills.best.skill.Text())); err != nil {
		return err
	}
	if err := t.Files.WriteJSON("candidates.json", t.skills.store.projectionOf(t.skills.best.skill.Hash())); err != nil {
		return err
	}
	return t.Files.WriteJSON("history.json", t.soFar())
}
