package caller_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// counting answers every request with a price on it.
func counting() *modeltest.Fake {
	return modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		text := "answer to " + last(req)
		if last(req) == "nothing" {
			text = " "
		}
		return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 5}}, nil
	})
}

func TestCacheAnswersAcrossRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withCache := func(o *caller.Options) { o.Cache, o.Reuse = caller.DirCache{Dir: dir}, caller.ReuseNever }
	first, second := counting(), counting()
	a := setup(t, first, withCache)
	for _, key := range []string{"k1", "k2"} {
		if _, err := a.do(ask(key, "q "+key)); err != nil {
			t.Fatal(err)
		}
	}
	b := setup(t, second, withCache)
	got, err := b.do(ask("other/place", "q k1"))
	if err != nil || got != "answer to q k1" {
		t.Fatalf("got %q, %v", got, err)
	}
	if n := second.Count(); n != 0 {
		t.Errorf("%d calls were sent for a cached answer", n)
	}
	sum := b.Stats().Sum
	if sum.Calls != 0 || sum.Inherited != 1 || sum.Usage.Input != 0 {
		t.Errorf("a cached answer is charged: %+v", sum)
	}
	b.resume(nil)
	if got, err := b.do(ask("other/place", "q k1")); err != nil || got != "answer to q k1" || second.Count() != 0 {
		t.Errorf("after a resume without the cache: %q, %v, %d calls", got, err, second.Count())
	}
}

func TestCacheKeysHoldEndpointAndSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cached := func(o *caller.Options) { o.Cache, o.Reuse = caller.DirCache{Dir: dir}, caller.ReuseNever }
	seeds := []int64{1, 2}
	a := setup(t, counting(), cached)
	call := ask("k", "q")
	call.Seed = &seeds[0]
	if _, err := a.do(call); err != nil {
		t.Fatal(err)
	}
	sample, elsewhere := counting(), counting()
	b := setup(t, sample, cached)
	call.Seed = &seeds[1]
	if _, err := b.do(call); err != nil || sample.Count() != 1 {
		t.Errorf("another sample was answered from the cache (%d calls, %v)", sample.Count(), err)
	}
	c := setup(t, elsewhere, func(o *caller.Options) {
		cached(o)
		r := o.Roles[model.Target]
		r.Endpoint = "another server"
		o.Roles[model.Target] = r
	})
	call.Seed = &seeds[0]
	if _, err := c.do(call); err != nil || elsewhere.Count() != 1 {
		t.Errorf("another endpoint was answered from the cache (%d calls, %v)", elsewhere.Count(), err)
	}
}

func TestCacheKeepsOnlyWhatCanBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cached := func(o *caller.Options) { o.Cache = caller.DirCache{Dir: dir} }
	a := setup(t, counting(), cached)
	nothing := ask("k", "nothing")
	nothing.Reask = caller.Reask{Same: -1}
	if _, err := a.do(nothing); err == nil {
		t.Fatal("an empty reply was taken")
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(files) != 0 {
		t.Errorf("an unusable reply was kept: %v %v", files, err)
	}
	if _, err := a.do(ask("k2", "q")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{cut"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := counting()
	b := setup(t, again, cached)
	if got, err := b.do(ask("k3", "q")); err != nil || got != "answer to q" || again.Count() != 1 {
		t.Errorf("a damaged entry gave %q, %v, %d calls", got, err, again.Count())
	}
}

func TestCacheThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	a := setup(t, counting(), func(o *caller.Options) { o.Cache = caller.DirCache{Dir: file} })
	if _, err := a.do(ask("k", "q")); err == nil || !strings.Contains(err.Error(), "cache") {
		t.Errorf("error = %v", err)
	}
}

// brokenCache takes nothing.
type brokenCache struct{ puts atomic.Int64 }

func (*brokenCache) Get(string) ([]byte, bool, error) { return nil, false, nil }

func (c *brokenCache) Put(string, []byte) error {
	c.puts.Add(1)
	return errors.New("write cache: no space left")
}

// An answer that is paid for and recorded is an answer, whether it can be kept for other
// runs or not. That it cannot is told once.
func TestACacheThatCannotBeWrittenIsToldOnce(t *testing.T) {
	t.Parallel()
	var told []string
	broken := &brokenCache{}
	b := setup(t, counting(), func(o *caller.Options) {
		o.Cache, o.Unkept = broken, func(err error) { told = append(told, err.Error()) }
	})
	for _, q := range []string{"a", "b", "c"} {
		if got, err := b.do(ask("k"+q, q)); err != nil || got != "answer to "+q {
			t.Errorf("%q, %v", got, err)
		}
	}
	if diff := cmp.Diff([]string{"write cache: no space left"}, told); diff != "" || broken.puts.Load() != 3 {
		t.Errorf("tried %d times (-want +got):\n%s", broken.puts.Load(), diff)
	}
}
