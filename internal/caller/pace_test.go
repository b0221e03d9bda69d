package caller_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// TestAnEmptyBucketIsWaitedFor: a server that grants two requests a second, and
// says so, is never asked for more once it has said so.
func TestAnEmptyBucketIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const granted = 2
		var mu sync.Mutex
		start, sent := time.Now(), map[int]int{} // by second
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			mu.Lock()
			second := int(time.Since(start) / time.Second)
			sent[second]++
			empty := sent[second] >= granted
			mu.Unlock()
			resp, err := slow(10*time.Millisecond)(ctx, n, req)
			if empty {
				resp.Pause = time.Until(start.Add(time.Duration(second+1) * time.Second))
			}
			return resp, err
		})
		b := setup(t, client, func(o *caller.Options) { o.Concurrency = granted })
		var wg sync.WaitGroup
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			wg.Go(func() {
				if _, err := b.do(ask(key, key)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for second := range 3 {
			if sent[second] != granted {
				t.Errorf("second %d: %d requests, the server grants %d", second, sent[second], granted)
			}
		}
		if sum := b.Stats().Sum; sum.Calls != 6 || sum.Retries() != 0 {
			t.Errorf("stats %+v", sum)
		}
	})
}

func TestALongPauseIsCutAndAStopEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			resp, err := echo(ctx, n, req)
			resp.Pause = 24 * time.Hour
			return resp, err
		})
		b := setup(t, client, nil)
		start := time.Now()
		for _, key := range []string{"a", "b"} {
			if _, err := b.do(ask(key, key)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took < 59*time.Second || took > 2*time.Minute {
			t.Errorf("a pause of a day took %s, want a minute", took)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.do(ask("c", "c")); err == nil {
				t.Error("a call was sent after the stop")
			}
		})
		synctest.Wait()
		b.Stop()
		wg.Wait()
	})
}
