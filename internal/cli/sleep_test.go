package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// sleeper is a user with a home folder, two projects and sessions in them.
type sleeper struct {
	t                        *testing.T
	home, shop, site, stores string
}

// newSleeper is not for parallel tests: the home folder is one of the environment.
func newSleeper(t *testing.T) sleeper {
	t.Helper()
	home := t.TempDir()
	u := sleeper{t: t, home: home, shop: filepath.Join(home, "src", "shop"), site: filepath.Join(home, "src", "site"), stores: filepath.Join(home, ".claude", "projects", "-p")}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("PATH", filepath.Join(home, "bin")+string(filepath.ListSeparator)+"/usr/bin:/bin") // no coding agent
	for _, dir := range []string{u.shop, u.site, u.stores} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	u.session("shop-session", u.shop, "cli", "the ZEBRA of the shop")
	u.session("site-session", u.site, "cli", "the OTTER of the site")
	u.session("script-session", u.site, "sdk-cli", "the HERON of a script")
	return u
}

func (u sleeper) session(id, project, entry, words string) {
	u.t.Helper()
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": "u-" + id, "sessionId": id, "cwd": project, "entrypoint": entry, "version": "2.1",
		"timestamp": time.Now().UTC().Add(-time.Hour).Format(time.RFC3339), "message": map[string]any{"role": "user", "content": words},
	})
	if err != nil {
		u.t.Fatal(err)
	}
	text := string(line) + "\n"
	if err := os.WriteFile(filepath.Join(u.stores, id+".jsonl"), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func (u sleeper) profile() string { return filepath.Join(u.home, ".config", "skillopt", "sleep.yaml") }

func (u sleeper) kept() string { return filepath.Join(u.home, "state", "skillopt", "sleep") }

// run runs a command on a terminal where these answers are typed.
func (u sleeper) run(answers string, args ...string) (code int, out, errs string) {
	u.t.Helper()
	var o, e bytes.Buffer
	code = Main(u.t.Context(), append([]string{"sleep"}, args...), Streams{In: strings.NewReader(answers), Out: &o, Err: &e, Dir: u.home, Terminal: true, Width: 200}, "test")
	return code, o.String(), e.String()
}

func (u sleeper) must(answers string, args ...string) (out, errs string) {
	u.t.Helper()
	code, out, errs := u.run(answers, args...)
	if code != exitOK {
		u.t.Fatalf("%v: exit code %d\n%s%s", args, code, out, errs)
	}
	return out, errs
}

func (u sleeper) write(text string) {
	u.t.Helper()
	if err := os.MkdirAll(filepath.Dir(u.profile()), 0o700); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(u.profile(), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func contains(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

func containsNot(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("%q is in:\n%s", w, text)
		}
	}
}

func TestSleepInitAsks(t *testing.T) {
	u := newSleeper(t)
	// Numbers are of the list; the first is the shop.
	_, errs := u.must("1\n\ny\n", "init")
	contains(t, errs, "AGENT", "claude", u.shop, u.site, "target     no model set: nothing is sent", "judge      no model set", "wrote "+u.profile(), "next: skillopt sleep harvest")
	containsNot(t, errs, "ZEBRA", "OTTER", "HERON", "may they be sent there?")
	data, err := os.ReadFile(u.profile())
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(data), `- "`+u.shop+`"`)
	containsNot(t, string(data), u.site)
	if info, err := os.Stat(u.profile()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the profile: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(u.kept(), bank.File)); err == nil {
		t.Error("something was kept")
	}
	// What the profile says is what is read.
	u.must("", "harvest")
	out, _ := u.must("", "sessions")
	contains(t, out, "shop-session")
	containsNot(t, out, "site-session")
	// Again the profile keeps its text, and how to add is said.
	_, errs = u.must("", "init", u.site)
	contains(t, errs, "stays as it is", `- "`+u.site+`"`)
	again, err := os.ReadFile(u.profile())
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("the profile was changed: %v", err)
	}
}

