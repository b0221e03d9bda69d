package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
)

// One task is too few for anything, and nothing that is printed says more than that.
func TestTrap9OneTaskIsTooFew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sessions(1)
	code, out, errs := d.sleep("run")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	got := d.report().Targets[0]
	if got.Outcome != night.TooFewTasks || got.Consolidation.Accepted || got.Confirmed != nil || got.Consolidation.CandidateScore != nil {
		t.Errorf("%+v", got)
	}
	for _, item := range d.staged() {
		if item.Outcome != night.Suggested {
			t.Errorf("staged as %s", item.Outcome)
		}
	}
	for _, args := range [][]string{{"show"}, {"show", "--why"}} {
		_, more, _ := d.sleep(args...)
		out += more
	}
	if said := regexp.MustCompile(`(?i)\b(validated|certified|supported|better|accepted)\b`).FindString(out); said != "" || !strings.Contains(out, "too_few_tasks") {
		t.Errorf("%q in:\n%s", said, out)
	}
}

// staged is what the newest night has staged.
func (d *desk) staged() []night.Item {
	d.t.Helper()
	data := d.newest("proposal.json")
	if data == nil {
		return nil
	}
	var p night.Proposal
	if err := json.Unmarshal(data, &p); err != nil {
		d.t.Fatal(err)
	}
	return p.Items
}

// program is a script in the place of an agent's program, which notes each call in a file; calls counts them.
func (d *desk) program(script string) (path string, calls func() int) {
	d.t.Helper()
	if runtime.GOOS == "windows" {
		d.t.Skip("the program is a script of a shell")
	}
	path, note := filepath.Join(d.dir, "bin", "claude"), filepath.Join(d.dir, "calls")
	d.write("bin/claude", "#!/bin/sh\ncase \"$1\" in --version) echo '2.1.197 (Claude Code)'; exit 0;; esac\necho call >> "+note+"\ncat > /dev/null\n"+script+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		d.t.Fatal(err)
	}
	return path, func() int {
		data, err := os.ReadFile(note)
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
		return strings.Count(string(data), "call\n")
	}
}

