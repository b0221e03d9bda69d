package optimize

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// UpdateInput is what the update stage works on.
type UpdateInput struct {
	Ask     Ask         // only ModeRewrite asks
	Prompts *prompt.Set // only ModeRewrite needs it
	Mode    Mode
	Skill   skill.Skill // the incumbent
	Patch   Patch       // as Rank returns it
	Budget  int         // most edits that are applied in ModePatch; below 0 acts as 0
	Scope   skill.Scope // the files that edits may change

	// Outcomes is what was done with the skill: with several files in scope, those that it
	// touched are shown to the author of a rewrite first.
	Outcomes []trajectory.Outcome

	MetaSkill string // the optimizer's memory, may be empty
}

// UpdateResult is the candidate and how it came about.
type UpdateResult struct {
	Candidate skill.Skill `json:"-"`
	Changed   bool        `json:"changed"` // false: the candidate is the incumbent

	Edits   []skill.Edit   `json:"edits,omitempty"`   // ModePatch: what was tried, in order
	Applied []skill.Edit   `json:"-"`                 // ModePatch: those of them that are in the candidate
	Reports []skill.Report `json:"reports,omitempty"` // ModePatch: what happened to each item of the patch
	Summary []string       `json:"summary,omitempty"` // the rewrite modes: what was changed, one line each
	Refused string         `json:"refused,omitempty"` // the rewrite modes: why there is no candidate

	Calls int      `json:"calls"`
	Lost  []string `json:"lost,omitempty"` // keys of requests without a usable reply
}

// Update makes the candidate: it applies the edits of a patch, has the skill
// rewritten from suggestions, or takes over a whole skill. Every item of a patch
// ends in a report or in the candidate. A rewritten document whose protected
// regions differ from the incumbent's by a single byte is refused, and so is a skill with a
// file that Scope does not allow: see skill.Rewrite.
func Update(ctx context.Context, in UpdateInput) (UpdateResult, error) {
	items := in.Patch.Items(in.Mode)
	if len(items) == 0 {
		return UpdateResult{Candidate: in.Skill}, nil
	}
	switch in.Mode {
	case ModeRewrite:
		return in.rewrite(ctx, items)
	case ModeFullRewrite:
		return in.takeOver(items), nil
	}
	return in.apply(items), nil
}

// apply applies edits one by one.
func (in UpdateInput) apply(items []any) UpdateResult {
	edits, reports := []skill.Edit{}, make([]skill.Report, len(items))
	var at []int // place in items of each edit
	for i, e := range items {
		edit, err := skill.DecodeEdit(e)
		if err != nil {
			reports[i] = skill.Report{Status: skill.Failed, Detail: err.Error()}
			continue
		}
		edits, at = append(edits, edit), append(at, i)
	}
	candidate, applied := in.applyWithin(edits)
	var inside []skill.Edit
	for i, r := range applied {
		reports[at[i]] = r
		if r.Status.Applied() {
			inside = append(inside, edits[i])
		}
	}
	for i := range reports {
		reports[i].Index = i + 1
	}
	return UpdateResult{
		Candidate: candidate,
		Changed:   !candidate.Equal(in.Skill),
		Edits:     edits,
		Applied:   inside,
		Reports:   reports,
	}
}

// applyWithin applies edits with skill.Apply, but a budget of 0 allows none; skill.Apply takes 0 as no limit.
func (in UpdateInput) applyWithin(edits []skill.Edit) (skill.Skill, []skill.Report) {
	if in.Budget > 0 {
		return skill.Apply(in.Skill, edits, skill.ApplyOptions{Budget: in.Budget, Scope: in.Scope})
	}
	_, reports := skill.Apply(in.Skill, edits, skill.ApplyOptions{Scope: in.Scope})
	for i := range reports {
		reports[i].Status, reports[i].Detail = skill.SkippedOverBudget, ""
	}
	return in.Skill, reports
}

