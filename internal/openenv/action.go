package openenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

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
	property string // that a command is the value of; "": a command is the action as a JSON object
	rule     string // what the target reads about it
	schema   *jsonschema.Resolved
}

func parseAction(text json.RawMessage) (a action, err error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return a, fmt.Errorf("not a JSON Schema: %w", err)
	}
	a.schema, err = schema.Resolve(&jsonschema.ResolveOptions{Loader: func(*url.URL) (*jsonschema.Schema, error) {
		return nil, errors.New("it refers to another document")
	}})
	if err != nil {
		return a, fmt.Errorf("not a JSON Schema that can be used: %w", err)
	}
	if len(schema.Required) == 1 && schema.Properties[schema.Required[0]] != nil && schema.Properties[schema.Required[0]].Type == "string" {
		a.property = schema.Required[0]
		if about := schema.Properties[a.property].Description; about != "" {
			a.rule = "A command is: " + about
		}
		return a, nil
	}
	delete(schema.Properties, keyMetadata)
	shown, err := json.Marshal(&schema)
	a.rule = "A command is a JSON object of this schema: " + wording.Middle(string(shown), maxShown)
	return a, err
}

// encode returns a command as an action. The error is for the target.
func (a action) encode(command string) (json.RawMessage, error) {
	fields := map[string]any{a.property: command}
	if a.property == "" {
		var err error
		if fields, err = jsonx.UniqueObject(command); err != nil {
			return nil, fmt.Errorf("A command is a JSON object: %w", err)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("A command is a JSON object: %w", err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, fmt.Errorf("A command is a JSON object: %w", err)
	}
	if err := a.schema.Validate(plain); err != nil {
		return nil, fmt.Errorf("The action does not fit its schema: %s", wording.Middle(err.Error(), maxRefusal))
	}
	return text, nil
}

// observe returns an observation as the target sees it: a text alone as itself, anything else as JSON.
func (a action) observe(fields map[string]any) (text string, choices []string) {
	withoutMetadata(fields)
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
				return wording.Middle(text, maxShown), choices
			}
		}
	}
	return wording.Middle(encodeJSON(fields), maxShown), choices
}

// encodeJSON returns a value that was read from JSON as compact JSON, with keys in order.
func encodeJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was read can be written
	return string(bytes.TrimSpace(out.Bytes()))
}

// withoutMetadata takes metadata out of a value, at every depth.
func withoutMetadata(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, keyMetadata)
		for _, inner := range v {
			withoutMetadata(inner)
		}
	case []any:
		for _, inner := range v {
			withoutMetadata(inner)
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
