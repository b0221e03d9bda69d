package optimize

import (
	"maps"

	"github.com/seed-f4525e22/skillopt/skill"
)

// NormalisePatches sorts analysts' records (see ParseAnalyst) into failure and
// success patches. A record without "patch" is itself the patch. Each item gets
// the record's source_type and, as support_count, the number of trajectories
// behind the record, where it has none of its own. Records without items are
// dropped; a source other than success counts as failure. The records are not
// changed.
func NormalisePatches(records []any, mode Mode) (failures, successes []Patch) {
	failures, successes = []Patch{}, []Patch{}
	for _, r := range records {
		record, ok := asObject(r)
		if !ok {
			continue
		}
		patch, ok := recordPatch(record, mode)
		if !ok {
			continue
		}
		if record["source_type"] == string(skill.FromSuccess) {
			successes = append(successes, patch)
		} else {
			failures = append(failures, patch)
		}
	}
	return failures, successes
}

func recordPatch(record map[string]any, mode Mode) (Patch, bool) {
	var source any = string(skill.FromFailure)
	if s, ok := record["source_type"]; ok {
		source = s
	}
	var container any = record
	if p, ok := record["patch"]; ok {
		container = p
	}
	items := Items(container, mode)
	if len(items) == 0 {
		return nil, false
	}
	object, _ := asObject(container)
	patch := maps.Clone(object)
	patch[mode.Key()] = withProvenance(items, source, asCount(record["batch_size"]))
	return patch, true
}

// withProvenance copies items and fills in what is missing of where they come
// from. What is no object is passed on: the update reports it.
func withProvenance(items []any, source any, support int) []any {
	out := make([]any, len(items))
	for i, e := range items {
		item, ok := asObject(e)
		if !ok {
			out[i] = e
			continue
		}
		item = maps.Clone(item)
		setDefault(item, "source_type", source)
		setDefault(item, "support_count", support)
		out[i] = item
	}
	return out
}

func setDefault(m map[string]any, key string, value any) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}
