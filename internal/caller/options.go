package caller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// Reuse modes.
const (
	ReuseAuto  = "auto"  // equal calls share an answer when sampling is deterministic
	ReuseNever = "never" // every call is sent
)

// Options are what a Caller works with.
type Options struct {
	Journal *journal.Journal // open for writing; the caller's owner closes it
	Roles   map[string]Role  // by model.Target, model.Optimizer, model.Judge
	RunName string           // for Tags

	Concurrency int           // most requests in flight, all models together; 0 = 16
	Patience    time.Duration // see StoppedError; 0 = 2 minutes
	Reuse       string        // ReuseAuto or ReuseNever; "" = ReuseAuto
	Limits      Limits

	// Forked allows that inherited inputs differ from those of this run, which
	// continues a copy of another run's record: what differs is asked again and
	// takes the place of the copy. What the run recorded itself must not differ.
	Forked bool

	// Lifetime is the context of the run. With it, a request under way ends only
	// when the run is stopped hard, not when the context of its call does: what
	// is paid for is recorded also when another call has ended the phase. Nil:
	// a request ends with its call.
	Lifetime context.Context

	// Known are replies that another run has recorded: they answer equal first attempts.
	Known map[Asked][]byte

	// Others answers what other runs have been asked before. Nil: no one does.
	Others Others

	// Replay answers every step that the journal does not: nothing is sent, no
	// episode and no check is run. Nil: steps are carried out.
	Replay Replay

	// Waiting is called once when an endpoint has given nothing but failures for a
	// few seconds, and again when that happens after an answer. It may be called
	// concurrently. Nil: no one wants to know.
	Waiting func(Outage)

	// Observe learns of everything that the record does not answer, when it begins,
	// and what it returns learns how it continues. It may be called concurrently and
	// must not block. Nil: no one wants to know.
	Observe func(Activity) Observation

	// Redact has what is said in the calls inside episodes kept in the record, next to its
	// entries: it takes secrets out of a text first, and may be called concurrently. Nil:
	// the calls are counted, and nothing of what they say is kept.
	Redact func(text string) string

	// JitterSeed seeds the spread of waiting times. No result depends on it.
	JitterSeed uint64
}

// Outage is an endpoint that gives nothing but failures, before that ends the
// run.
type Outage struct {
	Endpoint string
	Model    string
	Failing  time.Duration // so far
	Patience time.Duration // after which the run stops
	Err      error         // the last failure
}

// Role is a model in one of its roles.
type Role struct {
	Client   model.Client
	Endpoint string // names server and key; equal values share limits and patience; in messages
	Model    string
	Source   string         // what answers under that name: the provider, the content of a simulated world; part of every input
	Sampling model.Sampling // a call may override it
	Timeout  time.Duration  // of one attempt; it passing is transient; 0 = none
	Price    *Price         // nil = costs are not known

	// MaxOutput is the most tokens that the model can give, as far as that is known;
	// 0 = it is not. A request that asks for less is held to that.
	MaxOutput int64

	// Local says that the server is on this machine. It may answer one request at a time:
	// only as many are in flight as it is shown to answer faster.
	Local bool

	// Patient says that somebody answers in their own time, at no cost that is
	// known: a request without a usable reply is not sent again in the same words,
	// which would only bring the same reply.
	Patient bool
}

// Limits are hard ceilings over the whole life of a run, earlier sessions
// included; nil = none. Calls in flight when one is reached may finish.
type Limits struct {
	Calls  *int64
	Tokens *int64 // input and output
	USD    *float64
}

// Defaults of Options.
const (
	defaultConcurrency = 16
	defaultPatience    = 2 * time.Minute
)

// Caller makes calls. All its methods may be called concurrently.
type Caller struct {
	opts    Options
	journal *journal.Journal
	roles   map[string]*role

	sender *sender
	meter  *meter
	parts  *parts
	reuse  *reuse
	live   *liveStats
	cuts   *cutCounts
	given  *givenUp
	mask   *exchange.Mask // of what is said inside episodes; nil: it is not kept
}

// role is a Role with the state of its endpoint.
type role struct {
	Role

	name   string
	end    *endpoint
	hidden atomic.Int64 // the most input tokens that a call had beyond its bound, see most
}

