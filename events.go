package skillopt

import (
	"sync"

	"github.com/seed-f4525e22/skillopt/event"
)

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
