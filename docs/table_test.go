package docs_test

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/importer"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/testing/cloudtest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

var update = flag.Bool("update", false, "write the generated tables into the pages")

// TestTables holds the tables that are made from code against the pages. They
// stand between <!-- table: NAME --> and <!-- end -->.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, table := range []struct {
		page, name string
		text       func(*testing.T) string
	}{
		{"models.md", "presets", presetTable},
		{"models.md", "abilities", abilityTable},
		{"models.md", "prices", priceTable},
		{"agents.md", "agents", agentTable},
		{"agents.md", "behaviour", behaviourTable},
		{"import.md", "environments", environmentTable},
	} {
		begin, end := "<!-- table: "+table.name+" -->\n", "<!-- end -->"
		page := read(t, table.page)
		before, rest, found := strings.Cut(page, begin)
		old, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Errorf("%s has no place for the table %s", table.page, table.name)
			continue
		}
		want := "\n" + table.text(t) + "\n"
		switch {
		case old == want:
		case *update:
			write(t, table.page, before+begin+want+end+after)
		default:
			t.Errorf("%s: the table %s is stale, run go test ./docs -update; it should be:\n%s", table.page, table.name, want)
		}
	}
}

// rows renders a table of Markdown.
func rows(head []string, body [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, cells := range body {
		line(cells)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return "–"
	}
	return "`" + s + "`"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "–"
}

// presetTable lists the providers that are servers.
func presetTable(t *testing.T) string {
	t.Helper()
	speaks := map[preset.Protocol]string{
		preset.OpenAI: "Responses, Chat Completions", preset.OpenAIChat: "Chat Completions", preset.Anthropic: "Messages",
		preset.Gemini: "Gemini", preset.Ollama: "Ollama",
	}
	var body [][]string
	for _, name := range preset.Names() {
		p, ok := preset.Lookup(name)
		if !ok || speaks[p.Protocol] == "" {
			t.Fatalf("preset %s: %+v", name, p)
		}
		body = append(body, []string{code(name), p.Title, protocols(p, speaks), keyOf(p), addressOf(p), yes(switchable(p)), p.AsOf})
	}
	return rows([]string{"`provider`", "who", "speaks", "key", "address", "`thinking`", "as of"}, body)
}

// protocols names that of a preset and those of some of its models, by their
// shortest pattern.
func protocols(p preset.Preset, speaks map[preset.Protocol]string) string {
	shortest := map[preset.Protocol]string{}
	for _, r := range p.Rules {
		for _, pattern := range r.Models {
			if old := shortest[r.Protocol]; r.Protocol != "" && (old == "" || len(pattern) < len(old)) {
				shortest[r.Protocol] = pattern
			}
		}
	}
	text := speaks[p.Protocol]
	for _, protocol := range slices.Sorted(maps.Keys(shortest)) {
		text += "; " + speaks[protocol] + " for " + code(shortest[protocol])
	}
	return text
}

func keyOf(p preset.Preset) string {
	switch {
	case p.Cloud == preset.Vertex:
		return "`GOOGLE_APPLICATION_CREDENTIALS`"
	case p.Cloud == preset.Bedrock:
		return code(p.KeyVar) + ", or the three `AWS_` variables"
	case p.KeyVar == "":
		return "none, or `api_key_env`"
	case p.Key == preset.KeyOptional:
		return code(p.KeyVar) + ", if set"
	}
	return code(p.KeyVar)
}

func addressOf(p preset.Preset) string {
	switch {
	case len(p.Regions) > 0:
		var all []string
		for _, r := range p.Regions {
			all = append(all, code(r.Name)+" "+r.BaseURL)
		}
		return "`region`: " + strings.Join(all, ", ")
	case p.AnyRegion:
		return "`region`, such as " + p.Example
	case p.BaseURL == "":
		return "`base_url`, such as " + p.Example
	}
	return p.BaseURL
}

// switchable reports whether thinking can be switched on and off by its own key.
func switchable(p preset.Preset) bool {
	return !slices.Contains([]preset.Switch{"", preset.SwitchNone, preset.SwitchAdapter}, p.Thinking)
}

// abilityTable is made of what the suite has tried with each adapter.
func abilityTable(t *testing.T) string {
	t.Helper()
	titles := map[string]string{
		"anthropic/abilities.json": "Messages", "gemini/abilities.json": "Gemini", "ollama/abilities.json": "Ollama",
		"openai/abilities.json": "Chat Completions", "openai/abilities_responses.json": "Responses",
	}
	paths, err := filepath.Glob("../internal/provider/*/testdata/abilities*.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []modeltest.Adapter
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + filepath.Base(path)
		if titles[name] == "" {
			t.Fatalf("the table has no name for the adapter of %s", path)
		}
		abilities, err := modeltest.ReadAbilities(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, modeltest.Adapter{Name: titles[name], Abilities: abilities})
	}
	if len(all) != len(titles) {
		t.Fatalf("found %d adapters, want %d", len(all), len(titles))
	}
	slices.SortFunc(all, func(a, b modeltest.Adapter) int { return strings.Compare(a.Name, b.Name) })
	return modeltest.Table(all)
}

// priceTable says how many prices there are of whom, and of when.
func priceTable(t *testing.T) string {
	t.Helper()
	prices, err := price.Default()
	if err != nil {
		t.Fatal(err)
	}
	type of struct {
		prices      int
		first, last string
		hosts       []string
	}
	all := map[string]*of{}
	var names []string
	for _, e := range prices.Entries() {
		p := all[e.Provider]
		if p == nil {
			p = &of{first: e.AsOf}
			all[e.Provider] = p
			names = append(names, e.Provider)
		}
		p.prices++
		p.first, p.last = min(p.first, e.AsOf), max(p.last, e.AsOf)
		u, err := url.Parse(e.Source)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.hosts, u.Host) {
			p.hosts = append(p.hosts, u.Host)
		}
	}
	slices.Sort(names)
	var body [][]string
	for _, name := range names {
		p := all[name]
		asOf := p.first
		if p.last != p.first {
			asOf += " to " + p.last
		}
		body = append(body, []string{code(name), fmt.Sprint(p.prices), asOf, strings.Join(p.hosts, ", ")})
	}
	return rows([]string{"`provider`", "prices", "as of", "price list at"}, body)
}

