package mine_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/mine"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/testing/minetest"
)

// harvest is what planted sessions came to.
type harvest struct {
	plants []minetest.Plant
	of     map[string]*minetest.Plant // by session
	mined  mine.Mined
}

func mineAll(t testing.TB, seed uint64) harvest {
	t.Helper()
	h := harvest{plants: minetest.Plants(seed), of: map[string]*minetest.Plant{}}
	var sessions []transcript.Transcript
	for i := range h.plants {
		sessions = append(sessions, h.plants[i].Session)
		h.of[h.plants[i].Session.ID] = &h.plants[i]
	}
	var err error
	h.mined, err = mine.Run(t.Context(), mine.Options{Sessions: sessions, Clean: redact.New(), Ask: func(_ context.Context, q draft.Request) (string, error) {
		reply := minetest.Reply(h.plants, q.User)
		if reply == "" {
			return "", fmt.Errorf("no session is shown:\n%s", q.User)
		}
		if q.Accept(reply) != nil {
			return "", draft.ErrLost
		}
		return reply, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// figures are how good mining is.
type figures struct {
	planted, right, wrong, held int
	leaked                      int // instructions in tasks that nobody has to look at
	split                       int // wishes with tasks on both sides
	broken                      int // wishes with tasks in several clusters
	over                        int // clusters of more than one wish
	pairs                       int // files under one rule in one cluster
}

func (h harvest) figures(t testing.TB) figures {
	t.Helper()
	var f figures
	found := map[string]bool{}
	clusters := mine.Clusters(h.mined.Tasks)
	sides, of, parts := map[string]map[int]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	order := slices.Compact(slices.Sorted(slices.Values(clusters)))
	for i, task := range h.mined.Tasks {
		for _, ref := range task.Seen {
			p := h.of[ref.Session]
			if task.Held != "" {
				f.held++
				if p.Wish != "" {
					t.Logf("held, and harmless: %s %s: %s", ref.Session, p.Family, task.Held)
				}
				continue
			}
			if p.Payload != "" && leaks(task, p.Payload) {
				f.leaked++
				t.Logf("leaked: %s %s: %+v", ref.Session, p.Family, task)
			}
			if p.Wish == "" || task.Trust != p.Trust || len(task.Task.Gold) > 0 && !strings.Contains(p.Gold, task.Task.Gold[0]) && !strings.Contains(task.Task.Gold[0], p.Gold) {
				f.wrong++
				t.Logf("wrong: %s %s: %s %q gold %q checks %s", ref.Session, p.Family, task.Trust, task.Task.Prompt, task.Task.Gold, task.Task.Checks)
				continue
			}
			f.right++
			found[ref.Session] = true
			side := 0
			if slices.Index(order, clusters[i])%5 == 4 {
				side = 1
			}
			add(sides, p.Wish, side)
			add(of, clusters[i], p.Wish)
			add(parts, p.Wish, clusters[i])
		}
	}
	for _, p := range h.plants {
		if p.Wish != "" {
			f.planted++
			if !found[p.Session.ID] {
				t.Logf("missed: %s %s", p.Session.ID, p.Family)
			}
		}
	}
	for w, s := range sides {
		if len(s) > 1 {
			f.split++
			t.Logf("on both sides: %s", w)
		}
	}
	for w, p := range parts {
		if len(p) > 1 {
			f.broken++
			t.Logf("in %d clusters: %s", len(p), w)
		}
	}
	for _, wishes := range of {
		if len(wishes) > 1 {
			f.over++
			list := slices.Sorted(maps.Keys(wishes))
			t.Logf("one cluster: %v", list)
			if n := len(slices.DeleteFunc(list, func(w string) bool { return !strings.HasPrefix(w, "convert") })); n > 1 {
				f.pairs++
			}
		}
	}
	return f
}

func add[K, V comparable](m map[K]map[V]bool, key K, value V) {
	if m[key] == nil {
		m[key] = map[V]bool{}
	}
	m[key][value] = true
}

// leaks reports whether a task holds four words of an instruction in a row, or a name in it.
func leaks(t wish.Task, payload string) bool {
	text := strings.Join(append([]string{t.Task.Prompt, t.Task.Hidden, string(t.Task.Checks)}, t.Task.Gold...), "\n")
	return draft.LongestRun(draft.Words(text), draft.Words(payload)) >= 4
}

// TestPlantedSessions is figure 2 of mining: 200 sessions, 60 of which have a task, and a miner
// that proposes one for each. With SKILLOPT_LONG=1 it is measured on 60 seeds, else on six.
func TestPlantedSessions(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if os.Getenv("SKILLOPT_LONG") != "" {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := mineAll(t, seed)
			f := h.figures(t)
			precision, recall := float64(f.right)/float64(f.right+f.wrong), float64(f.right)/float64(f.planted)
			t.Logf("seed %d: %d sessions, %d with a task: precision %.3f, recall %.3f; held %d, leaked %d, wishes on both sides %d, in several clusters %d, clusters of several wishes %d, of two files %d",
				seed, len(h.plants), f.planted, precision, recall, f.held, f.leaked, f.split, f.broken, f.over, f.pairs)
			t.Logf("%+v", h.mined.Funnel)
			if len(h.plants) != 200 || f.planted != 60 {
				t.Errorf("%d sessions, %d with a task", len(h.plants), f.planted)
			}
			if precision < 0.95 || recall < 0.8 || f.leaked > 0 || f.split > 0 || f.broken > 0 || f.pairs > 0 {
				t.Error("not good enough")
			}
		})
	}
}

// TestWishesStayWholeOverNights: what comes night by night joins the clusters that are known, so
// that no wish is on both sides, whichever nights it comes in.
func TestWishesStayWholeOverNights(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		h := mineAll(t, 40+seed)
		var known []mine.Known
		of, parts := map[string]map[string]bool{}, 0
		for night := range slices.Chunk(h.mined.Tasks, 9) {
			for i, name := range mine.Clusters(night, known...) {
				known = append(known, mine.Known{Cluster: name, Task: night[i]})
				if p := h.of[night[i].Seen[0].Session]; p.Wish != "" {
					add(of, p.Wish, name)
				}
			}
		}
		for w, names := range of {
			if len(names) > 1 {
				parts++
				t.Errorf("seed %d: %s is in %d clusters", seed, w, len(names))
			}
		}
		t.Logf("seed %d: %d tasks, %d wishes, %d of them in several clusters", seed, len(known), len(of), parts)
	}
}
