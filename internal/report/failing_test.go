package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// failingRun is a run of which n tasks fail, with a text wherever models and tasks have a
// say.
func failingRun(t *testing.T, n int, text string) *Run {
	t.Helper()
	r := read(t, filepath.Join("testdata", "run"))
	r.Failing = &record.Failing{Where: "step 9, candidate on selection", Step: 9, Tasks: 2 * n}
	for i := range n {
		one := record.Transcript{Outcome: trajectory.Outcome{ID: fmt.Sprintf("task-%d%s", i, text), Type: text, Question: text, Answer: text + "!", Reference: text, FailReason: text}}
		if i%2 == 0 {
			one.Conversation = &caller.Conversation{
				Messages: []caller.RecordedMessage{{Role: "system", Text: "the skill " + text}, {Role: "user" + text, Text: text}},
				Reply:    model.Response{Text: text}, Limit: "length", Message: text,
			}
		} else {
			one.Outcome.Trajectory = []trajectory.Turn{{Kind: trajectory.ToolCall, Action: text, Observation: text}}
		}
		r.Failing.Transcripts = append(r.Failing.Transcripts, one)
		r.Failing.List = append(r.Failing.List, record.FailingTask{Outcome: one.Outcome, Failures: 1, Draws: 1})
	}
	return r
}

// What is hostile in a transcript is text, and moves nothing.
func TestHostileTranscriptsStayText(t *testing.T) {
	t.Parallel()
	page := rendered(t, failingRun(t, 4, hostile))
	checkInert(t, page)
	if at := strings.IndexFunc(page, wording.Steers); at >= 0 {
		t.Errorf("%q steers whoever shows it", page[max(0, at-40):min(len(page), at+20)])
	}
	if strings.Count(page, "<details class=\"task\">") != 4 || strings.Count(page, "the same as of the first task above") != 1 {
		t.Error("the transcripts are not all there, or the skill stands in each")
	}
	if strings.Contains(string(Markdown(failingRun(t, 4, "transcribed"))), "transcribed") {
		t.Error("transcripts are in the text for a pull request")
	}
}

// A secret in a transcript is in no report, also where the middle of a text is left out.
func TestTranscriptsHoldNoSecret(t *testing.T) {
	t.Parallel()
	page := rendered(t, failingRun(t, 2, worded+strings.Repeat("long ", 4000)+worded))
	for _, s := range theirs {
		if strings.Contains(page, s[:12]) {
			t.Errorf("the page holds %s", s)
		}
	}
}

// However much fails and was said, the section has an end, and says what is left out.
func TestTranscriptsAreBounded(t *testing.T) {
	t.Parallel()
	without := len(rendered(t, read(t, filepath.Join("testdata", "run"))))
	r := failingRun(t, 60, strings.Repeat("a very long text <&> ", 100_000))
	page := rendered(t, r)
	if over := len(page) - without; over > 4*transcriptsBytes {
		t.Errorf("%d bytes more", over)
	}
	shown := strings.Count(page, "<details class=\"task\">")
	if want := fmt.Sprintf("%d more tasks are left out here; `skillopt runs tasks runs/small-1 --failing` lists all.", 60-shown); shown == 0 || shown == 60 || !strings.Contains(page, want) {
		t.Errorf("%d are shown, and it does not say %q", shown, want)
	}
}
