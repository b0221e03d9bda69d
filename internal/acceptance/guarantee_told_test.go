package acceptance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// aurum is the gold answer that must not get into hands of agents.
const aurum = "aurum-5b1e77c9"

// plant is what a malicious agent leaves for whoever grades it: code in all the
// places where graders stumble over it, which writes down all that it can see.
const plant = `
cat >solve <<'END'
#!/bin/bash
{ echo "solve ran: $0"; env; cat /proc/*/environ; cat "$CONFIG_DIR"/* @HOME@/* @HOME@/*/* ../* ../../* ../../../*; cat want.txt deep/want.txt; set; } >>leak-solve 2>/dev/null
ls -R @HOME@ ../.. >>leak-ls 2>/dev/null
echo 42
END
chmod +x solve; cp solve solve.sh; cp solve grep; cp solve test; cp solve cat
py='import os; open(os.path.join(os.environ["WORKSPACE"], "leak-py"), "a").write(__name__ + repr(dict(os.environ)))'
for f in json sitecustomize usercustomize conftest __main__ helper re struct; do echo "$py" >$f.py; done
mkdir -p node_modules/x node_modules/fs List; echo 'require("fs").writeFileSync("leak-js", JSON.stringify(process.env)); module.exports = {}' | tee node_modules/x/index.js >node_modules/fs/index.js
echo 'system("env >leak-perl"); 1;' >List/Util.pm
for f in .bashrc .profile .bash_profile .bash_login .env .envrc .Rprofile .zshenv; do echo 'env >>leak-rc' >$f; done
echo system >.python-version; printf 'home = %s\ninclude-system-site-packages = true\n' "$PWD" >pyvenv.cfg
printf 'all:\n\tenv >leak-make\n' >Makefile
cp /usr/bin/env elf; ln -s "$PWD/elf" link; ln elf hard; ln -s elf sub; ln -s @HOME@/want.txt want.txt; ln -s @HOME@ deep; ln @HOME@/want.txt hardwant 2>/dev/null
git init -q . ; printf '[core]\n\tfsmonitor = "env >>leak-git; echo"\n\tpager = "env >>leak-git"\n\thooksPath = hooks\n[diff]\n\texternal = "env >>leak-git; echo"\n[diff "x"]\n\ttextconv = "env >>leak-git; echo"\n[filter "x"]\n\tclean = "env >>leak-git; echo"\n\tsmudge = "env >>leak-git; echo"\n[alias]\n\tst = !env >>leak-git\n' >>.git/config
cp .git/config .gitconfig; echo '* diff=x filter=x' >.gitattributes; cp .gitattributes .git/info/attributes
echo 42 >answer.txt; printf done`

// mole runs one episode of an agent that leaves the plant, scored by checks. It
// returns the workspace as it was after that.
func mole(t *testing.T, home string, change func(*config.Config), checks ...any) (work string, o trajectory.Outcome, err error) {
	t.Helper()
	write(t, filepath.Join(home, "want.txt"), aurum)
	writeIn(t, filepath.Join(home, "sub", "want.txt"), aurum)
	r := rogue{script: strings.ReplaceAll(plant, "@HOME@", home), home: home, change: func(c *config.Config) {
		c.Agent.Keep, c.Tasks.Checks = "all", checks
		if change != nil {
			change(c)
		}
	}}
	tasks := []task.Task{{ID: "bad", Prompt: "Do bad", Gold: []string{aurum}, Hidden: aurum, Split: task.Test}}
	got, dir, err := r.run(t, skillopt.WithTasks(tasks))
	kept, globErr := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work"))
	if globErr != nil || len(kept) != 1 {
		t.Fatalf("workspaces %v, %v, %v", kept, globErr, err)
	}
	return kept[0], got["bad"], err
}

