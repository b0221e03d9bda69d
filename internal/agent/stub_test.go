package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// stubVar tells the test program to be an agent, and of which kind.
const stubVar = "SKILLOPT_STUB"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if kind := os.Getenv(stubVar); kind != "" {
		if err := stub(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// stub is an agent that misbehaves in one way.
func stub(kind string) error {
	kind, arg, _ := strings.Cut(kind, ":")
	switch kind {
	case "version":
		fmt.Println("stub-agent version 12.34.5-beta (linux)")
	case "broken":
		return errors.New("cannot open libfoo.so")
	case "print": // a recording, then the exit code
		file, code, _ := strings.Cut(arg, ",")
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(data)
		if n, convErr := strconv.Atoi(code); err == nil && convErr == nil {
			os.Exit(n)
		}
		return err
	case "say":
		fmt.Println(arg)
	case "hang": // after the first lines of a recording, deaf to requests
		return stubHang(arg)
	case "fork":
		return stubFork(arg)
	case "flood":
		return stubFlood()
	case "delete":
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		fmt.Println("all done")
		return errors.Join(os.Chdir(os.TempDir()), os.RemoveAll(dir))
	case "long":
		long := bytes.Repeat([]byte("x"), 1<<20)
		fmt.Print(`{"type":"assistant","message":{"content":"`)
		for range 2 * maxLine >> 20 {
			if _, err := os.Stdout.Write(long); err != nil {
				return err
			}
		}
		fmt.Println(`"}}`)
		fmt.Print(`{"type":"result","subtype":"success","is_error":false,"result":"still here"}`) // without a line end
	case "env":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "wander":
		fmt.Println(os.WriteFile("in.txt", nil, 0o600) == nil, os.WriteFile(arg, nil, 0o600) == nil)
	case "stdin":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	}
	return nil
}

func stubHang(file string) error {
	signal.Ignore(syscall.SIGTERM, os.Interrupt)
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:8], nil)); err != nil {
			return err
		}
	}
	<-time.After(time.Hour)
	return nil
}

// stubFork leaves a child behind that holds on to the output.
func stubFork(file string) error {
	child := exec.Command(os.Args[0])
	child.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, stubVar+"=") })
	child.Env = append(child.Env, stubVar+"=hang")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	if err := os.WriteFile("child.pid", []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}