// rewrite has one call write the whole skill from suggestions.
func (in UpdateInput) rewrite(ctx context.Context, items []any) (UpdateResult, error) {
	text, err := in.author(items)
	if err != nil {
		return UpdateResult{}, fmt.Errorf("rewrite question: %w", err)
	}
	folder := in.files().Folder()
	q := Request{
		Key: "rewrite", Stage: model.StageRewrite, System: text.System, User: text.User,
		Schema: rewriteSchema(in.several()),
		Accept: func(reply string) error {
			_, _, err := folder.read(reply)
			return err
		},
	}
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		return UpdateResult{
			Candidate: in.Skill, Calls: 1, Lost: []string{q.Key}, Refused: "no usable reply to the rewrite question",
		}, nil
	}
	if err != nil {
		return UpdateResult{}, fmt.Errorf("ask %s: %w", q.Key, err)
	}
	candidate, summary, err := folder.read(reply)
	if err != nil {
		return UpdateResult{}, err
	}
	result := in.candidate(candidate)
	result.Calls, result.Summary = 1, summary
	return result, nil
}

// several reports whether more files than SKILL.md may be written.
func (in UpdateInput) several() bool { return !in.Scope.Alone() }

// files returns what the author of a rewrite learns.
func (in UpdateInput) files() FilesInput {
	return FilesInput{Prompts: in.Prompts, Mode: ModeRewrite, Author: true, Skill: in.Skill, Scope: in.Scope, Outcomes: in.Outcomes}
}

// author returns what the author of a rewrite is asked: with several files in scope, all of them
// follow SKILL.md.
func (in UpdateInput) author(items []any) (prompt.Text, error) {
	document, rules := in.Skill.Text(), View{}
	if in.several() {
		files, err := Files(in.files())
		if err != nil {
			return prompt.Text{}, err
		}
		document, rules.Rules = strings.TrimRight(document, "\n")+"\n\n"+files.User, files.System
	}
	if in.Scope.Region() != "" {
		part, err := Region(in.Prompts, in.Skill.Text())
		if err != nil {
			return prompt.Text{}, err
		}
		document, rules.Rules = strings.TrimRight(document, "\n")+"\n\n"+part.User, part.System
	}
	text, err := in.Prompts.Rewrite(prompt.RewriteInput{
		Skill: document, Suggestions: renderSuggestions(items, in.several()), MetaSkill: in.MetaSkill,
	})
	text.System = rules.system(text.System)
	return text, err
}

// read reads a rewrite more strictly than ParseRewrite: the new skill must be a string, and all
// that is written must be what may replace the incumbent.
func (f Folder) read(reply string) (skill.Skill, []string, error) {
	object, err := jsonx.Object(reply)
	if err != nil {
		return skill.Skill{}, nil, fmt.Errorf("rewrite reply: %w", err)
	}
	if _, there := object["new_skill"]; !there {
		return skill.Skill{}, nil, errors.New(`rewrite reply: the field "new_skill" is missing`)
	}
	candidate, err := f.candidate(object)
	if err != nil {
		return skill.Skill{}, nil, fmt.Errorf("rewrite reply: %w", err)
	}
	return candidate, textList(object["change_summary"]), nil
}

// takeOver makes the first candidate that can be used the new skill.
func (in UpdateInput) takeOver(items []any) UpdateResult {
	var why []string
	folder := Folder{Skill: in.Skill, Scope: in.Scope} // of candidates whose authors were informed
	for i, e := range items {
		candidate, err := folder.candidate(e)
		if err != nil {
			why = append(why, fmt.Sprintf("%s[%d]: %v", in.Mode.Key(), i, err))
			continue
		}
		result := in.candidate(candidate)
		item, _ := asObject(e)
		result.Summary = textList(item["change_summary"])
		if len(result.Summary) == 0 {
			result.Summary = textList([]any{item["title"]})
		}
		return result
	}
	return UpdateResult{Candidate: in.Skill, Refused: strings.Join(why, "; ")}
}

func (in UpdateInput) candidate(candidate skill.Skill) UpdateResult {
	return UpdateResult{Candidate: candidate, Changed: !candidate.Equal(in.Skill)}
}

// renderSuggestions writes suggestions for the author of a rewrite, with files with the
// file that each is about.
func renderSuggestions(items []any, files bool) string {
	var b strings.Builder
	for i, e := range items {
		item, _ := asObject(e)
		fmt.Fprintf(&b, "%d. %s\n", i+1, itemLine(map[string]any{
			"type": item["type"], "file": item["file"], "title": item["title"], "priority_hint": item["priority_hint"], "support_count": item["support_count"],
		}, ModeRewrite, files, oneLine))
		for _, field := range []string{"motivation", "instruction"} {
			if text := optionalText(item[field]); text != "" {
				fmt.Fprintf(&b, "   %s: %s\n", field, strings.ReplaceAll(text, "\n", "\n   "))
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
