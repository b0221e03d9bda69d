package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

// importValue turns a recorded value into what package importer works on.
func importValue(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			t.Fatalf("recorded number %s: %v", v, err)
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = importValue(t, v[i])
		}
		return out
	case map[string]any:
		if name, ok := v["$nonfinite"].(string); ok {
			f, err := strconv.ParseFloat(name, 64)
			if err != nil {
				t.Fatalf("recorded number %s: %v", name, err)
			}
			return f
		}
		return importConfig(t, v)
	}
	return v
}

func importConfig(t *testing.T, v any) map[string]any {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("recorded configuration %v: want a mapping", v)
	}
	out := make(map[string]any, len(m))
	for key := range m {
		out[key] = importValue(t, m[key])
	}
	return out
}

// recordedImport writes a value of package importer the way the vectors do.
// Whole floats keep a fraction: 1, 1.0 and true are three values.
func recordedImport(v any) any {
	switch v := v.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return map[string]any{"$nonfinite": "nan"}
		case math.IsInf(v, 1):
			return map[string]any{"$nonfinite": "inf"}
		case math.IsInf(v, -1):
			return map[string]any{"$nonfinite": "-inf"}
		case v == math.Trunc(v) && math.Abs(v) < 1e15:
			return json.RawMessage(strconv.FormatFloat(v, 'f', 1, 64))
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = recordedImport(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = recordedImport(v[key])
		}
		return out
	}
	return v
}

// diffImported is diffRecorded with whole numbers and floats told apart.
func diffImported(got any, err error, out map[string]any) string {
	got = recordedImport(got)
	if diff := diffRecorded(got, err, out); diff != "" {
		return diff
	}
	if err != nil {
		return ""
	}
	b, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	w, err := json.Marshal(out["ok"])
	if err != nil {
		return err.Error()
	}
	if g, w := numberKinds(string(b)), numberKinds(string(w)); g != w {
		return fmt.Sprintf("kinds of numbers: got %s, want %s", b, w)
	}
	return ""
}

// numberKinds keeps of JSON with sorted keys which numbers are whole.
func numberKinds(text string) string {
	var kinds strings.Builder
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return kinds.String()
		}
		if n, ok := tok.(json.Number); ok {
			kinds.WriteByte("if"[len(strings.Split(n.String(), "."))-1])
			if strings.ContainsAny(n.String(), "eE") {
				kinds.WriteByte('e')
			}
		}
	}
}

func TestConfigCast(t *testing.T) {
	t.Parallel()
	run(t, "config_cast", func(in, out map[string]any) string {
		text, _ := in["value"].(string)
		return diffImported(importer.Cast(text), nil, out)
	})
}

func TestConfigMerge(t *testing.T) {
	t.Parallel()
	run(t, "config_merge", func(in, out map[string]any) string {
		return diffImported(importer.Merge(importConfig(t, in["base"]), importConfig(t, in["override"])), nil, out)
	})
}

func TestConfigFlatten(t *testing.T) {
	t.Parallel()
	run(t, "config_flatten", func(in, out map[string]any) string {
		cfg := importConfig(t, in["config"])
		flat, _ := out["flat"].(map[string]any)
		structured, _ := out["structured"].(map[string]any)
		if diff := diffImported(importer.Flatten(cfg), nil, flat); diff != "" {
			return diff
		}
		return diffImported(importer.Structured(cfg), nil, structured)
	})
}

func TestConfigOverride(t *testing.T) {
	t.Parallel()
	run(t, "config_override", func(in, out map[string]any) string {
		settings := recordedAs[[]string](t, in["overrides"])
		cfg, err := importer.Override(importConfig(t, in["config"]), settings)
		return diffImported(bothForms(cfg, err), err, out)
	})
}

func TestConfigLoad(t *testing.T) {
	t.Parallel()
	run(t, "config_load", checkConfigLoad)
}

func checkConfigLoad(in, out map[string]any) string {
	cfg, err := importer.Load(importFiles(in), "main.yaml")
	if err == nil {
		cfg, err = importer.Override(cfg, importSettings(in))
	}
	return diffImported(bothForms(cfg, err), err, out)
}

func bothForms(cfg map[string]any, err error) any {
	if err != nil {
		return nil
	}
	return map[string]any{"config": cfg, "flat": importer.Flatten(cfg)}
}

// importFiles reads the files of a case: YAML as text, or as recorded data that
// is written as YAML first.
func importFiles(in map[string]any) importer.ReadFile {
	files, _ := in["files"].(map[string]any)
	return func(path string) ([]byte, error) {
		content, ok := files[filepath.ToSlash(path)]
		if !ok {
			return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
		}
		if text, ok := content.(string); ok {
			return []byte(text), nil
		}
		return []byte(yamlOf(content)), nil
	}
}

// yamlOf writes recorded data in the flow style of YAML 1.1.
func yamlOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			text := strconv.FormatFloat(f, 'f', -1, 64)
			if !strings.Contains(text, ".") {
				text += ".0"
			}
			return text
		}
		return v.String()
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = yamlOf(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		if name, ok := v["$nonfinite"].(string); ok {
			return strings.Replace("."+name, ".-", "-.", 1)
		}
		parts := make([]string, 0, len(v))
		for key := range v {
			parts = append(parts, yamlOf(key)+": "+yamlOf(v[key]))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
