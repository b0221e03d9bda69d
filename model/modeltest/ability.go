package modeltest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Ability is one thing that an adapter can do, or cannot. What it can do, the
// suite has tried.
type Ability struct {
	Name      string `json:"name"`
	Supported bool   `json:"supported"`
}

// Abilities returns what the suite tries with h and what it leaves out, in the
// order of a table.
func Abilities(h Harness) []Ability {
	return []Ability{
		{"structured output", !h.Lacks.Schema},
		{"images", !h.Lacks.Vision},
		{"tools", !h.Lacks.Tools},
		{"reasoning effort", !h.Lacks.Effort},
		{"reasoning goes back", !h.Lacks.Traces},
		{"streaming", h.Stream != nil},
		{"seed", !h.Lacks.Seed},
		{"refusals distinguished", !h.Lacks.Refusal},
		{"cached tokens", !h.Lacks.Cached},
		{"cache writes", !h.Lacks.CacheWrite},
		{"reasoning tokens", !h.Lacks.Reasoning},
		{"fingerprint", !h.Lacks.Fingerprint},
	}
}

// Golden compares the abilities of h with the JSON file at path, which
// documentation is made from. Where the package of the test declares a flag
// named update and it is set, Golden writes the file instead.
func Golden(t *testing.T, path string, h Harness) {
	t.Helper()
	got := Abilities(h)
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		writeAbilities(t, path, got)
		return
	}
	want, err := ReadAbilities(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("abilities (-file +suite), rewrite the file with -update:\n%s", diff)
	}
}

func writeAbilities(t *testing.T, path string, all []Ability) {
	t.Helper()
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Fatalf("write the abilities: %v", err)
	}
}

// ReadAbilities reads a file that Golden wrote.
func ReadAbilities(path string) ([]Ability, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read abilities: %w", err)
	}
	var all []Ability
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("read abilities of %s: %w", path, err)
	}
	return all, nil
}

// Adapter is a column of a table.
type Adapter struct {
	Name      string
	Abilities []Ability
}

// Table renders abilities as Markdown: a row for each ability, in the order of
// the first adapter, and a column for each adapter.
func Table(adapters []Adapter) string {
	if len(adapters) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, a := range adapters {
		b.WriteString(" " + a.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(adapters)) + "\n")
	for _, row := range adapters[0].Abilities {
		b.WriteString("| " + row.Name + " |")
		for _, a := range adapters {
			b.WriteString(" " + mark(a.Abilities, row.Name) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mark returns a cell: what an adapter says nothing about is not claimed.
func mark(all []Ability, name string) string {
	for _, a := range all {
		if a.Name == name && a.Supported {
			return "yes"
		}
	}
	return "–"
}
