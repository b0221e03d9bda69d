package optimize

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Analysis is one analyst's usable reply.
type Analysis struct {
	Key             string        `json:"key"`
	Source          skill.Source  `json:"source_type"`
	BatchSize       int           `json:"batch_size"` // trajectories that the analyst saw
	TaskIDs         []string      `json:"task_ids"`
	FailureSummary  []FailureType `json:"failure_summary,omitempty"`
	SuccessPatterns []string      `json:"success_patterns,omitempty"`
	Notes           []string      `json:"appendix_notes,omitempty"`
	Patch           Patch         `json:"patch"`
}

// FailureType is a kind of failure that an analyst found.
type FailureType struct {
	Type        string `json:"failure_type"`
	Count       int    `json:"count"`
	Description string `json:"description"`
	Class       Class  `json:"classification,omitempty"` // in skill-aware mode
}

// Class says whether the skill or the agent is to blame for a failure.
type Class string

const (
	SkillDefect    Class = "SKILL_DEFECT"    // a rule is wrong or missing
	ExecutionLapse Class = "EXECUTION_LAPSE" // the rule is right and was not followed
)

// String returns the failure type on one line.
func (f FailureType) String() string {
	s := fmt.Sprintf("%s (%d)", oneLine(f.Type, maxTargetLine), f.Count)
	if f.Class != "" {
		s += " " + string(f.Class)
	}
	if f.Description != "" {
		s += ": " + oneLine(f.Description, maxTargetLine)
	}
	return s
}

// read turns a reply into an Analysis. It is stricter than ParseAnalyst: a
// patch that cannot be used is refused, so that the analyst is asked again.
func (in ReflectInput) read(reply string, j job) (*Analysis, error) {
	record, err := ParseAnalyst(reply, AnalystOptions{
		Source: j.source,
		Mode:   in.Mode,
		Budget: in.Budget,
		Notes:  in.writesNotes(j.source),
	})
	if err != nil {
		return nil, err
	}
	notes, _ := record["appendix_notes"].([]string)
	patch, err := in.usablePatch(record["patch"])
	if err != nil && len(notes) == 0 {
		return nil, err
	}
	a := &Analysis{
		Key:             j.key,
		Source:          j.source,
		BatchSize:       j.size(),
		FailureSummary:  in.failureTypes(record["failure_summary"]),
		SuccessPatterns: textList(record["success_patterns"]),
		Notes:           notes,
		Patch:           patch,
	}
	for _, o := range j.outcomes {
		a.TaskIDs = append(a.TaskIDs, o.ID)
	}
	for _, c := range j.contrasts {
		a.TaskIDs = append(a.TaskIDs, c.Best.ID)
	}
	return a, nil
}

// usablePatch returns an empty patch along with an error.
func (in ReflectInput) usablePatch(v any) (Patch, error) {
	mode := in.Mode
	empty := NewPatch(mode, "", nil)
	object, ok := asObject(v)
	if !ok {
		return empty, errors.New(`analyst reply: the field "patch" is not an object`)
	}
	items, ok := object[mode.Key()].([]any)
	if !ok {
		return empty, fmt.Errorf("analyst reply: the field \"patch.%s\" is not a list", mode.Key())
	}
	if mode == ModeFullRewrite {
		if err := in.View.folder(in.Skill).oneWholeSkill(items); err != nil {
			return empty, fmt.Errorf("analyst reply: %w", err)
		}
	}
	if len(items) > 0 && !slices.ContainsFunc(items, isObject) {
		return empty, fmt.Errorf("analyst reply: no entry of patch.%s is an object", mode.Key())
	}
	if mode == ModeFullRewrite && in.View.Folder != nil {
		return Patch(object).with(mode, in.View.Folder.usable(items)), nil
	}
	return object, nil
}

func isObject(v any) bool {
	_, ok := asObject(v)
	return ok
}

// failureTypes reads what failed. In skill-aware mode a failure without a class that we
// know counts as a lapse if all is shown: to call the skill wrong needs a reason.
func (in ReflectInput) failureTypes(v any) []FailureType {
	list, _ := v.([]any)
	var types []FailureType
	for _, e := range list {
		item, ok := asObject(e)
		if !ok {
			continue
		}
		f := FailureType{Type: optionalText(item["failure_type"]), Description: optionalText(item["description"]), Count: asCount(item["count"])}
		switch c := Class(optionalText(item["classification"])); c {
		case SkillDefect, ExecutionLapse:
			if in.SkillAware {
				f.Class = c
			}
		default:
			if in.SkillAware && in.View.Whole {
				f.Class = ExecutionLapse
			}
		}
		types = append(types, f)
	}
	return types
}

func optionalText(v any) string {
	if v == nil {
		return ""
	}
	return trimSpace(pytext.Text(v))
}

func textList(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, e := range list {
		if s := optionalText(e); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}
