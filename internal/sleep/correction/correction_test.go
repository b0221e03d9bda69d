package correction

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

func TestRejects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"No, that is wrong: the date must be written as YYYY-MM-DD.", "nope", "That's not what I asked", "Thanks. But still failing.\nstill broken", "You forgot the tests",
		"I said ISO dates!", "Please revert that.", "don't touch main.go", "Nein, das ist falsch.", "不对", "違います。", "Great. It still does not compile",
		"Actually, use tabs", "That\u2019s not it", "It doesn\u2019t work", "That's still wrong, use ISO dates", "This is completely broken", "it is just wrong", "it doesn't work",
	} {
		if !Rejects("", text) {
			t.Errorf("%q is no rejection", text)
		}
	}
	for _, text := range []string{
		"Thanks, perfect!", "Now add a test for the parser", "Write a note on the wrong answers of last week", "normalise the names", "Nothing else for now", "What does this function do?",
		"Notice that the file has two parts. Split it.", "Add a stopwatch to the page", "Nonetheless fine", "Explain why the build failed yesterday",
	} {
		if Rejects("", text) {
			t.Errorf("%q is taken for a rejection", text)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	turns := []transcript.Turn{
		{User: "write it", Files: []string{"a.txt"}},
		{User: "No, wrong date.", Files: []string{"a.txt"}},
		{User: "now b", Failed: "authentication_failed"},
		{User: "No, try again", Interrupted: true},
		{User: "thanks"},
	}
	want := []Mark{{Turn: 0, Signs: []Sign{Again, Said}, Words: "No, wrong date."}, {Turn: 3, Signs: []Sign{Stopped}, Words: "thanks"}}
	if diff := cmp.Diff(want, Marks(turns)); diff != "" {
		t.Error(diff)
	}
}
