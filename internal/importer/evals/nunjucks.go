package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// errEnv says that a template asks for a variable of the environment.
var errEnv = errors.New("variables of the environment are not read")

var (
	// expression is a name with what is taken of it, and filters.
	expression = pattern.New(`^\s*([A-Za-z_$][\w$]*)((?:\.[A-Za-z_$][\w$]*|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*)\s*((?:\|\s*\w+\s*)*)$`)
	step       = pattern.New(`\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]`)
	rawBlock   = pattern.New(`^\{%-?\s*raw\s*-?%\}`)
	rawEnd     = pattern.New(`\{%-?\s*endraw\s*-?%\}`)
)

// render fills a template of Nunjucks in: names with what is taken of them, and the filters
// trim, upper, lower, safe and dump. An error says what of Nunjucks is not known here.
func render(text string, vars map[string]any) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 || i+1 >= len(text) {
			return b.String() + text, nil
		}
		b.WriteString(text[:i])
		text = text[i:]
		switch text[1] {
		case '#':
			end := strings.Index(text, "#}")
			if end < 0 {
				return "", errors.New("a comment is not closed")
			}
			text = text[end+2:]
		case '%':
			open := rawBlock.FindString(text)
			end := rawEnd.FindStringIndex(text)
			if open == "" || end == nil {
				return "", fmt.Errorf("the block %.60q of Nunjucks is not known here, only names in {{ }} are", text)
			}
			b.WriteString(text[len(open):end[0]])
			text = text[end[1]:]
		case '{':
			end := strings.Index(text, "}}")
			if end < 0 {
				return "", fmt.Errorf("%.40q is not closed", text)
			}
			inner, rest := text[2:end], text[end+2:]
			value, err := evaluate(strings.TrimSuffix(strings.TrimPrefix(inner, "-"), "-"), vars)
			if err != nil {
				return "", err
			}
			if strings.HasPrefix(inner, "-") {
				kept := strings.TrimRight(b.String(), " \t\r\n")
				b.Reset()
				b.WriteString(kept)
			}
			b.WriteString(value)
			if text = rest; strings.HasSuffix(inner, "-") {
				text = strings.TrimLeft(text, " \t\r\n")
			}
		default:
			b.WriteByte('{')
			text = text[1:]
		}
	}
}

func evaluate(inner string, vars map[string]any) (string, error) {
	m := expression.FindStringSubmatch(inner)
	if m == nil {
		return "", fmt.Errorf("the expression {{%.60s}} of Nunjucks is not known here, only names and what is taken of them are", inner)
	}
	v, given := vars[m[1]]
	if m[1] == "env" && !given {
		return "", fmt.Errorf("{{%.60s}}: %w", strings.TrimSpace(inner), errEnv)
	}
	for _, s := range step.FindAllStringSubmatch(m[2], -1) {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[s[1]+s[2]+s[3]+s[4]]
		case []any:
			i, err := strconv.Atoi(s[2])
			if v = nil; err == nil && i < len(inner) {
				v = inner[i]
			}
		default:
			v = nil
		}
	}
	text := formatValue(v)
	for _, filter := range strings.Fields(strings.ReplaceAll(m[3], "|", " ")) {
		switch filter {
		case "trim":
			text = strings.TrimSpace(text)
		case "upper":
			text = strings.ToUpper(text)
		case "lower":
			text = strings.ToLower(text)
		case "dump":
			data, err := json.Marshal(v)
			if err != nil {
				return "", err
			}
			text = string(data)
		case "safe":
		default:
			return "", fmt.Errorf("the filter %q of Nunjucks is not known here; trim, upper, lower, safe and dump are", filter)
		}
	}
	return text, nil
}

// formatValue returns a value as a prompt has it.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		if slices.ContainsFunc(v, func(one any) bool { _, isMap := one.(map[string]any); return isMap }) {
			break
		}
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = formatValue(v[i])
		}
		return strings.Join(texts, ",")
	case map[string]any:
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
