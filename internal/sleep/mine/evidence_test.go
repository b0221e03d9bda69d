package mine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/outbound"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
)

func ran(text string, exit int) transcript.Command {
	return transcript.Command{Text: text, Exit: &exit}
}

// repair is a session in which a command failed, and passed in the end.
func repair(commands ...transcript.Command) transcript.Transcript {
	s := session("r", "The pager leaves the last row out. Mend it.", "I changed the pager.", "Please go on", "The tests pass.")
	s.Commit = strings.Repeat("ab", 20)
	s.Turns[0].Read, s.Turns[0].Files = []string{"pager/pager_test.go"}, []string{"pager/pager.go"}
	s.Turns[1].Files = []string{"pager/pager.go"}
	if commands == nil {
		commands = []transcript.Command{ran("go test ./pager", 1), ran("go test ./pager", 0)}
	}
	s.Turns[0].Commands, s.Turns[1].Commands = commands[:1], commands[1:]
	return s
}

func repairTask(changes ...map[string]any) map[string]any {
	return dueTask(append([]map[string]any{{
		"asked": []any{0}, "corrected": nil, "accepted": 1, "prompt": "The pager leaves the last row out. Mend it.", "gold": []any{},
		"checks": []any{map[string]any{"type": "contains", "values": []any{"curl https://evil.example"}}}, "quote": "",
	}}, changes...)...)
}

// TestCommandOfTheRecord: a command is a check only as the session ran it.
func TestCommandOfTheRecord(t *testing.T) {
	t.Parallel()
	m := mined(t, replyOf(t, repairTask()), repair())
	if len(m.Tasks) != 1 {
		t.Fatalf("%+v", m.Funnel)
	}
	got := m.Tasks[0]
	want := wish.Place{Commit: strings.Repeat("ab", 20), Files: []string{"pager/pager.go", "pager/pager_test.go"}, From: "r-0"}
	if got.Trust != wish.ByCommand || string(got.Task.Checks) != `[{"run":"go test ./pager","timeout":"10m","type":"command"}]` || got.Held != "" || got.Unfit != "" || !cmp.Equal(got.Place, want) {
		t.Errorf("%+v\n%s", got, got.Task.Checks)
	}
	bare := repair()
	bare.Commit = ""
	if m := mined(t, replyOf(t, repairTask()), bare); len(m.Tasks) != 1 || m.Tasks[0].Unfit == "" || m.Funnel.Unfit != 1 {
		t.Errorf("without a commit: %+v", m)
	}
	altered, unknown := ran("go test ./pager", 0), ran("go test ./pager", 0)
	altered.Altered, unknown.Exit = true, nil
	rejected := repair()
	rejected.Turns = append(rejected.Turns, transcript.Turn{ID: "r-2", User: "No, that is wrong, it skips the first row.", Agent: ""})
	chance := repair()
	chance.Turns[0].Files, chance.Turns[1].Files = nil, nil
	stopped := repair()
	stopped.Turns[1].Interrupted = true
	for name, s := range map[string]transcript.Transcript{
		"it passed only":              repair(ran("go test ./pager", 0), ran("go test ./pager", 0)),
		"it never passed":             repair(ran("go test ./pager", 1), ran("go test ./pager", 1)),
		"it failed in the end":        repair(ran("go test ./pager", 1), ran("go test ./pager", 0), ran("go test ./pager", 2)),
		"another passed":              repair(ran("go test ./pager", 1), ran("go test ./pager -run X", 0)),
		"it was altered":              repair(ran("go test ./pager", 1), altered),
		"it is not known how it went": repair(ran("go test ./pager", 1), unknown),
		"it looks only":               repair(ran("ls x", 1), ran("ls x", 0)),
		"it looks, with a variable":   repair(ran("A=1 cat x", 1), ran("A=1 cat x", 0)),
		"it publishes":                repair(ran("npm publish", 1), ran("npm publish", 0)),
		"it removes":                  repair(ran("make test && rm -rf out", 1), ran("make test && rm -rf out", 0)),
		"it reaches out":              repair(ran("./check https://ci.example", 1), ran("./check https://ci.example", 0)),
		"it would be told the answer": repair(ran("make TASK", 1), ran("make TASK", 0)),
		"it leaves checks out":        repair(ran("make test --no-verify", 1), ran("make test --no-verify", 0)),
		"it leaves the workspace":     repair(ran("pytest /projects/books/tests", 1), ran("pytest /projects/books/tests", 0), ran("pytest ~/tests", 1), ran("pytest ~/tests", 0)),
		"it goes elsewhere":           repair(ran("cd pager && go test", 1), ran("cd pager && go test", 0)),
		"it holds a secret":           repair(ran("make test KEY=sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb", 1), ran("make test KEY=sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb", 0)),
		"the user rejected it":        rejected, "nothing was written": chance, "the user stopped it": stopped,
	} {
		if m := mined(t, replyOf(t, repairTask()), s); len(m.Tasks) != 0 {
			t.Errorf("%s: %+v", name, m.Tasks[0])
		}
	}
}

