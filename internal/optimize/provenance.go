package optimize

import (
	"maps"
	"slices"
)

func allItems(patches []Patch, mode Mode) []any {
	var all []any
	for _, p := range patches {
		all = append(all, p.Items(mode)...)
	}
	return all
}

// markLevel notes at which level an item was made, unless it says so itself.
func markLevel(p Patch, mode Mode, level int) Patch {
	items := slices.Clone(p.Items(mode))
	for i, e := range items {
		item, ok := asObject(e)
		if !ok {
			continue
		}
		item = maps.Clone(item)
		setDefault(item, "merge_level", level)
		items[i] = item
	}
	return p.with(mode, items)
}

// inheritProvenance gives items that a merge took over unchanged, but without
// their provenance, the support and the source of the proposals they came from.
func inheritProvenance(p Patch, mode Mode, from []any) Patch {
	support, source := map[string]int{}, map[string]any{}
	for _, e := range from {
		item, _ := asObject(e)
		key := identity(item)
		if n, ok := item["support_count"]; ok {
			support[key] += asCount(n)
		}
		if s, ok := item["source_type"]; ok && source[key] == nil {
			source[key] = s
		}
	}
	items := slices.Clone(p.Items(mode))
	for i, e := range items {
		item, _ := asObject(e)
		key := identity(item)
		item = maps.Clone(item)
		if n, ok := support[key]; ok {
			setDefault(item, "support_count", n)
		}
		if s, ok := source[key]; ok {
			setDefault(item, "source_type", s)
		}
		items[i] = item
	}
	return p.with(mode, items)
}

// identity returns what makes two items the same proposal: all but where they come from.
func identity(item map[string]any) string {
	bare := maps.Clone(item)
	for _, key := range []string{"support_count", "source_type", "merge_level"} {
		delete(bare, key)
	}
	return compactJSON(bare)
}
