package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// output writes the files of a run. They are for eyes: a resumed run writes them again
// from the record.
type output struct {
	files  Files
	skills *skills
}

// step writes the files of a step.
func (o *output) step(number int, files map[string]any) error {
	return o.all(fmt.Sprintf("steps/step_%04d/", number), files)
}

// epoch writes the files of an epoch's end.
func (o *output) epoch(epoch int, files map[string]any) error {
	return o.all(fmt.Sprintf("epochs/epoch_%02d/", epoch), files)
}

func (o *output) all(dir string, files map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := o.one(dir+name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) one(name string, v any) error {
	if text, ok := v.(string); ok {
		return o.files.WriteFile(name, []byte(text))
	}
	return o.files.WriteJSON(name, v)
}

// state writes the incumbent after a step, the best skill so far and the history.
func (o *output) state(step int, h result.History) error {
	if err := o.files.WriteFile(fmt.Sprintf("skills/skill_v%04d.md", step), []byte(o.skills.current.skill.Text())); err != nil {
		return err
	}
	return o.result(h)
}

// result writes the best skill, the candidates and the history.
func (o *output) result(h result.History) error {
	if err := o.files.WriteFile("best_skill.md", []byte(o.skills.best.skill.Text())); err != nil {
		return err
	}
	if len(o.skills.best.skill.Others()) > 0 { // which are there from the beginning
		if err := o.files.WriteFile("best_skill/"+skill.Main, []byte(o.skills.best.skill.Text())); err != nil {
			return err
		}
	}
	if err := o.files.WriteJSON("candidates.json", o.skills.store.projectionOf(o.skills.best.skill.Hash())); err != nil {
		return err
	}
	return o.files.WriteJSON("history.json", h)
}