// TestCommandBeforeACorrection: what passed, and was corrected after that, was not enough.
func TestCommandBeforeACorrection(t *testing.T) {
	t.Parallel()
	s := session("r", "The pager leaves the last row out. Fix it.", "Fixed, the tests pass.", "No, do not change the names of the pager.", "The names are as before, the pager is fixed.", "Thanks", "Gladly.")
	s.Turns[0].Commands, s.Turns[0].Files = []transcript.Command{ran("go test ./pager", 1), ran("go test ./pager", 0)}, []string{"pager/pager.go"}
	s.Turns[1].Files = []string{"pager/pager.go"}
	proposed := repairTask(map[string]any{"corrected": 0, "prompt": "The pager leaves the last row out. Fix it.", "rubric": "Names of the pager do not change.", "quote": "do not change the names", "checks": []any{}})
	if m := mined(t, replyOf(t, proposed), s); len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByRubric {
		t.Errorf("%+v", m)
	}
	s.Turns[1].Commands = []transcript.Command{ran("go test ./pager", 1), ran("go test ./pager", 0)}
	if m := mined(t, replyOf(t, proposed), s); len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByCommand {
		t.Errorf("it passed after the correction: %+v", m)
	}
}

// known is what a user kept of files.
type known map[string]string

func (k known) Accepted(context.Context, transcript.Transcript, int) (map[string]string, error) {
	return k, nil
}

// handbook is a session in which a file was written again after a correction.
func handbook() transcript.Transcript {
	s := session("h", "Add a section on backups to HANDBOOK.md", "I added it.", "No, headings in sentence case.", "I changed the heading.", "Thanks", "Gladly.")
	s.Commit = strings.Repeat("cd", 20)
	s.Turns[0].Files, s.Turns[1].Files = []string{"HANDBOOK.md"}, []string{"HANDBOOK.md"}
	return s
}

func handbookTask(changes ...map[string]any) map[string]any {
	return dueTask(append([]map[string]any{{
		"prompt": "Add a section on backups to HANDBOOK.md", "gold": []any{}, "checks": []any{map[string]any{"type": "icontains", "values": []any{"changed"}}}, "quote": "headings in sentence case",
	}}, changes...)...)
}

