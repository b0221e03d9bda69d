package night_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
)

// insideVar names, for a test binary that is traced, the agent of its night.
const insideVar = "SKILLOPT_NIGHT_INSIDE"

// Replays write nothing outside of their workspace: project and home folder are as before, with all times; they connect to
// nothing but the gateway; and they leave no session in an agent's store. The built-in agent's night is tried here, that of
// real ones by TestRealReplaysStayInside.
func TestReplaysStayInside(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(insideVar); name != "" {
		insideNight(t, name)
		return
	}
	staysInside(t, "builtin")
}

// TestRealReplaysStayInside tries the same with real agents.
func TestRealReplaysStayInside(t *testing.T) {
	for _, name := range realAgents(t) {
		t.Run(name, func(t *testing.T) { staysInside(t, name) })
	}
}

// realAgents are the agents of the folder that .ci/agents/install.sh made, of those that nights are tried with.
func realAgents(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv(agenttest.DirVar)
	if dir == "" {
		t.Skip("no real agents: " + agenttest.DirVar + " is not set, see .ci/agents")
	}
	if reason, err := os.ReadFile(filepath.Join(dir, "unavailable")); err == nil {
		t.Skip("no real agents: " + string(reason))
	}
	names := []string{"pi"}
	if list := os.Getenv("SKILLOPT_NIGHT_AGENTS"); list != "" {
		names = strings.Split(list, ",")
	}
	return names
}

// realAgent has nights work with a real agent.
func (h *agentHome) realAgent(name string) {
	h.t.Helper()
	if name == "builtin" {
		return
	}
	if s := sandbox.Probe(); !s.Isolated {
		h.t.Skip("programs have no namespaces of their own here")
	}
	h.cfg.Models.Target.Model = "some-model"
	h.cfg.Agent.Name, h.cfg.Agent.Timeout = name, config.Duration(3*time.Minute)
	h.cfg.Agent.Command = filepath.Join(os.Getenv(agenttest.DirVar), "node_modules", ".bin", name)
	if _, err := os.Stat(h.cfg.Agent.Command); err != nil {
		h.t.Skip(err)
	}
	if name != "codex" {
		return
	}
	h.memory, h.cfg.Sleep.Memory = "AGENTS.md", "AGENTS.md" // it reads no other
	h.git("mv", "CLAUDE.md", h.memory)
	h.commit = h.commits()
}

// staysInside carries a night out in a process of its own, under strace where that is there and permitted.
func staysInside(t *testing.T, name string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("connections are traced on Linux alone")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	argv := []string{os.Args[0], "-test.run=^TestReplaysStayInside$", "-test.v"}
	strace, err := exec.LookPath("strace")
	if err == nil && exec.CommandContext(t.Context(), strace, "-f", "--seccomp-bpf", "-o", os.DevNull, "true").Run() == nil {
		argv = append([]string{strace, "-f", "--seccomp-bpf", "-s", "200", "-e", "trace=connect,sendto,sendmsg,listen,getsockname,execve", "-e", "signal=none", "-o", trace}, argv...)
	} else {
		strace = ""
		t.Logf("connections are not traced: strace is missing or not permitted; that there are none rests on the sandbox alone")
	}
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.Env = append(os.Environ(), insideVar+"="+name, "HOME="+userHome(t))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("%s", out)
	}
	t.Logf("%s", out)
	if strace != "" {
		traced(t, trace)
	}
}

// userHome is a home folder with what agents must not reach.
func userHome(t *testing.T) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".ssh/id_ed25519", ".claude/projects/-srv/a.jsonl", ".codex/sessions/2026/rollout-a.jsonl", ".pi/agent/sessions/a/b.jsonl", ".config/gh/hosts.yml", ".gitconfig"} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("kept\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// insideNight carries out a night and compares what lies around it before and after.
func insideNight(t *testing.T, name string) {
	h := newAgentHome(t, small())
	h.realAgent(name)
	h.day(3, "", true)
	user := os.Getenv("HOME")
	before := stateOf(t, h.project) + stateOf(t, user)
	r := h.night(h.replays, func(o *night.Options) { o.Explore = true })
	if after := stateOf(t, h.project) + stateOf(t, user); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	got := r.Targets[0]
	if got.Baseline == nil && got.Confirmed == nil || r.Spent.Calls == 0 {
		t.Errorf("%+v", got)
	}
	t.Logf("%s: %s, %d calls of models", name, got.Outcome, r.Spent.Calls)
}

// stateOf is all of a folder: names, modes, sizes, times of change and contents.
func stateOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %s %d %d", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %x", data)
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	reached  = regexp.MustCompile(`\b(connect|sendto|sendmsg)\(\d+.*sa_family=(AF_INET6?|AF_UNIX)(?:, .*?htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")|, sun_path=@?"([^"]*)")?.* = (-?\d+)( \w+)?`)
	listens  = regexp.MustCompile(`^(\d+) +listen\((\d+), \d+\) += 0`)
	listened = regexp.MustCompile(`^(\d+) +getsockname\((\d+), \{sa_family=AF_INET, sin_port=htons\((\d+)\), sin_addr=inet_addr\("127.0.0.1"\)`)
)

var (
	begun   = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
)

// whole are the lines of a trace, with calls on one line that others came in between.
func whole(text string) []string {
	var out []string
	open := map[string]string{} // by process
	for line := range strings.SplitSeq(text, "\n") {
		if m := begun.FindStringSubmatch(line); m != nil {
			open[m[1]] = m[2]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + open[m[1]] + m[2]
			delete(open, m[1])
		}
		out = append(out, line)
	}
	for id, line := range open { // it was ended in it: whether it came about is not known
		out = append(out, id+" "+line+") = 0")
	}
	return out
}

// traced fails for each connection that is not to a port of this machine at which the program listens as a gateway.
func traced(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gateways, count, programs := map[string]bool{}, map[string]int{}, 0
	listening := map[string]bool{} // descriptors: a goroutine may ask for the port on another thread than it has listened on
	for _, line := range whole(string(data)) {
		if m := listens.FindStringSubmatch(line); m != nil {
			listening[m[2]] = true
		}
		if m := listened.FindStringSubmatch(line); m != nil && listening[m[2]] {
			gateways[m[3]] = true
			delete(listening, m[2])
		}
		if strings.Contains(line, "execve(") && strings.Contains(line, " = 0") {
			programs++
		}
		m := reached.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[7] != "0" && m[8] != " EINPROGRESS": // it did not come about
			count["refused "+m[2]+" "+m[3]+m[6]]++
		case m[2] != "AF_UNIX" && gateways[m[3]] && (m[4] == "127.0.0.1" || m[5] == "::1"):
			count["gateway"]++
		default:
			t.Errorf("it reached something: %s", strings.TrimSpace(line))
		}
	}
	t.Logf("%d programs, %d gateways, connections: %v", programs, len(gateways), count)
	if programs < 4 {
		t.Errorf("the trace has %d programs", programs)
	}
}
