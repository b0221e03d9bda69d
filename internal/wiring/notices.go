package wiring

import (
	"fmt"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/provider/failover"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// notices passes on what happens to the servers of a model: once that one is asked no
// more, and once that one keeps failing. That one rests a moment happens all the
// time and is not reported.
type notices struct {
	role string
	hide *redact.Exact

	mu   sync.Mutex
	tell func(text string)
	told map[string]bool
}

func (n *notices) hear(tell func(text string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tell = tell
}

// warn hears of endpoints. It is called concurrently.
func (n *notices) warn(e failover.Event) {
	if !e.Retired && e.Rest < failover.MaxRest {
		return
	}
	n.sayOnce(fmt.Sprint(e.Endpoint, e.Retired), fmt.Sprintf("models.%s.endpoints: %s", n.role, e))
}

// say passes a text on, once.
func (n *notices) say(text string) { n.sayOnce(text, fmt.Sprintf("models.%s: %s", n.role, text)) }

// sayOnce passes a text on unless one was under the same key. It may be called
// concurrently.
func (n *notices) sayOnce(key, text string) {
	n.mu.Lock()
	tell, again := n.tell, n.told[key]
	if tell != nil && !again {
		if n.told == nil {
			n.told = map[string]bool{}
		}
		n.told[key] = true
	}
	n.mu.Unlock()
	if tell != nil && !again {
		tell(n.hide.Text(text))
	}
}
