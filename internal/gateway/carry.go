package gateway

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// carrier begins a signature that is not the wire's own, but a piece of
// reasoning of another provider. Agents hand signatures back unseen, so that the
// reasoning comes back with the next request.
const carrier = "skillopt1:"

// pack puts reasoning into a text of the characters of base64 and the prefix.
func pack(r ...model.Reasoning) string {
	b, err := json.Marshal(r)
	if err != nil { // Opaque is no JSON: it could not be sent back either
		return ""
	}
	return carrier + base64.StdEncoding.EncodeToString(b)
}

// unpack reads what pack wrote. Anything else is not ours.
func unpack(s string) ([]model.Part, bool) {
	data, ok := strings.CutPrefix(s, carrier)
	if !ok {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, false
	}
	var list []model.Reasoning
	if json.Unmarshal(b, &list) != nil {
		return nil, false
	}
	parts := make([]model.Part, len(list))
	for i := range list {
		parts[i].Reasoning = &list[i]
	}
	return parts, true
}

// own returns the block of reasoning in the form of the wire whose provider wrote
// it: Opaque, if it is an object of one of these types.
func own(r *model.Reasoning, provider string, types ...string) (json.RawMessage, bool) {
	if r.Provider != provider || len(r.Opaque) == 0 {
		return nil, false
	}
	n, err := parseJSON(r.Opaque)
	if err != nil || !slices.Contains(types, n.get("type").text()) {
		return nil, false
	}
	return r.Opaque, true
}
