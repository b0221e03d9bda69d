package acceptance_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/testing/hosttest"
	"github.com/seed-f4525e22/skillopt/model"
)

// user is somebody who works with a coding agent in a project, and has skillopt on the PATH.
type user struct {
	hosttest.Host
	script *hosttest.Script
}

// buildProgram builds skillopt, and returns the folder that it is in.
func buildProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/skillopt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// newUser returns a user of a host whose model follows a script, with the quick start in their project.
func newUser(t *testing.T, agents, bin, name string, script *hosttest.Script) *user {
	t.Helper()
	program, _ := realProgram(t, agents, name)
	u := &user{Host: hosttest.Host{Name: name, Program: program, Path: bin, Home: t.TempDir(), Project: t.TempDir()}, script: script}
	server := startAnswering(t, script)
	u.URL, u.Key = server.url, server.key
	if err := os.CopyFS(filepath.Join(u.Project, "quickstart"), os.DirFS(filepath.Join("..", "..", "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	u.Prepare(t)
	return u
}

// command is skillopt in the project.
func (u *user) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(u.Path, "skillopt"), args...)
	cmd.Dir, cmd.Env = u.Project, u.Environ()
	return cmd
}

// run runs skillopt in the project, and returns what it printed.
func (u *user) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := u.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("skillopt %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// listFiles returns a digest of each file below a folder, by its path.
func listFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path+"/"] = ""
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// everyTool calls each tool of the server on the quick start and on the nights of an example. A night has staged what has the hash.
func everyTool(night, hash string) []hosttest.Call {
	of := func(key, value string) map[string]any { return map[string]any{key: value} }
	run := of("run", "runs/quickstart-1")
	return []hosttest.Call{
		{Tool: "skill_lint", Arguments: of("skill", "quickstart")},
		{Tool: "tasks_lint", Arguments: of("config", "quickstart")},
		{Tool: "train_plan", Arguments: of("config", "quickstart")},
		{Tool: "doctor", Arguments: of("config", "quickstart")},
		{Tool: "try", Arguments: of("config", "quickstart")},
		{Tool: "train", Arguments: map[string]any{"config": "quickstart", "wait": 50}},
		{Tool: "resume", Arguments: map[string]any{"config": "quickstart", "run": "runs/quickstart-1"}},
		{Tool: "stop", Arguments: run},
		{Tool: "runs_list"},
		{Tool: "runs_show", Arguments: run},
		{Tool: "runs_failures", Arguments: run},
		{Tool: "runs_diff", Arguments: run},
		{Tool: "runs_blame", Arguments: run},
		{Tool: "runs_certificate", Arguments: run},
		{Tool: "sleep_status"},
		{Tool: "sleep_show"},
		{Tool: "sleep_diff"},
		{Tool: "sleep_adopt", Arguments: map[string]any{"night": night, "hash": hash}, Refused: "skillopt sleep adopt " + night},
	}
}

// agree notes that the user agrees to have text of the nights of the example sent to the vendors of all hosts.
func agree(t *testing.T, state string) {
	t.Helper()
	b, err := bank.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"api.anthropic.com", "api.openai.com", "api.githubcopilot.com", "generativelanguage.googleapis.com", "dashscope.aliyuncs.com", "opencode.ai"} {
		err = errors.Join(err, b.Grant(t.Context(), model.Target, host, time.Now()))
	}
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
}

// withNights gives the user the nights of the example, in whose project they are from now on, and returns the last of them and the hash
// of what it has staged.
func (u *user) withNights(t *testing.T) (profile, night, hash string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	u.run(t, "sleep", "demo", dir)
	agree(t, filepath.Join(dir, "state"))
	if err := os.Rename(filepath.Join(u.Project, "quickstart"), filepath.Join(dir, "project", "quickstart")); err != nil {
		t.Fatal(err)
	}
	u.Project, profile = filepath.Join(dir, "project"), filepath.Join(dir, "sleep.yaml")
	var shown struct {
		Night string
		Diffs []struct{ Hash string }
	}
	cmd := u.command(t, "sleep", "show", "--profile", profile, "--json")
	out, err := cmd.Output()
	if err = errors.Join(err, json.Unmarshal(out, &shown)); err != nil || len(shown.Diffs) == 0 {
		t.Fatalf("%v: %.500s", err, out)
	}
	return profile, shown.Night, shown.Diffs[0].Hash
}

// A plugin is installed in real hosts, which call every tool of it; the second installation writes the same bytes; the removal leaves
// nothing.
func TestRealHostsCallEveryTool(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, agents, bin, name, &hosttest.Script{Then: "Finished."})
			profile, night, hash := u.withNights(t)
			u.script.Calls = everyTool(night, hash)
			install := []string{"plugin", "install", name, "--yes", "--", "--allow-calls", "40", "--allow-train", "calls=3000", "--profile", profile}
			before := listFiles(t, u.Home)
			u.run(t, install...)
			installed := listFiles(t, u.Home)
			u.run(t, install...)
			if diff := cmp.Diff(installed, listFiles(t, u.Home)); diff != "" {
				t.Errorf("the second installation (-first +second):\n%s", diff)
			}
			u.run(t, "plugin", "remove", name)
			if diff := cmp.Diff(before, listFiles(t, u.Home)); diff != "" {
				t.Errorf("what is left (-before +after):\n%s", diff)
			}
			u.run(t, install...)
			u.check(t, u.Ask(t, "Look at the skill."))
			memory, err := os.ReadFile(filepath.Join(u.Project, "CLAUDE.md"))
			if err != nil || strings.Contains(string(memory), "semicolon") {
				t.Errorf("a model has adopted a proposal: %v\n%s", err, memory)
			}
		})
	}
}

