package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gap is a part of a family that waits for a feature. Its cases are counted and
// never pass.
type gap struct {
	feature string
	in      func(in map[string]any) bool // nil: every case
}

func (g gap) covers(in map[string]any) bool { return g.in == nil || g.in(in) }

// gaps are the cases that nothing here can be held against yet, by family.
var gaps = map[string][]gap{
	"promptfoo_assert": {{feature: "named as lost", in: losesAll}},

	// Answers are scored by what they say. What they cost is a ceiling and a figure of its
	// own, and no part of a score: there is no weighted reward to compare.
	"sleep_reward": {{feature: "not applicable"}},
}

// ofSleep reports whether a case was recorded from the program sleep, where two or
// three programs share a family.
func ofSleep(in map[string]any) bool { return in["impl"] == "sleep" }

// whole returns the feature that all cases of a family wait for.
func whole(name string) (feature string, ok bool) {
	for _, g := range gaps[name] {
		if g.in == nil {
			return g.feature, true
		}
	}
	return "", false
}

// families lists the families that there are cases of.
func families(t *testing.T) []string {
	t.Helper()
	pattern, suffix := filepath.Join("testdata", "*.jsonl.gz"), ".jsonl.gz"
	if dir := os.Getenv("SKILLOPT_VECTORS"); dir != "" {
		pattern, suffix = filepath.Join(dir, "*.jsonl"), ".jsonl"
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), suffix))
	}
	return names
}

// TestNotBuilt counts the families of which nothing is built yet.
func TestNotBuilt(t *testing.T) {
	for _, name := range families(t) {
		if feature, ok := whole(name); ok {
			c := newTally(name)
			c.notBuilt[feature] = len(load(t, name))
			t.Log(c)
			account(c)
		}
	}
}

// comparedFamilies returns the families that the tests of this package run, as their
// source says it.
func comparedFamilies(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range strings.Split(string(source), "\trun(t, \"")[1:] {
			name, _, _ := strings.Cut(call, `"`)
			names = append(names, name)
		}
	}
	return names
}

// TestEveryFamilyIsAccountedFor: a family is compared, or waits for a feature as a
// whole, and not both.
func TestEveryFamilyIsAccountedFor(t *testing.T) {
	run := comparedFamilies(t)
	for _, name := range families(t) {
		feature, waits := whole(name)
		switch is := slices.Contains(run, name); {
		case is && waits:
			t.Errorf("%s is compared, and said to wait for %s", name, feature)
		case !is && !waits:
			t.Errorf("%s is not compared and waits for nothing", name)
		}
	}
	for name := range gaps {
		if _, waits := whole(name); !waits && !slices.Contains(run, name) {
			t.Errorf("a part of %s waits, the rest is not compared", name)
		}
	}
}
