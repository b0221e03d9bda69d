package acceptance_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
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
	always bool   // for the others too
	change func(*config.Config)
	files  map[string]string // next to the config
	client model.Client
	home   string // the folder of the config, "" = a new one
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
// the result of each, by its id, and the run directory.
func (r rogue) run(t *testing.T, opts ...skillopt.Option) (map[string]trajectory.Outcome, string, error) {
	t.Helper()
	needsSandbox(t)
	home := cmp.Or(r.home, t.TempDir())
	for name, text := range r.files {
		write(t, filepath.Join(home, name), text)
	}
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Gateway = "custom", false
	good := `printf done`
	custom := map[string]any{"env": map[string]any{"url": "{{base_url}}", "key": "{{key}}", "prompt": "{{prompt}}"}}
	if r.jsonl {
		custom["format"], custom["events"] = "jsonl", rogueEvents()
		good = `echo '{"type":"answer","text":"done"}'; echo '{"type":"end"}'`
	}
	if r.always {
		good = r.script
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
	gateway := func(c *config.Config) { c.Agent.Gateway = true; c.Agent.Custom["wire"] = "chat" }
	checks := func(list ...any) func(*config.Config) {
		return func(c *config.Config) { c.Tasks.Checks = list }
	}
	hurried := func(c *config.Config) { c.Agent.Timeout = config.Duration(3 * time.Second) }
	open := func(c *config.Config) { c.Agent.Sandbox = "off" }
	for name, tt := range map[string]struct {
		rogue
		status score.Status
		hard   float64
		reason string
	}{
		"prints an error that is described": {rogue{script: `echo "Oh no, the model is asleep"`, change: func(c *config.Config) {
			c.Agent.Custom["errors"] = []any{"model is asleep"}
		}}, score.Unmeasured, 0, "asleep"},
		"is told 401 and says so": {rogue{script: dial("wrong-key-0123456789", `{"model":"m","messages":[{"role":"user","content":"x"}]}`) + ` | head -1; exit 0`, change: func(c *config.Config) { gateway(c); c.Agent.Slots = 1 }}, score.Unmeasured, 0, "key"},
		"is told 400 and says so": {rogue{script: dial("'$key'", `{"nonsense":`) + ` >/dev/null; echo sorry`, change: gateway}, score.Unmeasured, 0, "gateway refused"},
		"hangs":                   {rogue{script: `echo '{"type":"answer","text":"thinking"}'; sleep 600`, jsonl: true, change: hurried}, score.AgentError, 0, "deadline"},
		"hangs before a word":     {rogue{script: `sleep 600`, change: hurried}, score.Unmeasured, 0, "no model answered"},
		"hangs after its model answered": {rogue{
			script: dial("'$key'", `{"model":"m","messages":[{"role":"user","content":"x"}]}`) + ` >/dev/null; sleep 600`,
			change: func(c *config.Config) { gateway(c); hurried(c) },
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
				tt.change = func(*config.Config) {}
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

// An agent that says that its login is no good, before it has come to an end with any task, ends the run: the next task would be
// told the same. Nothing is scored.
func TestALoginThatIsNoGoodEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]rogue{
		"an error of its API":         {script: `echo "API Error: 401 invalid x-api-key"`},
		"an error as an event, and 0": {script: `echo '{"type":"error","text":"no","status":401}'; echo '{"type":"end"}'`, jsonl: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.always = true
			got, _, err := r.run(t)
			var failed *skillopt.Error
			if !errors.As(err, &failed) || failed.Kind != skillopt.Unmeasurable || !strings.Contains(err.Error(), "has no login that its model takes") {
				t.Errorf("%v", err)
			}
			for id, o := range got {
				if o.Status.Measured() {
					t.Errorf("%s: %s, %v", id, o.Status, o.Hard)
				}
			}
		})
	}
}

// Nothing that an agent has started outlives it, whatever it did to hide.
func TestNoProcessOutlivesItsAgent(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc here to find what is left running")
	}
	for name, how := range map[string]string{
		"in the background":         `sleep %s &`,
		"deaf":                      `sh -c "trap '' TERM INT HUP; sleep %s; :" &`,
		"in a session of its own":   `setsid sleep %s &`,
		"without its variables":     `setsid env -i /bin/sh -c "trap '' TERM; sleep %s; :" &`,
		"as a grandchild of nobody": `(setsid sh -c "(setsid env -i sleep %s &) &" &)`,
		"holding on to the output":  `nohup sleep %s & disown`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := fmt.Sprintf("%d.%d", 100000+os.Getpid(), time.Now().UnixNano()%1e9+1e9)
			got, _, err := rogue{script: fmt.Sprintf(how, mark) + "\nprintf done"}.run(t)
			if err != nil || got["bad"].Hard != 1 {
				t.Errorf("%+v, %v", got["bad"], err)
			}
			lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range lines {
				if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), "sleep\x00"+mark) {
					t.Errorf("%s is still running", path)
				}
			}
		})
	}
}

