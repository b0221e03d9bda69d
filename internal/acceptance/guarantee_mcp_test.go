package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
)

// booksWorld is a simulated world in which the target reads a file by a tool of the server of files, and has to be told the form
// of its answers.
const booksWorld = `name: books
seed: 1
reply: "<answer>{{answer}}</answer>"
kinds:
  - {type: sum, match: 'Receipts of (?P<port>\w+)', acts: [{tool: read_text_file, arguments: {path: '{{port}}.txt'}}], find: {rows: '\w+: (?P<n>\d+)'}, answer: sum(rows.n)}
  - {type: count, match: 'Entries of (?P<port>\w+)', acts: [{tool: read_text_file, arguments: {path: '{{port}}.txt'}}], find: {rows: '\w+: (?P<n>\d+)'}, answer: count(rows.n)}
rules:
  - {id: crowns, task_types: [sum], states: [crowns], say: [Give the currency in crowns.], transform: {kind: suffix, text: ' crowns'}}
  - {id: entries, task_types: [count], states: [entries], say: [Write the number with the word entries.], transform: {kind: suffix, text: ' entries'}}
`

// booksTasks are 30 tasks, two about the books of each port.
func booksTasks() (all []task.Task) {
	for i, port := range strings.Fields("Ostend Bremen Genoa Malmo Tallinn Porto Split Varna Nantes Cadiz Kotka Gdynia Bari Turku Bilbao") {
		text, sum := "", 0
		for n := range 2 + i%4 {
			row := 3 + (7*i+11*n)%53
			text, sum = text+fmt.Sprintf("%s: %d\n", port, row), sum+row
		}
		files := map[string]any{"files": map[string]any{port + ".txt": text}}
		all = append(all,
			task.Task{ID: port + "-sum", Type: "sum", Prompt: "Receipts of " + port + "?", Gold: []string{fmt.Sprint(sum, " crowns")}, Data: files},
			task.Task{ID: port + "-count", Type: "count", Prompt: "Entries of " + port + "?", Gold: []string{fmt.Sprint(2+i%4, " entries")}, Data: files})
	}
	return all
}

// A skill is trained for a target that has the tools of a real server: that of files, a program of node, confined to the folder
// of each task.
func TestRealServerOfToolsTrainsASkill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts a program of node for each of some 150 episodes")
	}
	server := filepath.Join(realAgents(t), "node_modules", ".bin", "mcp-server-filesystem")
	if _, err := os.Stat(server); err != nil {
		t.Skipf("the server of files was not installed by .ci/agents/install.sh: %v", err)
	}
	needsSandbox(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"world.yaml": booksWorld, "SKILL.md": "# Harbour\n\nRead the file that has the name of the port.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := config.Default()
	cfg.Skill = filepath.Join(dir, "SKILL.md")
	cfg.Tasks.Extract, cfg.Tasks.Checks = map[string]any{"tag": "answer"}, []any{map[string]any{"type": "equals", "value": "$gold"}}
	cfg.Env.MCP, cfg.Env.Turns = []config.EnvMCP{{Command: []string{server, "."}}}, 8
	for _, m := range []*config.Model{&cfg.Models.Target, &cfg.Models.Optimizer} {
		m.Provider, m.World = "sim", filepath.Join(dir, "world.yaml")
	}
	l, err := config.Load(config.Options{Dir: dir, Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithLoaded(l), skillopt.WithTasks(booksTasks()), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	t.Logf("simulated models: %.2f -> %.2f on %d test tasks, %d calls", sum.Test.Seed.Hard, sum.Test.Best.Hard, sum.Test.Best.N, sum.Calls.Total)
}
