package harvest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
)

// What users and models say in the sessions of TestRealSessions. The secret is made up.
const (
	realSecret = "sk-proj-Zq81mKx0TtB7vLw2Rn5YcD3e"
	realFirst  = "Write the delivery date of order 1042 into out.txt. Keep to the house-rules. The key is PLANTED_TOKEN=" + realSecret
	realWrong  = "No, that is wrong: the date must be written as YYYY-MM-DD."
	realFails  = "This one fails."

	realStep  = "One step more."
	realDone  = "Done: the date is in out.txt, and I saw " + realSecret + " in the order."
	realAgain = "Corrected: the date is 2026-11-22."
)

// realTime is the longest that one turn of a real agent may take on a busy machine.
const realTime = 3 * time.Minute

// TestRealSessions drives real coding agents through a scripted model: a turn that loads a
// skill and writes a file, a correction in the same session, and a session that the server
// refuses. What is harvested must be exactly that.
func TestRealSessions(t *testing.T) {
	dir := os.Getenv(agenttest.DirVar)
	if dir == "" {
		t.Skipf("%s is not set: real agents are not tested; .ci/agents/install.sh DIR installs them", agenttest.DirVar)
	}
	if why, err := os.ReadFile(filepath.Join(dir, "unavailable")); err == nil {
		t.Skipf("real agents are not tested: %s", bytes.TrimSpace(why))
	}
	for _, c := range realCLIs() {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", c.name)); err == nil {
			t.Run(c.name, func(t *testing.T) { harvestsAsItWas(t, newReal(t, dir, c)) })
		}
	}
}

// real is one agent with a home folder and a project of its own.
type real struct {
	realCLI

	dir, home, project, commit string
	model                      *fakemodel.Server

	mu     sync.Mutex
	steps  []fakemodel.Call // to be called for, one after the other
	last   string           // what is said then
	refuse bool
}

func newReal(t *testing.T, dir string, c realCLI) *real {
	t.Helper()
	at := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(at); err == nil {
		at = resolved // agents record folders without links
	}
	r := &real{realCLI: c, dir: dir, home: filepath.Join(at, "home"), project: filepath.Join(at, "shop")}
	r.model = fakemodel.New(r.play)
	t.Cleanup(r.model.Stop)
	const skill = "---\nname: house-rules\ndescription: How this shop writes dates and totals. Use for every task.\n---\n# House rules\n- Dates as YYYY-MM-DD.\n"
	put(t, r.home, "tmp/.keep", "")
	for name, text := range c.files {
		put(t, r.home, name, r.filled(text))
	}
	put(t, r.project, "README.md", "# Shop\n")
	for _, folder := range []string{".agents", ".claude"} {
		put(t, r.project, folder+"/skills/house-rules/SKILL.md", skill)
	}
	r.git(t, "init", "-q", "-b", "trunk")
	r.git(t, "add", "-A")
	r.git(t, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "begin")
	r.commit = r.git(t, "rev-parse", "HEAD")
	return r
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *real) git(t *testing.T, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", words...)
	cmd.Dir, cmd.Env = r.project, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *real) filled(text string) string {
	return strings.NewReplacer("$HOME", r.home, "$URL", r.model.URL, "$PROJECT", r.project).Replace(text)
}

// play is the model. Requests without tools are the agent's own, such as for a title.
func (r *real) play(req *fakemodel.Request) {
	r.mu.Lock()
	a, refuse := fakemodel.Reply{Text: "A title"}, r.refuse
	if len(req.Tools) > 0 {
		if a.Text = r.last; len(r.steps) > 0 {
			a.Text, a.Calls, r.steps = realStep, r.steps[:1], r.steps[1:]
		}
	}
	r.mu.Unlock()
	if refuse {
		req.Refuse(http.StatusUnauthorized, "invalid api key")
		return
	}
	req.Answer(a)
}