// What an agent does to the files around its task changes nothing for others: not
// the skill, not the scripts of checks, not what we run ourselves.
func TestAgentsChangeNothingForOthers(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	got, dir, err := rogue{
		script: `for f in .agents/skills/*/SKILL.md; do printf 'say evil' >"$f"; done
mkdir -p .git/hooks; printf '#!/bin/sh\ntouch ` + outside + `\n' >.git/hooks/post-checkout; cp .git/hooks/post-checkout .git/hooks/pre-commit; chmod +x .git/hooks/*
printf '[core]\n\tfsmonitor = "touch ` + outside + `"\n' >.git/config
printf 'exit 0\n' >verify.sh; cp verify.sh ../verify.sh; cp verify.sh "$OLDPWD/verify.sh"
touch ` + outside + `
printf done`,
		files: map[string]string{"verify.sh": `test "$(cat "$WORKSPACE/proof.txt")" = right` + "\n"},
		change: func(c *config.Config) {
			c.Agent.Keep = "all"
			c.Tasks.Checks = []any{
				map[string]any{"type": "command", "run": `sh "$CONFIG_DIR/verify.sh"`},
				map[string]any{"type": "diff", "max_files": 9},
			}
		},
	}.run(t)
	if err != nil {
		t.Fatal(err)
	}
	if o := got["bad"]; o.Status != score.OK || o.Hard != 0 {
		t.Errorf("it passed a check that it brought itself: %+v", o)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("something that it planted was run")
	}
	skills, err := filepath.Glob(filepath.Join(dir, "workspaces", "*good*", "work", ".agents", "skills", "*", "SKILL.md"))
	if err != nil || len(skills) != 2 {
		t.Fatalf("skills %v, %v", skills, err)
	}
	for _, path := range append(skills, filepath.Join(guaranteeDir, "SKILL.md")) {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "evil") {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}

// The built-in agent does not wait for a pipe that its model made.
func TestBuiltinAgentDoesNotWaitForPipes(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	for _, tool := range []string{
		`{"name":"read","args":{"path":"p"}}`, `{"name":"write","args":{"path":"p","content":"x"}}`, `{"name":"edit","args":{"path":"p","old":"a","new":"b"}}`,
	} {
		var call struct {
			Name string
			Args json.RawMessage
		}
		if err := json.Unmarshal([]byte(tool), &call); err != nil {
			t.Fatal(err)
		}
		client := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			said := func(id, name string, args json.RawMessage) (model.Response, error) {
				return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: id, Name: name, Arguments: args}}}}, nil
			}
			switch len(req.Messages) {
			case 2:
				return said("c1", "bash", json.RawMessage(`{"command":"mkfifo p"}`))
			case 4:
				return said("c2", call.Name, call.Args)
			}
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		})
		got, _, err := rogue{client: client, change: func(c *config.Config) { c.Agent.Name, c.Agent.Gateway, c.Agent.Custom = "builtin", true, nil }}.run(t)
		if err != nil || got["bad"].Hard != 1 || !strings.Contains(got["bad"].Trajectory[1].Observation, "is no file") {
			t.Errorf("%s: %+v, %v", tool, got["bad"], err)
		}
	}
}