// ill fails unless the night found that a model is ill: after one call, with no score and without the secret that
// the program printed.
func (d *desk) ill(what, secret string) {
	d.t.Helper()
	code, r, errs := d.night()
	if code != 5 || r == nil || len(r.Targets) == 0 || r.Targets[0].Outcome != night.ModelUnhealthy {
		d.t.Errorf("%s: exit code %d: %s\n%+v", what, code, errs, r)
		return
	}
	d.unmeasuredIsNull(true)
	cause := d.cause()
	if !strings.HasPrefix(cause, "model_unhealthy: ") {
		d.t.Errorf("%s: %q", what, cause)
	}
	if d.staged() != nil {
		d.t.Errorf("%s: something is staged", what)
	}
	kept := errs + cause
	if err := filepath.WalkDir(filepath.Join(d.dir, "state"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		kept += string(data)
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	if secret != "" && strings.Contains(kept, secret) {
		d.t.Errorf("%s: the secret is in what is kept or printed", what)
	}
}

// A login that has run out is asked once, whatever a program says of it and where: nothing is scored, the night says that
// the model is ill, and what stands in the message besides goes nowhere.
func TestTrap27ALoginThatRanOut(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-Zx81kQp0Lm27Tv93Rw55"
	for name, script := range map[string]string{
		"401 on stderr":                        "echo 'unexpected status 401 Unauthorized: key " + secret + "' >&2; exit 1",
		"Not logged in":                        "echo 'Not logged in'; exit 1",
		"Please run /login":                    "echo 'Please run /login " + secret + "'; exit 1",
		"Authentication required":              "echo 'Authentication required' >&2; exit 1",
		"Invalid API key":                      "echo 'Invalid API key'; exit 0",
		"Unauthorized: invalid x-api-key":      "echo 'Unauthorized: invalid x-api-key " + secret + "' >&2; exit 1",
		"as an answer that is one of an error": `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Please run /login"}'; exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range []string{"seat", "agent"} {
				if way == "agent" && name != "401 on stderr" {
					continue
				}
				d := newDesk(t)
				d.sessions(3)
				path, calls := d.program(script)
				d.set = append(d.set, "limits.concurrency=1")
				if way == "seat" {
					d.set[0] = fmt.Sprintf("models.target={provider: claude-cli, model: m, command: %q}", path)
					d.set = append(d.set, "sleep.own_login=true")
					d.answers = "y\ny\n"
				} else {
					d.set = append(d.set, fmt.Sprintf("agent={name: claude, command: %q, slots: 1}", path))
				}
				d.ill(way, secret)
				if way == "agent" { // it writes no note beside its workspace: that the run has ended at it is told
					if reason := d.report().Targets[0].Reason; !strings.Contains(reason, "the agent has no login that its model takes") {
						t.Errorf("agent: %s", reason)
					}
					continue
				}
				n := calls()
				if n != 1 {
					t.Errorf("%s: %d calls", way, n)
				}
			}
		})
	}
}

// Text of sessions goes to no server that is reached without TLS, and a token to none that it is not meant for: the command
// ends before there is a client.
func TestTrap34PlainHTTPAndForeignTokens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ target, says string }{
		"plain HTTP":                    {`{provider: compatible, model: m, api_key_env: "", base_url: "http://models.example.test/v1"}`, "without TLS"},
		"plain HTTP in the house":       {`{provider: vllm, model: m, base_url: "http://192.168.1.2:8000/v1"}`, "without TLS"},
		"a second endpoint":             {`{provider: compatible, model: m, api_key_env: "", base_url: "https://models.example.test/v1", endpoints: ["http://b.example.test/v1"]}`, "without TLS"},
		"a token for another host":      {`{provider: azure, model: m, base_url: "https://evil.example.test/openai", azure_auth: managed_identity}`, "azure: a token of Entra ID is sent to https:// hosts of openai.azure.com"},
		"a token over plain HTTP":       {`{provider: azure, model: m, base_url: "http://x.openai.azure.com", azure_auth: azure_cli}`, "without TLS"},
		"a host that begins as another": {`{provider: azure, model: m, base_url: "https://x.openai.azure.com.evil.test", azure_auth: azure_cli}`, "azure: a token of Entra ID is sent to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.sessions(3)
			d.set[0] = "models.target=" + tt.target
			d.answers = strings.Repeat("y\n", 4)
			code, _, errs := d.sleep("run")
			if code != 2 || !strings.Contains(errs, tt.says) {
				t.Errorf("exit code %d: %s", code, errs)
			}
			if requests, _ := d.server.seen(); slices.ContainsFunc(requests, func(s sent) bool { return s.role == model.Target }) {
				t.Error("a target was asked")
			}
		})
	}
}

// answerHandoff answers the open questions of a folder as the desk's target would, at most so many; it returns how many.
func (d *desk) answerHandoff(folder string, most int) int {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, folder, "index.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var index struct {
		Questions []struct{ ID, Question, Answer string }
	}
	if err := json.Unmarshal(data, &index); err != nil {
		d.t.Fatal(err)
	}
	for i, q := range index.Questions {
		if i == most {
			return most
		}
		text, err := os.ReadFile(filepath.Join(d.dir, folder, q.Question))
		if err != nil {
			d.t.Fatal(err)
		}
		d.write(folder+"/"+q.Answer, "answer-to: "+q.ID+"\n"+deskAnswer(string(text))+"\nend-of-answer: "+q.ID+"\n")
	}
	return len(index.Questions)
}

// deskAnswer is what a target says to a question: as the house writes dates, if it is told so.
func deskAnswer(asked string) string {
	for n := range 336 {
		if plain, house := dueDate(n); strings.Contains(asked, "Due: "+plain+"\n") {
			if strings.Contains(asked, "YYYY-MM-DD") {
				return house
			}
			return plain
		}
	}
	return "I cannot tell"
}

// Questions that are answered by files, by hand: those that wait end the command with exit code 3, what depends on them is asked
// in the next round, nothing is staged before all are answered, and in the end there is what a model would have come to. An
// answer that is changed afterwards is refused by name.
func TestTrap35And36Handoff(t *testing.T) {
	t.Parallel()
	whole := newDesk(t)
	whole.sessions(16)
	whole.models.saying(model.Target, func(req model.Request) string {
		text := ""
		for _, m := range req.Messages {
			text += m.Text() + "\n"
		}
		return deskAnswer(text)
	})
	if code, _, errs := whole.night(); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	want := whole.report().Targets[0]

	d := newDesk(t)
	d.sessions(16)
	d.set[0] = "models.target={provider: handoff, model: world, folder: hand, temperature: 0}"
	rounds, asked := 0, 0
	for rounds = 1; ; rounds++ {
		code, r, errs := d.night()
		if code == 0 {
			break
		}
		if code != 3 || rounds > 20 || r == nil || r.Targets[0].Outcome != night.WaitingForReply || !strings.Contains(d.cause(), "waits for its answer") && !strings.Contains(d.cause(), "wait for answers") {
			t.Fatalf("round %d: exit code %d: %s", rounds, code, errs)
		}
		if d.staged() != nil || !r.Ended.IsZero() {
			t.Fatalf("round %d: something is staged while questions wait", rounds)
		}
		if rounds == 1 { // some answers are no decision
			d.answerHandoff("hand", 3)
			if code, r, errs := d.night(); code != 3 || r.Targets[0].Baseline != nil {
				t.Fatalf("some answers: exit code %d: %s", code, errs)
			}
		}
		n := d.answerHandoff("hand", 1000)
		if n == 0 {
			t.Fatalf("round %d: nothing was asked", rounds)
		}
		asked += n
	}
	got := d.report().Targets[0]
	if got.Outcome != want.Outcome || got.Proposed != want.Proposed || got.Proposed == "" || len(d.staged()) != 1 {
		t.Errorf("%s %s, with a model %s %s", got.Outcome, got.Proposed, want.Outcome, want.Proposed)
	}
	if rounds < 3 {
		t.Errorf("%d rounds: what depends on answers was not asked later", rounds)
	}
	t.Logf("%d rounds, %d questions", rounds, asked)

	answers, err := filepath.Glob(filepath.Join(d.dir, "hand", "answers", "*.md"))
	if err != nil || len(answers) == 0 {
		t.Fatal(err)
	}
	text, err := os.ReadFile(answers[0])
	if err != nil {
		t.Fatal(err)
	}
	d.write("hand/answers/"+filepath.Base(answers[0]), strings.Replace(string(text), "\n", "\nreally ", 1))
	d.sessions(2)
	code, _, errs := d.night()
	if code != 2 || !strings.Contains(errs, "answers/"+filepath.Base(answers[0])) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// Tasks without a review go to no host without consent.
func TestTrap37NoConsentNoCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sessions(3)
	// A proxy on this machine sends on, so that it needs consent.
	d.set[1] = strings.Replace(d.set[1], "provider: compatible", "provider: litellm", 1)
	for _, args := range [][]string{{"run"}, {"mine"}, {"run", "--explore", "--yes"}} {
		code, _, errs := d.sleep(args...)
		if code != 2 || !strings.Contains(errs, "there is no consent") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	if requests, _ := d.server.seen(); len(requests) > 0 {
		t.Errorf("%d requests", len(requests))
	}
	d.answers = "y\n"
	for _, args := range [][]string{{"harvest"}, {"mine"}} {
		if code, _, errs := d.sleep(args...); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	if requests, _ := d.server.seen(); len(requests) != 3 {
		t.Errorf("%d requests", len(requests))
	}
}

// A night without tasks is over: what it read is not read again, there is nothing to adopt, and that is no failure.
func TestTrap65ANightWithoutTasks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sessions(3, func(lines []map[string]any) []map[string]any { return lines[:3] })
	code, first, errs := d.night()
	if code != 0 || first == nil || first.Ended.IsZero() || first.Mined.Sessions != 3 || len(first.Targets) != 0 {
		t.Fatalf("exit code %d: %s\n%+v", code, errs, first)
	}
	if got := d.cause(); !strings.HasPrefix(got, "no_data: ") {
		t.Error(got)
	}
	if code, _, errs := d.sleep("adopt"); code != 2 || !strings.Contains(errs, "has staged nothing") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, second, _ := d.night("--no-harvest")
	if code != 0 || second.ID == first.ID || second.Mined.Sessions != 0 || !second.Since.Equal(first.Started) {
		t.Errorf("exit code %d: since %s, first %s, %d sessions", code, second.Since, first.Started, second.Mined.Sessions)
	}
}
