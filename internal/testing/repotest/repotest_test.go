package repotest_test

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/repotest"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

func TestEachHas40CommitsAnd15Tasks(t *testing.T) {
	t.Parallel()
	for _, language := range repotest.Languages() {
		r := repotest.Build(t, language, 3)
		log := treetest.Git(t, r.Dir, "", "log", "--format=%s")
		if n := strings.Count(log, "\n") + 1; n != 40 || r.Commits != 40 || len(r.Usable) != 15 {
			t.Errorf("%s: %d commits in the log, %d written, %d usable", language, n, r.Commits, len(r.Usable))
		}
	}
}
