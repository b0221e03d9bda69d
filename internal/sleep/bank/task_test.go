package bank_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

const month = 30 * 24 * time.Hour

var evening = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// wished are tasks of wishes of their own, numbered from a number on.
func wished(skill string, from, n int) []wish.Task {
	out := make([]wish.Task, n)
	for i := range out {
		k := from + i
		out[i] = wish.Task{
			Task: task.Task{ID: fmt.Sprintf("%s-t%03d", skill, k), Prompt: fmt.Sprintf("wish %d", k), Gold: []string{"yes"}}, Trust: wish.ByCorrection,
			Project: "/srv/shop", Skill: skill, At: evening.Add(time.Duration(k) * time.Minute), Outcome: fmt.Sprint(k),
			Seen: []wish.Ref{{Source: "claude", Session: fmt.Sprintf("s%d", k), Turn: fmt.Sprintf("u%d", k)}},
		}
	}
	return out
}

// byOutcome takes equal outcomes for one wish.
func byOutcome(known []wish.Task, t *wish.Task) int {
	return slices.IndexFunc(known, func(k wish.Task) bool { return k.Outcome == t.Outcome })
}

func sides(t *testing.T, b *bank.Bank, skill string) map[string]wish.Side {
	t.Helper()
	clusters, err := b.Clusters(t.Context(), "/srv/shop", skill)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]wish.Side{}
	for _, c := range clusters {
		for _, w := range c.Tasks {
			out[w.Task.Task.ID] = c.Side
		}
	}
	return out
}

