package importer

import (
	"fmt"
	"strings"
)

// Override lays settings of a command line over a configuration, in order. Each
// is key=value or section.key=value, cut at the first "=", with the value read by
// Cast. Where a setting goes depends on the form that cfg has before the first
// one: into its section, or flat. A text without "=", and a setting of a section
// that is no mapping, are errors.
func Override(cfg map[string]any, settings []string) (map[string]any, error) {
	structured := Structured(cfg)
	out := clone(cfg)
	for _, text := range settings {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("override %q: want key=value", text)
		}
		section, key := place(key, structured)
		if section == "" {
			out[key] = Cast(value)
			continue
		}
		if _, there := out[section]; !there {
			out[section] = map[string]any{}
		}
		below, ok := out[section].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("override %q: %s is %s and has no keys", text, section, describe(out[section]))
		}
		below[key] = Cast(value)
	}
	return out, nil
}

// place returns where a key goes; section is "" for the top.
func place(key string, structured bool) (section, name string) {
	section, name, dotted := strings.Cut(key, ".")
	if !dotted {
		name = modernName(key)
		if s, ok := findSetting(name); ok && structured {
			return s.section, s.key
		}
		return "", name
	}
	if section == "model" {
		name = modernName(name)
	}
	if structured {
		return section, name
	}
	if s, ok := settingAt(section, name); ok {
		return "", s.flat
	}
	if section == "env" {
		return "", name
	}
	return section, name
}

// describe says what kind a value is, never the value itself: it may be a key.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a truth value"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return "a number"
}
