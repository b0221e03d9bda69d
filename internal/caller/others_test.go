package caller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// fromOthers answers whatever may be answered with one reply.
type fromOthers struct {
	reply string

	mu    sync.Mutex
	asked []string // whose answer was looked for, by role
	heard []string // who answered
}

func (o *fromOthers) May(key, _ string) bool { return strings.HasPrefix(key, "may/") }

func (o *fromOthers) Find(_ context.Context, q caller.Question) ([]byte, journal.Origin, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, q.Role)
	return []byte(o.reply), journal.Origin{Run: "other", Entry: 7}, o.reply != ""
}

func (o *fromOthers) Answered(_, _, served string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, served)
}

const fine = `{"text":"from another run","finish":"stop","usage":{"input":5,"output":1}}`

// An answer of another run is recorded with its origin, costs nothing, and is there when the
// run goes on without the other one.
func TestOthersAnswerAndAreRecorded(t *testing.T) {
	t.Parallel()
	client := modeltest.New(echo)
	others := &fromOthers{reply: fine}
	b := setup(t, client, func(o *caller.Options) { o.Others = others })
	for range 2 {
		if text, err := b.do(ask("may/a", "q")); err != nil || text != "from another run" {
			t.Fatalf("%q, %v", text, err)
		}
		got := b.Stats().Sum
		if client.Count() != 0 || got.Calls != 0 || got.Usage.Input != 0 || got.CostNano != 0 || got.Inherited != 1 || got.Elsewhere != 1 {
			t.Errorf("%d requests, %+v", client.Count(), got)
		}
		rec, ok, err := b.journal.Lookup("may/a/attempt0/turn0")
		if err != nil || !ok || rec.Code != journal.CodeInherited || rec.Origin != (journal.Origin{Run: "other", Entry: 7}) {
			t.Errorf("%+v, %v", rec, err)
		}
		others.reply = ""
		b.resume(nil)
	}
}

// What has to be asked is asked, however an equal step came by its answer: recorded, or
// under way at the same time.
func TestNoStepIsAnsweredThroughAnEqualOne(t *testing.T) {
	t.Parallel()
	for name, joint := range map[string]bool{"one after the other": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := modeltest.New(slow(time.Second))
				b := setup(t, client, func(o *caller.Options) { o.Others = &fromOthers{reply: fine} })
				var wg sync.WaitGroup
				for i, key := range []string{"may/a", "certificate/a", "may/b", "certificate/b"} {
					do := func() {
						text, err := b.do(ask(key, "q"))
						if err != nil || text == "from another run" && strings.HasPrefix(key, "certificate") {
							t.Errorf("%d, %s: %q, %v", i, key, text, err)
						}
					}
					if !joint {
						do()
						continue
					}
					wg.Go(do)
				}
				wg.Wait()
				if client.Count() != 1 {
					t.Errorf("%d requests, want that of the certificate", client.Count())
				}
				b.resume(nil)
				if text, err := b.do(ask("certificate/c", "q")); err != nil || text == "from another run" || client.Count() > 2 {
					t.Errorf("%q, %v, %d requests", text, err, client.Count())
				}
			})
		})
	}
}

// What is no answer is asked for.
func TestWhatIsNoAnswerOfOthersIsAsked(t *testing.T) {
	t.Parallel()
	hot := 0.5
	for name, tt := range map[string]struct {
		reply  string
		change func(*caller.Call)
		mode   string
	}{
		"none":              {"", nil, ""},
		"damaged":           {"{", nil, ""},
		"empty":             {`{"text":" ","finish":"stop"}`, nil, ""},
		"limit":             {`{"text":"","finish":"","limit":"context_length"}`, nil, ""},
		"refused by stage":  {fine, func(c *caller.Call) { c.Accept = func(string) error { return fmt.Errorf("no") }; c.Reask.Same = -1 }, ""},
		"not deterministic": {fine, func(c *caller.Call) { c.Sampling.Temperature = &hot }, ""},
		"never":             {fine, nil, caller.ReuseNever},
		"elsewhere in keys": {fine, func(c *caller.Call) { c.Key = "certificate/may/a" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := modeltest.New(echo)
			others := &fromOthers{reply: tt.reply}
			b := setup(t, client, func(o *caller.Options) { o.Others, o.Reuse = others, tt.mode })
			call := ask("may/a", "q")
			if tt.change != nil {
				tt.change(&call)
			}
			if text, _ := b.do(call); text == "from another run" || client.Count() != 1 || len(others.heard) != 1 {
				t.Errorf("%q, %d requests, %v heard", text, client.Count(), others.heard)
			}
		})
	}
}