func take(t *testing.T, b *bank.Bank, night string, tasks []wish.Task) result.NightTaken {
	t.Helper()
	got, err := b.Take(t.Context(), night, tasks, byOutcome, evening.Add(2*time.Hour), month)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Quotas are exact, and what comes later moves nothing.
func TestTrap16OldTasksDoNotMove(t *testing.T) {
	b := open(t, t.TempDir())
	if got := take(t, b, "n1", wished("a", 0, 60)); got.New != 60 || got.Test != 12 {
		t.Errorf("%+v", got)
	}
	before := sides(t, b, "a")
	if got := take(t, b, "n2", wished("a", 60, 10)); got.New != 10 || got.Test != 2 {
		t.Errorf("%+v", got)
	}
	after := sides(t, b, "a")
	for id, side := range before {
		if after[id] != side {
			t.Errorf("%s: %s, then %s", id, side, after[id])
		}
	}
	// Of another skill every fifth is put aside as well.
	if got := take(t, b, "n2", wished("b", 0, 4)); got.Test != 0 {
		t.Errorf("%+v", got)
	}
	if got := take(t, b, "n3", wished("b", 4, 1)); got.Test != 1 {
		t.Errorf("%+v", got)
	}
}

// However many words a wish has, it is one cluster and lies on one side.
func TestTrap81OneWishIsOneCluster(t *testing.T) {
	b := open(t, t.TempDir())
	all := wished("a", 0, 5)
	for i := range 8 { // of the last one, which is test
		w := all[4]
		w.Task.ID, w.Task.Prompt = fmt.Sprintf("again-%d", i), fmt.Sprintf("in other words %d", i)
		w.At = w.At.Add(time.Duration(i+1) * time.Minute)
		w.Seen = []wish.Ref{{Source: "claude", Session: fmt.Sprintf("p%d", i), Turn: "u"}}
		all = append(all, w)
	}
	if got := take(t, b, "n1", all); got.New != 5 || got.Again != 8 || got.Test != 1 {
		t.Errorf("%+v", got)
	}
	for id, side := range sides(t, b, "a") {
		if want := strings.HasPrefix(id, "again") || id == "a-t004"; (side == wish.Test) != want {
			t.Errorf("%s is %s", id, side)
		}
	}
	// The same night done again takes nothing twice.
	if got := take(t, b, "n1", all); got.New != 0 || got.Again != 0 {
		t.Errorf("again: %+v", got)
	}
}

func TestTrap84WhatWasOpenedIsOpen(t *testing.T) {
	b := open(t, t.TempDir())
	take(t, b, "n1", wished("a", 0, 10))
	clusters, _ := b.Clusters(t.Context(), "/srv/shop", "a")
	var tests []int64
	for _, c := range clusters {
		if c.Side == wish.Test {
			tests = append(tests, c.Number)
		}
	}
	if err := b.OpenTests(t.Context(), "n2", append(slices.Clone(tests), clusters[0].Number)); err == nil || sides(t, b, "a")["a-t004"] != wish.Test {
		t.Errorf("an open cluster was opened as a test: %v", err)
	}
	for range 2 { // a night that was killed goes on
		if err := b.OpenTests(t.Context(), "n2", tests); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.OpenTests(t.Context(), "n3", tests); err == nil {
		t.Error("a test was opened by two nights")
	}
	// Shown again it stays open.
	more := wished("a", 4, 1)
	more[0].Seen[0].Session, more[0].At = "later", evening.Add(24*time.Hour)
	take(t, b, "n3", more)
	if got := sides(t, b, "a")["a-t004"]; got != wish.Open {
		t.Errorf("it is %s", got)
	}
}

// What is held or cannot be carried out takes no place among the sides until somebody accepts it.
func TestHeldTasksWait(t *testing.T) {
	b := open(t, t.TempDir())
	all := wished("a", 0, 6)
	all[0].Held, all[1].Unfit = "it asks to run a program from the network", "dirty tree: a.go"
	if got := take(t, b, "n1", all); got.Held != 1 || got.Unfit != 1 || got.Test != 0 {
		t.Errorf("%+v", got)
	}
	if got := sides(t, b, "a"); got["a-t000"] != "" || got["a-t001"] != "" {
		t.Errorf("%v", got)
	}
	if err := b.Say(t.Context(), "n2", map[string]bank.Review{"a-t000": bank.Accepted, "a-t002": bank.Rejected}); err != nil {
		t.Fatal(err)
	}
	if got := sides(t, b, "a")["a-t000"]; got != wish.Test {
		t.Errorf("the fifth is %s", got)
	}
	if err := b.Say(t.Context(), "n2", map[string]bank.Review{"nobody": bank.Accepted}); err == nil {
		t.Error("an unknown task was reviewed")
	}
	clusters, _ := b.Clusters(t.Context(), "/srv/shop", "a")
	if c := clusters[0]; c.Tasks[0].Task.Task.Unreviewed || !clusters[3].Tasks[0].Task.Task.Unreviewed {
		t.Errorf("%+v", c.Tasks[0])
	}
}

func TestWeightHalvesAndWakes(t *testing.T) {
	b := open(t, t.TempDir())
	take(t, b, "n1", wished("a", 0, 1))
	weigh := func(now time.Time) (float64, bool) {
		clusters, _ := b.Clusters(t.Context(), "/srv/shop", "a")
		return clusters[0].Weight(now, month), clusters[0].Asleep(now, month)
	}
	if w, asleep := weigh(evening.Add(month)); w < 0.499 || w > 0.501 || asleep {
		t.Errorf("%v %v", w, asleep)
	}
	if _, asleep := weigh(evening.Add(4 * month)); !asleep {
		t.Error("it does not sleep")
	}
	again := wished("a", 0, 1)
	again[0].Seen[0].Turn, again[0].At = "later", evening.Add(4*month)
	take(t, b, "n9", again)
	if w, asleep := weigh(evening.Add(4 * month)); w != 1 || asleep {
		t.Errorf("shown again: %v %v", w, asleep)
	}
}

func TestTooManyClustersOfASkill(t *testing.T) {
	b := open(t, t.TempDir())
	got := take(t, b, "n1", wished("a", 0, bank.MaxClusters+20))
	if got.Dropped != 20 {
		t.Errorf("%+v", got)
	}
	left := sides(t, b, "a")
	if _, there := left["a-t000"]; there || len(left) != bank.MaxClusters || left["a-t004"] != wish.Test {
		t.Errorf("%d left", len(left))
	}
}

// Nothing of a project, or of a session, is left.
func TestForgetTakesTasksAlong(t *testing.T) {
	b := open(t, t.TempDir())
	keep(t, b, "/store", session("s1", "/srv/shop", "/store", "u1"), session("s2", "/srv/shop", "/store", "u2"))
	all := wished("a", 1, 2)
	all[1].Seen = append(all[1].Seen, all[0].Seen[0])
	take(t, b, "n1", all)
	if err := b.NoteMined(t.Context(), "n1", map[[2]string]string{{"claude", "s1"}: "m"}); err != nil {
		t.Fatal(err)
	}
	if err := b.ForgetSession(t.Context(), "claude", "s1", evening); err != nil {
		t.Fatal(err)
	}
	if got := sides(t, b, "a"); len(got) != 1 || got["a-t002"] != wish.Open {
		t.Errorf("%v", got)
	}
	if err := b.PutNight(t.Context(), bank.Night{ID: "n1", Project: "/srv/shop", Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Stage(t.Context(), bank.Candidate{Project: "/srv/shop", Target: "a", Night: "n1", State: bank.Carried, Level: 0.01}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ForgetProject(t.Context(), nil, func(p string) bool { return p == "/srv/shop" }, evening); err != nil {
		t.Fatal(err)
	}
	nights, err1 := b.Nights(t.Context(), "")
	groups, err2 := b.Groups(t.Context())
	candidates, err3 := b.Candidates(t.Context(), "/srv/shop", "a")
	if len(nights)+len(groups)+len(candidates) > 0 || err1 != nil || err2 != nil || err3 != nil {
		t.Errorf("%v %v %v", nights, groups, candidates)
	}
}

func TestCandidates(t *testing.T) {
	b := open(t, t.TempDir())
	ctx := t.Context()
	c := bank.Candidate{Project: "/srv/shop", Target: "a", Night: "n1", State: bank.Carried, Level: 0.0152, Text: "t1", Live: "l", Terms: "m", Known: []int64{1, 2}}
	n1, err := b.Stage(ctx, c, "")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Stage(ctx, c, ""); err != nil || again != n1 {
		t.Errorf("the same night once more: %d, %v", again, err)
	}
	c.Number = n1
	c.Pairs = []bank.Pair{{Cluster: 7, Night: "n2", Live: 0, Staged: 1}}
	if err := b.Update(ctx, c); err != nil {
		t.Fatal(err)
	}
	c.Pairs = []bank.Pair{{Cluster: 7, Night: "n3", Live: 1, Staged: 0}, {Cluster: 8, Night: "n3", Live: 1, Staged: 1}}
	if err := b.Update(ctx, c); err != nil {
		t.Fatal(err)
	}
	next := c
	next.Night, next.Text, next.Level, next.Pairs = "n4", "t2", 0.003, nil
	if _, err := b.Stage(ctx, next, "another text was staged"); err != nil {
		t.Fatal(err)
	}
	got, err := b.Candidates(ctx, "/srv/shop", "a")
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := []bank.Pair{{Cluster: 7, Night: "n2", Live: 0, Staged: 1}, {Cluster: 8, Night: "n3", Live: 1, Staged: 1}}
	if d := cmp.Diff(want, got[0].Pairs); d != "" || got[0].State != bank.Dropped || got[0].Reason != "another text was staged" || got[1].State != bank.Carried || got[1].Level != 0.003 {
		t.Errorf("%s %+v", d, got)
	}
}

// Reviewed tasks have the texts of their file, are measured before others of their cluster, keep the side of that, and go when their session is forgotten.
func TestReviewedTasksCountAsTheyAre(t *testing.T) {
	b := open(t, t.TempDir())
	take(t, b, "n1", wished("a", 0, 10))
	reviewed := wished("a", 4, 3) // the fifth is put aside as test
	for i := range reviewed {
		reviewed[i].Task.ID, reviewed[i].Trust, reviewed[i].Seen = fmt.Sprint("file-", i), wish.ByPerson, nil
	}
	reviewed[2].Seen = []wish.Ref{{Source: "claude", Session: "s6", Turn: "u6"}}
	for _, gold := range []string{"no", "maybe"} {
		for i := range reviewed {
			reviewed[i].Task.Gold = []string{gold}
		}
		got, err := b.TakeReviewed(t.Context(), "n2", reviewed, byOutcome, evening.Add(2*time.Hour), month)
		if want := (result.NightTaken{Again: 3}); err != nil || got != want {
			t.Fatalf("%v, %+v", err, got)
		}
		clusters, err := b.Clusters(t.Context(), "/srv/shop", "a")
		if err != nil || len(clusters) != 10 {
			t.Fatalf("%v, %d clusters", err, len(clusters))
		}
		for i, c := range clusters[4:7] {
			first := c.Tasks[0]
			if first.Task.Task.ID != reviewed[i].Task.ID || first.Reviewed != bank.Accepted || first.Task.Task.Unreviewed || first.Task.Task.Gold[0] != gold || (c.Side == wish.Test) != (i == 0) {
				t.Errorf("%+v in a cluster of %s", first, c.Side)
			}
		}
	}
	if err := b.ForgetSession(t.Context(), "claude", "s6", evening.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	left := sides(t, b, "a")
	if _, there := left["file-2"]; there || len(left) != 11 {
		t.Errorf("%v", left)
	}
}
