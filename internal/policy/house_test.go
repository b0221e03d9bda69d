package policy

import (
	"strings"
	"testing"
)

// TestTheFrontDoorIsSmall: what a newcomer meets first is a handful of files, and no tests
// but examples.
func TestTheFrontDoorIsSmall(t *testing.T) {
	t.Parallel()
	var files []string
	for _, s := range sources(t, true) {
		if s.room != "." {
			continue
		}
		switch test := strings.HasSuffix(s.path, "_test.go"); {
		case !test:
			files = append(files, s.path)
		case !strings.HasPrefix(s.path, "example_"):
			t.Errorf("%s: tests of the whole product belong to internal/acceptance, others beside what they test", s.path)
		}
	}
	if len(files) > 8 {
		t.Errorf("%d source files in the root, at most 8: %s", len(files), strings.Join(files, ", "))
	}
}
