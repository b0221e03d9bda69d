package harvest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// placesOf are the places below a home folder; jsonl, which may be "", is a folder of ours.
func placesOf(home, jsonl string) transcript.Places {
	return transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }, Given: map[string]string{"jsonl": jsonl}}
}

// sessions harvests everything and returns what is kept.
func sessions(t *testing.T, p transcript.Places) (out []bank.Session) {
	t.Helper()
	b, err := bank.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := harvest.Inputs{Sources: transcript.Sources(), Places: p, Clean: redact.New(), Now: now, Workers: 2}
	_, err = harvest.Run(t.Context(), b, harvest.Terms{Projects: harvest.NewProjects("/"), Headless: true}, in)
	err = errors.Join(err, b.Sessions(t.Context(), bank.Filter{}, func(s bank.Session) error { out = append(out, s); return nil }))
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

func again(t *testing.T, p transcript.Places, s bank.Session) (transcript.Transcript, error) {
	t.Helper()
	return harvest.ReadSession(t.Context(), p, redact.New(), t.TempDir(), s)
}

// What a harvest keeps of any source can be read again, as long as the store is as it was.
func TestAgainOfEachSource(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "claude-typed", "codex", "codex-typed", "copilot", "cursor", "devin", "gemini", "gemini-typed", "openclaw", "opencode", "pi", "qwen", "qwen-typed", "vscode"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := placesOf(transcripttest.Lay(t, "../transcript/testdata/"+name, func(_, text string) string { return text }), "")
			list := sessions(t, p)
			if len(list) == 0 {
				t.Fatal("nothing is kept")
			}
			for _, s := range list {
				got, err := again(t, p, s)
				if err != nil {
					t.Errorf("%v", err)
					continue
				}
				for _, turn := range s.Turns {
					if at := slices.IndexFunc(got.Turns, func(t transcript.Turn) bool { return t.ID == turn.ID }); at < 0 || got.Turns[at].User != turn.User {
						t.Errorf("%s: turn %s is not in what was read again", s.ID, turn.ID)
					}
				}
			}
		})
	}
}

func TestAgainHasLines(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, err := transcripttest.Generate(home, 1, 200<<10, 1); err != nil {
		t.Fatal(err)
	}
	list := sessions(t, placesOf(home, ""))
	got, err := again(t, placesOf(home, ""), list[0])
	if err != nil || len(got.Turns) != len(list[0].Turns) {
		t.Fatalf("%v: %d turns of %d", err, len(got.Turns), len(list[0].Turns))
	}
	lines := 0
	for i := range got.Turns {
		if len(list[0].Turns[i].Lines) > 0 {
			t.Errorf("a harvest kept lines of turn %d", i)
		}
		lines += len(got.Turns[i].Lines)
		got.Turns[i].Lines = nil
	}
	if diff := cmp.Diff(list[0].Turns, got.Turns); diff != "" || lines == 0 {
		t.Errorf("%d files with lines; otherwise (-kept +again):\n%s", lines, diff)
	}
}

// A store that is not as it was says nothing of what files held.
func TestAgainOfAnotherStore(t *testing.T) {
	t.Parallel()
	first := user("one", "2026-11-22T08:00:00Z") + line("type", "agent", "text", "Done.", "time", "2026-11-22T08:00:01Z")
	second := user("two", "2026-11-22T09:00:00Z") + line("type", "tool", "id", "c", "name", "edit", "ok", true, "wrote", []string{"a"}, "command", "make", "exit", 1)
	whole := begin("a", "/srv/shop") + first + second
	for name, c := range map[string]struct {
		now  string // "": the file is gone
		then func(*bank.Session)
		want harvest.Why
	}{
		"as it was":                 {now: whole},
		"grown by a turn":           {now: whole + user("three", "2026-11-22T10:00:00Z")},
		"gone":                      {want: harvest.StoreGone},
		"another session":           {now: strings.Replace(whole, `"a"`, `"b"`, 1), want: harvest.NotInStore},
		"of another project":        {now: strings.Replace(whole, "/srv/shop", "/srv/other", 1), want: harvest.NotInStore},
		"empty":                     {now: "\n", want: harvest.NotInStore},
		"a turn is missing":         {now: begin("a", "/srv/shop") + first, want: harvest.OtherTurns},
		"other words":               {now: strings.Replace(whole, "Done.", "Not yet.", 1), want: harvest.OtherTurns},
		"the turn went on":          {now: whole + line("type", "tool", "id", "d", "name", "edit", "ok", true, "wrote", []string{"b"}), want: harvest.OtherTurns},
		"another command":           {now: strings.Replace(whole, "make", "rm", 1), want: harvest.OtherTurns},
		"an exit code more":         {now: strings.Replace(whole, `"exit":1,`, "", 1)},
		"a line that is not JSON":   {now: whole + "[\n", want: harvest.PartlyRead},
		"of a source of tomorrow":   {now: whole, then: func(s *bank.Session) { s.Source = "tomorrow" }, want: harvest.OtherSource},
		"at a place that is unread": {now: whole, then: func(s *bank.Session) { s.Store = "/etc/passwd" }, want: harvest.StoreGone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store{t.TempDir()}
			s.write(t, "a.jsonl", whole)
			p := placesOf(t.TempDir(), s.dir)
			kept := sessions(t, p)[0]
			if c.then != nil {
				c.then(&kept)
			}
			if s.write(t, "a.jsonl", c.now); c.now == "" {
				if err := os.Remove(filepath.Join(s.dir, "a.jsonl")); err != nil {
					t.Fatal(err)
				}
			}
			got, err := again(t, p, kept)
			var not *harvest.NotAgainError
			if c.want == "" && (err != nil || got.ID != "a") || c.want != "" && (!errors.As(err, &not) || not.Why != c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Turns that the session does not have tell which files they wrote, and nothing of what was said.
func TestAgainTellsNothingOfOtherTurns(t *testing.T) {
	t.Parallel()
	s := store{t.TempDir()}
	wrote := line("type", "tool", "id", "c", "name", "edit", "ok", true, "wrote", []string{"a"}, "command", "make")
	s.write(t, "a.jsonl", begin("a", "/srv/shop")+user("the first words", "2026-11-22T08:00:00Z")+wrote+user("two", "2026-11-22T09:00:00Z"))
	p := placesOf(t.TempDir(), s.dir)
	kept := sessions(t, p)[0]
	first := kept.Turns[0]
	kept.Turns = kept.Turns[1:]
	got, err := again(t, p, kept)
	if err != nil {
		t.Fatal(err)
	}
	want := transcript.Turn{ID: first.ID, Files: []string{"a"}, Tools: []transcript.Tool{}}
	if diff := cmp.Diff([]transcript.Turn{want, kept.Turns[0]}, got.Turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
