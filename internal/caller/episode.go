package caller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// EpisodeCall is one episode: anything with outside effects, which is recorded
// as a whole because parts of it cannot be repeated.
type EpisodeCall struct {
	Key   string // logical place: "e1/s3/rollout/item42/sample0"
	Stage string
	Role  string // whose model the episode uses
	Seed  int64  // default seed of its requests

	// What the outcome depends on apart from the model: parts that repeat, such as
	// the skill, and the episode's own.
	Shared [][]byte
	Own    []byte

	// Usable reports whether a result that a fork took over can be used here: what
	// belongs to it outside of the record may have stayed behind. If not, the episode
	// runs again. Nil = it can.
	Usable func(result []byte) bool
}

// EpisodeResult is what an episode returns.
type EpisodeResult struct {
	Data []byte // what is recorded, and answers the episode from then on

	// Usage are the tokens of calls that went past the client. They count only
	// when no call went through it: else they would be counted twice.
	Usage trajectory.Usage
}

// Episode runs an episode, or answers it from the record. run gets a client
// whose calls are metered, bounded and retried like any other and go into the
// ledger; they are never answered from it. When run succeeds its result is
// recorded. When it fails, or when infrastructure kept an answer from it and it
// continued regardless, nothing is recorded: what it spent stays in the ledger as
// lost, and the next try starts afresh. Tokens that the result reports count as
// those of calls do, at the price of the role; where that rises with the length
// of a prompt and their sum is beyond that length, their cost is unknown.
//
// Errors are those of Do, and what run returns.
func (c *Caller) Episode(ctx context.Context, call EpisodeCall, run func(ctx context.Context, client model.Client) (EpisodeResult, error)) ([]byte, error) {
	r, err := c.role(call.Role)
	if err != nil {
		return nil, err
	}
	if err := c.given.check(call.Key); err != nil {
		if in := c.journal.LastTry(call.Key); in.Ended { // its score alone could not be had
			c.usedEpisode(ctx, call.Key, r.name, in.Attempt)
		}
		return nil, err
	}
	in, err := c.episodeInput(r, call)
	if err != nil {
		return nil, err
	}
	digest := in.Digest()
	rec, err := c.findRecord(ctx, call.Key, digest, in)
	if err != nil {
		return nil, err
	}
	if rec != nil && (!c.opts.Forked || rec.Code != journal.CodeInherited || call.Usable == nil || call.Usable(rec.Result)) {
		c.live.add(call.Stage, r.name, replayed)
		c.usedEpisode(ctx, call.Key, r.name, rec.Attempt)
		return rec.Result, nil
	}
	if c.opts.Replay != nil {
		return c.replayedStep(ctx, journal.Record{
			Key: call.Key, Kind: journal.Episode, Input: in, Digest: digest,
			Spend: journal.Spend{Stage: call.Stage, Role: r.name, Model: r.Model},
		})
	}
	if err := errors.Join(c.sender.admit(ctx, false), c.meter.check()); err != nil {
		return nil, err
	}
	ctx = c.sender.underway(ctx)
	client := &episodeClient{caller: c, role: r, call: call, try: c.journal.Attempts(call.Key), ctx: ctx}
	if c.mask != nil {
		client.keeper = exchange.NewKeeper(c.mask)
	}
	w := &watch{observe: c.opts.Observe, what: Activity{Key: call.Key, Stage: call.Stage, Role: r.name, Try: client.try, Episode: true, Request: model.Request{Model: r.Model}}}
	w.begin(time.Now())
	result, err := run(ctx, client)
	if err := client.verdict(err); err != nil {
		w.episode(time.Now(), journal.Spend{}, err)
		return nil, c.failedEpisode(ctx, client, err)
	}
	spend, most := client.newSpend(result.Usage)
	err = c.journal.Append(context.WithoutCancel(ctx), journal.Record{
		Key: call.Key, Kind: journal.Episode, Attempt: client.try, Input: in, Digest: digest, Result: result.Data,
		Replace: c.opts.Forked, Spend: spend,
	})
	w.episode(time.Now(), spend, err)
	if err != nil {
		return nil, err
	}
	c.meter.add(spend, most)
	c.usedEpisode(ctx, call.Key, r.name, client.try)
	return result.Data, nil
}

