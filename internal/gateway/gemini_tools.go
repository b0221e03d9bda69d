package gateway

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func (d *geminiDecoder) tools() error {
	return d.q.equip(d.body.get("tools"), &d.left, geminiTools)
}

// geminiTools reads a group of tools.
func geminiTools(t node, to *toolset) error {
	for _, k := range t.kids {
		if name := k.key; name != "functionDeclarations" && name != "function_declarations" {
			to.left.note(LeftOut{Kind: trajectory.HostedTool, What: "tool " + clipName(name)})
		}
	}
	for _, f := range t.get("functionDeclarations", "function_declarations").each() {
		schema, err := geminiSchema(f.get("parametersJsonSchema", "parameters_json_schema"), f.get("parameters"))
		if err != nil {
			return err
		}
		if schema == nil {
			schema = parameters(node{})
		}
		if err := to.add(model.Tool{Name: f.get("name").text(), Description: f.get("description").text(), Parameters: schema}); err != nil {
			return err
		}
	}
	return nil
}

func (d *geminiDecoder) choice() error {
	config := d.body.get("toolConfig", "tool_config").get("functionCallingConfig", "function_calling_config")
	allowed := texts(config.get("allowedFunctionNames", "allowed_function_names"))
	switch mode := config.get("mode").text(); mode {
	case "", "MODE_UNSPECIFIED":
	case "AUTO", "VALIDATED":
		d.req.ToolChoice = model.ToolChoiceAuto
	case "NONE":
		d.req.ToolChoice = model.ToolChoiceNone
	case "ANY":
		d.req.ToolChoice = model.ToolChoiceRequired
		if len(allowed) == 1 {
			d.req.ToolChoice = allowed[0]
			return nil
		}
	default:
		return badRequest("toolConfig: the mode %q is unknown", mode)
	}
	if len(allowed) > 0 {
		d.left.add("allowedFunctionNames")
	}
	return nil
}

func (d *geminiDecoder) schema() error {
	schema, err := geminiSchema(d.config.get("responseJsonSchema", "response_json_schema"), d.config.get("responseSchema", "response_schema"))
	mime := d.config.get("responseMimeType", "response_mime_type").text()
	if schema == nil && mime == "application/json" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	if schema != nil {
		d.req.Schema = &model.Schema{Name: "answer", JSON: schema}
	}
	return err
}

// geminiSchema returns a JSON Schema as it is, or the wire's own kind of schema
// as one: its types are in upper case, and "nullable" is a field.
func geminiSchema(standard, own node) (json.RawMessage, error) {
	if standard.present() {
		return standard.bytes(), nil
	}
	if !own.isObject() {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(own.bytes(), &v); err != nil {
		return nil, badRequest("a schema: %v", err)
	}
	b, err := json.Marshal(standardSchema(v))
	if err != nil {
		return nil, badRequest("a schema: %v", err)
	}
	return b, nil
}

// standardSchema rewrites a schema and those within it.
func standardSchema(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for name, inner := range m {
		switch name {
		case "nullable", "propertyOrdering", "property_ordering":
		case "type":
			out[name] = inner
			if kind, ok := inner.(string); ok {
				out[name] = strings.ToLower(kind)
				if m["nullable"] == true {
					out[name] = []any{strings.ToLower(kind), "null"}
				}
			}
		case "properties", "$defs", "defs":
			out[name] = inner
			if fields, ok := inner.(map[string]any); ok {
				fields = maps.Clone(fields)
				for field, s := range fields {
					fields[field] = standardSchema(s)
				}
				out[name] = fields
			}
		case "items", "additionalProperties":
			out[name] = standardSchema(inner)
		case "anyOf", "any_of":
			out["anyOf"] = inner
			if list, ok := inner.([]any); ok {
				list = slices.Clone(list)
				for i := range list {
					list[i] = standardSchema(list[i])
				}
				out["anyOf"] = list
			}
		case "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
			out[name] = inner
			if n, ok := inner.(string); ok { // int64 is a string in this wire's JSON
				out[name] = json.Number(n)
			}
		default:
			out[name] = inner
		}
	}
	return out
}
