package optimize

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// The JSON Schemas of the replies, for servers with structured output. They keep
// to the subset that strict servers demand: every property required, none
// beside them. The parsers of reply.go do not rely on them.

const (
	textSchema   = `{"type":"string"}`
	countSchema  = `{"type":"integer"}`
	textsSchema  = `{"type":"array","items":{"type":"string"}}`
	opSchema     = `{"type":"string","enum":["append","insert_after","replace","delete"]}`
	filesOps     = `{"type":"string","enum":["append","insert_after","replace","delete","move"]}`
	levelSchema  = `{"type":"string","enum":["high","medium","low"]}`
	kindSchema   = `{"type":"string","enum":["add","change","remove","restructure"]}`
	sourceSchema = `{"type":"string","enum":["failure","success"]}`
	classSchema  = `{"type":"string","enum":["SKILL_DEFECT","EXECUTION_LAPSE"]}`
)

// property is one field of an object schema.
type property struct{ name, schema string }

func objectSchema(properties ...property) string {
	fields, names := make([]string, len(properties)), make([]string, len(properties))
	for i, p := range properties {
		fields[i] = `"` + p.name + `":` + p.schema
		names[i] = `"` + p.name + `"`
	}
	return `{"type":"object","properties":{` + strings.Join(fields, ",") +
		`},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

func listSchema(item string) string { return `{"type":"array","items":` + item + `}` }

func namedSchema(name, schema string) *model.Schema {
	return &model.Schema{Name: name, JSON: json.RawMessage(schema)}
}

// itemSchema describes one item of a mode's payload list, with provenance
// beside the mode's own fields. With files an edit names the file that it changes.
func itemSchema(mode Mode, files bool, provenance []property) string {
	var p []property
	switch {
	case mode == ModeRewrite:
		p = []property{
			{"type", kindSchema},
			{"title", textSchema},
			{"motivation", textSchema},
			{"instruction", textSchema},
			{"priority_hint", levelSchema},
		}
	case mode == ModeFullRewrite:
		p = []property{{"title", textSchema}, {"change_summary", textsSchema}, {"new_skill", textSchema}}
	case files:
		p = []property{{"op", filesOps}, {"file", textSchema}, {"target", textSchema}, {"content", textSchema}}
	default:
		p = []property{{"op", opSchema}, {"target", textSchema}, {"content", textSchema}}
	}
	return objectSchema(append(p, provenance...)...)
}

func patchSchema(mode Mode, files bool, provenance ...property) string {
	return objectSchema(
		property{"reasoning", textSchema},
		property{mode.Key(), listSchema(itemSchema(mode, files, provenance))},
	)
}

func analystSchema(mode Mode, files bool, source skill.Source, noted bool) *model.Schema {
	batch := property{"batch_size", countSchema}
	patch := property{"patch", patchSchema(mode, files)}
	notes := property{"appendix_notes", textsSchema}
	if source == skill.FromSuccess {
		fields := []property{batch, {"success_patterns", textsSchema}, patch}
		if noted {
			fields = append(fields, notes)
		}
		return namedSchema("success_analysis", objectSchema(fields...))
	}
	kind := []property{{"failure_type", textSchema}, {"count", countSchema}, {"description", textSchema}}
	if !noted {
		summary := property{"failure_summary", listSchema(objectSchema(kind...))}
		return namedSchema("failure_analysis", objectSchema(batch, summary, patch))
	}
	summary := property{"failure_summary", listSchema(objectSchema(append(kind, property{"classification", classSchema})...))}
	return namedSchema("failure_analysis", objectSchema(batch, summary, patch, notes))
}

func mergeSchema(mode Mode, files bool) *model.Schema {
	return namedSchema("merged_patch", patchSchema(mode, files, property{"support_count", countSchema}))
}

func mergeFinalSchema(mode Mode, files bool) *model.Schema {
	if mode == ModeFullRewrite {
		return mergeSchema(mode, files)
	}
	return namedSchema("merged_patch", patchSchema(mode, files,
		property{"support_count", countSchema}, property{"source_type", sourceSchema}))
}

func rankingSchema() *model.Schema {
	return namedSchema("ranking", objectSchema(
		property{"reasoning", textSchema},
		property{"selected_indices", listSchema(countSchema)},
	))
}

func rewriteSchema() *model.Schema {
	return namedSchema("rewrite", objectSchema(
		property{"reasoning", textSchema},
		property{"change_summary", textsSchema},
		property{"new_skill", textSchema},
	))
}

func compactSchema() *model.Schema {
	return namedSchema("appendix", objectSchema(
		property{"reasoning", textSchema},
		property{"appendix_notes", textsSchema},
	))
}
