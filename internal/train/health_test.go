package train

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// usedRollouts are the rollouts that Health goes by.
type usedRollouts struct {
	mu    sync.Mutex
	keys  []string
	asked []string // what Health went by each time it was asked
}

// heldRollouts are those of a part that has not come.
type heldRollouts struct {
	due  bool
	keys []string
}

type heldKey struct{}

func (u *usedRollouts) ahead(ctx context.Context) (context.Context, func()) {
	h := &heldRollouts{}
	return context.WithValue(ctx, heldKey{}, h), func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		h.due = true
		u.keys = append(u.keys, h.keys...)
	}
}

func (u *usedRollouts) add(ctx context.Context, key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if h, ok := ctx.Value(heldKey{}).(*heldRollouts); ok && !h.due {
		h.keys = append(h.keys, key)
		return
	}
	u.keys = append(u.keys, key)
}

// healthy is Health.
func (w *world) healthy() error {
	w.used.mu.Lock()
	defer w.used.mu.Unlock()
	slices.Sort(w.used.keys)
	w.used.asked = append(w.used.asked, strings.Join(w.used.keys, " "))
	return w.health
}

// Whether a run is stopped for its health does not depend on how far rollouts had got
// that were begun ahead: each time it goes by the same ones.
func TestHealthGoesByWhatWasDecided(t *testing.T) {
	t.Parallel()
	for _, salt := range []string{"one", "two", "three"} {
		t.Run(salt, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := map[bool][]string{}
				for _, overlap := range []bool{true, false} {
					w, o := overlapping()
					w.overlap = overlap
					w.rolling = func(key string) { time.Sleep(time.Duration(hashed(salt, key)%100) * time.Millisecond) }
					w.must(t, o)
					asked[overlap] = w.used.asked
				}
				if diff := cmp.Diff(asked[false], asked[true]); diff != "" {
					t.Errorf("(-in turn +ahead):\n%s", diff)
				}
			})
		})
	}
}
