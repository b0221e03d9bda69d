package agent

import (
	"encoding/json"
	"strconv"
	"strings"
)

// find returns what is at a path of decoded JSON as text, "" if nothing is.
func find(v any, path string) string {
	text, _ := lookup(v, path)
	return text
}

// lookup returns what is at a path as text: a text as it is, several joined,
// anything else as JSON.
func lookup(v any, path string) (text string, ok bool) {
	if path == "" {
		return "", false
	}
	found := walk(v, strings.Split(path, "."))
	if len(found) == 0 {
		return "", false
	}
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = plain(f)
	}
	return strings.Join(texts, ""), true
}

func walk(v any, path []string) []any {
	if len(path) == 0 {
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		if next, ok := v[path[0]]; ok {
			return walk(next, path[1:])
		}
	case []any:
		if path[0] == "*" {
			var all []any
			for _, item := range v {
				all = append(all, walk(item, path[1:])...)
			}
			return all
		}
		if n, err := strconv.Atoi(path[0]); err == nil && n >= 0 && n < len(v) {
			return walk(v[n], path[1:])
		}
	}
	return nil
}

func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// number returns the whole number at a path, 0 if there is none.
func number(v any, path string) int64 {
	n, err := strconv.ParseFloat(find(v, path), 64)
	if err != nil || n < 0 || n > 1e15 {
		return 0
	}
	return int64(n)
}
