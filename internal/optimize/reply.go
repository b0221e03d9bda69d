package optimize

import (
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
	"github.com/seed-f4525e22/skillopt/skill"
)

// AnalystOptions say how an analyst's reply is read.
type AnalystOptions struct {
	Source skill.Source // which trajectories the analyst saw
	Mode   Mode
	Budget int  // items kept; negative = all
	Notes  bool // skill-aware: the reply may hold appendix notes
}

// ParseAnalyst reads an analyst's reply into a record: the reply's own fields,
// "source_type" set, the payload cut to the budget and, with Notes,
// "appendix_notes" as a list of strings. A reply without "patch" is an error,
// unless it is a failure analyst's and its notes are all it has to say: its
// patch is then empty. Numbers are json.Number.
func ParseAnalyst(text string, o AnalystOptions) (map[string]any, error) {
	record, err := jsonx.Object(text)
	if err != nil {
		return nil, fmt.Errorf("analyst reply: %w", err)
	}
	var notes []string
	if o.Notes {
		notes = Notes(record)
		record["appendix_notes"] = notes
	}
	patch, ok := record["patch"]
	if !ok {
		if len(notes) == 0 || o.Source != skill.FromFailure {
			return nil, errors.New(`analyst reply: the field "patch" is missing`)
		}
		patch = map[string]any(NewPatch(o.Mode, "", nil))
	}
	record["patch"] = Truncate(patch, o.Mode, o.Budget)
	record["source_type"] = string(o.Source)
	return record, nil
}

// Notes returns the appendix notes of an analyst's reply, trimmed, without
// empty ones. A single string represents a list of one; an object gives its
// "note" or "content"; everything else is passed over.
func Notes(reply any) []string {
	notes := []string{}
	object, _ := asObject(reply)
	list, ok := object["appendix_notes"].([]any)
	if !ok {
		list = []any{object["appendix_notes"]}
		if _, isText := list[0].(string); !isText {
			return notes
		}
	}
	for _, e := range list {
		if s := noteText(e); s != "" {
			notes = append(notes, s)
		}
	}
	return notes
}

func noteText(v any) string {
	switch v := v.(type) {
	case string:
		return trimSpace(v)
	case map[string]any:
		for _, key := range []string{"note", "content"} {
			if pytext.Truthy(v[key]) {
				return trimSpace(pytext.Text(v[key]))
			}
		}
	}
	return ""
}

// ParseMerge reads the reply to a merge request. It must hold the payload list
// of the mode, with objects only; the list may be empty.
func ParseMerge(text string, mode Mode) (Patch, error) {
	reply, err := jsonx.Object(text)
	if err != nil {
		return nil, fmt.Errorf("merge reply: %w", err)
	}
	items, ok := reply[mode.Key()].([]any)
	if !ok {
		return nil, fmt.Errorf("merge reply: the field %q is not a list", mode.Key())
	}
	for i, item := range items {
		if _, ok := asObject(item); !ok {
			return nil, fmt.Errorf("merge reply: %s[%d] is not an object", mode.Key(), i)
		}
	}
	return reply, nil
}

// Ranking is a usable reply to a ranking request.
type Ranking struct {
	Selected []int          // valid, distinct 0-based indices in the order given, within the budget
	Reply    map[string]any // "reasoning" and "selected_indices" as the model wrote them
}

// ParseRanking reads the reply to a ranking request over n items. Indices that
// are out of range, repeated or not whole numbers are dropped; a reply without a
// valid one is an error.
func ParseRanking(text string, n, budget int) (Ranking, error) {
	reply, err := jsonx.Object(text)
	if err != nil {
		return Ranking{}, fmt.Errorf("ranking reply: %w", err)
	}
	list, ok := reply["selected_indices"].([]any)
	if !ok {
		return Ranking{}, errors.New(`ranking reply: the field "selected_indices" is not a list`)
	}
	selected := validIndices(list, n)
	selected = selected[:min(len(selected), max(0, budget))]
	if len(selected) == 0 {
		return Ranking{}, fmt.Errorf("ranking reply: selected_indices holds no index between 0 and %d", n-1)
	}
	reasoning, ok := reply["reasoning"]
	if !ok {
		reasoning = ""
	}
	return Ranking{
		Selected: selected,
		Reply:    map[string]any{"reasoning": reasoning, "selected_indices": list},
	}, nil
}

func validIndices(list []any, n int) []int {
	seen := make([]bool, n)
	var valid []int
	for _, e := range list {
		i, ok := asIndex(e)
		if !ok || i < 0 || i >= n || seen[i] {
			continue
		}
		seen[i] = true
		valid = append(valid, i)
	}
	return valid
}

// Rewrite is a usable reply to a rewrite request. Reasoning is kept as the
// model wrote it.
type Rewrite struct {
	Reasoning     any    `json:"reasoning"`
	ChangeSummary []any  `json:"change_summary"`
	NewSkill      string `json:"new_skill"` // ends with exactly one newline
}

// ParseRewrite reads the reply to a rewrite request. A reply without a new
// skill is an error. A new skill that is no string is turned into text.
func ParseRewrite(text string) (Rewrite, error) {
	reply, err := jsonx.Object(text)
	if err != nil {
		return Rewrite{}, fmt.Errorf("rewrite reply: %w", err)
	}
	raw, ok := reply["new_skill"]
	if !ok {
		return Rewrite{}, errors.New(`rewrite reply: the field "new_skill" is missing`)
	}
	document := trimRightSpace(pytext.Text(raw))
	if document == "" {
		return Rewrite{}, errors.New("rewrite reply: new_skill is empty")
	}
	summary, ok := reply["change_summary"].([]any)
	if !ok {
		summary = []any{}
	}
	return Rewrite{Reasoning: reply["reasoning"], ChangeSummary: summary, NewSkill: document + "\n"}, nil
}
