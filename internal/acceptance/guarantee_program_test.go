package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// padded is a shell command that writes n bytes, another number each time that it is
// called, so that what is kept of the output is cut at another place.
const padded = `pad() { n=$(($(cat "$1" 2>/dev/null || echo 0) + 53)); echo $n >"$1"; head -c $((n % 4000)) /dev/zero | tr '\0' x; }; `

// An environment may say what it was handed wherever it says something, and how it
// fails: none of it is kept or told, not even a part that is left where an output is
// cut.
func TestNoEchoOfEnvironmentsIsKept(t *testing.T) {
	t.Parallel()
	needsShell(t)
	keys := []string{planted["world"]}
	words := said(keys...)
	text, err := json.Marshal(map[string]any{
		"hard": 1, "soft": 0.5, "answer": words, "feedback": words, "fail_reason": words,
		"trajectory": []any{map[string]any{"role": "assistant", "content": words}, map[string]any{"kind": "tool_call", "action": words, "observation": words}},
	})
	if err != nil {
		t.Fatal(err)
	}
	refusal, err := json.Marshal(map[string]any{"error": words})
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"answers":  `while read -r line; do cat answer.json; echo; cat words.txt >&2; pad n >&2; done`,
		"dies":     `read -r line; cat words.txt words.txt >&2; pad n >&2; exit 3`,
		"no JSON":  `while read -r line; do pad n; cat words.txt; cat words.txt >&2; pad n >&2; done`,
		"refuses":  `while read -r line; do cat refusal.json; echo; cat words.txt >&2; pad n >&2; done`,
		"unasked":  `cat words.txt; while read -r line; do cat answer.json; echo; done`,
		"two":      `while read -r line; do printf '%s' "$(pad n)"; cat words.txt; cat words.txt; done`,
		"no score": `while read -r line; do printf '{"hard":"'; cat words.txt | tr -d '\n"\\'; echo '"}'; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := secretConfig(t, "http://127.0.0.1:1", "\nenv: {command: [sh, world.sh], pass_env: [WORLD_TOKEN]}\nlimits: {concurrency: 2}\n")
			l.Config.Models.Target.Provider, l.Config.Models.Target.Model = "", ""
			for name, text := range map[string]string{"world.sh": padded + script, "words.txt": words + "\n", "answer.json": string(text), "refusal.json": string(refusal)} {
				write(t, filepath.Join(l.Dir, name), text)
			}
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			sum, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if (err == nil) != (name == "answers") {
				t.Errorf("error %v", err)
			}
			fmt.Fprintf(&told, "%+v %v %#v", sum, err, err)
			e := skillopt.Examine(t.Context(), l.Config, skillopt.WithLoaded(l))
			fmt.Fprintf(&told, "%+v", e)
			noEcho(t, dir, told.Bytes(), keys...)
		})
	}
}

// So may an agent, and a command of a check what the agent left for it.
func TestNoEchoOfAgentsIsKept(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	keys := []string{planted["DEPLOY_TOKEN"], planted["database password"]}
	words := said(keys...)
	for name, tt := range map[string]struct{ agent, check string }{
		"answers": {`cat words`, "cat words; cat words >&2"},
		"fails":   {`cat words; for i in 1 2 3 4 5 6; do cat words >&2; done; pad n >&2; exit 3`, "true"},
		"check":   {`echo done`, "cat words; pad n; for i in 1 2 3 4 5 6; do cat words >&2; done; pad n >&2; exit 1"},
		"killed":  {`echo done`, "cat words; cat words >&2; kill -9 $$"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := secretConfig(t, "http://127.0.0.1:1", "\nagent: {name: custom, keep: all, gateway: false, pass_env: [DEPLOY_TOKEN, DATABASE_URL], custom: {argv: [bash, -c, 'x']}}\n")
			l.Config.Agent.Custom["argv"] = []any{"bash", "-c", padded + `mkdir -p a/b; cp words a/b/$DEPLOY_TOKEN; cp words "a/b/$DEPLOY_TOKEN 2"; ln -s "$DEPLOY_TOKEN" a/link; ` +
				`(head -c 9000000 /dev/zero | tr '\0' x; cat words; env) >large; ` + tt.agent}
			l.Config.Agent.Workspace = filepath.Join(l.Dir, "template")
			if err := os.Mkdir(l.Config.Agent.Workspace, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(l.Config.Agent.Workspace, "words"), words)
			l.Config.Tasks.Path, l.Config.Tasks.Extract = "", nil
			for n := range 6 { // what is kept of the output is cut at six places
				l.Config.Tasks.Checks = append(l.Config.Tasks.Checks, map[string]any{"type": "command", "run": fmt.Sprint("echo ", n*689, " >n; ", padded, tt.check)})
			}
			var tasks []task.Task
			for i := range 2 {
				tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: "Say it", Gold: []string{"x"}, Split: task.Test})
			}
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			sum, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithTasks(tasks), skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			fmt.Fprintf(&told, "%+v %v %#v", sum, err, err)
			if name == "killed" { // an episode that is yet to be scored is scored as the agent left it
				if err := os.RemoveAll(filepath.Join(dir, "workspaces")); err != nil {
					t.Fatal(err)
				}
				noEcho(t, dir, told.Bytes(), keys...)
				return
			}
			noEcho(t, dir, told.Bytes(), keys...)
			if kept, _ := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work", "words")); len(kept) == 0 {
				t.Error("no workspace was kept, so that nothing is proven")
			}
		})
	}
}

// A program that the config starts sees no secret variable that was not granted to
// it by name, whatever command starts it.
func TestProgramsSeeNoOtherVariables(t *testing.T) {
	t.Parallel()
	needsShell(t)
	const world = `cat /proc/self/environ /proc/self/cmdline >>"$0.seen" 2>/dev/null; env >>"$0.seen"
while read -r line; do echo '{"hard":0.5,"soft":0.5,"answer":"x"}'; done
`
	for name, do := range map[string]func(l *config.Loaded, opts ...skillopt.Option) error{
		"train": func(l *config.Loaded, opts ...skillopt.Option) error {
			_, err := skillopt.Train(t.Context(), l.Config, opts...)
			return err
		},
		"eval": func(l *config.Loaded, opts ...skillopt.Option) error {
			_, err := skillopt.Evaluate(t.Context(), l.Config, "test", opts...)
			return err
		},
		"compare": func(l *config.Loaded, opts ...skillopt.Option) error {
			_, err := skillopt.Compare(t.Context(), l.Config, skill.New("a\n"), skill.New("b\n"), opts...)
			return err
		},
		"doctor": func(l *config.Loaded, opts ...skillopt.Option) error {
			skillopt.Examine(t.Context(), l.Config, opts...)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
			t.Cleanup(inner.Close)
			front := httptest.NewServer(&talkative{inner: inner})
			t.Cleanup(front.Close)
			l := secretConfig(t, front.URL, "\nenv: {command: [sh, world.sh], pass_env: [WORLD_TOKEN]}\n")
			script := filepath.Join(l.Dir, "world.sh")
			write(t, script, world)
			if err := do(l, skillopt.WithLoaded(l), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run"))); err != nil {
				t.Logf("it ended with %v", err)
			}
			seen, err := os.ReadFile(script + ".seen")
			if err != nil || !strings.Contains(string(seen), "WORLD_TOKEN="+planted["world"]) {
				t.Fatalf("it saw %q, %v", seen, err)
			}
			rest := bytes.ReplaceAll(seen, []byte("WORLD_TOKEN="+planted["world"]), nil)
			if found := leaks(rest); len(found) > 0 || bytes.Contains(rest, []byte("CREDENTIAL")) || bytes.Contains(rest, []byte("_PROXY")) {
				t.Errorf("it saw %v:\n%s", found, rest)
			}
		})
	}
}

// An agent that puts the pieces of a streamed answer together finds no key in it, even
// if the server has cut one into them.
func TestNoKeyReachesAnAgentInPieces(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
	t.Cleanup(inner.Close)
	server := &parrot{inner: inner, heard: map[string]int{}}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	l := secretConfig(t, front.URL, "\nagent: {name: custom, keep: all, custom: {wire: chat, argv: [bash, -c, 'x']}}\n")
	l.Config.Models.Target.Headers["X-Odd"] = odd
	l.Config.Agent.Custom["env"] = map[string]any{"url": "{{base_url}}", "key": "{{key}}"}
	l.Config.Agent.Custom["argv"] = []any{"bash", "-c", dial("'$key'", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Say all."}]}`) + ` >raw
grep -o '"content":"[^"]*"' raw | sed 's/^"content":"//;s/"$//' | tr -d '\n' | tee together; grep -o '"reasoning_content":"[^"]*"' raw | sed 's/^"reasoning_content":"//;s/"$//' | tr -d '\n' >thoughts; wc -l raw`}
	l.Config.Tasks.Path, l.Config.Tasks.Extract = "", nil
	var tasks []task.Task
	for i := range 2 {
		tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: "Say it", Gold: []string{"You sent"}, Split: task.Test})
	}
	l.Config.Tasks.Checks = []any{map[string]any{"type": "contains", "value": "You sent"}}
	dir := filepath.Join(t.TempDir(), "run")
	var told bytes.Buffer
	sum, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithTasks(tasks), skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
	if err != nil || sum.Splits["test"].Hard != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	fmt.Fprintf(&told, "%+v %v %#v", sum, err, err)
	noEcho(t, dir, told.Bytes(), planted["TARGET_CREDENTIAL"], odd, planted["HEADER_CREDENTIAL"], planted["query"])
	raws, _ := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work", "raw"))
	for _, path := range raws {
		if text, err := os.ReadFile(path); err != nil || bytes.Count(text, []byte("data: ")) < 100 {
			t.Errorf("it was no stream: %.2000s %v", text, err)
		}
	}
	if len(raws) != 2 {
		t.Errorf("%d answers were kept", len(raws))
	}
}