// failedEpisode puts a try of an episode that measured nothing into the ledger, where
// attempts of calls are, and returns why it did. What its own calls failed at is there
// already, and a try that the run itself gave up has not failed.
func (c *Caller) failedEpisode(ctx context.Context, e *episodeClient, err error) error {
	var classed interface{ FaultClass() string }
	class := "episode"
	switch {
	case ctx.Err() != nil || e.failure != nil:
		return err
	case errors.As(err, &classed):
		class = classed.FaultClass()
	case !errors.Is(err, ErrUnmeasured):
		return err
	}
	cerr := c.journal.Charge(context.WithoutCancel(ctx), journal.Record{
		Key: e.call.Key, Kind: journal.Fault, Attempt: e.try, Code: class,
		Spend: journal.Spend{Stage: e.call.Stage, Role: e.role.name, Model: e.role.Model},
	})
	if cerr != nil {
		return errors.Join(err, cerr)
	}
	return err
}

func (c *Caller) episodeInput(r *role, call EpisodeCall) (journal.Input, error) {
	own := json.RawMessage(call.Own)
	if !json.Valid(own) {
		text, err := json.Marshal(string(call.Own))
		if err != nil {
			return journal.Input{}, fmt.Errorf("encode input of %s: %w", call.Key, err)
		}
		own = text
	}
	stored := storedInput{Source: r.Source, Model: r.Model, Sampling: r.Sampling, Episode: own}
	stored.Seed = &call.Seed
	b, err := encode(stored)
	in := journal.Input{Own: b}
	for _, part := range call.Shared {
		in.Shared = append(in.Shared, c.parts.blobFromBytes(part))
	}
	return in, err
}

// episodeClient is the model.Client of one try of an episode.
type episodeClient struct {
	caller *Caller
	role   *role
	call   EpisodeCall
	try    int
	ctx    context.Context  // of the episode as a whole
	keeper *exchange.Keeper // of what is said; nil: it is not kept

	mu      sync.Mutex
	ordinal int
	failure error // the first that kept an answer from the episode
	ended   bool
	waited  time.Duration
	served  string
	refused string
}

// Waited returns how long the requests of the episode waited for slots, limits
// and further tries, those of its parallel requests added up: time that is not
// the agent's.
func (e *episodeClient) Waited() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waited
}

// Served returns the model that answered last, as the server named it, with its
// fingerprint; "" if none has.
func (e *episodeClient) Served() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.served
}

// Refused names the cause of the first refusal that the episode got, "" if it got none.
func (e *episodeClient) Refused() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused
}

var _ model.Client = (*episodeClient)(nil)

var errEnded = errors.New("the episode has ended")

// Passes implements model.Passer.
func (e *episodeClient) Passes(wire string) bool { return model.Passes(e.role.Client, wire) }

// Generate implements model.Client. Empty answers are asked for again, as those
// of any call are, unless the agent has read them already. What fails after the
// agent has read the beginning of it is not asked for again, and no measurement. A request
// whose tags name the judge goes to the judge.
func (e *episodeClient) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if req.Seed == nil {
		req.Seed = &e.call.Seed
	}
	r, stage := e.role, e.call.Stage
	if req.Tags.Role == model.Judge { // a program of several turns asks it too
		var err error
		if r, err = e.caller.role(model.Judge); err != nil {
			return model.Response{}, err
		}
		stage = model.StageJudge
	}
	e.caller.complete(r, stage, &req)
	check := Call{Key: e.call.Key, Role: r.name, Tools: req.Tools}
	begun := e.follow(req.Passage)
	for n := 0; ; n++ {
		rep, err := e.ask(ctx, r, req, begun)
		if err != nil {
			e.fail(ctx, err)
			return model.Response{}, err
		}
		if rep.Limit != "" {
			return model.Response{}, &TaskLimitError{
				Key: e.call.Key, Code: rep.Limit,
				Err: &model.Error{Code: rep.Limit, Endpoint: r.Endpoint, Err: errors.New(rep.Message)},
			}
		}
		reason := check.refuses(rep.Response)
		if reason == nil || req.Passage.Begun() { // the agent has it as it is
			return rep.Response, nil
		}
		if n >= DefaultReask().Same {
			err := &UnmeasuredError{Key: e.call.Key, Err: fmt.Errorf("%d replies in a row could not be used, last: %w", n+1, reason)}
			e.fail(ctx, err)
			return model.Response{}, err
		}
	}
}

