package header

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/model"
)

// Refusal returns the class of an error whose body names, by a code, why the provider refuses the
// request; "" if it names none. Gateways pass on the codes of one provider in the form of another,
// so the wire does not show where in the body the code is.
func Refusal(body []byte) model.Code {
	var whole any
	if json.Unmarshal(body, &whole) != nil {
		whole = string(body)
	}
	return refusalIn("message", whole)
}

// refusalIn looks through the value of a member.
func refusalIn(name string, value any) (code model.Code) {
	found := func(other model.Code) {
		if code == "" || other == model.ContextLength {
			code = other
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			found(refusalIn(name, v))
		}
	case []any:
		for _, v := range value {
			found(refusalIn(name, v))
		}
	case string:
		switch name {
		case "code", "type", "status", "reason", "__type":
			return refusalNamed(value)
		case "message", "error", "detail": // a code is no ordinary word
			for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
				found(refusalNamed(word))
			}
		}
	}
	return code
}

// refusalNamed returns the class of a code for a refusal, "" for any other.
func refusalNamed(code string) model.Code {
	switch strings.ToLower(code) {
	case "context_length_exceeded", "string_above_max_length", "exceed_context_size_error", "context_window_exceeded":
		return model.ContextLength
	case "content_filter", "content_policy_violation", "moderation_blocked", "responsibleaipolicyviolation",
		"invalid_prompt", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation":
		return model.ContentFilter
	}
	return ""
}
