package run

import (
	"testing"

	"golang.org/x/sync/errgroup"
)

// Whether a process works on a run is told by its lock, and looking at it keeps nobody out.
func TestInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	look := func(when string, want bool) {
		t.Helper()
		if got, err := InUse(dir); got != want || err != nil {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	look("no run", false)
	r := opened(t, options(dir))
	look("at work", true)
	closed(t, r)
	look("ended", false)
	var g errgroup.Group
	g.Go(func() error {
		for range 200 {
			if _, err := InUse(dir); err != nil {
				return err
			}
		}
		return nil
	})
	for range 5 {
		closed(t, opened(t, options(dir)))
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}