// New returns a Caller that continues what opts.Journal has recorded.
func New(opts Options) (*Caller, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Concurrency == 0 {
		opts.Concurrency = defaultConcurrency
	}
	if opts.Patience == 0 {
		opts.Patience = defaultPatience
	}
	c := &Caller{
		opts: opts, journal: opts.Journal, roles: newRoles(opts),
		parts: newParts(),
		live:  newLiveStats(),
		cuts:  newCutCounts(),
		reuse: newReuse(),
		given: newGivenUp(),
	}
	if opts.Redact != nil {
		c.mask = exchange.NewMask(opts.Redact)
	}
	unpriced, err := c.learn()
	if err != nil {
		return nil, err
	}
	c.meter = newMeter(opts.Limits, opts.Journal.Totals(), unpriced)
	if err := c.meter.countable(opts.Journal.Totals()); err != nil {
		return nil, err
	}
	c.sender = newSender(opts, c.meter)
	for _, r := range c.roles {
		e := &request{}
		e.reserve(r)
		c.meter.expect(e.reservation.most)
	}
	if opts.Replay != nil {
		c.given.add(opts.Replay.GivenUp())
	}
	return c, nil
}

// learn takes in what is recorded: which answers can be reused, which items were given
// up, and, by role, what episodes may have cost that have no price.
func (c *Caller) learn() (costs map[string]int64, err error) {
	costs = make(map[string]int64)
	for r, err := range c.journal.Results(context.Background(), 0) {
		if err != nil {
			return nil, err
		}
		c.reuse.learn(&r)
		c.given.learn(&r)
		costs[r.Role] += maxEpisodeCost(c.roles[r.Role], &r)
	}
	return costs, nil
}

// newRoles lets roles with the same server, key and model share an endpoint.
func newRoles(o Options) map[string]*role {
	roles, ends := make(map[string]*role), make(map[string]*endpoint)
	for name, r := range o.Roles {
		id := r.Endpoint + "\x00" + r.Model
		if ends[id] == nil {
			ends[id] = newEndpoint(r, o)
		}
		roles[name] = &role{Role: r, name: name, end: ends[id]}
	}
	return roles
}

func (o Options) check() error {
	var errs []error
	if o.Journal == nil {
		errs = append(errs, errors.New("caller: no journal"))
	}
	if o.Concurrency < 0 {
		errs = append(errs, fmt.Errorf("limits.concurrency is %d, want at least 1", o.Concurrency))
	}
	if o.Patience < 0 {
		errs = append(errs, fmt.Errorf("limits.patience is %s, want more than 0", o.Patience))
	}
	if !slices.Contains([]string{"", ReuseAuto, ReuseNever}, o.Reuse) {
		errs = append(errs, fmt.Errorf("record.reuse is %q, want %s or %s", o.Reuse, ReuseAuto, ReuseNever))
	}
	for name, r := range o.Roles {
		if r.Client == nil {
			errs = append(errs, fmt.Errorf("models.%s: no client", name))
		}
	}
	return errors.Join(append(errs, o.checkCeilings())...)
}

// holds reports, as an *UnboundedError, what keeps ceilings from being held: what a
// call of the role can take must be known before it is sent.
func (r Role) holds(name string, c Limits) error {
	key := "limits.tokens"
	if c.USD != nil {
		key = "limits.usd"
	}
	switch {
	case c.USD != nil && r.Price == nil:
		return &UnboundedError{Limit: key, Role: name, Model: r.Model, Price: true}
	case (c.USD != nil || c.Tokens != nil) && r.Sampling.MaxTokens <= 0 && r.MaxOutput <= 0:
		return &UnboundedError{Limit: key, Role: name, Model: r.Model}
	}
	return nil
}

// role returns the model that plays a role.
func (c *Caller) role(name string) (*role, error) {
	r, ok := c.roles[name]
	if !ok {
		return nil, fmt.Errorf("no model for the role %q: set models.%s", name, name)
	}
	return r, nil
}

// Stop lets the calls in flight finish and be recorded, and sends no new ones:
// they get ErrStopping. Episodes that have begun may continue.
func (c *Caller) Stop() { c.sender.stopping.set(ErrStopping) }

// latch is an event that happens once, with its reason.
type latch struct {
	ch     chan struct{}
	reason *atomic.Pointer[error]
	once   *sync.Once
}

func newLatch() latch {
	return latch{ch: make(chan struct{}), reason: new(atomic.Pointer[error]), once: new(sync.Once)}
}

func (l latch) set(err error) {
	l.once.Do(func() {
		l.reason.Store(&err)
		close(l.ch)
	})
}

// err returns the reason, nil as long as nothing happened.
func (l latch) err() error {
	if err := l.reason.Load(); err != nil {
		return *err
	}
	return nil
}