// agentTable lists the agents and what each can do.
func agentTable(t *testing.T) string {
	t.Helper()
	var body [][]string
	for _, name := range agent.Names() {
		if name == agent.CustomName {
			continue
		}
		a, err := agent.New(name, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		info, err := a.Detect(t.Context()) // the search path is empty: nothing is started
		if err != nil {
			t.Fatal(err)
		}
		can, install := a.Abilities(), info.Help
		if strings.HasPrefix(install, "npm") {
			install = code(install)
		}
		tested := info.Tested
		if name == agent.BuiltinName {
			install, tested, can.Wire = "nothing", "with the program", "any"
		}
		if tested == "" {
			tested = "not tested"
		}
		wire := can.Wire
		if wire == "" {
			wire = "its own"
		}
		pictures := "as files"
		if can.Images {
			pictures = "yes"
		}
		body = append(body, []string{code(name), wire, yes(can.Skills), yes(can.Usage), pictures, tested, install})
	}
	return rows([]string{"`agent.name`", "wire", "finds skills", "reports tokens", "pictures", "tested", "to install"}, body)
}

// TestModelsAndAgentsBuild builds what the YAML of all pages describes, and calls
// nobody.
func TestModelsAndAgentsBuild(t *testing.T) {
	t.Parallel()
	models, agents := 0, 0
	for page, text := range pages(t) {
		for _, block := range blocks(text, "yaml") {
			l := loadBlock(t, block)
			if l == nil {
				continue // TestConfigsLoad tells
			}
			c := l.Config.Models
			for role, m := range map[string]config.Model{"target": c.Target, "optimizer": c.Optimizer, "judge": c.Judge} {
				if m.Provider == "" {
					continue
				}
				models++
				b, err := wiring.Client(role, m, l.Lookup, cloudtest.Clouds())
				if err != nil {
					t.Errorf("%s: %v\n%s", page, err, block)
				}
				if b.Close != nil {
					if err := b.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if l.Config.Agent.Name == "" {
				continue
			}
			agents++
			if _, err := wiring.NewAgent(l.Config.Agent, reach.Guard{}, l.Lookup); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block)
			}
		}
	}
	if models < 30 || agents < 4 {
		t.Errorf("found only %d models and %d agents", models, agents)
	}
}

// loadBlock loads a config with the files and variables that pages speak of.
func loadBlock(t *testing.T, block string) *config.Loaded {
	t.Helper()
	dir := t.TempDir()
	world, err := os.ReadFile("../examples/quickstart/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "config.yaml"), block)
	write(t, filepath.Join(dir, "base.yaml"), "skill: SKILL.md\n")
	write(t, filepath.Join(dir, "world.yaml"), string(world))
	write(t, filepath.Join(dir, "google.json"), `{"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}`)
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: func(name string) (string, bool) {
		switch {
		case name == "HOME":
			return dir, true
		case name == "GOOGLE_APPLICATION_CREDENTIALS":
			return filepath.Join(dir, "google.json"), true
		case name == "GOOGLE_CLOUD_PROJECT":
			return "my-project", true
		case name == "TARGET_MODEL" || strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN"):
			return "value", true
		}
		return "", false
	}})
	if err != nil {
		return nil
	}
	return l
}

// environmentTable lists the keys of the environments of SkillOpt, and what an import makes of them.
func environmentTable(*testing.T) string {
	var body [][]string
	for _, k := range importer.EnvKeys() {
		envs, ours := "any", "–"
		switch {
		case k.Envs != nil && len(k.Envs) == 0:
			envs = "–"
		case k.Envs != nil:
			envs = strings.Join(k.Envs, ", ")
		}
		if len(k.To) > 0 {
			ours = "`" + strings.Join(k.To, "`, `") + "`"
		}
		body = append(body, []string{code(k.Key), envs, ours, k.Note})
	}
	return rows([]string{"SkillOpt", "read by", "here", ""}, body)
}
