package skill

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// DecodeEdit reads an edit that a model wrote, decoded from JSON with or
// without UseNumber. In op, file, target and content null counts as empty text,
// and numbers and booleans as the text that they are written as; lists and
// objects are errors. An absent field is empty. The op is not checked: Apply
// reports unknown ones.
//
// SupportCount and MergeLevel are counts at least 0, and 0 when unusable; a
// source type that is neither failure nor success is dropped. Unknown fields
// are ignored.
func DecodeEdit(v any) (Edit, error) { return decodeEdit(v, scalarText) }

// DecodeEditStrict does what DecodeEdit does but takes nothing except text in op, file, target and
// content, as SkillOpt does.
func DecodeEditStrict(v any) (Edit, error) {
	return decodeEdit(v, func(v any) (string, bool) {
		s, ok := v.(string)
		return s, ok
	})
}

func decodeEdit(v any, text func(any) (string, bool)) (Edit, error) {
	fields, _ := v.(map[string]any)
	if fields == nil {
		return Edit{}, fmt.Errorf("decode edit: found %s, want an object with op, target and content", describe(v))
	}
	var op string
	e := Edit{SupportCount: count(fields["support_count"]), MergeLevel: count(fields["merge_level"])}
	for _, f := range []struct {
		name string
		into *string
	}{{"op", &op}, {"file", &e.File}, {"target", &e.Target}, {"content", &e.Content}} {
		value, present := fields[f.name]
		if !present {
			continue
		}
		s, ok := text(value)
		if !ok {
			return Edit{}, fmt.Errorf("decode edit: %s is %s, want text", f.name, describe(value))
		}
		*f.into = s
	}
	e.Op = Op(op)
	if s, _ := fields["source_type"].(string); Source(s) == FromFailure || Source(s) == FromSuccess {
		e.Source = Source(s)
	}
	return e, nil
}

// scalarText returns a JSON scalar as text.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// count reads a number of trajectories or levels, also from text.
func count(v any) int {
	text, ok := scalarText(v)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f <= math.MaxInt32) { // the negation is also true for NaN
		return 0
	}
	return int(f)
}

func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "a boolean"
	case json.Number, float64, int:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}
