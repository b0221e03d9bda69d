// Package failover makes several endpoints that serve the same model look like
// one: requests go to them in turn, and to the next one when one fails.
//
// It knows nothing about protocols or vendors, and does not judge whether two
// endpoints really answer alike: the user who lists them says so.
package failover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds of the rest of an endpoint that failed without saying for how long.
const (
	DefaultRest = time.Second
	MaxRest     = time.Minute
)

// cutsAllowed is how many answers in a row may be cut on their way before the
// endpoint has to rest: a lost answer says nothing about its load.
const cutsAllowed = 2

// Endpoint is a client with a name for messages.
type Endpoint struct {
	Name   string
	Client model.Client
}

// Options say what a Client is made of.
type Options struct {
	Endpoints []Endpoint // one at least, with different names

	// Timeout bounds what one endpoint may take of a request; passing counts as a
	// failure of it. Without it (0) a request that hangs uses up the deadline of
	// its context, and no other endpoint is asked. The deadline of a context has
	// to hold as many of them as there are endpoints.
	Timeout time.Duration

	// Rest is how long an endpoint rests after its first failure, when it does not
	// say so itself; it doubles with every further one up to MaxRest. 0 means
	// DefaultRest.
	Rest time.Duration

	// Warn hears what happens to endpoints. It may be called concurrently, and
	// must not call the client. Nil: no one hears it.
	Warn func(Event)

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Event is something that became of an endpoint.
type Event struct {
	Endpoint string
	Retired  bool          // it is asked no more
	Rest     time.Duration // how long it is left alone; 0 when it is retired
	Err      error
}

func (e Event) String() string {
	if e.Retired {
		return fmt.Sprintf("%s is out: %v", e.Endpoint, e.Err)
	}
	return fmt.Sprintf("%s rests for %s: %v", e.Endpoint, e.Rest, e.Err)
}

// Health is the state of an endpoint.
type Health struct {
	Name     string
	Retired  error     // why it is asked no more, nil if it is
	Rests    time.Time // until then it is left alone; zero = never was
	Failures int       // in a row
}

// Client asks endpoints in turn. It is safe for concurrent use.
type Client struct {
	opts Options

	mu   sync.Mutex
	next int // the endpoint whose turn it is
	all  []endpoint
}

// endpoint is an Endpoint with its state.
type endpoint struct {
	Endpoint

	retired  *model.Error
	rests    time.Time // until then it is left alone
	failed   time.Time // when it began to rest after a failure
	failures int       // in a row
	last     *model.Error
}

var _ model.Client = (*Client)(nil)

// New checks o and returns a client.
func New(o Options) (*Client, error) {
	if len(o.Endpoints) == 0 {
		return nil, errors.New("failover: no endpoints")
	}
	if o.Timeout < 0 || o.Rest < 0 {
		return nil, fmt.Errorf("failover: timeout %s, rest %s: must not be negative", o.Timeout, o.Rest)
	}
	if o.Rest == 0 {
		o.Rest = DefaultRest
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(Event) {}
	}
	c := &Client{opts: o}
	names := map[string]bool{}
	for _, e := range o.Endpoints {
		if e.Name == "" || e.Client == nil || names[e.Name] {
			return nil, fmt.Errorf("failover: endpoint %q: has no client, no name, or that of another", e.Name)
		}
		names[e.Name] = true
		c.all = append(c.all, endpoint{Endpoint: e})
	}
	return c, nil
}

// Passes implements model.Passer: any endpoint may be asked.
func (c *Client) Passes(wire string) bool {
	for _, e := range c.opts.Endpoints {
		if !model.Passes(e.Client, wire) {
			return false
		}
	}
	return true
}

// Generate implements model.Client. It asks each endpoint that is well once at
// most, in turn, until one answers. A failure that may pass goes to the next
// endpoint; so does Auth, Credit, Certificate or NotFound, after which that
// endpoint is asked no more. Any other failure is returned at once: the next endpoint would say the
// same.
//
// An answer whose beginning was passed on is asked for nowhere else.
//
// When none answers, the last failure is returned, and its RetryAfter says when
// the first endpoint will have rested. The Pause of an answer is 0 as long as
// another endpoint is well.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	tried := make([]bool, len(c.all))
	var last *model.Error
	for {
		i, ok := c.pick(tried)
		if !ok {
			return model.Response{}, c.none(last)
		}
		tried[i] = true
		began := c.opts.Now()
		resp, err := c.ask(ctx, i, req)
		if err == nil {
			resp.Pause = c.noteAnswer(i, resp.Pause)
			return resp, nil
		}
		if ctx.Err() != nil || !errors.As(err, &last) || req.Passage.Begun() {
			return resp, err
		}
		switch code := last.Code; {
		case code == model.Auth || code == model.Credit || code == model.Certificate || code == model.NotFound:
			c.retire(i, last)
		case code.Transient():
			c.rest(i, last, began)
		default:
			return resp, err
		}
	}
}

