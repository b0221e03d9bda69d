package optimize

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Patch is a set of proposals in the JSON form in which models write it:
// "reasoning" and, under the key of its Mode, a list of items (edits, revise
// suggestions or skill candidates). It keeps that form until the update, since
// what a model adds to an item is shown to the next one. Numbers are
// json.Number or int. A Patch is not changed after it was made; functions that
// change one return a copy.
type Patch map[string]any

// NewPatch returns a patch of a mode.
func NewPatch(mode Mode, reasoning string, items []any) Patch {
	if items == nil {
		items = []any{}
	}
	return Patch{"reasoning": reasoning, mode.Key(): items}
}

// Reasoning returns the reason for the patch, "" if there is none.
func (p Patch) Reasoning() string {
	s, _ := p["reasoning"].(string)
	return s
}

// Items returns the items of the patch; they belong to the patch.
func (p Patch) Items(mode Mode) []any { return Items(map[string]any(p), mode) }

// Edits returns the patch of ModePatch as edits, without what is none.
func (p Patch) Edits() skill.Patch {
	out := skill.Patch{Reasoning: p.Reasoning(), Edits: []skill.Edit{}}
	for _, item := range p.Items(ModePatch) {
		if e, err := skill.DecodeEdit(item); err == nil {
			out.Edits = append(out.Edits, e)
		}
	}
	return out
}

// with returns a copy of p with other items.
func (p Patch) with(mode Mode, items []any) Patch {
	q := maps.Clone(p)
	if q == nil {
		q = Patch{}
	}
	if items == nil {
		items = []any{}
	}
	q[mode.Key()] = items
	return q
}

// withNote returns a copy of p whose reason ends with a note by the program.
func (p Patch) withNote(note string) Patch {
	q := maps.Clone(p)
	q["reasoning"] = trimSpace(p.Reasoning() + " " + note)
	return q
}

// Items returns the payload list of a container, which is what a model put in
// the place of a patch: empty unless it is an object with a list under the
// mode's key.
func Items(container any, mode Mode) []any {
	object, ok := asObject(container)
	if !ok {
		return nil
	}
	items, _ := object[mode.Key()].([]any)
	return items
}

// Truncate returns container with at most n items in its payload list. A
// negative n keeps all; what has no payload list is returned as it is. The
// container is not changed.
func Truncate(container any, mode Mode, n int) any {
	object, ok := asObject(container)
	if !ok || n < 0 {
		return container
	}
	items, ok := object[mode.Key()].([]any)
	if !ok || len(items) <= n {
		return container
	}
	cut := maps.Clone(object)
	cut[mode.Key()] = slices.Clip(items[:n])
	return cut
}

func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, v != nil
	case Patch:
		return v, v != nil
	}
	return nil, false
}

// compactJSON writes v on one line, keys sorted, without the HTML escapes that
// would change the text a model reads.
func compactJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // cannot happen: items are decoded JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}
