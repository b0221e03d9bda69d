package skillopt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rogue is an agent that does its work for all tasks but one.
type rogue struct {
	script string // what it does for that one, in bash; prompt, url and key are variables of it
	jsonl  bool   // what it prints are events
	change func(*skillopt.Config)
	files  map[string]string // beside the config
	client model.Client
}

// rogueEvents describe what an agent prints.
func rogueEvents() map[string]any {
	kind := func(name string) map[string]any { return map[string]any{"type": name} }
	return map[string]any{
		"answer": map[string]any{"where": kind("answer"), "text": "text"},
		"error":  map[string]any{"where": kind("error"), "text": "text", "status": "status"},
		"end":    map[string]any{"where": kind("end")},
	}
}

// run evaluates with it: two tasks that go well and one that does not. It returns
// what became of each, by its id, and the run directory.
func (r rogue) run(t *testing.T, opts ...skillopt.Option) (map[string]trajectory.Outcome, string, error) {
	t.Helper()
	needsSandbox(t)
	home := t.TempDir()
	for name, text := range r.files {
		write(t, filepath.Join(home, name), text)
	}
	cfg := skillopt.DefaultConfig()
	cfg.Agent.Name, cfg.Agent.Gateway = "custom", false
	good := `printf done`
	custom := map[string]any{"env": map[string]any{"url": "{{base_url}}", "key": "{{key}}", "prompt": "{{prompt}}"}}
	if r.jsonl {
		custom["format"], custom["events"] = "jsonl", rogueEvents()
		good = `echo '{"type":"answer","text":"done"}'; echo '{"type":"end"}'`
	}
	custom["argv"] = []any{"bash", "-c", `case "$prompt" in *bad*) ` + "\n" + r.script + "\n" + `;; *) ` + good + ` ;; esac`}
	cfg.Agent.Custom = custom
	cfg.Agent.Timeout = config.Duration(time.Minute)
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	cfg.Skill = filepath.Join(guaranteeDir, "SKILL.md")
	if r.change != nil {
		r.change(&cfg)
	}
	var tasks []task.Task
	for _, id := range []string{"good1", "bad", "good2"} {
		tasks = append(tasks, task.Task{ID: id, Prompt: "Do " + id, Gold: []string{"done"}, Split: task.Test})
	}
	l, err := config.Load(config.Options{Dir: home, Lookup: func(name string) (string, bool) { return os.Getenv(name), name == "PATH" }})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	if r.client == nil {
		r.client = modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		})
	}
	dir := filepath.Join(t.TempDir(), "run")
	_, err = skillopt.Evaluate(t.Context(), cfg, "test", append([]skillopt.Option{
		skillopt.WithTasks(tasks), skillopt.WithRunDir(dir), skillopt.WithLoaded(l), skillopt.WithClient(model.Target, "scripted", r.client),
	}, opts...)...)
	return outcomesIn(t, dir), dir, err
}

// outcomesIn reads what an evaluation left, by the id of the task.
func outcomesIn(t *testing.T, dir string) map[string]trajectory.Outcome {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "outcomes.json"))
	if err != nil {
		return nil
	}
	var splits map[string][]trajectory.Outcome
	if err := json.Unmarshal(data, &splits); err != nil {
		t.Fatal(err)
	}
	out := map[string]trajectory.Outcome{}
	for _, o := range splits["test"] {
		out[o.ID] = o
	}
	return out
}

// dial is a request to the gateway by what every machine has. It prints what the
// gateway says.
func dial(key, body string) string {
	return fmt.Sprintf(`body='%s'; at=${url#http://}; exec 3<>/dev/tcp/${at%%:*}/${at##*:}
printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: %%s\r\nAuthorization: Bearer %s\r\nConnection: close\r\nContent-Length: %%d\r\n\r\n%%s' "$at" "${#body}" "$body" >&3
cat <&3`, body, key)
}

