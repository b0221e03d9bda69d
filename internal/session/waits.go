package session

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
)

// How often events report what is in flight, and what was refused.
const (
	waitsEvery   = 500 * time.Millisecond
	refusedEvery = time.Second
)

// waits knows what is being waited for. It learns of every request of the run, and reports
// now and then what there is.
type waits struct {
	limit     int
	endpoints map[string]string // by role
	room      func(role string) int

	mu      sync.Mutex
	groups  map[purpose]map[*waitedFor]bool // what is in flight
	changed bool
	refused map[refusalAt]*event.Refusals
	took    map[string]time.Duration // of answers of the target, by key, until somebody asks
}

// purpose is what requests are counted by.
type purpose struct{ stage, role, model, endpoint string }

// waitedFor is a request that was sent, or an episode that began.
type waitedFor struct {
	waits   *waits
	purpose purpose
	key     string
	at      time.Time
}

type refusalAt struct{ endpoint, model, code string }

func newWaits(s *Session) *waits {
	f := &waits{
		limit: s.Config.Limits.Concurrency, endpoints: map[string]string{}, groups: map[purpose]map[*waitedFor]bool{},
		refused: map[refusalAt]*event.Refusals{}, took: map[string]time.Duration{},
	}
	for _, role := range s.Models.Roles() {
		f.endpoints[role] = endpointHost(s.Models.Role(role).Endpoint)
	}
	f.endpoints[""] = s.Config.Agent.Name
	if command := s.Config.Env.Command; f.endpoints[""] == "" && len(command) > 0 {
		f.endpoints[""] = filepath.Base(command[0])
	}
	f.room = func(role string) int { return caller.SlotLimit(s.Caller, role) }
	return f
}

// endpointHost returns the host of a server, or the endpoint itself where there is none.
func endpointHost(endpoint string) string {
	address, _, _ := strings.Cut(endpoint, " ")
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return endpoint
}

// observe returns the observer for caller.Options, which also passes each activity to next.
func (f *waits) observe(next func(caller.Activity) caller.Observation) func(caller.Activity) caller.Observation {
	return func(a caller.Activity) caller.Observation {
		seen := f.begin(&a)
		if next == nil {
			return seen
		}
		return both{seen, next(a)}
	}
}

func (f *waits) begin(a *caller.Activity) *waitedFor {
	b := &waitedFor{waits: f, key: a.Key, at: a.At, purpose: purpose{stage: a.Stage, role: a.Role, model: a.Request.Model, endpoint: f.endpoints[a.Role]}}
	if a.Episode {
		b.purpose.endpoint = cmp.Or(f.endpoints[""], b.purpose.endpoint)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.groups[b.purpose] == nil {
		f.groups[b.purpose] = map[*waitedFor]bool{}
	}
	f.groups[b.purpose][b], f.changed = true, true
	return b
}

// Failed implements caller.Observation.
func (b *waitedFor) Failed(_ time.Time, code model.Code) {
	f := b.waits
	f.mu.Lock()
	defer f.mu.Unlock()
	at := refusalAt{endpoint: b.purpose.endpoint, model: b.purpose.model, code: string(code)}
	r := f.refused[at]
	if r == nil {
		r = &event.Refusals{Endpoint: at.endpoint, Model: at.model, Code: at.code, Role: b.purpose.role}
		f.refused[at] = r
	}
	r.Count++
	r.Key = b.key
}

// maxTook bounds how many answers are remembered that no one has asked about.
const maxTook = 4096

// Ended implements caller.Observation.
func (b *waitedFor) Ended(e caller.Ended) {
	f := b.waits
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.groups[b.purpose], b); len(f.groups[b.purpose]) == 0 {
		delete(f.groups, b.purpose)
	}
	f.changed = true
	if e.Err != nil || b.purpose.role != model.Target {
		return
	}
	if len(f.took) >= maxTook {
		clear(f.took)
	}
	f.took[b.key] = e.Took
}

// seconds reports how long the answer under a key took, 0 if that is not known. It is reported
// once.
func (f *waits) seconds(key string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	took := f.took[key]
	delete(f.took, key)
	return took.Seconds()
}

// inFlight returns what is in flight at a time; ok is false if nothing has changed since the last call.
func (f *waits) inFlight(now time.Time) (e event.InFlight, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.changed {
		return e, false
	}
	f.changed = false
	e = event.InFlight{Calls: []event.InFlightCalls{}, Limit: f.limit}
	for p, group := range f.groups {
		calls := event.InFlightCalls{Stage: p.stage, Role: p.role, Model: p.model, Endpoint: p.endpoint, Calls: len(group)}
		for b := range group {
			calls.Oldest = max(calls.Oldest, now.Sub(b.at).Seconds())
		}
		e.Calls = append(e.Calls, calls)
	}
	slices.SortFunc(e.Calls, func(a, b event.InFlightCalls) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return e, true
}

// refusals returns what was refused since the last call.
func (f *waits) refusals() []event.Refusals {
	f.mu.Lock()
	var out []event.Refusals
	for _, r := range f.refused {
		out = append(out, *r)
	}
	clear(f.refused)
	f.mu.Unlock()
	for i := range out {
		out[i].Limit = f.room(out[i].Role)
	}
	slices.SortFunc(out, func(a, b event.Refusals) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Code, b.Code))
	})
	return out
}

// both are two observations of one activity.
type both struct{ one, other caller.Observation }

func (b both) Failed(at time.Time, code model.Code) {
	b.one.Failed(at, code)
	b.other.Failed(at, code)
}

func (b both) Ended(e caller.Ended) {
	b.one.Ended(e)
	b.other.Ended(e)
}

// follow reports what is in flight and what was refused until the returned function is
// called, which reports what is left.
func (f *waits) follow(emit event.Sink, now func() time.Time) (stop func()) {
	ended := make(chan struct{})
	var telling sync.WaitGroup
	tell := func(refused bool) {
		if e, ok := f.inFlight(now()); ok {
			emit(e)
		}
		if !refused {
			return
		}
		for _, r := range f.refusals() {
			emit(r)
		}
	}
	telling.Go(func() {
		tick := time.NewTicker(waitsEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ended:
				return
			case <-tick.C:
				tell(n%int(refusedEvery/waitsEvery) == 0)
			}
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			close(ended)
			telling.Wait()
			tell(true)
		})
	}
}
