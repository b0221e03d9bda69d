package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trapsOfSleep are the numbered traps that nights must not fall into, from what the reference program did wrong and from
// real sessions. Each is a test that has its number in its name.
func trapsOfSleep() []int {
	list := []int{65, 66, 67, 81, 82, 83, 84, 85, 86, 90, 92}
	for i := range 36 {
		list = append(list, i+1)
	}
	for i := range 14 {
		list = append(list, i+45)
	}
	slices.Sort(list)
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
