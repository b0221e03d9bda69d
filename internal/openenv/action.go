package openenv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// keyMetadata is the property that may hold answers.
const keyMetadata = "metadata"

// maxRefusal is how many bytes the target reads of why an action is refused.
const maxRefusal = 2000

// action says how a command becomes an action.
type action struct {
	property string // that a command is the value of; "": none
	object   bool   // a command may be the action itself, as a JSON object
	rule     string // what the target reads about it
	schema   *jsonschema.Resolved
}

// parseAction reads the schema of actions. Where it requires one text a command is that text; where it has other
// properties, too, a command may be an object as well.
func parseAction(data json.RawMessage) (a action, err error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		return a, fmt.Errorf("not a JSON Schema: %w", err)
	}
	a.schema, err = schema.Resolve(&jsonschema.ResolveOptions{Loader: func(*url.URL) (*jsonschema.Schema, error) {
		return nil, errors.New("it refers to another document")
	}})
	if err != nil {
		return a, fmt.Errorf("not a JSON Schema that can be used: %w", err)
	}
	delete(schema.Properties, keyMetadata)
	a.object, a.rule = true, "A command is a JSON object of this schema: "+show(&schema)
	if len(schema.Required) != 1 || !isText(schema.Properties[schema.Required[0]]) {
		return a, nil
	}
	a.property, a.object = schema.Required[0], len(schema.Properties) > 1
	if a.object {
		a.rule = "A command is the text " + a.property + ", or a JSON object of this schema: " + show(&schema)
		return a, nil
	}
	text := schema.Properties[a.property]
	text.Title, a.rule = "", ""
	if shown := show(text); shown != show(&jsonschema.Schema{Type: "string"}) {
		a.rule = "A command is a text of this schema: " + shown
	}
	return a, nil
}

// show returns a schema as the target reads it.
func show(s *jsonschema.Schema) string {
	text, err := json.Marshal(s)
	if err != nil { // which cannot be: it was read from JSON
		return err.Error()
	}
	return wording.Middle(string(text), maxShown)
}

func isText(s *jsonschema.Schema) bool { return s != nil && s.Type == "string" }

// encode returns a command as an action, or why it is none, for the target.
func (a action) encode(command string) (text json.RawMessage, refusal string) {
	fields := map[string]any{a.property: command}
	if a.object && (a.property == "" || strings.HasPrefix(command, "{")) {
		var err error
		if fields, err = jsonx.UniqueObject(command); err != nil {
			return nil, "A command is a JSON object: " + err.Error()
		}
	}
	text, err := json.Marshal(fields)
	var plain any // without the numbers of jsonx, which the validator takes for texts
	if err = cmp.Or(err, json.Unmarshal(text, &plain)); err != nil {
		return nil, "A command is a JSON object: " + err.Error()
	}
	if err := a.schema.Validate(plain); err != nil {
		return nil, "The action does not fit its schema: " + wording.Middle(err.Error(), maxRefusal)
	}
	return text, ""
}

// observe returns an observation as the target sees it: a text alone as itself, anything else as JSON.
func (a action) observe(fields map[string]any) (text string, choices []string) {
	removeMetadata(fields)
	if list, ok := listChoices(fields["choices"]); ok && a.property != "" {
		choices = list
		delete(fields, "choices")
	}
	if len(fields) == 0 {
		return "", choices
	}
	if len(fields) == 1 {
		for _, v := range fields {
			if text, ok := v.(string); ok {
				return wording.Middle(wording.Plain(text), maxShown), choices
			}
		}
	}
	return wording.Middle(wording.Plain(encodeJSON(fields)), maxShown), choices
}

// encodeJSON returns a value that was read from JSON as compact JSON, with keys in order.
func encodeJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was read can be written
	return string(bytes.TrimSpace(out.Bytes()))
}

// removeMetadata takes metadata out of a value, at every depth.
func removeMetadata(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, keyMetadata)
		for _, inner := range v {
			removeMetadata(inner)
		}
	case []any:
		for _, inner := range v {
			removeMetadata(inner)
		}
	}
}

// listChoices returns a list of texts.
func listChoices(v any) (choices []string, ok bool) {
	list, ok := v.([]any)
	for _, entry := range list {
		text, isText := entry.(string)
		if !isText {
			return nil, false
		}
		choices = append(choices, text)
	}
	return choices, ok
}