// ask makes one request of one endpoint.
func (c *Client) ask(ctx context.Context, i int, req model.Request) (model.Response, error) {
	if c.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	return c.all[i].Client.Generate(ctx, req)
}

// pick chooses the next endpoint that is well and was not tried, and turns.
func (c *Client) pick(tried []bool) (int, bool) {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.all {
		i := (c.next + k) % len(c.all)
		if e := &c.all[i]; !tried[i] && e.retired == nil && !now.Before(e.rests) {
			c.next = (i + 1) % len(c.all)
			return i, true
		}
	}
	return 0, false
}

// noteAnswer notes an answer and returns how long no one can be asked.
func (c *Client) noteAnswer(i int, pause time.Duration) time.Duration {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[i].failures = 0
	if until := now.Add(pause); pause > 0 && until.After(c.all[i].rests) {
		c.all[i].rests = until
	}
	wait, _ := c.soonest(now)
	return wait
}

// soonest returns how long it takes until an endpoint may be asked, and which
// one that is; -1 if all are retired.
func (c *Client) soonest(now time.Time) (time.Duration, int) {
	wait, at := time.Duration(0), -1
	for i := range c.all {
		e := &c.all[i]
		if e.retired != nil {
			continue
		}
		if left := max(e.rests.Sub(now), 0); at < 0 || left < wait {
			wait, at = left, i
		}
	}
	return wait, at
}

// retire takes an endpoint out for good.
func (c *Client) retire(i int, why *model.Error) {
	c.mu.Lock()
	first := c.all[i].retired == nil
	if first {
		c.all[i].retired = why
	}
	c.mu.Unlock()
	if first {
		c.opts.Warn(Event{Endpoint: c.all[i].Name, Retired: true, Err: why})
	}
}

// rest leaves an endpoint alone for a while. Failures of requests that were under
// way when it began to rest say nothing new.
func (c *Client) rest(i int, why *model.Error, began time.Time) {
	now := c.opts.Now()
	c.mu.Lock()
	e := &c.all[i]
	e.last = why
	if e.failures > 0 && !began.After(e.failed) && why.RetryAfter == 0 {
		c.mu.Unlock()
		return
	}
	e.failures++
	d := why.RetryAfter
	if d == 0 && (why.Code != model.Truncated || e.failures > cutsAllowed) {
		d = min(c.opts.Rest<<min(e.failures-1, 16), MaxRest)
	}
	e.failed = now
	if until := now.Add(d); until.After(e.rests) {
		e.rests = until
	}
	name := e.Name
	c.mu.Unlock()
	if d > 0 {
		c.opts.Warn(Event{Endpoint: name, Rest: d, Err: why})
	}
}

// none returns the error of a request that no endpoint answered; last is the
// last failure, nil if none was asked.
func (c *Client) none(last *model.Error) error {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	wait, i := c.soonest(now)
	if i < 0 {
		return c.out()
	}
	if last == nil || !last.Code.Transient() {
		last = c.all[i].last
	}
	if last == nil { // it has answered, and asked for a pause
		last = &model.Error{Code: model.RateLimit, Endpoint: c.all[i].Name, Err: errors.New("the endpoint asked to wait")}
	}
	failure := *last
	failure.RetryAfter = wait
	failure.Err = fmt.Errorf("no endpoint answers, last: %w", last.Err)
	return &failure
}

// out returns the error of a client without endpoints.
func (c *Client) out() error {
	var names, why []string
	for i := range c.all {
		names = append(names, c.all[i].Name)
		why = append(why, c.all[i].Name+": "+c.all[i].retired.Error())
	}
	return &model.Error{
		Code: c.all[len(c.all)-1].retired.Code, Endpoint: strings.Join(names, ", "),
		Err: fmt.Errorf("no endpoint is left: %s", strings.Join(why, "; ")),
	}
}

// Health returns the state of all endpoints, in their order.
func (c *Client) Health() []Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Health
	for i := range c.all {
		h := Health{Name: c.all[i].Name, Rests: c.all[i].rests, Failures: c.all[i].failures}
		if c.all[i].retired != nil { // a nil pointer in an error is not nil
			h.Retired = c.all[i].retired
		}
		all = append(all, h)
	}
	return all
}
