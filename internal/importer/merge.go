package importer

import (
	"maps"
	"slices"
)

// Merge lays over over base: mappings are merged at every depth, everything else
// replaces.
func Merge(base, over map[string]any) map[string]any {
	out := clone(base)
	for key, value := range over {
		below, isMap := out[key].(map[string]any)
		above, both := value.(map[string]any)
		if isMap && both {
			out[key] = Merge(below, above)
			continue
		}
		out[key] = cloneValue(value)
	}
	return out
}

// layerConfig lays the configuration of one file over that of the file that it
// builds on. A setting of the upper one wins also when the two write it in
// different forms.
func layerConfig(base, over map[string]any) map[string]any {
	base, over = clone(base), clone(over)
	for _, s := range settings() {
		_, flat := over[s.flat]
		section, _ := over[s.section].(map[string]any)
		_, nested := section[s.key]
		if s.isEnvName() || !flat && !nested {
			continue
		}
		delete(base, s.flat)
		if below, ok := base[s.section].(map[string]any); ok {
			delete(below, s.key)
		}
	}
	nameEnv(base, over)
	nameEnv(over, base)
	return Merge(base, over)
}

// nameEnv makes the flat env of one configuration the name in a section when
// the other one has the section: else the one would replace the other whole.
func nameEnv(cfg, other map[string]any) {
	if _, section := other["env"].(map[string]any); !section {
		return
	}
	switch name := cfg["env"].(type) {
	case nil, map[string]any, []any:
	default:
		cfg["env"] = map[string]any{"name": name}
	}
}

// oneForm drops the flat form of settings that the same file has in a section.
func oneForm(cfg map[string]any) {
	for _, s := range settings() {
		section, _ := cfg[s.section].(map[string]any)
		if _, ok := section[s.key]; ok && !s.isEnvName() {
			delete(cfg, s.flat)
		}
	}
}

func clone(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = cloneValue(value)
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return clone(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	}
	return v
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func sortStrings(list []string) []string {
	slices.Sort(list)
	return list
}
