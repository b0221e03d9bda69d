//go:build unix

package adopt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
)

// childEnv tells the test binary to be a process that is killed.
const childEnv = "SKILLOPT_TEST_ADOPT"

// order is what such a process does.
type order struct {
	Project, Dir string
	Items        []adopt.Item
	Branch       string
	Recover      bool // instead of adopting
	Kill         int  // at this point, counted from 1
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Exit(child(text))
	}
	os.Exit(m.Run())
}

// child carries an order out and prints how many points it passed.
func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return 3
	}
	w := world{project: o.Project, dir: o.Dir}
	s, passed := w.store(), 0
	s.At(func(string) error {
		if passed++; passed == o.Kill {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})
	var err error
	if o.Recover {
		err = s.Recover(context.Background())
	} else {
		_, err = s.Adopt(context.Background(), adopt.Request{Project: o.Project, Night: "n1", Items: o.Items, Branch: o.Branch})
	}
	fmt.Println(passed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// run has a process carry an order out; killed reports whether it was killed.
func run(t *testing.T, o order) (killed bool) {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(data))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return false
}

// scene is a project and what is proposed for it.
type scene struct {
	name  string
	files map[string]string
	want  map[string][]string // rules by document

	whole  map[string]string // texts of other files of a skill's folder
	branch string
}

func scenes() []scene {
	one := map[string]string{"CLAUDE.md": "# House\n"}
	return []scene{
		{name: "a new file", want: map[string][]string{"CLAUDE.md": {"- A."}}},
		{name: "an existing file", files: one, want: map[string][]string{"CLAUDE.md": {"- A."}}},
		{name: "two documents", files: map[string]string{"AGENTS.md": "# One\n", "skills/x/SKILL.md": "# Two\n"}, want: map[string][]string{"AGENTS.md": {"- A."}, "skills/x/SKILL.md": {"- B."}}},
		{name: "a folder", files: one, want: map[string][]string{".github/deep/instructions.md": {"- A."}, "CLAUDE.md": {"- B."}}},
		{
			name: "a skill's folder", files: map[string]string{"skills/x/SKILL.md": "# Two\n", "skills/x/references/a.md": "# A\n"}, want: map[string][]string{"skills/x/SKILL.md": {"- B."}},
			whole: map[string]string{"skills/x/references/a.md": "# Another\n", "skills/x/more/b.md": "# B\n"},
		},
		{name: "a branch", files: one, want: map[string][]string{".github/deep/instructions.md": {"- A."}, "CLAUDE.md": {"- B."}}, branch: "rules"},
	}
}

func (sc scene) set(t *testing.T) (world, order) {
	w := newWorld(t)
	for name, text := range sc.files {
		w.write(name, text)
	}
	if sc.branch != "" {
		gitIn(t, w.project, "init", "-q", "-b", "main")
		gitIn(t, w.project, "add", "-A")
		gitIn(t, w.project, "commit", "-q", "-m", "one")
	}
	o := order{Project: w.project, Dir: w.dir, Branch: sc.branch}
	for _, name := range []string{"skills/x/SKILL.md", ".github/deep/instructions.md", "AGENTS.md", "CLAUDE.md"} {
		if rules, ok := sc.want[name]; ok {
			o.Items = append(o.Items, w.item(name, rules...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sc.whole)) {
		it := w.item(name, "-")
		it.Proposed, it.Whole, it.Rules = sc.whole[name], true, nil
		o.Items = append(o.Items, it)
	}
	return w, o
}

// looked is all that a scene can change: the files, or those of its branch.
func (sc scene) looked(w world) map[string]string {
	out := w.files()
	if sc.branch == "" || gitIn(w.t, w.project, "branch", "--list", sc.branch) == "" {
		return out
	}
	for name := range strings.Lines(gitIn(w.t, w.project, "ls-tree", "-r", "--name-only", sc.branch) + "\n") {
		out[sc.branch+":"+strings.TrimSpace(name)] = w.show(sc.branch, strings.TrimSpace(name))
	}
	return out
}

// TestTrap52KilledAnywhere kills an adoption at one point after the other, and the recovery after it again and again, and
// then runs any command: all documents are as before, or all are as they were to be.
func TestTrap52KilledAnywhere(t *testing.T) {
	least := 6
	if os.Getenv("SKILLOPT_LONG") != "" {
		least = 60
	}
	for _, sc := range scenes() {
		if _, err := exec.LookPath("git"); err != nil && sc.branch != "" {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(52, uint64(len(sc.name))))
			// The short run begins anywhere.
			first, step := 1+rng.IntN(4), 3
			if least >= 60 {
				first, step = 1, 1
			}
			least := least
			if sc.branch != "" && least < 60 {
				least = 2 // git is started many times for each
			}
			kills := 0
			for at := first; kills < least; at += step {
				n := killed(t, sc, at, rng)
				if kills += n; n == 0 {
					at = 1 - step // it was over before that point: from the first one again
				}
			}
			t.Logf("%s: killed %d times", sc.name, kills)
		})
	}
}

// killed kills an adoption at a point, and the recovery after it until it gets through; then it recovers, and looks at what there is.
// It returns how often something was killed.
func killed(t *testing.T, sc scene, at int, rng *rand.Rand) int {
	t.Helper()
	w, o := sc.set(t)
	before := sc.looked(w)
	o.Kill = at
	kills, where := 0, []int{at}
	for run(t, o) {
		kills++
		o.Recover, o.Kill = true, 1+rng.IntN(8)
		where = append(where, o.Kill)
	}
	if err := w.store().Recover(t.Context()); err != nil {
		t.Fatalf("killed at %v: recover: %v", where, err)
	}
	after := map[string]string{}
	for name, text := range before {
		after[name] = text
	}
	for _, it := range o.Items {
		name := strings.TrimPrefix(it.Target, "memory:")
		if sc.branch != "" {
			after[sc.branch+":"+name] = it.Proposed
			continue
		}
		after[name] = it.Proposed
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			after[dir+"/"] = ""
		}
	}
	got := sc.looked(w)
	history, err := w.store().History()
	if err != nil {
		t.Fatal(err)
	}
	want := before
	if len(history) > 0 {
		want = after
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("killed at %v, with %d receipts: %s", where, len(history), diff)
	}
	return kills
}
