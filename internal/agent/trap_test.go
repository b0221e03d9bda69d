package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
)

// A stream of events that cannot be the whole work of one run measures nothing.
func TestTrap32BrokenStreams(t *testing.T) {
	t.Parallel()
	whole := fixture(t, "opencode-tool")
	if rep := replay(t, "opencode", whole, exited(0)); rep.Status != score.OK || rep.Answer != "FAKE-ANSWER 42" {
		t.Fatalf("the recording: %s %q", rep.Status, rep.Answer)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(whole), []byte("\n"))
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	at := func(kind string) (out []int) {
		for i, l := range lines {
			if bytes.HasPrefix(l, []byte(`{"type":"`+kind+`"`)) {
				out = append(out, i)
			}
		}
		return out
	}
	// The last step alone, with the tool behind its text.
	text, tool, finish := lines[at("text")[1]], lines[at("tool_use")[0]], lines[at("step_finish")[1]]
	start := lines[at("step_start")[1]]
	other := func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte(`"sessionID":"ses_`), []byte(`"sessionID":"ses_other`))
	}
	nl := []byte("\n")
	for name, output := range map[string][]byte{
		"two sessions mixed":         join(lines[0], other(text), join(lines[1:]...)),
		"a second session's answer":  join(join(lines[:len(lines)-2]...), other(text), finish),
		"an unknown tool":            bytes.ReplaceAll(whole, []byte(`"tool":"write"`), []byte(`"tool":""`)),
		"the answer before the tool": join(start, text, tool, nl, finish),
		"no end":                     join(start, text),
	} {
		rep := replay(t, "opencode", output, exited(0))
		if rep.Status != score.Unmeasured || rep.Failure == nil {
			t.Errorf("%s: %s %s, answer %q", name, rep.Status, rep.Reason, rep.Answer)
		}
	}
	// With a word behind the tool it is an answer.
	if rep := replay(t, "opencode", join(start, tool, nl, text, finish), exited(0)); rep.Status != score.OK {
		t.Errorf("%s %s", rep.Status, rep.Reason)
	}
}

// What programs say of a login that has run out is told from other failures.
func TestLoginsThatRanOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Not logged in", "Please run /login", "Authentication required", "Invalid API key", "Unauthorized: invalid x-api-key",
		"401 Unauthorized", "refresh_token_reused", "token_expired", "Your access token could not be refreshed. Please log out and sign in again.", "authentication token is expired",
	} {
		for _, text := range []string{text, strings.ToLower(text), "Error: " + text + "."} {
			if f := newFault(0, text); f.code != model.Auth {
				t.Errorf("%q is %s", text, f.code)
			}
		}
	}
}