// TestFilesThatWereAccepted: what came out in files is judged by files, or by a rubric that is
// shown them; the agent's words about them are no outcome.
func TestFilesThatWereAccepted(t *testing.T) {
	t.Parallel()
	m := mined(t, replyOf(t, handbookTask()), handbook())
	if len(m.Tasks) != 0 || m.Funnel.Fell[0].Reason != string(OnlyFiles) {
		t.Errorf("nothing is known of the files: %+v", m)
	}
	m = mined(t, replyOf(t, handbookTask(map[string]any{"rubric": "Headings are in sentence case.", "checks": []any{}})), handbook())
	if len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByRubric || string(m.Tasks[0].Task.Checks) != `[{"criteria":"Headings are in sentence case.","files":["HANDBOOK.md"],"type":"llm-rubric"}]` || m.Tasks[0].Place.Chat() {
		t.Errorf("a rubric: %+v", m)
	}
	run := func(files Files) Mined {
		m, err := Run(t.Context(), Options{Sessions: []transcript.Transcript{handbook()}, Clean: redact.New(), Ask: saying(replyOf(t, handbookTask())), Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m = run(known{"HANDBOOK.md": "# Backups\n\nkey sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb\n"})
	if len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByFiles || string(m.Tasks[0].Task.Checks) != `[{"path":"HANDBOOK.md","type":"file-equals","value":"# Backups\n\nkey [redacted]\n"}]` {
		t.Errorf("files: %+v", m)
	}
	if m := run(known{"other.md": "x"}); len(m.Tasks) != 0 {
		t.Errorf("another file is known: %+v", m)
	}
}

func TestSkillAtWork(t *testing.T) {
	t.Parallel()
	type at struct {
		turn  int
		skill string
		by    transcript.Evidence
	}
	for name, c := range map[string]struct {
		seen []at
		want string
	}{
		"none":                {nil, ""},
		"by record":           {[]at{{0, "dates", transcript.ByRecord}, {1, "other", transcript.ByRead}}, "dates"},
		"by tool before read": {[]at{{0, "dates", transcript.ByTool}, {1, "other", transcript.ByRead}}, "dates"},
		"read":                {[]at{{1, "dates", transcript.ByRead}}, "dates"},
		"two of one strength": {[]at{{0, "dates", transcript.ByRead}, {1, "other", transcript.ByRead}}, ""},
		"the same twice":      {[]at{{0, "dates", transcript.ByTool}, {1, "dates", transcript.ByTool}}, "dates"},
		"one that came later": {[]at{{2, "dates", transcript.ByRecord}}, ""},
	} {
		s := dueDate("s")
		for _, a := range c.seen {
			s.Turns[a.turn].Skill, s.Turns[a.turn].SkillBy = a.skill, a.by
		}
		if m := mined(t, replyOf(t, dueTask()), s); len(m.Tasks) != 1 || m.Tasks[0].Skill != c.want {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestPromptIsWhatMayLeave: of a session a prompt holds bytes that the only door returns, and
// nothing else, cut to what is allowed.
func TestPromptIsWhatMayLeave(t *testing.T) {
	t.Parallel()
	s := repair(ran("make check", 1), ran("make check", 0)) // commands leave by the only door too
	s.Branch = "SECRETBRANCH"
	long := dueDate("long")
	for i := range 300 {
		filler := session(fmt.Sprint("f", i), strings.Repeat("So what about the weather? ", 50), strings.Repeat("It rains. ", 300))
		long.Turns = append(long.Turns, filler.Turns...)
	}
	long.Turns[0].Agent = "On April 4th, 2026. " + strings.Repeat("Some more about it. ", 5000)
	for name, one := range map[string]transcript.Transcript{"short": s, "long": long} {
		var asked []draft.Request
		_, err := Run(t.Context(), Options{Sessions: []transcript.Transcript{one}, Clean: redact.New(), Ask: func(_ context.Context, q draft.Request) (string, error) {
			asked = append(asked, q)
			return `{"tasks":[]}`, nil
		}})
		if err != nil || len(asked) != 1 {
			t.Fatal(err, len(asked))
		}
		out, err := outbound.Render(one, redact.New())
		if err != nil {
			t.Fatal(err)
		}
		user := asked[0].User
		if len(user) > maxShown+2000 || strings.Contains(user, "SECRET") || strings.Contains(user, "/projects") || strings.Contains(user, one.ID+"-0") {
			t.Errorf("%s: %d bytes: %.3000s", name, len(user), user)
		}
		if name == "short" && !strings.Contains(user, string(out[strings.IndexByte(string(out), '\n')+1:][:100])) {
			t.Errorf("%s: %s", name, user)
		}
		if name == "long" && (!strings.Contains(user, "dates like 2026-01-31") || !strings.Contains(user, "is due on 2026-04-04") || !strings.Contains(user, "turns are left out")) {
			t.Errorf("%s: the turns that count are not shown: %.2000s", name, user)
		}
		for line := range strings.Lines(user) {
			n, text, found := strings.Cut(strings.TrimSpace(line), " ")
			if _, err := fmt.Sscan(n, new(int)); err != nil || !found || !strings.HasPrefix(text, "{") {
				continue
			}
			var turn map[string]any
			if err := json.Unmarshal([]byte(text), &turn); err != nil || turn["type"] != "turn" {
				t.Errorf("%s: %v: %.200s", name, err, line)
			}
		}
	}
}

// TestSecretsOfSessions plants secrets in all texts of sessions: none reaches a prompt, a task or
// what is told of mining, and what a model makes up is cleaned too.
func TestSecretsOfSessions(t *testing.T) {
	t.Parallel()
	var sessions []transcript.Transcript
	var secrets []string
	planted := redacttest.Planted()
	for i, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range planted {
			if !yield(n) {
				return
			}
		}
	}) {
		text, hidden := redacttest.Plain(planted[name])
		for _, h := range hidden {
			if len(h) >= 8 { // shorter ones stand in words of ours
				secrets = append(secrets, h)
			}
		}
		s := dueDate(fmt.Sprint("s", i))
		s.Turns[0].User += "\n```\n" + text + "\n```"
		s.Turns[0].Agent += "\n" + text
		s.Turns[1].User += "\n\n" + text
		s.Turns[1].Agent += "\n" + text
		s.Turns[0].Files = []string{"a " + text}
		s.Turns[2].Commands = []transcript.Command{ran("make "+text, 1), ran("make "+text, 0)}
		sessions = append(sessions, s)
	}
	if len(secrets) < 40 {
		t.Fatalf("%d secrets", len(secrets))
	}
	// What a model makes up that looks like a key is none of the session's, and goes all the same.
	const invented = "sk-ant-api03-Made0Up1By2A3Model4Of5Course"
	secrets = append(secrets, invented)
	var mu sync.Mutex // sessions are asked about side by side
	var sent strings.Builder
	reply := replyOf(t, dueTask(), dueTask(map[string]any{"prompt": "Invoice 311 is payable within 30 days, key " + invented, "input": invented}), dueTask(map[string]any{"gold": []any{"2026-04-04", invented}, "checks": []any{map[string]any{"type": "contains-any", "values": []any{"2026-04-04", invented}}}, "rubric": invented}))
	m, err := Run(t.Context(), Options{Sessions: sessions, Clean: redact.New(), Ask: func(_ context.Context, q draft.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		sent.WriteString(q.System + q.User)
		return reply, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Tasks) == 0 {
		t.Fatalf("%+v", m.Funnel)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		for where, out := range map[string]string{"prompts": sent.String(), "what came out": string(text)} {
			if strings.Contains(out, secret) || strings.Contains(out, string(quoted[1:len(quoted)-1])) {
				t.Errorf("%s have %q", where, secret)
			}
		}
	}
}
