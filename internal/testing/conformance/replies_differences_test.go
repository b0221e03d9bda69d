package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
)

// replyDifferences are the departures in reading replies and files of JSON.
var replyDifferences = map[string][]difference{
	"optimizer_reply": {{
		reason: "a blank memory of the optimizer is none: it would take the place of the one before",
		holds: func(in map[string]any) bool {
			reply, err := jsonx.Object(in["response"].(string))
			content, ok := reply["meta_skill_content"].(string)
			return err == nil && ok && content != "" && oracleTrim(content) == ""
		},
		want: func(_, out map[string]any) map[string]any { return with(out, "meta_skill", nil) },
	}},
	"json_extract": {{
		reason: "a list of one object is that object, also by the rules of skillrl",
		holds: func(in map[string]any) bool {
			_, ok := onlyObjectOfList(in["text"].(string))
			return ok
		},
		want: func(in, out map[string]any) map[string]any {
			object, _ := onlyObjectOfList(in["text"].(string))
			return with(out, "skillrl_object", object)
		},
	}},
	"load_json_or_jsonl": {{
		reason: "a line ends with a line feed; \\v, U+2028 and the like end none",
		holds: func(in map[string]any) bool {
			text := oracleTrim(in["content"].(string))
			if _, err := oneValue(text); err == nil {
				return false // a document
			}
			return !slices.Equal(rowsOf(pythonLineEnd.Split(text, -1)), rowsOf(strings.Split(text, "\n")))
		},
		want: func(in, _ map[string]any) map[string]any {
			var values []any
			for _, row := range rowsOf(strings.Split(in["content"].(string), "\n")) {
				v, err := oneValue(row)
				if err != nil {
					return map[string]any{"error": err.Error()}
				}
				values = append(values, v)
			}
			return map[string]any{"ok": values}
		},
	}},
}

var pythonLineEnd = regexp.MustCompile(`\r\n|[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}]`)

// with returns a copy of a recorded output with another sub-result.
func with(out map[string]any, key string, value any) map[string]any {
	out = maps.Clone(out)
	out[key] = map[string]any{"ok": value}
	return out
}

// rowsOf returns lines without white space around them, and no blank ones.
func rowsOf(lines []string) (rows []string) {
	for _, line := range lines {
		if line = oracleTrim(line); line != "" {
			rows = append(rows, line)
		}
	}
	return rows
}

// onlyObjectOfList returns the one object of a text that is a list as a whole, where
// what lies between the first and the last brace is one.
func onlyObjectOfList(text string) (object map[string]any, ok bool) {
	whole, err := oneValue(text)
	if _, isList := whole.([]any); err != nil || !isList {
		return nil, false
	}
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from || strings.Contains(text, "```") {
		return nil, false
	}
	inner, err := oneValue(text[from : to+1])
	object, ok = inner.(map[string]any)
	return object, err == nil && ok
}

// oneValue reads a text that is one JSON value.
func oneValue(text string) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}
