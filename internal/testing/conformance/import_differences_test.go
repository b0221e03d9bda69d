package conformance

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

// importDifferences are the departures of importer. The reference takes the
// section env for the flat spelling of env.name: a file that says env.name loses
// its section, and one that has an env makes the files below lose theirs. That
// is the same as if the sections had not been written, so what it gives is told
// by our own loader on the files without them.
var importDifferences = map[string][]difference{
	"config_load": {{
		reason: "a section env is kept",
		holds: func(in map[string]any) bool {
			return !reflect.DeepEqual(importedFrom(in), importedFrom(withoutLostEnv(in)))
		},
		want: func(in, out map[string]any) map[string]any {
			lost := importedFrom(withoutLostEnv(in))
			if diff := diffPlain("", lost, datesAsText(lost, out["ok"])); diff != "" {
				return out // the reference does something else here: the case must not pass
			}
			got, ok := importedFrom(in).(map[string]any)
			if !ok {
				return out
			}
			if env := keptEnv(in); env != nil {
				cfg, _ := got["config"].(map[string]any)
				cfg["env"] = plainRecorded(env)
			}
			return map[string]any{"ok": got}
		},
	}, {
		reason: "a date stays the text that it is written as, also one that no calendar has",
		holds:  hasPlainDate,
		want: func(in, out map[string]any) map[string]any {
			got := importedFrom(in)
			if _, failed := out["error"]; failed {
				return map[string]any{"ok": got}
			}
			return map[string]any{"ok": datesAsText(got, out["ok"])}
		},
	}, {
		reason: "in YAML too a line ends with a line feed; U+0085, U+2028 and U+2029 are characters like others",
		holds: func(in map[string]any) bool {
			files, _ := in["files"].(map[string]any)
			for _, content := range files {
				if text, ok := content.(string); ok && strings.ContainsAny(text, "\u0085\u2028\u2029") {
					return true
				}
			}
			return false
		},
		want: func(in, _ map[string]any) map[string]any {
			hidden, _ := mapTexts(in, lineEndsHidden.Replace).(map[string]any)
			got, ok := importedFrom(hidden).(map[string]any)
			if !ok {
				return map[string]any{"error": "unreadable"}
			}
			return map[string]any{"ok": mapTexts(got, lineEndsShown.Replace)}
		},
	}},
}

// Line ends of YAML 1.1 stand as characters without a meaning, and back.
var (
	lineEndsHidden = strings.NewReplacer("\u0085", "\ue085", "\u2028", "\ue028", "\u2029", "\ue029")
	lineEndsShown  = strings.NewReplacer("\ue085", "\u0085", "\ue028", "\u2028", "\ue029", "\u2029")
)

// mapTexts returns a value with all its texts and keys changed.
func mapTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = mapTexts(v[i], change)
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(v))
		for key := range v {
			fields[change(key)] = mapTexts(v[key], change)
		}
		return fields
	}
	return v
}

// yamlDate is what YAML 1.1 takes for a date or a time.
var yamlDate = regexp.MustCompile(`^(\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?([Tt]|[ \t]+)\d\d?:\d\d:\d\d(\.\d*)?([ \t]*(Z|[-+]\d\d?(:\d\d)?))?)$`)

// hasPlainDate reports whether a file of a case that is YAML text holds a date
// without quotes.
func hasPlainDate(in map[string]any) bool {
	files, _ := in["files"].(map[string]any)
	for _, layer := range importLayers(in) {
		text, _ := files[layer.path].(string)
		if slices.ContainsFunc(leaves(layer.data), func(leaf string) bool {
			return yamlDate.MatchString(leaf) && strings.Contains(text, leaf) &&
				!strings.Contains(text, `"`+leaf) && !strings.Contains(text, "'"+leaf)
		}) {
			return true
		}
	}
	return false
}

// leaves returns the texts in a value.
func leaves(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, inner := range v {
			texts = append(texts, leaves(inner)...)
		}
	case map[string]any:
		for _, inner := range v {
			texts = append(texts, leaves(inner)...)
		}
	}
	return texts
}