// call is a call with its arguments filled in.
func (r *real) call(c fakemodel.Call, text string) fakemodel.Call {
	filled := maps.Clone(c.Args)
	for name, v := range filled {
		filled[name] = strings.ReplaceAll(r.filled(fmt.Sprint(v)), "$TEXT", text)
	}
	return fakemodel.Call{Tool: c.Tool, Args: filled}
}

// writesAgain are the calls of the turn that corrects.
func (r *real) writesAgain(text string) []fakemodel.Call {
	if r.rewrite == nil {
		return []fakemodel.Call{r.call(r.write, text)}
	}
	var out []fakemodel.Call
	for _, c := range r.rewrite {
		out = append(out, r.call(c, text))
	}
	return out
}

// turn has the agent do one turn, in which the model calls for steps and says last.
func (r *real) turn(t *testing.T, flags []string, prompt, last string, steps ...fakemodel.Call) {
	t.Helper()
	r.mu.Lock()
	r.steps, r.last = steps, last
	r.mu.Unlock()
	argv := []string{filepath.Join(r.dir, "node_modules", ".bin", r.name)}
	for _, f := range flags {
		argv = append(argv, r.filled(f))
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "USERPROFILE=" + r.home, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "TZ=UTC", "CI=1",
		"TMPDIR=" + filepath.Join(r.home, "tmp"), "TEMP=" + filepath.Join(r.home, "tmp"), "TMP=" + filepath.Join(r.home, "tmp"),
	}
	for _, e := range r.env {
		env = append(env, r.filled(e))
	}
	var out bytes.Buffer
	began := time.Now()
	res, err := sandbox.Run(t.Context(), sandbox.Spec{
		Argv: argv, Dir: r.project, Env: env, Stdin: strings.NewReader(prompt), Stdout: &out, Timeout: realTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q in %.1f s: %s, code %d", prompt[:7], time.Since(began).Seconds(), res.Reason, res.Code)
	r.mu.Lock()
	left := len(r.steps)
	r.mu.Unlock()
	if res.Reason != sandbox.Exited || left > 0 {
		t.Fatalf("%d steps are left: %+v\n%s", left, res, out.String())
	}
}

// drive has the agent do all of it.
func (r *real) drive(t *testing.T) {
	t.Helper()
	r.turn(t, r.first, realFirst, realDone, r.call(r.load, ""), r.call(r.write, "22.11.26"))
	r.turn(t, r.again, realWrong, realAgain, slices.Concat([]fakemodel.Call{r.call(r.fail, "")}, r.writesAgain("2026-11-22"))...)
	r.mu.Lock()
	r.refuse = true
	r.mu.Unlock()
	r.turn(t, r.first, realFails, "")
	if got, err := os.ReadFile(filepath.Join(r.project, "out.txt")); err != nil || !strings.HasPrefix(string(got), "2026-11-22") {
		t.Fatalf("the file holds %q, %v", got, err)
	}
	if left, err := agenttest.Leftovers(r.home); err != nil || len(left) > 0 {
		t.Errorf("left running: %q (%v)", left, err)
	}
}

func (r *real) inputs(temp string) harvest.Inputs {
	env := map[string]string{}
	for _, e := range r.env {
		name, value, _ := strings.Cut(r.filled(e), "=")
		env[name] = value
	}
	return harvest.Inputs{
		Sources: transcript.Sources(), Clean: redact.New(), Now: time.Now(), Workers: 2, Temp: temp,
		Places: transcript.Places{Home: r.home, OS: runtime.GOOS, Env: func(name string) string { return env[name] }},
	}
}

func (r *real) terms() harvest.Terms {
	return harvest.Terms{Projects: harvest.NewProjects(r.project), Headless: true}
}

// want is what the sessions were, without times and ids.
func (r *real) want(t *testing.T) []bank.Session {
	t.Helper()
	tool := func(c fakemodel.Call, ok bool) transcript.Tool { return transcript.Tool{Name: c.Tool, OK: &ok} }
	second := []transcript.Tool{tool(r.fail, false)}
	for _, c := range r.writesAgain("") {
		second = append(second, tool(c, true))
	}
	clean := redact.New().Text
	session := func(turns ...transcript.Turn) bank.Session {
		s := bank.Session{CommitBy: "inferred", Transcript: transcript.Transcript{Source: r.source.Name(), Project: r.project, Origin: r.origin, Branch: "trunk", Commit: r.commit, Turns: turns}}
		if r.records {
			s.CommitBy = "recorded"
		}
		if !r.noVersion {
			s.Version = r.version(t)
		}
		return s
	}
	var read []string
	if r.skillBy == transcript.ByRead {
		read = []string{".agents/skills/house-rules/SKILL.md"}
	}
	return []bank.Session{
		session(
			transcript.Turn{
				User: clean(realFirst), Agent: clean(realDone), Tools: []transcript.Tool{tool(r.load, true), tool(r.write, true)}, Files: []string{"out.txt"}, Read: read, Commands: commandOf(r.load, 0),
				Skill: "house-rules", SkillBy: r.skillBy, Redacted: 2,
			},
			transcript.Turn{User: realWrong, Agent: realAgain, Tools: second, Files: []string{"out.txt"}, Commands: commandOf(r.fail, 3)},
		),
		session(transcript.Turn{User: realFails, Tools: []transcript.Tool{}, Files: []string{}, Failed: r.failed}),
	}
}

// commandOf is what is kept of a call that gives a command to a shell.
func commandOf(c fakemodel.Call, exit int) []transcript.Command {
	for _, name := range []string{"command", "cmd"} {
		if text, ok := c.Args[name].(string); ok {
			return []transcript.Command{{Text: text, Exit: &exit}}
		}
	}
	return nil
}

// version is that of the program as npm installed it.
func (r *real) version(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, "node_modules", filepath.FromSlash(r.module), "package.json"))
	var p struct{ Version string }
	if err != nil || json.Unmarshal(data, &p) != nil {
		t.Fatalf("version of %s: %v", r.module, err)
	}
	return p.Version
}