// The program of a coding agent is offered as the model of all roles, with its user's login, once its cost and host are said.
func TestSleepInitOffersALogin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not run a script of sh as a program")
	}
	u := newSleeper(t)
	if err := os.MkdirAll(filepath.Join(u.home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.home, "bin", "claude"), []byte("#!/bin/sh\necho '2.1.197 (Claude Code)'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := u.run("1\n7\n", "init"); code != exitInput || !strings.Contains(errs, "--target 7: want PROVIDER/MODEL") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, _, errs := u.run("n\n", "try", "--project", u.shop)
	contains(t, errs, "reads the sessions of "+u.shop, "sessions for a first night: 1, ended from ", "optimizer  claude-cli (its own login)", "continue? [y/N] ")
	if _, err := os.Lstat(u.profile()); err == nil || code != exitInput {
		t.Errorf("declined: exit code %d, profile: %v", code, err)
	}
	_, errs = u.must("1\n1\ny\ny\n", "init")
	contains(t, errs, "  1  claude-cli (its login)", "target     claude-cli (its own login)", "sessions for a first night: 1, ended from ", "expected: ", "at most ", "noted; `skillopt sleep init --revoke all`", "next: skillopt sleep run\n")
	text, err := os.ReadFile(u.profile())
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(text), "own_login: true", `judge: {provider: "claude-cli"}`)
	got, _ := u.must("", "status")
	containsNot(t, got, "not agreed to")
	u.must("", "init", "--revoke", "all")
	got, _ = u.must("", "status")
	contains(t, got, "not agreed to: claude-cli (its own login) as judge")
}

func TestSleepInitWritesNothingWithoutAYes(t *testing.T) {
	u := newSleeper(t)
	for name, tt := range map[string]struct {
		answers string
		args    []string
		want    string
	}{
		"nothing chosen":   {"\n", nil, "no project was chosen"},
		"no such number":   {"7\n", nil, "only 1 to 2"},
		"no such folder":   {"~/src/none\n", nil, "no such file"},
		"a file":           {u.stores + "/shop-session.jsonl\n", nil, "not a folder"},
		"everything":       {"/\n", nil, "holds everything"},
		"declined":         {"1, 2\n\nn\n", nil, "nothing was written"},
		"nobody answers":   {"", nil, "no answer"},
		"in the arguments": {"y\n", []string{"none"}, "none"},
	} {
		code, _, errs := u.run(tt.answers, append([]string{"init"}, tt.args...)...)
		if _, err := os.Lstat(u.profile()); err == nil || code != exitInput || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: exit code %d, profile: %v\n%s", name, code, err, errs)
		}
	}
}

// Traps 37 and 88: what is sent to another host than agreed is asked again, and without a
// terminal nobody agrees.
func TestTrap37And88Consent(t *testing.T) {
	u := newSleeper(t)
	profile := "sleep: {projects: [" + u.shop + "]}\nmodels: {target: {provider: ollama, model: m}, optimizer: {provider: openai, model: m, base_url: \"https://%s/v1\"}}\n"
	u.write(fmt.Sprintf(profile, "x.test"))
	var out, e bytes.Buffer
	if code := Main(t.Context(), []string{"sleep", "init"}, Streams{In: strings.NewReader("y\n"), Out: &out, Err: &e, Dir: u.home}, "test"); code != exitInput || !strings.Contains(e.String(), "no terminal to ask on") {
		t.Errorf("exit code %d: %s", code, e.String())
	}
	_, errs := u.must("n\n", "init")
	contains(t, errs, "localhost:11434 (this machine", "not agreed to yet: x.test as optimizer", "nothing is sent")
	contains(t, errs, "sessions for a first night: 1, ended from ", "at most 400k tokens a night")
	got, _ := u.must("", "status")
	contains(t, got, "not agreed to: x.test as optimizer")
	u.must("y\n", "init")
	got, _ = u.must("", "status")
	containsNot(t, got, "not agreed")
	_, errs = u.must("", "init")
	contains(t, errs, "you have agreed to all of it")

	u.write(fmt.Sprintf(profile, "y.test"))
	got, _ = u.must("", "status")
	contains(t, got, "not agreed to: y.test as optimizer")
	u.must("", "harvest") // nothing is sent: it needs no consent
	u.must("yes\n", "init")
	got, _ = u.must("", "status")
	contains(t, got, "x.test", "y.test")
	u.must("", "init", "--revoke", "y.test")
	got, _ = u.must("", "status")
	contains(t, got, "not agreed to: y.test as optimizer")
	if code, _, _ := u.run("", "init", "--revoke", "y.test"); code != exitInput {
		t.Errorf("taken back twice: %d", code)
	}
	got, _ = u.must("", "status")
	contains(t, got, "taken back")
}

