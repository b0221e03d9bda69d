package night_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

var dusk = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// planted is a miner that knows which session shows which task.
type planted struct {
	tasks map[string]wish.Task // by session
	calls int
}

func (p *planted) Way() string { return "planted" }

func (p *planted) Mine(_ context.Context, _ config.Config, sessions []bank.Session, _ []wish.Task, _ ...skillopt.Option) ([]wish.Task, *result.Mine, error) {
	p.calls++
	var out []wish.Task
	for _, s := range sessions {
		if t, ok := p.tasks[s.ID]; ok {
			out = append(out, t)
		}
	}
	return out, &result.Mine{Simulated: true}, nil
}

func (*planted) Same(known []wish.Task, t *wish.Task) int {
	return slices.IndexFunc(known, func(k wish.Task) bool { return k.Input == t.Input && k.Outcome == t.Outcome })
}

func (*planted) Suspicious(text string, _ []bank.Session) string {
	if strings.Contains(text, "curl ") {
		return "it asks to run a command that no words of the user's own have: curl"
	}
	return ""
}

// home is a user with a project in a simulated world.
type home struct {
	t       *testing.T
	dir     string
	project string
	bank    *bank.Bank
	miner   *planted
	world   *worlds.World
	cfg     config.Config
	next    int // item that the next session shows
	now     time.Time

	shape func(*bank.Session, *wish.Task) // changes what a day brings; nil: nothing
}

func newHome(t *testing.T, p worlds.Params) *home {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: filepath.Join(base, "sleep"), project: filepath.Join(base, "shop"), miner: &planted{tasks: map[string]wish.Task{}}, now: dusk}
	if h.world, err = worlds.New(p); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "world.yaml")
	if err := errors.Join(os.Mkdir(h.project, 0o755), os.WriteFile(filepath.Join(h.project, "CLAUDE.md"), []byte("# Shop\n\nAnswer briefly.\n"), 0o644), os.WriteFile(file, h.world.YAML, 0o600)); err != nil {
		t.Fatal(err)
	}
	if h.bank, err = bank.Open(t.Context(), h.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.bank.Close() })
	h.cfg = config.Default()
	for _, m := range []*config.Model{&h.cfg.Models.Target, &h.cfg.Models.Optimizer} {
		m.Provider, m.World = "sim", file
	}
	h.cfg.Models.Target.MaxTokens = 100
	h.cfg.Tasks.Extract = "tag:answer"
	return h
}

// day has sessions that show a task each, of a skill.
func (h *home) day(n int, skill string, accepted bool) {
	h.t.Helper()
	var list []bank.Session
	for range n {
		item := h.world.Items[h.next]
		id := fmt.Sprintf("s%03d", h.next)
		h.next++
		at := h.now.Add(-time.Hour).Add(time.Duration(h.next) * time.Second)
		list = append(list, bank.Session{Store: "/store", Transcript: transcript.Transcript{
			Source: "claude", ID: id, Project: h.project, Origin: transcript.Interactive, Started: at, Ended: at,
			Turns: []transcript.Turn{{ID: id + "-1", Started: at, Ended: at, User: item.Prompt, Agent: "wrong"}},
		}})
		h.miner.tasks[id] = wish.Task{
			Task: task.Task{ID: item.ID, Type: item.Type, Prompt: item.Prompt, Gold: []string{item.Gold}}, Trust: wish.ByCorrection, Project: h.project, Skill: skill,
			Seen: []wish.Ref{{Source: "claude", Session: id, Turn: id + "-1"}}, At: at, Input: item.ID, Outcome: item.Gold,
		}
		if h.shape != nil {
			w := h.miner.tasks[id]
			h.shape(&list[len(list)-1], &w)
			h.miner.tasks[id] = w
		}
	}
	store := fmt.Sprintf("/store-%d", h.next)
	for i := range list {
		list[i].Store = store
	}
	if err := errors.Join(h.bank.Keep(h.t.Context(), []bank.Kept{{Store: bank.Store{Path: store, Source: "claude", ReadAt: h.now}, Sessions: list}}), h.bank.Settle(h.t.Context())); err != nil {
		h.t.Fatal(err)
	}
}

// night is carried out a day later.
func (h *home) night(change ...func(*night.Options)) *night.Report {
	h.t.Helper()
	r, err := h.try(change...)
	if err != nil {
		h.t.Fatal(err)
	}
	h.now = h.now.Add(24 * time.Hour)
	return r
}

func (h *home) try(change ...func(*night.Options)) (*night.Report, error) {
	return h.within(h.t.Context(), change...)
}

func (h *home) within(ctx context.Context, change ...func(*night.Options)) (*night.Report, error) {
	return night.Run(ctx, h.options(change...))
}

