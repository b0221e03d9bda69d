package harvest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// store is a folder with sessions in the format of ours.
type store struct{ dir string }

// line is a record of a session.
func line(members ...any) string {
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

func begin(id, project string, members ...any) string {
	return line(append([]any{"type", "session", "id", id, "project", project}, members...)...)
}

func user(text, at string) string { return line("type", "user", "text", text, "time", at) }

func (s store) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run harvests into the bank of a folder.
func (s store) run(t *testing.T, state string, change func(*harvest.Terms, *harvest.Inputs)) harvest.Report {
	t.Helper()
	b, err := bank.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	terms := harvest.Terms{Projects: harvest.NewProjects("/srv/shop"), Keep: 90 * 24 * time.Hour}
	in := harvest.Inputs{
		Sources: []transcript.Source{transcript.JSONL{}}, Clean: redact.New(), Now: now, Workers: 2,
		Places: transcript.Places{Home: t.TempDir(), OS: "linux", Env: func(string) string { return "" }, Given: map[string]string{"jsonl": s.dir}},
	}
	if change != nil {
		change(&terms, &in)
	}
	report, err := harvest.Run(t.Context(), b, terms, in)
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	return report
}

// kept are the users' words that are kept, by session.
func kept(t *testing.T, state string) map[string]string {
	t.Helper()
	b, err := bank.Look(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	err = b.Sessions(t.Context(), bank.Filter{}, func(s bank.Session) error {
		var words []string
		for i := range s.Turns {
			words = append(words, s.Turns[i].User)
		}
		out[s.ID] = strings.Join(words, "|")
		return nil
	})
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOnlyWhatIsNewIsRead(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	one := begin("a", "/srv/shop") + user("one", "2026-11-20T08:00:00Z")
	s.write(t, "a.jsonl", one)
	s.write(t, "b.jsonl", begin("b", "/srv/shop/below")+user("other", "2026-11-21T08:00:00+02:00"))
	if r := s.run(t, state, nil); r.Sessions != 2 || r.Turns != 2 {
		t.Errorf("first: %+v", r)
	}
	if r := s.run(t, state, nil); r.Sessions != 0 || r.Bytes != 0 || r.Kept.Sessions != 2 {
		t.Errorf("without news: %+v", r)
	}
	s.write(t, "a.jsonl", one+user("two", "2026-11-20T09:00:00Z")+`{"type": "user", "text": "half`)
	if r := s.run(t, state, nil); r.Sessions != 1 || r.Kept.Turns != 3 {
		t.Errorf("grown: %+v", r)
	}
	if diff := cmp.Diff(map[string]string{"a": "one|two", "b": "other"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	s.write(t, "a.jsonl", begin("c", "/srv/shop")+user("replaced", "2026-11-22T08:00:00Z"))
	s.run(t, state, nil)
	if diff := cmp.Diff(map[string]string{"c": "replaced", "b": "other"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(s.dir, "b.jsonl")); err != nil {
		t.Fatal(err)
	}
	if r := s.run(t, state, nil); r.Kept.Sessions != 2 || r.Stores[len(r.Stores)-1].State != "gone" {
		t.Errorf("a store is gone: %+v", r)
	}
}

// The same bytes and time with another end: an editor that sets the time back.
func TestAChangeThatHidesIsSeen(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	at := time.Unix(1_790_000_000, 0)
	for _, word := range []string{"one", "two"} {
		s.write(t, "a.jsonl", begin("a", "/srv/shop")+user(word, "2026-11-20T08:00:00Z"))
		if err := os.Chtimes(filepath.Join(s.dir, "a.jsonl"), at, at); err != nil {
			t.Fatal(err)
		}
		s.run(t, state, nil)
		if diff := cmp.Diff(map[string]string{"a": word}, kept(t, state)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	for _, name := range []string{"manifest.json", "run.db"} {
		if err := os.WriteFile(filepath.Join(run, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, state := store{t.TempDir()}, t.TempDir()
	for name, text := range map[string]string{
		"ok":       begin("ok", "/srv/shop") + user("x", "2026-11-20T08:00:00Z"),
		"beside":   begin("beside", "/srv/shopping") + user("x", "2026-11-20T08:00:00Z"),
		"up":       begin("up", "/srv/shop/../other") + user("x", "2026-11-20T08:00:00Z"),
		"headless": begin("headless", "/srv/shop", "headless", true) + user("x", "2026-11-20T08:00:00Z"),
		"old":      begin("old", "/srv/shop") + user("x", "2026-01-20T08:00:00Z"),
		"none":     begin("none", "") + user("x", "2026-11-20T08:00:00Z"),
		"replay":   begin("replay", filepath.Join(run, "work", "t1")) + user("x", "2026-11-20T08:00:00Z"),
		"seat":     begin("seat", "/tmp/skillopt-seat-123/w") + user("x", "2026-11-20T08:00:00Z"),
		"empty":    begin("empty", "/srv/shop"),
	} {
		s.write(t, name+".jsonl", text)
	}
	wide := func(terms *harvest.Terms, _ *harvest.Inputs) {
		terms.Projects = harvest.NewProjects("/srv/shop", run, "/tmp")
	}
	report := s.run(t, state, wide)
	left := map[string]int{}
	for _, st := range report.Stores {
		for why, n := range st.LeftOut {
			left[why] += n
		}
	}
	want := map[string]int{harvest.Headless: 1, harvest.TooOld: 1, harvest.Replay: 2, harvest.NotAllowed: 2, harvest.NoProject: 1}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"ok": "x"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	s.run(t, state, func(terms *harvest.Terms, in *harvest.Inputs) { wide(terms, in); terms.Headless = true })
	if diff := cmp.Diff(map[string]string{"ok": "x", "headless": "x"}, kept(t, state)); diff != "" {
		t.Errorf("other terms: %s", diff)
	}
}

func TestSinceDoesNotLoseWhatIsOlder(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	s.write(t, "a.jsonl", begin("a", "/srv/shop")+user("x", "2026-11-10T08:00:00Z"))
	s.write(t, "b.jsonl", begin("b", "/srv/shop")+user("y", "2026-11-24T23:00:00-10:00"))
	since := func(terms *harvest.Terms, _ *harvest.Inputs) { terms.Since = now.Add(-72 * time.Hour) }
	s.run(t, state, since)
	if diff := cmp.Diff(map[string]string{"b": "y"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	if r := s.run(t, state, since); r.Bytes != 0 {
		t.Errorf("read again: %+v", r)
	}
	s.run(t, state, nil)
	if diff := cmp.Diff(map[string]string{"a": "x", "b": "y"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
}

// A store depends on more than its files: on what is kept, and on what the agent notes elsewhere.
func TestWhatIsKeptLongerIsReadAgain(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	s.write(t, "a.jsonl", begin("a", "/srv/shop")+user("x", "2026-06-10T08:00:00Z"))
	s.run(t, state, nil)
	if diff := cmp.Diff(map[string]string{}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	longer := func(terms *harvest.Terms, _ *harvest.Inputs) { terms.Keep = 365 * 24 * time.Hour }
	s.run(t, state, longer)
	if diff := cmp.Diff(map[string]string{"a": "x"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	later := func(terms *harvest.Terms, in *harvest.Inputs) { longer(terms, in); in.Now = in.Now.Add(time.Hour) }
	if r := s.run(t, state, later); r.Bytes != 0 {
		t.Errorf("read again: %+v", r)
	}
}

func TestCursorProjectThatIsNotedLater(t *testing.T) {
	t.Parallel()
	home, state := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(home, ".cursor", "projects", "srv-shop-of-two", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("agent-transcripts/s/s.jsonl", `{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>Friday, Nov 20, 2026, 2:21 AM (UTC)</timestamp><user_query>hi</user_query>"}]}}`+"\n")
	s := store{t.TempDir()}
	cursor := func(_ *harvest.Terms, in *harvest.Inputs) {
		in.Sources, in.Places = []transcript.Source{transcript.Cursor{}}, transcript.Places{Home: home, OS: "linux", Env: func(string) string { return "" }}
	}
	s.run(t, state, cursor)
	if diff := cmp.Diff(map[string]string{}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
	write(".workspace-trusted", `{"workspacePath":"/srv/shop/of-two"}`)
	s.run(t, state, cursor)
	if diff := cmp.Diff(map[string]string{"s": "hi"}, kept(t, state)); diff != "" {
		t.Error(diff)
	}
}

func TestABadStoreDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	s.write(t, "a.jsonl", "no json\n"+begin("a", "/srv/shop")+user("x", "2026-11-20T08:00:00Z"))
	s.write(t, "b.jsonl", user("no session", "2026-11-20T08:00:00Z"))
	s.write(t, "c.jsonl", begin("c", "/srv/shop")+user("y", "2026-11-20T08:00:00Z"))
	report := s.run(t, state, nil)
	n := 0
	for _, st := range report.Stores {
		n += len(st.Problems)
	}
	if diff := cmp.Diff(map[string]string{"a": "x", "c": "y"}, kept(t, state)); diff != "" || n != 2 {
		t.Errorf("%s %d problems: %+v", diff, n, report.Stores)
	}
}

func TestDryRunKeepsNothing(t *testing.T) {
	t.Parallel()
	s := store{t.TempDir()}
	s.write(t, "a.jsonl", begin("a", "/srv/shop")+user("x", "2026-11-20T08:00:00Z"))
	in := harvest.Inputs{
		Sources: []transcript.Source{transcript.JSONL{}}, Clean: redact.New(), Now: now, Temp: t.TempDir(),
		Places: transcript.Places{Home: t.TempDir(), OS: "linux", Env: func(string) string { return "" }, Given: map[string]string{"jsonl": s.dir}},
	}
	report, err := harvest.Run(t.Context(), nil, harvest.Terms{Projects: harvest.NewProjects("/srv/shop")}, in)
	if err != nil || len(report.Found) != 1 || report.Found[0].Turns[0].User != "x" || !report.DryRun {
		t.Errorf("%+v %v", report, err)
	}
}

// Whoever stops a harvest keeps what was read, and the next one goes on.
func TestAStoppedHarvestGoesOn(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	for i := range 40 {
		s.write(t, fmt.Sprintf("%02d.jsonl", i), begin(fmt.Sprint("s", i), "/srv/shop")+user(fmt.Sprint("said ", i), "2026-11-20T08:00:00Z"))
	}
	b, err := bank.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in := harvest.Inputs{
		Sources: []transcript.Source{transcript.JSONL{}}, Clean: redact.New(), Now: now, Workers: 1,
		Places: transcript.Places{Home: t.TempDir(), OS: "linux", Env: func(string) string { return "" }, Given: map[string]string{"jsonl": s.dir}},
	}
	n := 0
	in.Seen = func(harvest.StoreReport) {
		if n++; n == 10 {
			cancel()
		}
	}
	_, err = harvest.Run(ctx, b, harvest.Terms{Projects: harvest.NewProjects("/srv/shop")}, in)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	got := len(kept(t, state))
	if got < 9 || got == 40 {
		t.Errorf("%d sessions are kept of the 10 that were read", got)
	}
	if r := s.run(t, state, nil); r.Sessions != 40-got || len(kept(t, state)) != 40 {
		t.Errorf("then %d were read", r.Sessions)
	}
}