func TestSleepForgetAsks(t *testing.T) {
	u := newSleeper(t)
	u.write("sleep: {projects: [" + u.shop + ", " + u.site + "]}\n")
	u.must("", "harvest")
	if code, _, errs := u.run("n\n", "forget", u.shop); code != exitInput || !strings.Contains(errs, "(1 session)? [y/N]") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	out, _ := u.must("", "sessions")
	contains(t, out, "shop-session", "site-session")
	out, errs := u.must("y\n", "forget", u.shop)
	contains(t, out, "forgot project "+u.shop+": 1 session")
	contains(t, errs, "is under sleep.projects")
	u.must("y\n", "forget", "site-ses")
	u.nowhere("ZEBRA", "OTTER", "shop-session", "site-session", u.shop, u.site)
	u.must("", "harvest")
	u.nowhere("ZEBRA", "OTTER", "shop-session", "site-session", u.shop, u.site)
	if code, _, errs := u.run("y\n", "forget", "nobody"); code != exitInput || !strings.Contains(errs, "nothing is kept of a project or session nobody") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, _ := u.run("n\n", "forget", "--all"); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	if err := os.WriteFile(filepath.Join(u.kept(), "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs = u.must("y\n", "forget", "--all")
	contains(t, errs, "mine.txt is none of sleep's files and stays")
	if entries, err := os.ReadDir(u.kept()); len(entries) != 1 || err != nil {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// nowhere fails for words that are found in any file of the folder of sleep.
func (u sleeper) nowhere(words ...string) {
	u.t.Helper()
	if err := filepath.WalkDir(u.kept(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				u.t.Errorf("%s is in %s", w, path)
			}
		}
		return err
	}); err != nil {
		u.t.Fatal(err)
	}
}

// Trap 89: while a harvest runs nothing is forgotten, and nothing is half forgotten.
func TestTrap89ForgetWhileSomebodyIsAtWork(t *testing.T) {
	u := newSleeper(t)
	u.write("sleep: {projects: [" + u.shop + "]}\n")
	u.must("", "harvest")
	b, err := bank.Open(t.Context(), u.kept())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"forget", u.shop, "--yes"}, {"forget", "shop-session", "--yes"}, {"forget", "--all", "--yes"}, {"harvest"}} {
		if code, _, errs := u.run("", args...); code != exitLocked || !strings.Contains(strings.Join(strings.Fields(errs), " "), "wait until it has ended") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	out, _ := u.must("", "sessions")
	contains(t, out, "shop-session")
}

// Trap 87: nothing of a project that is not allowed is in what is kept, printed or could be sent.
func TestTrap87NothingOfAnotherProject(t *testing.T) {
	u := newSleeper(t)
	u.write("sleep: {projects: [" + u.shop + "]}\n")
	u.must("", "harvest", "--headless")
	u.nowhere("OTTER", "HERON", "site-session", u.site)
	out, _ := u.must("", "harvest", "--show-outbound")
	contains(t, out, "ZEBRA")
	containsNot(t, out, "OTTER", "HERON", u.home)
	// What was read when it was allowed is not sent when it is not any more.
	u.write("sleep: {projects: [" + u.site + "]}\n")
	out, _ = u.must("", "harvest", "--show-outbound")
	containsNot(t, out, "ZEBRA")
}

// Trap 78: a clock that was set back is told, and nothing is counted twice.
func TestTrap78ClockSetBack(t *testing.T) {
	u := newSleeper(t)
	u.write("sleep: {projects: [" + u.shop + "]}\n")
	b, err := bank.Open(t.Context(), u.kept())
	if err != nil {
		t.Fatal(err)
	}
	later := bank.Store{Path: "/elsewhere", Source: "claude", ReadAt: time.Now().Add(48 * time.Hour)}
	if err := b.Keep(t.Context(), []bank.Kept{{Store: later}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, errs := u.must("", "status")
	contains(t, errs, "was it set back?")
	_, errs = u.must("", "harvest")
	contains(t, errs, "was it set back?")
	u.must("", "harvest")
	out, _ := u.must("", "sessions", "--json")
	if n := strings.Count(out, `"shop-session"`); n != 1 {
		t.Errorf("%d sessions: %s", n, out)
	}
}

// Trap 59: names that agents record cannot steer the terminal on which they are chosen.
func TestTrap59NamesAreInert(t *testing.T) {
	u := newSleeper(t)
	u.session("evil-session", filepath.Join(u.home, "src", "a\u009bm\u202eb|<b>\x1b]0;x"), "cli", "\x1b[2Jwords\u202e")
	for name, shown := range map[string]func() (string, string){
		"init":   func() (string, string) { _, out, errs := u.run("\n", "init"); return out, errs },
		"doctor": func() (string, string) { return u.must("", "doctor") },
		"json":   func() (string, string) { return u.must("", "doctor", "--json") },
	} {
		out, errs := shown()
		if strings.ContainsAny(out+errs, "\x1b\x07\u202e\x00") {
			t.Errorf("%s: %q", name, out+errs)
		}
	}
	u.write("sleep: {projects: [" + u.home + "/src]}\n")
	u.must("", "harvest")
	list, _ := u.must("", "sessions")
	contains(t, list, "evil-session")
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"sessions"}, {"sessions", "evil"}, {"harvest", "--show-outbound"}} {
		out, errs := u.must("", args...)
		if strings.ContainsAny(out+errs, "\x1b\x07\u202e\x00") {
			t.Errorf("%v: %q", args, out+errs)
		}
	}
}