// An agent that does not behave is classified, ended and cleaned up, and the
// tasks beside it are scored as if it were not there.
func TestMisbehaviourIsNoScore(t *testing.T) {
	t.Parallel()
	gateway := func(c *skillopt.Config) { c.Agent.Gateway = true; c.Agent.Custom["wire"] = "chat" }
	checks := func(list ...any) func(*skillopt.Config) {
		return func(c *skillopt.Config) { c.Tasks.Checks = list }
	}
	hurried := func(c *skillopt.Config) { c.Agent.Timeout = config.Duration(700 * time.Millisecond) }
	open := func(c *skillopt.Config) { c.Agent.Sandbox = "off" }
	for name, tt := range map[string]struct {
		rogue
		status score.Status
		hard   float64
		reason string
	}{
		"prints an error of its API": {rogue{script: `echo "API Error: 401 invalid x-api-key"`}, score.Unmeasured, 0, "auth"},
		"prints an error that is described": {rogue{script: `echo "Oh no, the model is asleep"`, change: func(c *skillopt.Config) {
			c.Agent.Custom["errors"] = []any{"model is asleep"}
		}}, score.Unmeasured, 0, "asleep"},
		"prints an error as an event, and 0": {rogue{script: `echo '{"type":"error","text":"no","status":401}'; echo '{"type":"end"}'`, jsonl: true}, score.Unmeasured, 0, "auth"},
		"is told 401 and says so":            {rogue{script: dial("wrong-key-0123456789", `{"model":"m","messages":[{"role":"user","content":"x"}]}`) + ` | head -1; exit 0`, change: func(c *skillopt.Config) { gateway(c); c.Agent.Slots = 1 }}, score.Unmeasured, 0, "key"},
		"is told 400 and says so":            {rogue{script: dial("'$key'", `{"nonsense":`) + ` >/dev/null; echo sorry`, change: gateway}, score.Unmeasured, 0, "gateway refused"},
		"hangs":                              {rogue{script: `echo '{"type":"answer","text":"thinking"}'; sleep 600`, jsonl: true, change: hurried}, score.AgentError, 0, "deadline"},
		"hangs before a word":                {rogue{script: `sleep 600`, change: hurried}, score.Unmeasured, 0, "no model answered"},
		"hangs after its model answered": {rogue{
			script: dial("'$key'", `{"model":"m","messages":[{"role":"user","content":"x"}]}`) + ` >/dev/null; sleep 600`,
			change: func(c *skillopt.Config) { gateway(c); hurried(c) },
		}, score.AgentError, 0, "deadline"},
		"ignores that it is asked to end": {rogue{script: `trap '' TERM; echo '{"type":"answer","text":"x"}'; sleep 600; sleep 600`, jsonl: true, change: hurried}, score.AgentError, 0, "deadline"},
		"writes 1 GB of output":           {rogue{script: `yes | head -c 1000000000`}, score.AgentError, 0, "output"},
		"writes 1 GB of errors":           {rogue{script: `yes | head -c 1000000000 >&2; echo done`}, score.AgentError, 0, "output"},
		"writes a huge file":              {rogue{script: `head -c 3 /dev/zero >big; truncate -s 3G big; truncate -s 900M hole; echo done`, change: checks(map[string]any{"type": "file-equals", "path": "big", "value": "\x00\x00\x00", "normalize": "none"}, map[string]any{"type": "file-contains", "path": "hole", "value": "x"})}, score.OK, 0, "hole has 943718400 bytes"},
		"empties its workspace":           {rogue{script: `rm -rf "$PWD" 2>/dev/null; echo done`, change: checks(map[string]any{"type": "command", "run": "test -d .agents || test -z \"$(ls)\""})}, score.OK, 1, ""},
		"deletes its workspace":           {rogue{script: `rm -rf "$PWD"; echo done`, change: open}, score.AgentError, 0, "deleted its workspace"},
		"puts a file in its place":        {rogue{script: `d="$PWD"; cd /; rm -rf "$d"; echo x >"$d"; echo done`, change: open}, score.AgentError, 0, "deleted its workspace"},
		"locks its workspace":             {rogue{script: `echo done >a.txt; mkdir in; echo x >in/b; chmod 000 in; chmod 000 .; echo done`, change: checks(map[string]any{"type": "file-contains", "path": "a.txt", "value": "done"})}, score.OK, 1, ""},
		"leaves a link to a secret":       {rogue{script: `ln -s /etc/passwd answer.txt; echo done`, change: checks(map[string]any{"type": "file-contains", "path": "answer.txt", "value": "root"})}, score.OK, 0, "answer.txt cannot be read"},
		"leaves a pipe":                   {rogue{script: `mkfifo answer.txt; echo done`, change: checks(map[string]any{"type": "file-contains", "path": "answer.txt", "value": "x"}, map[string]any{"type": "diff", "max_files": 5})}, score.OK, 0, "no regular file"},
		"leaves a circle of links":        {rogue{script: `ln -s . loop; ln -s b a; ln -s a b; echo done`, change: checks(map[string]any{"type": "file-exists", "path": "a"}, map[string]any{"type": "diff", "max_files": 5})}, score.OK, 0, ""},
		"ends by a signal":                {rogue{script: `echo done; kill -9 $$`}, score.Unmeasured, 0, "SIGKILL"},
		"says nothing":                    {rogue{script: `exit 0`}, score.AgentError, 0, "empty"},
		"has another exit code":           {rogue{script: `echo done; exit 7`}, score.Unmeasured, 0, "exit code 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.change == nil {
				tt.change = func(*skillopt.Config) {}
			}
			got, dir, err := tt.run(t)
			if err != nil {
				t.Fatal(err)
			}
			o := got["bad"]
			if o.Status != tt.status || o.Hard != tt.hard || !strings.Contains(o.FailReason, tt.reason) {
				t.Errorf("%s, hard %v: %s", o.Status, o.Hard, o.FailReason)
			}
			for _, id := range []string{"good1", "good2"} {
				if g := got[id]; g.Status != score.OK {
					t.Errorf("%s: %s: %s", id, g.Status, g.FailReason)
				}
			}
			if left, err := filepath.Glob(filepath.Join(dir, "workspaces", "*")); err != nil || len(left) > 0 {
				t.Errorf("workspaces are left: %v, %v", left, err)
			}
		})
	}
}