// datesAsText returns a recorded value with our text where that is a date.
func datesAsText(got, recorded any) any {
	if text, ok := got.(string); ok && yamlDate.MatchString(text) {
		return text
	}
	switch recorded := recorded.(type) {
	case []any:
		list := slices.Clone(recorded)
		if ours, ok := got.([]any); ok && len(ours) == len(list) {
			for i := range list {
				list[i] = datesAsText(ours[i], list[i])
			}
		}
		return list
	case map[string]any:
		fields := maps.Clone(recorded)
		ours, _ := got.(map[string]any)
		for key := range fields {
			fields[key] = datesAsText(ours[key], fields[key])
		}
		return fields
	}
	return recorded
}

// plainRecorded writes a value of package importer as decoded JSON.
func plainRecorded(v any) any {
	var plain any
	b, err := json.Marshal(recordedImport(v))
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		err = dec.Decode(&plain)
	}
	if err != nil {
		return err.Error()
	}
	return plain
}

// importedFrom loads a case, as decoded JSON; what fails gives the error's text.
func importedFrom(in map[string]any) any {
	cfg, err := importer.Load(importFiles(in), "main.yaml")
	if err != nil {
		return err.Error()
	}
	if cfg, err = importer.Override(cfg, importSettings(in)); err != nil {
		return err.Error()
	}
	return plainRecorded(bothForms(cfg, nil))
}

func importSettings(in map[string]any) []string {
	list, _ := in["overrides"].([]any)
	out := make([]string, len(list))
	for i := range list {
		out[i], _ = list[i].(string)
	}
	return out
}

// importLayer is one file of a case.
type importLayer struct {
	path string
	data map[string]any
}

// importLayers parses the files of a case, main.yaml first, then what it builds
// on. A circle or a missing file ends the list.
func importLayers(in map[string]any) []importLayer {
	read := importFiles(in)
	var layers []importLayer
	at := "main.yaml"
	for !slices.ContainsFunc(layers, func(l importLayer) bool { return l.path == at }) {
		content, err := read(at)
		if err != nil {
			break
		}
		data, err := importer.Parse(at, content)
		if err != nil {
			break
		}
		layers = append(layers, importLayer{at, data})
		base, _ := data["_base_"].(string)
		if base == "" {
			break
		}
		at = path.Join(path.Dir(at), base)
	}
	return layers
}

// withoutLostEnv returns a case without the sections that the reference loses.
func withoutLostEnv(in map[string]any) map[string]any {
	files := map[string]any{}
	given, _ := in["files"].(map[string]any)
	maps.Copy(files, given)
	covered := false
	for _, layer := range importLayers(in) {
		section, _ := layer.data["env"].(map[string]any)
		_, named := section["name"]
		_, has := layer.data["env"]
		if has && (named || covered) {
			delete(layer.data, "env")
			has = false
		}
		covered = covered || has
		files[layer.path] = plainRecorded(layer.data)
	}
	return map[string]any{"files": files, "overrides": in["overrides"]}
}

// keptEnv merges the sections env of a case by itself; nil when the files do not
// all have a section or none.
func keptEnv(in map[string]any) map[string]any {
	env := map[string]any{}
	layers := importLayers(in)
	slices.Reverse(layers)
	for _, layer := range layers {
		section, ok := layer.data["env"].(map[string]any)
		if _, has := layer.data["env"]; has && !ok {
			return nil
		}
		for _, flat := range []string{"skill_init", "out_root"} {
			if _, over := layer.data[flat]; over {
				delete(env, flat)
			}
		}
		maps.Copy(env, section)
	}
	for _, text := range importSettings(in) {
		key, value, _ := strings.Cut(text, "=")
		switch section, name, dotted := strings.Cut(key, "."); {
		case dotted && section == "env":
			env[name] = importer.Cast(value)
		case key == "env":
			env["name"] = importer.Cast(value)
		case key == "skill_init" || key == "out_root":
			env[key] = importer.Cast(value)
		}
	}
	return env
}