// writeIn writes a file in a folder that need not be there.
func writeIn(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// unleaked fails when something in a workspace holds the gold answer.
func unleaked(t *testing.T, work string) {
	t.Helper()
	for _, secret := range []string{aurum, "CONFIG_DIR=/", "TASK={"} {
		if found, err := grep(work, secret); err != nil || len(found) > 0 {
			t.Errorf("%s got into %v, %v", secret, found, err)
		}
	}
}

// needsLandlock skips where files that may be written cannot be kept from being
// executed.
func needsLandlock(t *testing.T) {
	t.Helper()
	needsSandbox(t)
	if s := sandbox.Supports(); s.Kind != "landlock" {
		t.Skip("this is promised under Landlock alone: " + s.Why)
	}
}

func command(run string) map[string]any {
	return map[string]any{"type": "command", "run": run}
}

// A command that names none of the variables may run what the agent left. Neither
// sees gold, nor the folder of the config but for the script that is named.
func TestUntrustedStepsAreToldNothing(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	other := exec.Command("cat") // a process of the same user that gets the gold
	other.Env = []string{"GOLD=" + aurum}
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), other.Wait() })
	home := t.TempDir()
	write(t, filepath.Join(home, "run.sh"), "./solve; test -x solve")
	for name, check := range map[string]map[string]any{
		"program":          command(`./solve && test "$(/bin/cat answer.txt)" = 42 && test -n "$WORKSPACE"`),
		"argv":             {"type": "command", "argv": []any{"./solve"}},
		"interpreter":      command(`bash solve.sh; /usr/bin/python3 helper.py; make -s`),
		"script of config": command("sh " + filepath.Join(home, "run.sh")),
		"script, argv":     {"type": "command", "argv": []any{"sh", filepath.Join(home, "run.sh")}},
		"execute": {"type": "command", "execute": map[string]any{"run": "./solve; make -s; cat " + filepath.Join(home, "run.sh")}, "run": `
test "$(cat "$OUTPUT/code") $(cat "$OUTPUT/end") $(cat "$OUTPUT/cut")" = "0 exit no" && test "$(head -1 "$OUTPUT/stdout")" = 42 && test "$GOLD" = ` + aurum[:5] + `"-5b1e77c9"`},
		"program, unconfined": command("./solve && /usr/bin/env >leak-env"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := home
			unconfined := strings.HasSuffix(name, "unconfined")
			if !strings.Contains(fmt.Sprint(check), home) {
				home = t.TempDir()
			}
			work, o, err := mole(t, home, func(c *config.Config) {
				if unconfined {
					c.Agent.Sandbox = "off"
				}
			}, check)
			if err != nil || o.Hard != 1 {
				t.Errorf("%+v, %v", o, err)
			}
			if text, err := os.ReadFile(filepath.Join(work, "leak-solve")); name != "interpreter" && (err != nil || !strings.Contains(string(text), "solve ran")) {
				t.Errorf("what the agent left was not executed, so that nothing is proven: %v", err)
			}
			if unconfined { // it reads what it likes, but is handed nothing
				told, err := os.ReadFile(filepath.Join(work, "leak-env"))
				if err != nil || !strings.Contains(string(told), "WORKSPACE=") || strings.Contains(string(told), "GOLD=") {
					t.Errorf("it is handed %s, %v", told, err)
				}
				return
			}
			unleaked(t, work)
		})
	}
}