func harvestsAsItWas(t *testing.T, r *real) {
	began := time.Now()
	beside := r.beside(t)
	r.drive(t)
	beside()
	ended := time.Now()
	if before := contents(t, r.home); !strings.Contains(before.all, realSecret) {
		t.Error("the agent wrote the secret nowhere: that it is not kept shows nothing")
	} else {
		defer func() {
			if diff := cmp.Diff(before.sums, contents(t, r.home).sums); diff != "" {
				t.Errorf("the harvest changed what the agent keeps: %s", diff)
			}
		}()
	}
	state := t.TempDir()
	report, got := r.harvest(t, state)
	t.Logf("%d stores, %d bytes, left out of them %v", len(report.Stores), report.Bytes, leftOut(report))
	r.compare(t, got, began, ended)
	marks := correction.Marks(got[0].Turns)
	if len(marks) != 1 || marks[0].Turn != 0 || !slices.Contains(marks[0].Signs, correction.Said) || marks[0].Words != realWrong {
		t.Errorf("the correction is not marked: %+v", marks)
	}
	if again, _ := r.harvest(t, state); again.Bytes != 0 || again.Sessions != 0 || again.Kept != report.Kept {
		t.Errorf("read again: %+v, kept before %+v", again, report.Kept)
	}
	if kept := contents(t, state); strings.Contains(kept.all, realSecret) {
		t.Error("the secret is kept")
	}
}