// ask sends one request and charges its answer to the episode.
func (e *episodeClient) ask(ctx context.Context, r *role, req model.Request, begun *beginning) (reply, error) {
	ordinal, err := e.next()
	if err != nil {
		return reply{}, err
	}
	words, taken := e.keep(&req, begun)
	defer taken()
	record := func(got *answer) error {
		code := got.reply.refusal()
		if got.reply.Finish == model.FinishLength {
			code = journal.CodeCut
		}
		return words.charge(ctx, e.caller.journal, journal.Record{
			Key: e.call.Key, Kind: journal.Inner, Attempt: e.try, Ordinal: ordinal, Code: code, Spend: got.spend,
		}, got.reply.end())
	}
	var served time.Duration
	began := time.Now()
	got, err := e.caller.sender.send(ctx, r, &request{
		key: e.call.Key, stage: req.Tags.Stage, req: req, begun: true, try: e.try, record: record, served: &served, kept: words,
	})
	e.mu.Lock()
	e.waited += time.Since(began) - served
	if err == nil && r == e.role {
		e.served, e.refused = got.reply.Served(), cmp.Or(e.refused, got.reply.refusal())
	}
	e.mu.Unlock()
	return got.reply, err
}

// next numbers the calls of the episode.
func (e *episodeClient) next() (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return 0, errEnded
	}
	e.ordinal++
	return e.ordinal - 1, nil
}

// fail remembers an error, unless the episode itself ended the call: a stop of
// the run ends all of the episode, and what that makes of it is no result.
func (e *episodeClient) fail(ctx context.Context, err error) {
	if ctx.Err() != nil && e.ctx.Err() == nil && !endsRun(err) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failure == nil || (endsRun(err) && !endsRun(e.failure)) {
		e.failure = err
	}
}

// verdict ends the episode. What kept an answer from it goes before what the
// environment made of that: a score without the answer would be no measurement.
func (e *episodeClient) verdict(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	if e.failure != nil {
		return e.failure
	}
	return err
}

// newSpend returns what an episode spent next to its client, and the most that it
// cost when that is not known.
func (e *episodeClient) newSpend(usage trajectory.Usage) (spend journal.Spend, most int64) {
	spend = journal.Spend{Stage: e.call.Stage, Role: e.role.name, Model: e.role.Model}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ordinal > 0 || usage == (trajectory.Usage{}) {
		return spend, 0
	}
	if spend.Estimate = !possible(usage); spend.Estimate {
		return spend, 0
	}
	spend.Usage = clampUsage(usage)
	spend.Cost, most = e.role.Price.sum(spend.Usage)
	return spend, most
}

// givenUp knows the items that decisions were made without.
type givenUp struct {
	mu   sync.RWMutex
	keys map[string]struct{}
}

func newGivenUp() *givenUp { return &givenUp{keys: make(map[string]struct{})} }

// learn takes in a recorded result.
func (g *givenUp) learn(r *journal.Record) {
	if r.Kind == journal.Unmeasured {
		g.keys[r.Key] = struct{}{}
	}
}

var errGivenUp = errors.New("a recorded decision continued without it")

// check refuses a key that was given up. Keys are compared as a whole: an item's
// id may hold slashes and so look like a place below another item.
func (g *givenUp) check(key string) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if _, ok := g.keys[key]; ok {
		return &UnmeasuredError{Key: key, Err: errGivenUp}
	}
	return nil
}

func (g *givenUp) add(keys []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range keys {
		g.keys[key] = struct{}{}
	}
}
