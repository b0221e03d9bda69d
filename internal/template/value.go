package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

func lookup(values map[string]any, name string) (any, bool) {
	if v, ok := values[name]; ok {
		return v, true
	}
	head, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return nil, false
	}
	switch inner := values[head].(type) {
	case map[string]any:
		return lookup(inner, rest)
	case map[string]string:
		s, ok := inner[rest]
		return s, ok
	}
	return nil, false
}

// knownNames lists the names that values answers, one level deep, sorted.
func knownNames(values map[string]any) []string {
	var names []string
	for name, v := range values {
		switch inner := v.(type) {
		case map[string]any:
			names = appendUnder(names, name, slices.Collect(maps.Keys(inner)))
		case map[string]string:
			names = appendUnder(names, name, slices.Collect(maps.Keys(inner)))
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func appendUnder(names []string, head string, inner []string) []string {
	names = append(names, head)
	for _, name := range inner {
		names = append(names, head+"."+name)
	}
	return names
}

func formatValue(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case int:
		return strconv.Itoa(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("a value of type %T has no text form: %w", v, err)
	}
	return strings.TrimSuffix(buf.String(), "\n"), nil
}