// check compares the answers of tools with what the script expects.
func (u *user) check(t *testing.T, said string) {
	t.Helper()
	answers := u.script.Answers()
	if len(answers) != len(u.script.Calls) {
		t.Errorf("%d answers, want %d; tools: %s\n%s", len(answers), len(u.script.Calls), u.script.Offered(), said)
	}
	for i, a := range answers {
		t.Logf("%s: %.150s", a.Tool, a.Text)
		want := u.script.Calls[i].Refused
		if want == "" && (a.Failed || !strings.Contains(a.Text, "{")) || !strings.Contains(a.Text, want) {
			t.Errorf("%s: %.2000s, want %s", a.Tool, a.Text, want)
		}
	}
}

// The client of the SDK in TypeScript calls every tool.
func TestRealTypeScriptClientCallsEveryTool(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	node := filepath.Join(agents, "node_modules", ".bin", "node")
	if _, err := os.Stat(filepath.Join(agents, "node_modules", "@modelcontextprotocol", "sdk")); err != nil {
		t.Skipf("the SDK was not installed by .ci/agents/install.sh: %v", err)
	}
	u := newUser(t, agents, bin, "claude", &hosttest.Script{})
	profile, night, hash := u.withNights(t)
	var calls [][2]any
	for _, c := range everyTool(night, hash) {
		if !strings.HasPrefix(c.Tool, "sleep_") { // who the vendor of this client is, nothing says
			u.script.Calls, calls = append(u.script.Calls, c), append(calls, [2]any{c.Tool, c.Arguments})
		}
	}
	list, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "mcp_client.mjs"), agents, u.Project, string(list),
		filepath.Join(bin, "skillopt"), "mcp", "--allow-calls", "40", "--allow-train", "calls=3000", "--profile", profile)
	out, err := cmd.CombinedOutput()
	var got struct {
		Tools   []string
		Answers []struct {
			Name, Text string
			Failed     bool
		}
	}
	if err = errors.Join(err, json.Unmarshal(out, &got)); err != nil || len(got.Answers) != len(calls) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, a := range got.Answers {
		c := u.script.Calls[i]
		if a.Failed != (c.Refused != "") || !strings.Contains(a.Text, c.Refused) {
			t.Errorf("%s: failed %v: %.2000s", a.Name, a.Failed, a.Text)
		}
	}
	if len(got.Tools) != len(everyTool("", "")) {
		t.Errorf("the tools are %s", got.Tools)
	}
}

// The quick start is trained, and its certificate read, from inside a host.
func TestRealHostsTrain(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, agents, bin, name, &hosttest.Script{Then: "It is better.", Calls: []hosttest.Call{
				{Tool: "train_plan", Arguments: map[string]any{"config": "quickstart"}},
				{Tool: "train", Arguments: map[string]any{"config": "quickstart", "wait": 50}},
				{Tool: "runs_certificate", Arguments: map[string]any{}},
			}})
			u.run(t, "plugin", "install", name, "--yes", "--", "--allow-train", "calls=3000")
			u.check(t, u.Ask(t, "Train the quick start."))
			if answers := u.script.Answers(); len(answers) < 3 || !strings.Contains(answers[2].Text, `"certified":true`) {
				t.Errorf("no certificate in %v", answers)
			}
			if runs := listFiles(t, filepath.Join(u.Project, "runs")); !slices.Contains(keys(runs), "quickstart-1/best_skill.md") {
				t.Errorf("no best skill in %v", keys(runs))
			}
		})
	}
}

// pi, which has no MCP, is shown the skill of the plugin, and follows it through its shell.
func TestRealPiFollowsTheSkill(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	shell := func(command string) hosttest.Call {
		return hosttest.Call{Tool: "bash", Arguments: map[string]any{"command": command}}
	}
	u := newUser(t, agents, bin, "pi", &hosttest.Script{Then: "It is better."})
	u.script.Calls = []hosttest.Call{
		{Tool: "read", Arguments: map[string]any{"path": filepath.Join(u.Home, ".pi", "agent", "extensions", "skillopt", "skills", "skillopt-improve", "SKILL.md")}},
		shell("skillopt skill lint quickstart --json"), shell("skillopt tasks lint quickstart --json"), shell("skillopt try quickstart -n 3 --json"),
		shell("skillopt train quickstart --plan --json"), shell("skillopt train quickstart --yes --json"), shell("skillopt runs show runs/quickstart-1 --json"), shell("skillopt runs diff runs/quickstart-1 --json"),
	}
	before := listFiles(t, u.Home)
	u.run(t, "plugin", "install", "pi", "--yes")
	u.check(t, u.Ask(t, "Make the skill quickstart better."))
	if !strings.Contains(u.script.Heard(), "skillopt-improve") {
		t.Errorf("pi shows its model no skill: %s", u.script.Heard())
	}
	if answers := u.script.Answers(); len(answers) < 7 || !strings.Contains(answers[5].Text, `"certified": true`) {
		t.Errorf("no certificate in %v", answers)
	}
	u.run(t, "plugin", "remove", "pi")
	for name := range listFiles(t, u.Home) {
		if _, ok := before[name]; !ok && strings.Contains(name, "skillopt") {
			t.Errorf("%s is left", name)
		}
	}
}

func keys(m map[string]string) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}
