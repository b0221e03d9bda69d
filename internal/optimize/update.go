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

	MetaSkill string // the optimizer's memory, may be empty
}

// UpdateResult is the candidate and how it came about.
type UpdateResult struct {
	Candidate skill.Skill `json:"-"`
	Changed   bool        `json:"changed"` // false: the candidate is the incumbent

	Edits   []skill.Edit   `json:"edits,omitempty"`   // ModePatch: what was tried, in order
	Applied []skill.Edit   `json:"-"`                 // ModePatch: those of them that are in the candidate
	Reports []skill.Report `json:"reports,omitempty"` // ModePatch: what became of each item of the patch
	Summary []string       `json:"summary,omitempty"` // the rewrite modes: what was changed, one line each
	Refused string         `json:"refused,omitempty"` // the rewrite modes: why there is no candidate

	Calls int      `json:"calls"`
	Lost  []string `json:"lost,omitempty"` // keys of requests without a usable reply
}

// Update makes the candidate: it applies the edits of a patch, has the skill
// rewritten from suggestions, or takes over a whole skill. Every item of a patch
// ends in a report or in the candidate. A rewritten document whose protected
// regions differ from the incumbent's by a single byte is refused.
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

// applyWithin is skill.Apply, to which a budget of 0 means no limit.
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

// rewrite has one call write the document anew from suggestions.
func (in UpdateInput) rewrite(ctx context.Context, items []any) (UpdateResult, error) {
	text, err := in.Prompts.Rewrite(prompt.RewriteInput{
		Skill:       in.Skill.Text(),
		Suggestions: renderSuggestions(items),
		MetaSkill:   in.MetaSkill,
	})
	if err != nil {
		return UpdateResult{}, fmt.Errorf("rewrite question: %w", err)
	}
	q := Request{
		Key: "rewrite", Stage: model.StageRewrite, System: text.System, User: text.User,
		Schema: rewriteSchema(),
		Accept: func(reply string) error {
			_, _, err := in.read(reply)
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
	candidate, r, err := in.read(reply)
	if err != nil {
		return UpdateResult{}, err
	}
	result := in.candidate(candidate)
	result.Calls, result.Summary = 1, textList(r.ChangeSummary)
	return result, nil
}

// read is stricter than ParseRewrite: the new skill must be a string, and a
// document that may take the incumbent's place.
func (in UpdateInput) read(reply string) (string, Rewrite, error) {
	r, err := ParseRewrite(reply)
	if err != nil {
		return "", Rewrite{}, err
	}
	object, err := jsonx.Object(reply)
	if err != nil {
		return "", Rewrite{}, fmt.Errorf("rewrite reply: %w", err)
	}
	if _, ok := object["new_skill"].(string); !ok {
		return "", Rewrite{}, errors.New("rewrite reply: new_skill is not a string")
	}
	document, err := successor(in.Skill.Text(), r.NewSkill)
	if err != nil {
		return "", Rewrite{}, fmt.Errorf("rewrite reply: %w", err)
	}
	return document, r, nil
}

// takeOver makes the first candidate that can be used the new skill.
func (in UpdateInput) takeOver(items []any) UpdateResult {
	var why []string
	for i, e := range items {
		document, err := wholeSkill(in.Skill.Text(), e)
		if err != nil {
			why = append(why, fmt.Sprintf("%s[%d]: %v", in.Mode.Key(), i, err))
			continue
		}
		result := in.candidate(document)
		item, _ := asObject(e)
		result.Summary = textList(item["change_summary"])
		if len(result.Summary) == 0 {
			result.Summary = textList([]any{item["title"]})
		}
		return result
	}
	return UpdateResult{Candidate: in.Skill, Refused: strings.Join(why, "; ")}
}

func (in UpdateInput) candidate(document string) UpdateResult {
	if trimRightSpace(document) == trimRightSpace(in.Skill.Text()) {
		return UpdateResult{Candidate: in.Skill}
	}
	return UpdateResult{Candidate: in.Skill.WithText(document), Changed: true}
}

// wholeSkill returns the document of a skill candidate.
func wholeSkill(incumbent string, item any) (string, error) {
	object, _ := asObject(item)
	document, ok := object["new_skill"].(string)
	if !ok {
		return "", errors.New("new_skill is not a string")
	}
	document = trimRightSpace(document)
	if document == "" {
		return "", errors.New("new_skill is empty")
	}
	return successor(incumbent, document+"\n")
}

// oneWholeSkill reports why none of the candidates may take the incumbent's
// place, nil if one may or there is none.
func oneWholeSkill(incumbent string, items []any) error {
	var first error
	for i, item := range items {
		_, err := wholeSkill(incumbent, item)
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("skill_candidates[%d]: %w", i, err)
		}
	}
	return first
}

// successor checks that a whole document may take the incumbent's place, and
// gives it the incumbent's line ends. What is new in it is plain text.
func successor(incumbent, document string) (string, error) {
	document = skill.PlainLines(incumbent, document)
	document = skill.WithLineEnd(document, skill.LineEnd(incumbent))
	if trimRightSpace(document) == "" {
		return "", errors.New("new_skill is empty")
	}
	if len(document) > skill.MaxBytes {
		return "", fmt.Errorf("the new skill has %d bytes, at most %d are allowed", len(document), skill.MaxBytes)
	}
	if !skill.RegionsEqual(incumbent, document) {
		return "", errors.New("the new skill changes a protected part: the front matter and the regions between the SLOW_UPDATE and APPENDIX markers must stay as they are, byte for byte")
	}
	return document, nil
}

// renderSuggestions writes suggestions for the author of a rewrite.
func renderSuggestions(items []any) string {
	var b strings.Builder
	for i, e := range items {
		item, _ := asObject(e)
		fmt.Fprintf(&b, "%d. %s\n", i+1, itemLine(map[string]any{
			"type": item["type"], "title": item["title"], "priority_hint": item["priority_hint"], "support_count": item["support_count"],
		}, ModeRewrite, false, oneLine))
		for _, field := range []string{"motivation", "instruction"} {
			if text := optionalText(item[field]); text != "" {
				fmt.Fprintf(&b, "   %s: %s\n", field, strings.ReplaceAll(text, "\n", "\n   "))
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