func (h *home) options(change ...func(*night.Options)) night.Options {
	o := night.Options{
		Bank: h.bank, Dir: h.dir, Config: h.cfg, Project: h.project, Places: target.Places{Project: h.project, Home: filepath.Join(filepath.Dir(h.project), "home")},
		Miner: h.miner, Version: "test", Now: func() time.Time { return h.now },
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// reviewed accepts all tasks.
func (h *home) reviewed() {
	h.t.Helper()
	groups, err := h.bank.Groups(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	said := map[string]bank.Review{}
	for _, g := range groups {
		clusters, err := h.bank.Clusters(h.t.Context(), g.Project, g.Skill)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, c := range clusters {
			for _, w := range c.Tasks {
				said[w.Task.Task.ID] = bank.Accepted
			}
		}
	}
	if err := h.bank.Say(h.t.Context(), "review", said); err != nil {
		h.t.Fatal(err)
	}
}

func small() worlds.Params {
	p := worlds.Default()
	p.Tasks, p.Rules, p.Depth, p.Plain, p.Skew, p.Noise, p.Flip, p.Harm, p.Note = 200, 6, 1, 0.1, 0, 0, 0.02, 0.1, 0.1
	return p
}

// Enough tasks of the project's own make rules of its memory file, which are better on fresh answers; the project stays
// as it is.
func TestANightTrainsTheMemoryFile(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(30, "", true)
	before, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
	r := h.night()
	if len(r.Targets) != 1 {
		t.Fatalf("%+v", r)
	}
	got := r.Targets[0]
	t.Logf("%s: %s; baseline %+v, confirmed %+v, can %+v, rules %d, spent %+v", got.Outcome, got.Reason, got.Baseline, got.Confirmed, got.Can, len(got.Rules), r.Spent)
	if got.Outcome != night.Supported || got.Target != "memory:CLAUDE.md" || len(got.Rules) == 0 || !r.Exploratory || !r.Simulated {
		t.Errorf("%+v", got)
	}
	mined := int64(0)
	for name, u := range r.ByRun {
		if !strings.Contains(name, "memory-CLAUDE.md") {
			mined += u.Calls
		}
	}
	if got.Spent.Calls == 0 || got.Spent.Calls+mined != r.Spent.Calls {
		t.Errorf("calls: %d of the document, %d of mining, %d in all", got.Spent.Calls, mined, r.Spent.Calls)
	}
	after, _ := os.ReadFile(filepath.Join(h.project, "CLAUDE.md"))
	if string(before) != string(after) {
		t.Error("the project's file was changed")
	}
	p, err := night.Open(h.dir, h.project, r.ID)
	if err != nil || p.Verify(h.dir) != nil {
		t.Fatalf("%v", err)
	}
	text, err := p.Text("memory:CLAUDE.md")
	if err != nil || !strings.HasPrefix(text, string(before)) {
		t.Errorf("%v: %s", err, text)
	}
}

// A session that is read a night late, since its store came late or a harvest ran just before it ended, is
// mined all the same, and its task is one of tonight.
func TestALateSessionIsNotLost(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(3, "", true)
	first := h.night()
	now := h.now
	h.now = first.Started.Add(-time.Hour) // sessions that ended before the first night began
	h.day(2, "", true)
	h.now = now
	r := h.night()
	if c := r.Targets[0].Groups; r.Mined.Sessions != 2 || c.Tonight+c.Fresh != 2 {
		t.Errorf("mined %d sessions, %+v", r.Mined.Sessions, r.Targets[0].Groups)
	}
}

// Whoever declined is asked again by the same night, and whoever agreed is not.
func TestConsentToSpendIsKept(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(3, "", true)
	asked, answer := 0, errors.New("no")
	confirm := func(o *night.Options) {
		o.Confirm = func(*night.Report) error { asked++; return answer }
	}
	if _, err := h.try(confirm); !errors.Is(err, answer) {
		t.Fatal(err)
	}
	answer = nil
	if r, err := h.try(confirm); err != nil || !r.Agreed || asked != 2 || h.miner.calls != 1 {
		t.Errorf("%v: asked %d times, mined %d times", err, asked, h.miner.calls)
	}
}

// What a night has mined and could not work on is new to the next one.
func TestWhatWasNotWorkedOnIsNew(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(4, "", true)
	if r := h.night(func(o *night.Options) { o.Config.Sleep.Targets = []string{"skills"} }); len(r.Skipped) != 1 || len(r.Targets) > 0 {
		t.Fatalf("%+v", r)
	}
	if r := h.night(); len(r.Targets) != 1 || r.Targets[0].Groups.Tonight != 4 || r.Targets[0].Outcome == night.NoData {
		t.Errorf("%+v", r.Targets)
	}
}