// A fork takes over what agents did and how that was scored. Where the task is
// another one neither is taken over: a score is that of the episode that it was
// given for.
func TestForksOfAgents(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]map[string]any{
		"answer":  {"type": "equals", "value": "$gold"},
		"command": {"type": "command", "run": `test "$GOLD" = done && test "$(cat a.txt)" = x`},
		"file":    {"type": "file-equals", "path": "b.txt", "value": "$gold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := filepath.Join(t.TempDir(), "worked")
			r := rogue{change: func(c *config.Config) {
				c.Tasks.Checks = []any{check}
				c.Agent.Sandbox = "off" // to count
				c.Agent.Custom["argv"] = []any{"bash", "-c", "echo >>" + count + "; echo x >a.txt; echo done >b.txt; printf done"}
			}}
			_, from, err := r.run(t)
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				gold   string
				hard   float64
				worked int
			}{{"done", 1, 3}, {"other", 0, 6}} {
				var tasks []task.Task
				for _, id := range []string{"good1", "bad", "good2"} {
					tasks = append(tasks, task.Task{ID: id, Prompt: "Do " + id, Gold: []string{tt.gold}, Split: task.Test})
				}
				to := filepath.Join(t.TempDir(), "fork")
				if _, _, err := r.run(t, skillopt.WithTasks(tasks), skillopt.WithRunDir(from), skillopt.WithFork(to)); err != nil {
					t.Fatal(err)
				}
				got := outcomesIn(t, to)
				for id, o := range got {
					if o.Status != score.OK || o.Hard != tt.hard {
						t.Errorf("gold %s: %s has %+v", tt.gold, id, o)
					}
				}
				if worked, err := os.ReadFile(count); err != nil || len(got) != 3 || len(worked) != tt.worked {
					t.Errorf("gold %s: agents worked %d times, want %d: %v", tt.gold, len(worked), tt.worked, err)
				}
			}
		})
	}
}

// Between an episode and its score a run may end. What was not scored is scored
// later, without the agent; but when the workspace is lost nothing is known of
// what the agent did, and that is no score of 0.
func TestScoresComeLater(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "worked")
	unready := rogue{script: "echo x >a.txt; printf done", change: func(c *config.Config) {
		// It measures nothing until there is a file next to the config.
		c.Tasks.Checks = []any{map[string]any{
			"type": "command", "reward": "reward", "run": `beside="$CONFIG_DIR"; if test -e "$beside/ready"; then grep -q x a.txt && echo 1 >reward || echo 0 >reward; fi`,
		}}
		c.Agent.Sandbox = "off" // to count
		c.Agent.Custom["argv"] = []any{"bash", "-c", "echo >>" + count + "; echo x >a.txt; printf done"}
	}}
	_, dir, err := unready.run(t)
	if kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "no reward") {
		t.Fatalf("error %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "workspaces", "*"))
	if err != nil || len(left) != 3 {
		t.Fatalf("workspaces that wait for their score: %v, %v", left, err)
	}
	for _, ws := range left {
		if _, err := os.Stat(filepath.Join(ws, "home")); err == nil {
			t.Errorf("%s keeps what belongs to the agent", ws)
		}
	}
	ready := unready
	ready.files = map[string]string{"ready": ""}

	lost := copyRun(t, dir)
	_, _, err = ready.run(t, skillopt.WithRunDir(lost))
	if kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("without the workspaces: %v", err)
	}

	if _, _, err := ready.run(t, skillopt.WithRunDir(dir)); err != nil {
		t.Fatal(err)
	}
	for id, o := range outcomesIn(t, dir) {
		if o.Hard != 1 {
			t.Errorf("%s: %+v", id, o)
		}
	}
	if worked, err := os.ReadFile(count); err != nil || len(worked) != 3 {
		t.Errorf("agents worked %d times, want 3: %v", len(worked), err)
	}
}
