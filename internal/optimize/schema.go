package optimize

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// The JSON Schemas of the replies, for servers with structured output. They keep
// to the subset that strict servers demand: every property required, none
// in addition. The parsers of reply.go do not rely on them.

const (
	textSchema   = `{"type":"string"}`
	countSchema  = `{"type":"integer"}`
	textsSchema  = `{"type":"array","items":{"type":"string"}}`
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
// in addition to the mode's own fields.
func itemSchema(mode Mode, forms Forms, provenance []property) string {
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
		if forms.Files {
			p = slices.Insert(p, 1, property{"file", textSchema})
		}
	case mode == ModeFullRewrite:
		p = append([]property{{"title", textSchema}, {"change_summary", textsSchema}}, wholeSchema(forms.Files)...)
	case forms.Files:
		p = []property{{"op", forms.ops()}, {"file", textSchema}, {"target", textSchema}, {"content", textSchema}}
	default:
		p = []property{{"op", forms.ops()}, {"target", textSchema}, {"content", textSchema}}
	}
	return objectSchema(append(p, provenance...)...)
}

// ops describes the ops of edits.
func (f Forms) ops() string {
	ops := []skill.Op{skill.Append, skill.InsertAfter, skill.Replace, skill.Delete}
	if f.Files {
		ops = append(ops, skill.Move)
	}
	if f.Description {
		ops = append(ops, skill.Describe)
	}
	if f.Alone {
		ops = []skill.Op{skill.Describe}
	}
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = `"` + string(op) + `"`
	}
	return `{"type":"string","enum":[` + strings.Join(names, ",") + `]}`
}

func patchSchema(mode Mode, forms Forms, provenance ...property) string {
	return objectSchema(
		property{"reasoning", textSchema},
		property{mode.Key(), listSchema(itemSchema(mode, forms, provenance))},
	)
}

func analystSchema(mode Mode, forms Forms, source skill.Source, noted bool) *model.Schema {
	batch := property{"batch_size", countSchema}
	patch := property{"patch", patchSchema(mode, forms)}
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

func mergeSchema(mode Mode, forms Forms) *model.Schema {
	return namedSchema("merged_patch", patchSchema(mode, forms, property{"support_count", countSchema}))
}

func mergeFinalSchema(mode Mode, forms Forms) *model.Schema {
	if mode == ModeFullRewrite {
		return mergeSchema(mode, forms)
	}
	return namedSchema("merged_patch", patchSchema(mode, forms,
		property{"support_count", countSchema}, property{"source_type", sourceSchema}))
}

func rankingSchema() *model.Schema {
	return namedSchema("ranking", objectSchema(
		property{"reasoning", textSchema},
		property{"selected_indices", listSchema(countSchema)},
	))
}

// wholeSchema describes a whole skill, with files with the other files that change.
func wholeSchema(files bool) []property {
	p := []property{{"new_skill", textSchema}}
	if files {
		p = append(p, property{"files", listSchema(objectSchema(property{"file", textSchema}, property{"content", textSchema}))})
	}
	return p
}

func rewriteSchema(files bool) *model.Schema {
	p := []property{{"reasoning", textSchema}, {"change_summary", textsSchema}}
	return namedSchema("rewrite", objectSchema(append(p, wholeSchema(files)...)...))
}

func compactSchema() *model.Schema {
	return namedSchema("appendix", objectSchema(
		property{"reasoning", textSchema},
		property{"appendix_notes", textsSchema},
	))
}
