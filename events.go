package skillopt

import (
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wire"
)

// masked hands events on without secrets, those of the config and what looks like one:
// they are shown, logged and passed on. Where the run is stays as it is. A nil sink
// stays nil.
func (s *setup) masked(sink event.Sink) event.Sink {
	if sink == nil {
		return nil
	}
	known := slices.DeleteFunc(wire.Secrets(s.cfg, s.loaded.Lookup), func(v string) bool { return len(v) < minHidden })
	r := redact.New(append(known, s.loaded.Secrets()...)...)
	return func(e event.Event) { sink(redact.Strings(r, e, "RunDir", "RunID")) }
}

// minHidden is the length in bytes from which a variable's value is masked in events:
// shorter ones are what people write in the place of a key that nobody asks for.
const minHidden = 12

// serial makes a sink safe to call from the many goroutines of a run: events
// arrive one at a time. A nil sink takes nothing.
func serial(sink event.Sink) event.Sink {
	if sink == nil {
		return func(event.Event) {}
	}
	var mu sync.Mutex
	return func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		sink(e)
	}
}