// harvest harvests into a bank, and returns what it holds then, the oldest session first.
func (r *real) harvest(t *testing.T, state string) (harvest.Report, []bank.Session) {
	t.Helper()
	b, err := bank.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	report, err := harvest.Run(t.Context(), b, r.terms(), r.inputs(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems(report) {
		t.Errorf("not understood: %s", p)
	}
	var got []bank.Session
	if err := b.Sessions(t.Context(), bank.Filter{}, func(s bank.Session) error {
		got = append(got, s)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(got)
	return report, got
}

func problems(report harvest.Report) []string {
	out := slices.Clone(report.Warnings)
	for _, s := range report.Sources {
		if s.Error != "" {
			out = append(out, s.Error)
		}
	}
	for _, s := range report.Stores {
		if s.Error != "" {
			out = append(out, s.Error)
		}
		for _, p := range s.Problems {
			out = append(out, p.String())
		}
	}
	return out
}

func leftOut(report harvest.Report) map[string]int {
	all := map[string]int{}
	for _, s := range report.Stores {
		for why, n := range s.LeftOut {
			all[why] += n
		}
	}
	return all
}

// compare compares sessions with what they were. Times must lie between those of the drive and
// in their order, ids must be there and differ.
func (r *real) compare(t *testing.T, got []bank.Session, began, ended time.Time) {
	t.Helper()
	var plain []bank.Session
	ids := map[string]bool{}
	last := began.Add(-time.Second) // some keep whole seconds
	for _, s := range got {
		s.Turns = slices.Clone(s.Turns)
		named := []string{"session " + s.ID}
		for i := range s.Turns {
			turn := &s.Turns[i]
			named = append(named, "turn "+turn.ID)
			if turn.Started.Before(last) || turn.Ended.Before(turn.Started) || turn.Ended.After(ended) {
				t.Errorf("turn %d of %s: %s to %s, driven from %s to %s", i, s.ID, turn.Started, turn.Ended, began, ended)
			}
			last = turn.Started
			turn.ID, turn.Started, turn.Ended = "", time.Time{}, time.Time{}
		}
		for _, id := range named {
			if ids[id] || strings.HasSuffix(id, " ") {
				t.Errorf("%q is there twice, or no id", id)
			}
			ids[id] = true
		}
		s.ID, s.Store, s.Started, s.Ended = "", "", time.Time{}, time.Time{}
		plain = append(plain, s)
	}
	if diff := cmp.Diff(r.want(t), plain); diff != "" {
		t.Fatalf("not as it was (-want +got): %s", diff)
	}
}

// beside harvests again and again while the agent works, 100 times at least. What it reads must
// be whole at every time. The function that is returned waits for the end.
func (r *real) beside(t *testing.T) (wait func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	temp := t.TempDir()
	n, most := 0, 0
	go func() {
		var err error
		pause := time.NewTicker(10 * time.Millisecond) // or it takes a processor from the agent
		defer pause.Stop()
		for ; err == nil && (n < 100 || ctx.Err() == nil); n++ {
			var turns int
			turns, err = r.glance(t.Context(), temp)
			most = max(most, turns)
			<-pause.C
		}
		done <- err
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("after %d harvests beside the agent: %v", n, err)
		}
		t.Logf("%d harvests beside the agent, of %d turns at the end", n, most)
		if most != 3 {
			t.Errorf("%d turns were seen", most)
		}
	}
}

// glance is one harvest beside the agent: how many turns there are so far.
func (r *real) glance(ctx context.Context, temp string) (turns int, err error) {
	report, err := harvest.Run(ctx, nil, r.terms(), r.inputs(temp))
	if err != nil {
		return 0, err
	}
	if bad := problems(report); len(bad) > 0 {
		return 0, fmt.Errorf("not understood: %q", bad)
	}
	clean := redact.New().Text
	said := []string{clean(realFirst), realWrong, realFails}
	ends := []string{"", realStep, clean(realDone), realAgain}
	for _, s := range report.Found {
		for _, turn := range s.Turns {
			turns++
			if !slices.Contains(said, turn.User) || !slices.Contains(ends, turn.Agent) {
				return 0, fmt.Errorf("half a turn: user %q, agent %q", turn.User, turn.Agent)
			}
		}
	}
	return turns, nil
}

// files is what a folder holds: the digest and the time of each file, and all their bytes.
type files struct {
	sums map[string]string
	all  string
}

func contents(t *testing.T, dir string) files {
	t.Helper()
	out := files{sums: map[string]string{}}
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out.sums[path] = fmt.Sprintf("%x %s", sha256.Sum256(data), info.ModTime())
		all.Write(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out.all = all.String()
	return out
}