func stubFlood() error {
	block := bytes.Repeat([]byte("all work and no play\n"), 50_000)
	for n := 0; n < 1<<30; n += len(block) {
		if _, err := os.Stdout.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// stubJob is a job for a stub of that kind.
func stubJob(t *testing.T, kind string) Job {
	t.Helper()
	return Job{Prompt: "do it", Workspace: t.TempDir(), Home: t.TempDir(), Env: []string{stubVar + "=" + kind}, Timeout: time.Minute}
}

func stubAgent(t *testing.T, name string, c *Custom) *Agent {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		c.Argv = append([]string{program}, c.Argv...)
	}
	a, err := New(name, Options{Path: os.Getenv("PATH"), Program: program, Custom: c})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t *testing.T, a *Agent, j Job) Report {
	t.Helper()
	rep, err := a.Run(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func recording(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", file+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadAgents runs programs that do what agents must not. None may get a
// score that it does not deserve, and none may stay.
func TestBadAgents(t *testing.T) {
	t.Parallel()
	text := func() *Custom { return &Custom{Errors: []string{`^API Error`}} }
	tests := []struct {
		name, agent string
		custom      *Custom
		kind        string
		timeout     time.Duration
		status      score.Status
		code        model.Code
		reason      string
	}{
		{"a good one", "claude", nil, "print:" + recording(t, "claude-tool") + ",0", 0, score.OK, "", ""},
		{"an error as its answer", "custom", text(), "say:API Error: 529 overloaded", 0, score.Unmeasured, model.Overloaded, "overloaded: "},
		{"0 after a wrong key", "qwen", nil, "print:" + recording(t, "qwen-e401") + ",0", 0, score.Unmeasured, model.Auth, "auth: "},
		{"1 after success", "claude", nil, "print:" + recording(t, "claude-tool") + ",1", 0, score.OK, "", ""},
		{"hangs at work", "pi", nil, "hang:" + recording(t, "pi-tool"), time.Second, score.AgentError, "", "deadline: "},
		{"hangs at once", "pi", nil, "hang:", time.Second, score.Unmeasured, model.Timeout, "timeout: "},
		{"writes a gigabyte", "codex", nil, "flood", 0, score.AgentError, "", "output: "},
		{"deletes its workspace", "custom", text(), "delete", 0, score.AgentError, "", "workspace: "},
		{"a line without end", "claude", nil, "long", 0, score.OK, "", ""},
		{"prints rubbish", "codex", nil, "say:*** core dumped \xff\xfe", 0, score.Unmeasured, model.Truncated, "truncated: "},
		{"half a recording", "gemini", nil, "print:" + recording(t, "opencode-tool") + ",0", 0, score.Unmeasured, model.Truncated, "truncated: "},
		{"fails to start", "copilot", nil, "broken", 0, score.Unmeasured, model.Truncated, "truncated: its events break off; it ended with exit code 3: cannot open libfoo.so"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := stubJob(t, tt.kind)
			if tt.timeout > 0 {
				j.Timeout = tt.timeout
			}
			rep := run(t, stubAgent(t, tt.agent, tt.custom), j)
			code := model.Code("")
			if rep.Failure != nil {
				code = rep.Failure.Code
			}
			if rep.Status != tt.status || code != tt.code || !strings.HasPrefix(rep.Reason, tt.reason) {
				t.Errorf("%s %q, %q; want %s %q, %q", rep.Status, code, rep.Reason, tt.status, tt.code, tt.reason)
			}
			if len(rep.Raw) > maxRaw+8 {
				t.Errorf("%d bytes of raw output", len(rep.Raw))
			}
		})
	}
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("process ids are given again at once")
	}
	j := stubJob(t, "fork:"+recording(t, "claude-tool"))
	rep := run(t, stubAgent(t, "claude", nil), j)
	if rep.Status != score.OK {
		t.Errorf("%s %s", rep.Status, rep.Reason)
	}
	data, err := os.ReadFile(filepath.Join(j.Workspace, "child.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(data))
	if err != nil {
		t.Fatal(err)
	}
	if !ends(pid) {
		t.Errorf("child %d is still there", pid)
	}
}

// ends reports whether a process that was killed is gone, or soon will be: a system that is busy
// ends it a moment after the signal.
func ends(pid int) bool {
	deadline := time.After(10 * time.Second)
	for {
		child, err := os.FindProcess(pid)
		if err != nil || child.Signal(syscall.Signal(0)) != nil || isZombie(pid) {
			return true
		}
		select {
		case <-deadline:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// isZombie reports whether a process has ended and nobody has asked how.
func isZombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z")
}

// TestEnvironment has an agent print all that it sees.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PARENT", "hunter2hunter2")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	a := stubAgent(t, CustomName, &Custom{})
	j := stubJob(t, "env")
	j.Endpoint = &Endpoint{URL: "http://127.0.0.1:1", Key: "sk-gateway-1234567890"}
	j.Env = append(j.Env, "MY_TOKEN=tok-0987654321", "LANG=de_DE.UTF-8")
	a.opts.Custom.Env = map[string]string{"KEY": "{{key}}"}
	rep := run(t, a, j)
	var names []string
	for line := range strings.Lines(rep.Answer) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		names = append(names, name)
		if name == "LANG" && value != "de_DE.UTF-8" || name == "HOME" && value != j.Home {
			t.Errorf("%s=%s", name, value)
		}
	}
	allowed := []string{
		"PATH", "LANG", "TERM", "NO_COLOR", "TZ", "TMPDIR", "TEMP", "TMP", "HOME", "USERPROFILE",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "KEY", "MY_TOKEN", stubVar, sandbox.Marker,
		"RUSTUP_HOME", "VOLTA_HOME", "ASDF_DATA_DIR", "MISE_DATA_DIR", // where shims find what they stand for, on machines that have them
	}
	for _, name := range names {
		if !slices.Contains(allowed, name) && !strings.HasPrefix(name, "SKILLOPT_") {
			t.Errorf("the agent sees %s", name)
		}
	}
	for _, secret := range []string{"hunter2", "sk-gateway", "tok-0987"} {
		if strings.Contains(fmt.Sprintf("%+v", rep), secret) {
			t.Errorf("the report holds %s", secret)
		}
	}
	if !slices.Contains(names, "KEY") {
		t.Error("the endpoint's key does not reach the agent")
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, stop := contextThatEnds(t)
	defer stop()
	j := stubJob(t, "hang:")
	if _, err := stubAgent(t, "pi", nil).Run(ctx, j); !errors.Is(err, errStopped) {
		t.Errorf("error %v", err)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	script("codex", "echo codex-cli 0.171.0")
	script("claude", "echo '2.1.332 (Claude Code)'")
	script("gemini", "echo broken >&2; exit 4")
	script("pi", "echo 1.6.0 >&2") // it is known to
	if err := os.WriteFile(filepath.Join(dir, "qwen"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	path := "relative" + string(os.PathListSeparator) + dir + string(os.PathListSeparator) + os.Getenv("PATH")
	for name, want := range map[string]struct{ version, problem string }{
		"codex": {"0.171.0", ""}, "claude": {"2.1.332", ""}, "pi": {"1.6.0", ""},
		"gemini": {"", "exit code 4: broken"}, "qwen": {"", "no program qwen"}, BuiltinName: {"", ""},
	} {
		a, err := New(name, Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		info, err := a.Detect(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info.Version != want.version || !strings.Contains(info.Problem, want.problem) || (info.Problem == "") != (want.problem == "") {
			t.Errorf("%s: %+v", name, info)
		}
		if (info.Help == "") != (name == BuiltinName) {
			t.Errorf("%s: help %q", name, info.Help)
		}
	}
	a, err := New("opencode", Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	j := stubJob(t, "say:x")
	if _, err := a.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "npm install -g opencode-ai") {
		t.Errorf("a missing program: %v", err)
	}
}

func TestJobFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := stubAgent(t, "claude", nil)
	for want, j := range map[string]Job{
		"home is inside the workspace": {Workspace: dir, Home: filepath.Join(dir, "home")},
		"workspace \"x\"":              {Workspace: "x", Home: dir},
		"login home":                   {Workspace: dir, Home: t.TempDir(), LoginHome: "x"},
		"endpoint: want":               {Workspace: dir, Home: t.TempDir(), Endpoint: &Endpoint{URL: "127.0.0.1:80", Key: "k"}},
		"the key is empty":             {Workspace: dir, Home: t.TempDir(), Endpoint: &Endpoint{URL: "http://x"}},
		"skill name":                   {Workspace: dir, Home: t.TempDir(), SkillName: "../x"},
		"mode":                         {Workspace: dir, Home: t.TempDir(), Mode: "maybe"},
		"env":                          {Workspace: dir, Home: t.TempDir(), Env: []string{"=x"}},
		"open the workspace":           {Workspace: filepath.Join(dir, "nowhere"), Home: t.TempDir()},
		"image 1":                      {Workspace: dir, Home: t.TempDir(), Images: []model.Image{{MIME: "image/svg"}}},
	} {
		if _, err := a.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := stubAgent(t, "gemini", nil).Run(t.Context(), Job{Workspace: dir, Home: t.TempDir(), Chat: &Chat{}}); err == nil {
		t.Error("gemini as a plain model")
	}
	if _, err := stubAgent(t, "cursor", nil).Run(t.Context(), Job{Workspace: dir, Home: t.TempDir(), Endpoint: &Endpoint{URL: "http://x", Key: "k"}}); !errors.Is(err, ErrNoEndpoint) {
		t.Errorf("cursor with an endpoint: %v", err)
	}
	if _, err := stubAgent(t, BuiltinName, nil).Run(t.Context(), Job{Workspace: dir, Home: t.TempDir()}); err == nil {
		t.Error("builtin without a client")
	}
}

// TestPromptGoesIn pins that the prompt travels on standard input, whatever its
// size, and that the skill's mode shows in it.
func TestPromptGoesIn(t *testing.T) {
	t.Parallel()
	a := stubAgent(t, CustomName, &Custom{Stdin: "{{prompt}}"})
	j := stubJob(t, "stdin")
	j.Prompt = strings.Repeat("long prompt ", 30_000) + "END"
	j.Skill, j.Mode = skill.New("be kind\n"), Read
	rep := run(t, a, j)
	if !strings.HasPrefix(rep.Answer, "Open .agents/skills/task-skill/SKILL.md first") || !strings.HasSuffix(rep.Answer, "END") {
		t.Errorf("the prompt begins %q", rep.Answer[:min(100, len(rep.Answer))])
	}
}

func TestConfined(t *testing.T) {
	t.Parallel()
	if s := sandbox.Supports(); s.Kind == "" || !s.Network {
		t.Skipf("programs cannot be confined here: %s", s.Why)
	}
	j := stubJob(t, "wander:"+filepath.Join(t.TempDir(), "out.txt"))
	j.Confine, j.Endpoint = true, &Endpoint{URL: "http://127.0.0.1:4000", Key: "k"}
	if rep := run(t, stubAgent(t, CustomName, &Custom{}), j); rep.Answer != "true false" {
		t.Errorf("wrote inside and outside: %q (%s)", rep.Answer, rep.Reason)
	}
}

// TestLogin looks at what an agent with a login of its own is given.
func TestLogin(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	for _, name := range []string{".claude", ".ssh"} {
		if err := os.Mkdir(filepath.Join(user, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a := stubAgent(t, "claude", nil)
	j := stubJob(t, "")
	j.LoginHome, j.Confine = user, true
	j, err := j.withDefaults(a.adapter)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.spec(t.Context(), j, "p")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.Env, "HOME="+user) || slices.ContainsFunc(s.Env, func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_") || strings.HasPrefix(e, "XDG_") }) {
		t.Errorf("environment %q", s.Env)
	}
	if want := []string{j.Workspace, j.Home, filepath.Join(user, ".claude")}; !slices.Equal(s.Confine.Write, want) || !s.Confine.Network {
		t.Errorf("confined to %+v", s.Confine)
	}
}