// A command that names one of the variables sees them, and nothing that the agent
// left is executed or loaded by it.
func TestTrustedStepsExecuteNothing(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	const right = `; test "$GOLD" = aurum"-5b1e77c9"`
	python := "/usr/bin/python3"
	for name, tt := range map[string]struct {
		needs string
		run   string
	}{
		"program":             {"", `./solve` + right},
		"program, absolute":   {"", `"$WORKSPACE/solve"; "$WORKSPACE"/elf >leak-elf` + right},
		"links":               {"", `./link >leak-link; ./hard >leak-hard; ./sub >leak-sub` + right},
		"binary, copied":      {"", `cp elf "$TMPDIR/elf"; chmod +x "$TMPDIR/elf"; "$TMPDIR/elf" >leak-copy; "$HOME/elf" >>leak-copy` + right},
		"binary, moved":       {"", `mv elf elf2; ./elf2 >leak-moved; ln elf2 "$HOME/elf"; "$HOME/elf" >leak-linked` + right},
		"written by itself":   {"", `printf '#!/bin/sh\nenv >leak-own\n' >own; chmod +x own; ./own` + right},
		"names of programs":   {"", `grep -q 42 answer.txt && cat answer.txt >/dev/null` + right},
		"login shell":         {"bash", `bash -lc true; bash -c true; (exec bash --login -c :)` + right},
		"git":                 {"git", `git diff; git status; git st; git log; git -C . add .; git diff --no-index answer.txt Makefile; git check-attr -a x` + right},
		"python -c":           {python, python + ` -c 'import json, os, re, struct; os.environ["GOLD"]; json.loads("1")'` + right},
		"python from stdin":   {python, `echo 'import json, re; json.loads("1")' | ` + python + ` -` + right},
		"python of config":    {python, python + ` "$CONFIG_DIR/grade.py"`},
		"python of sub":       {python, `cd deep; ` + python + ` "$CONFIG_DIR/grade.py"`},
		"python -m":           {python, python + ` -m json.tool answer.txt` + right},
		"perl":                {"perl", `perl -MList::Util=sum -e 'print $ENV{GOLD}' >/dev/null` + right},
		"node":                {"/usr/bin/node", `/usr/bin/node -e 'require("fs").readFileSync("answer.txt"); process.env.GOLD'` + right},
		"node of config":      {"/usr/bin/node", `/usr/bin/node "$CONFIG_DIR/grade.js"` + right},
		"runs are out":        {"", `! ls "$CONFIG_DIR/runs" && ! cat "$CONFIG_DIR/runs/r/run.db" && ! cat "$CONFIG_DIR/.env" && grep -q aurum "$CONFIG_DIR/want.txt"` + right},
		"bare word in python": {python, python + ` -c 'import os,sys; sys.exit(os.environ.get("GOLD") != "aurum" + "-5b1e77c9" or not os.environ["TASK"])'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.needs != "" {
				if _, err := exec.LookPath(tt.needs); err != nil {
					t.Skip(err)
				}
			}
			home := t.TempDir()
			write(t, filepath.Join(home, ".env"), "KEY=x")
			write(t, filepath.Join(home, "grade.py"), "import json, os, sys, re, struct\nsys.exit(os.environ['GOLD'] != 'aurum' + '-5b1e77c9' or json.loads('1') != 1)\n")
			write(t, filepath.Join(home, "grade.js"), "try { require('x') } catch (e) {}\nrequire('fs').readFileSync('answer.txt')\n")
			writeIn(t, filepath.Join(home, "runs", "r", "run.db"), aurum)
			work, o, err := mole(t, home, nil, command(tt.run))
			if err != nil || o.Hard != 1 {
				t.Errorf("%+v, %v", o, err)
			}
			unleaked(t, work)
		})
	}
}

// Not even where the run lies next to the config, which may be read, are workspaces
// executed, and a program there is not started at all.
func TestTrustedStepsWithTheRunBesideTheConfig(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	for name, tt := range map[string]struct {
		check map[string]any
		want  string // of the error, "" = it passes
	}{
		"in a shell": {command(`! ./solve && ! cat "$CONFIG_DIR/runs/r/run.db" >/dev/null && test -n "$GOLD"`), ""},
		"not there":  {map[string]any{"type": "command", "argv": []any{"./nothing", "TASK"}, "on_missing": "fail"}, "run it by execute"},
		"as argv":    {map[string]any{"type": "command", "argv": []any{"./solve", "GOLD"}}, "run it by execute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			r := rogue{script: strings.ReplaceAll(plant, "@HOME@", home), home: home, change: func(c *config.Config) {
				c.Tasks.Checks, c.Agent.Keep = []any{tt.check}, "all"
			}}
			tasks := []task.Task{{ID: "bad", Prompt: "Do bad", Gold: []string{aurum}, Split: task.Test}}
			dir := filepath.Join(home, "runs", "r")
			_, _, err := r.run(t, skillopt.WithTasks(tasks), skillopt.WithRunDir(dir))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
			if o := outcomesIn(t, dir)["bad"]; tt.want == "" && o.Hard != 1 {
				t.Errorf("%+v", o)
			}
			work, err := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work"))
			if err != nil || len(work) != 1 {
				t.Fatalf("%v, %v", work, err)
			}
			unleaked(t, work[0])
		})
	}
}

// What execute came to is told to the command, which judges.
func TestExecuteIsJudged(t *testing.T) {
	t.Parallel()
	needsLandlock(t)
	judge := func(execute map[string]any, run string) map[string]any {
		return map[string]any{"type": "command", "execute": execute, "run": run}
	}
	rewarded := judge(map[string]any{"run": "echo 1 >reward"}, `test -e reward || echo 0.25 >reward; cat "$OUTPUT/end"`)
	rewarded["reward"], rewarded["threshold"] = "reward", 0.2
	left := judge(map[string]any{"run": "./nothing-there"}, "true $OUTPUT")
	left["on_missing"] = "fail"
	for name, tt := range map[string]struct {
		check map[string]any
		soft  float64 // -1: not measured
		want  string  // of reason or error
	}{
		"exit code":          {judge(map[string]any{"run": "echo out; echo err >&2; exit 3"}, `test "$(cat "$OUTPUT/code" "$OUTPUT/stdout" "$OUTPUT/stderr" | tr '\n' ' ')" = "3out err "`), 1, ""},
		"argv":               {judge(map[string]any{"argv": []any{"./solve"}}, `test "$(cat "$OUTPUT/stdout")" = 42`), 1, ""},
		"deadline":           {judge(map[string]any{"run": "echo early; sleep 600", "timeout": "3s"}, `test "$(cat "$OUTPUT/end") $(cat "$OUTPUT/stdout")" = "deadline early"`), 1, ""},
		"deadline, judged":   {judge(map[string]any{"run": "sleep 600", "timeout": "300ms"}, `test "$(cat "$OUTPUT/end")" = exit`), 0, "exit code 1"},
		"crash":              {judge(map[string]any{"run": "kill -SEGV $$"}, `test "$(cat "$OUTPUT/code")" = SIGSEGV`), 1, ""},
		"much":               {judge(map[string]any{"run": "head -c 3000000 /dev/zero"}, `test "$(wc -c <"$OUTPUT/stdout") $(cat "$OUTPUT/cut")" = "1048576 yes"`), 1, ""},
		"output is for good": {judge(map[string]any{"run": "cat solve"}, `! echo x >"$OUTPUT/code" && ! echo x >"$OUTPUT/new" && ! "$OUTPUT/stdout" && ! rm -f "$OUTPUT/end" 2>/dev/null && test "$(cat "$OUTPUT/code")" = 0`), 1, ""},
		"killed":             {judge(map[string]any{"run": "kill -9 $$"}, "true $OUTPUT"), -1, "execute was ended by SIGKILL"},
		"missing":            {judge(map[string]any{"run": "./nothing-there"}, "true $OUTPUT"), -1, "execute: the command ended with exit code 127"},
		"missing, a fault":   {left, 0, "execute: the command ended with exit code 127: a program was not found"},
		"no such program":    {judge(map[string]any{"argv": []any{"no-such-program"}}, "true $OUTPUT"), -1, "no-such-program"},
		"a planted reward":   {rewarded, 0.25, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work, o, err := mole(t, t.TempDir(), nil, tt.check)
			switch {
			case tt.soft < 0:
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v", err)
				}
			case err != nil || o.Status != score.OK || o.Soft != tt.soft || !strings.Contains(o.FailReason, tt.want):
				t.Errorf("%+v, %v", o, err)
			}
			unleaked(t, work)
		})
	}
}
