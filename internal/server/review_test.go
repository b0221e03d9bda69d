package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// sleeper is a program of sleep commands that notes what it was asked.
type sleeper struct {
	mu     sync.Mutex
	asked  []string
	answer map[string]string // by command
}

func (p *sleeper) Do(_ context.Context, words ...string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := strings.Join(words, " ")
	p.asked = append(p.asked, line)
	for begin, text := range p.answer {
		if strings.Contains(line, begin) {
			return []byte(text), nil
		}
	}
	return nil, fmt.Errorf("no answer to %s", line)
}

const sleptProject = "--project="

// Tasks are reviewed and texts adopted by the commands that a terminal has, with nothing of a request as a flag.
func TestReviewAndAdoption(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	p := &sleeper{answer: map[string]string{
		"sleep review": `{"accepted": 2, "rejected": 1}`, "show": `{"words": [{"task": "t", "asked": "a", "said": "no"}], "diffs": [{"target": "memory:CLAUDE.md", "hash": "abc"}, {"target": "skill:x", "hash": ""}], "adopt_by": {"memory:CLAUDE.md": "skillopt sleep adopt"}}`,
		"adopt": `{"n": 3}`,
	}}
	s := serve(t, func(o *Options) { o.Sleep, o.SleepDir, o.Adopt = p, dir, true }, dir)
	night := "/nights/" + url.PathEscape("sleep:"+sleptNight)
	post := func(path, body string, want int) string {
		t.Helper()
		r := s.ask(http.MethodPost, path, body)
		if r.status != want {
			t.Fatalf("%s %s: %d %s", path, body, r.status, r.text)
		}
		return r.text
	}
	if text := post("/review", `{"accept":["a","--all"],"reject":["b"],"edit":[{"id":"c","gold":["15:10"],"checks":null}]}`, 200); text != `{"accepted":2,"rejected":1}` {
		t.Error(text)
	}
	post("/review", `{}`, 400)
	post("/review", `{"edit":[{"id":"c","held":""}]}`, 400)
	var of Proposal
	s.get(night+"/proposal", &of)
	want := Proposal{Words: []result.NightWords{{Task: "t", Asked: "a", Said: "no"}}, Texts: []Adoptable{{Target: "memory:CLAUDE.md", Hash: "abc", Command: "skillopt sleep adopt"}}}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := post(night+"/adopt", `{"target":"memory:CLAUDE.md","hash":"abc"}`, 200); text != `{"number":3}` {
		t.Error(text)
	}
	post(night+"/adopt", `{"target":"memory:CLAUDE.md","hash":""}`, 400)
	post(strings.Replace(night, "sleep", "other", 1)+"/adopt", `{"target":"memory:CLAUDE.md","hash":"abc"}`, 404)
	var v record.NightView
	s.get(night, &v)
	lines := []string{
		`sleep review --accept=a --accept=--all --reject=b --edit={"id":"c","gold":["15:10"],"checks":null}`,
		"sleep " + sleptProject + v.Project + " show -- " + filepath.Base(sleptNight),
		"sleep " + sleptProject + v.Project + " adopt --target=memory:CLAUDE.md --expect=abc -- " + filepath.Base(sleptNight),
	}
	if diff := cmp.Diff(lines, p.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who may not review or adopt is refused, before anything is carried out.
func TestReviewAndAdoptionAreRefused(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	night := "/nights/" + url.PathEscape("sleep:"+sleptNight)
	const review, adopt = `{"accept":["a"]}`, `{"target":"memory:CLAUDE.md","hash":"abc"}`
	for name, tt := range map[string]struct {
		change             func(*Options, *sleeper)
		review, show, take int
	}{
		"no profile":      {func(o *Options, _ *sleeper) { o.Adopt = true }, 403, 403, 403},
		"no adoption":     {func(o *Options, p *sleeper) { o.Sleep, o.SleepDir = p, dir }, 200, 200, 403},
		"read only":       {func(o *Options, p *sleeper) { o.Sleep, o.SleepDir, o.Adopt, o.ReadOnly = p, dir, true, true }, 403, 200, 403},
		"another profile": {func(o *Options, p *sleeper) { o.Sleep, o.SleepDir, o.Adopt = p, t.TempDir(), true }, 200, 409, 409},
	} {
		p := &sleeper{answer: map[string]string{"review": "{}", "show": "{}"}}
		s := serve(t, func(o *Options) { tt.change(o, p) }, dir)
		for path, want := range map[string]int{"/review": tt.review, night + "/proposal": tt.show, night + "/adopt": tt.take} {
			method, body := http.MethodPost, review
			switch path {
			case night + "/proposal":
				method, body = http.MethodGet, ""
			case night + "/adopt":
				body = adopt
			}
			if r := s.ask(method, path, body); r.status != want {
				t.Errorf("%s: %s: %d, want %d: %s", name, path, r.status, want, r.text)
			}
		}
		for _, line := range p.asked {
			if strings.Contains(line, "adopt") {
				t.Errorf("%s: %s was carried out", name, line)
			}
		}
	}
}

// The list names the night of a run, the longest name that fits.
func TestRunsAreOfNights(t *testing.T) {
	t.Parallel()
	rows := []result.RunRow{{Name: "acc4b2b5-n-memory"}, {Name: "acc4b2b5-n-2-memory"}, {Name: "acc4b2b5-other"}, {Name: "small-1"}}
	project := "/p"
	begin := record.NightRuns(project)
	for i := range rows {
		rows[i].Name = strings.Replace(rows[i].Name, "acc4b2b5-", begin, 1)
	}
	for _, name := range []string{"n", "n-2"} {
		nameRuns(rows, result.RunRow{ID: "sleep:x/" + name, Name: name, Night: &result.NightRow{Project: project}})
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.OfNight)
	}
	if diff := cmp.Diff([]string{"sleep:x/n", "sleep:x/n-2", "", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// broken is a program that ends in a panic.
type broken struct{}

func (broken) Do(context.Context, ...string) ([]byte, error) { panic("an index out of range") }

// A panic is an answer, and the next request is answered.
func TestPanicsAreAnswered(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	s := serve(t, func(o *Options) { o.Sleep, o.SleepDir = broken{}, dir }, dir)
	for range 2 {
		if r := s.ask(http.MethodGet, "/projects", ""); r.status != http.StatusInternalServerError || !strings.Contains(r.text, "an index out of range") || !strings.Contains(r.text, "projects") {
			t.Errorf("%d %s", r.status, r.text)
		}
	}
}
