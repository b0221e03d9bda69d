package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// This file changes the text of a config, and says what is written in it.

// Written is what a config file says by itself: what it extends and the defaults left out.
type Written struct {
	Values map[string]any // by key; of a text that is no YAML none
	Lines  map[string]int // 1-based

	short map[string]bool // keys that are written in their short form
}

// ReadWritten reads the text of a config. A key that does not exist is a value too.
func ReadWritten(text []byte) (Written, error) {
	tree, lines, err := parse("config.yaml", text)
	fileOfPrices(tree, lines)
	w := Written{Values: map[string]any{}, Lines: lines, short: map[string]bool{}}
	w.add(tree, reflect.TypeFor[Config](), "")
	return w, err
}

func (w Written) add(m map[string]any, t reflect.Type, prefix string) {
	for name, v := range m {
		key, at, sub := join(prefix, name), spot{holds: t}.child(name).holds, ""
		inner, isBlock := v.(map[string]any)
		if _, isText := v.(string); isText && prefix == "" {
			sub = shortField(name)
		}
		switch {
		case sub != "":
			w.Values[key+"."+sub], w.Lines[key+"."+sub], w.short[key] = v, w.Lines[key], true
		case at != nil && at.Kind() == reflect.Struct && (isBlock || v == nil):
			w.add(inner, at, key)
		default:
			if _, err := json.Marshal(v); err != nil { // .nan and .inf
				v = describe(v)
			}
			w.Values[key] = v
		}
	}
}

// Foreign lists those of all keys that the text sets and only a trusted file may set, in the order of the text.
func (w Written) Foreign(all []Key) []string {
	var out []string
	for _, k := range all {
		if _, set := w.Values[k.Path]; set && k.Untrusted != "yes" {
			out = append(out, k.Path)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(w.Lines[a], w.Lines[b]) })
	return out
}

// Edit returns the text of a config in which keys have other values, in their order; nil takes a key out. All else
// stays as it is written. The error is an *Error.
func Edit(text []byte, set map[string]any) ([]byte, error) {
	for _, key := range sortedKeys(set) {
		written, err := ReadWritten(text)
		if err != nil {
			return nil, err
		}
		if text, err = edit(text, written, key, set[key]); err != nil {
			return nil, problemAt(fmt.Sprintf("config.yaml:%d", written.Lines[key]), key, err.Error(), "a change of the text by hand")
		}
	}
	return text, nil
}

func edit(text []byte, w Written, key string, value any) (_ []byte, err error) {
	keys := keyParts(key)
	sub := shortField(keys[0])
	switch {
	case len(keys) != 2 || !w.short[keys[0]]:
	case keys[1] == sub:
		keys = keys[:1]
	case value == nil:
		return text, nil
	default:
		if text, err = yamlx.Set(text, keys[:1], map[string]any{sub: w.Values[keys[0]+"."+sub]}); err != nil {
			return nil, err
		}
	}
	return yamlx.Set(text, keys, value)
}
