package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// trapsOfSleep returns the numbers of the traps that nights and the reading of sessions must avoid, from mistakes of the
// reference program and from real sessions. 61 is not one of them.
func trapsOfSleep() []int {
	var list []int
	for n := 1; n <= 92; n++ {
		if n != 61 {
			list = append(list, n)
		}
	}
	return list
}

// TestEveryTrapOfSleepHasATest: a number that no test has in its name is a trap that nobody looks at.
func TestEveryTrapOfSleepHasATest(t *testing.T) {
	t.Parallel()
	have := trapsWithTests(t)
	for _, n := range trapsOfSleep() {
		if !have[n] {
			t.Errorf("trap %d: no test is named TestTrap%d..., and no script trap%d_...", n, n, n)
		}
	}
}

// trapsWithTests finds the numbers in names of tests and of scripts.
func trapsWithTests(t *testing.T) map[int]bool {
	t.Helper()
	have := map[int]bool{}
	note := func(pattern, text string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			have[n] = true
		}
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			note(`^trap(\d+)_`, d.Name())
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		note(`(?m)^(?:func TestTrap|# trap)(\d+)[A-Z_]`, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return have
}
