package door

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// class is how much somebody may ask.
type class struct {
	perSecond rate.Limit
	burst     int
}

var (
	anybody  = class{400, 2000} // by address, files of the page among it
	known    = class{100, 600}  // by session, or with the token
	stranger = class{5, 40}     // by address, without either
	entering = class{2, 20}     // by address, with what may be the token
)

// mostCallers is how many callers are distinguished at once.
const mostCallers = 4096

// callers counts what each asks.
type callers struct {
	now func() time.Time

	mu sync.Mutex
	at map[caller]*rate.Limiter
}

type caller struct {
	who string
	of  class
}

func newCallers(now func() time.Time) *callers {
	return &callers{now: now, at: map[caller]*rate.Limiter{}}
}

// lets reports whether somebody may ask again.
func (c *callers) lets(who string, of class) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.at[caller{who, of}]
	if l == nil {
		if len(c.at) >= mostCallers {
			c.forget()
		}
		l = rate.NewLimiter(of.perSecond, of.burst)
		c.at[caller{who, of}] = l
	}
	return l.AllowN(c.now(), 1)
}

// forget forgets who has not asked lately; with that many who have, all.
func (c *callers) forget() {
	now := c.now()
	for at, l := range c.at {
		if l.TokensAt(now) >= float64(at.of.burst) {
			delete(c.at, at)
		}
	}
	if len(c.at) >= mostCallers {
		clear(c.at)
	}
}
