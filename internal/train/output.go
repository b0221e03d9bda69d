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
	ship   func(skill.Skill) error // see Deps.Ship
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
	name, current := fmt.Sprintf("skills/skill_v%04d", step), o.skills.current.skill
	if err := o.files.WriteFile(name+".md", []byte(current.Text())); err != nil {
		return err
	}
	for _, path := range changeable(o.skills.scope, current) {
		text, _ := current.File(path)
		if err := o.files.WriteFile(name+"/"+path, []byte(text)); err != nil {
			return err
		}
	}
	return o.result(h)
}

// changeable returns the files next to SKILL.md that edits may change, none where that is alone.
func changeable(scope skill.Scope, s skill.Skill) []string {
	if scope.Alone() {
		return nil
	}
	return slices.DeleteFunc(scope.Of(s), func(path string) bool { return path == skill.Main })
}

// changeableTexts returns these files with their texts, nil if there are none.
func changeableTexts(scope skill.Scope, s skill.Skill) map[string]string {
	var out map[string]string
	for _, path := range changeable(scope, s) {
		if out == nil {
			out = map[string]string{}
		}
		out[path], _ = s.File(path)
	}
	return out
}

// result writes the best skill, the candidates and the history.
func (o *output) result(h result.History) error {
	if err := o.files.WriteFile("best_skill.md", []byte(o.skills.best.skill.Text())); err != nil {
		return err
	}
	if o.ship != nil {
		if err := o.ship(o.skills.best.skill); err != nil {
			return err
		}
	}
	if err := o.files.WriteJSON("candidates.json", o.skills.store.toCandidates(o.skills.hash(o.skills.best.skill))); err != nil {
		return err
	}
	return o.files.WriteJSON("history.json", h)
}
