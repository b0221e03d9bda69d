package caller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// sender sends requests until they are answered: within the limits, again after failures,
// with every attempt in the ledger. It knows nothing of what is recorded under which key.
type sender struct {
	journal *journal.Journal
	meter   *meter
	slots   *slots // of the whole run
	jitter  *jitter

	lifetime context.Context // of the run; nil: a request ends with its call
	patience time.Duration
	waiting  func(Outage)               // nil: no one wants to know
	observe  func(Activity) Observation // nil: no one wants to know

	halted   latch // the run cannot continue
	stopping latch // the user wants it to end
}

func newSender(o Options, m *meter) *sender {
	return &sender{
		journal: o.Journal, meter: m, slots: newSlots(o.Concurrency), jitter: newJitter(o.JitterSeed),
		lifetime: o.Lifetime, patience: o.Patience, waiting: o.Waiting, observe: o.Observe,
		halted: newLatch(), stopping: newLatch(),
	}
}

// admit reports why no request may be sent. An episode that has begun is not
// held up by Stop.
func (s *sender) admit(ctx context.Context, begun bool) error {
	if err := s.halted.err(); err != nil {
		return err
	}
	if err := s.stopping.err(); err != nil && !begun {
		return err
	}
	return context.Cause(ctx)
}

// request is what is to be sent until it is answered.
type request struct {
	key   string // for the ledger and messages
	stage string
	req   model.Request
	begun bool // it belongs to an episode under way, which Stop lets finish
	try   int  // of that episode

	direct    bool // its failure concerns no one else, see Direct
	divisible bool // see Call

	// record makes an answer durable. The request keeps its slot of the run until
	// it returns, so that a kill loses no more answers than there are slots.
	record func(*answer) error
	kept   *kept // the words of a call inside an episode

	// served, if set, adds up how long the model was at work for the caller: all
	// else of the time that a request takes is a wait for a slot, the server's
	// bucket or the next try.
	served *time.Duration

	watch       *watch
	reservation *reservation // at the meter
}

// reserve prepares what is kept back for the request while it is under way.
func (e *request) reserve(r *role) {
	usage, _ := r.most(&e.req)
	e.reservation = &reservation{usage: usage, most: Amount{Tokens: usage.Input + usage.Output}}
	if e.reservation.cost = r.Price.most(usage); e.reservation.cost != nil {
		e.reservation.most.Nano = *e.reservation.cost
	}
}

// answer is a reply and what it cost.
type answer struct {
	reply    reply
	spend    journal.Spend
	received bool
}

// codeCancelled is the ledger's class of requests that the run itself gave up.
const codeCancelled = "cancelled"

// send sends a request until it is answered, gives its slot back whenever it has
// to wait, and puts every failure into the ledger.
func (s *sender) send(ctx context.Context, r *role, e *request) (*answer, error) {
	if err := s.meter.open(); err != nil {
		return &answer{}, err
	}
	e.reserve(r)
	e.watch = s.watch(r, e)
	got, err := s.retry(ctx, r, e)
	e.watch.reportEnd(time.Now(), got, err)
	got.spend.Role = r.name                      // also of one that was never sent
	s.meter.end(got.spend, false, e.reservation) // unless it was answered
	return got, err
}

func (s *sender) retry(ctx context.Context, r *role, e *request) (*answer, error) {
	tries := r.end.begin()
	defer r.end.end(tries)
	for {
		got, failure, err := s.tryOnce(ctx, r, e, tries.failures > 0)
		if failure == nil {
			return got, err
		}
		if failure.Code == model.Waiting {
			return &answer{}, &WaitingError{Key: e.key, Err: failure.Err}
		}
		e.watch.reportFailure(time.Now(), failure.Code)
		if err := errors.Join(err, s.fault(ctx, e, got, faulted{code: string(failure.Code), billed: isBillable(failure), why: failure})); err != nil {
			return &answer{}, err
		}
		if e.divisible && r.overdue(tries, got.spend.Took, failure.Code) {
			return &answer{}, &TimeoutError{Role: r.name, Timeout: r.Timeout}
		}
		if e.req.Passage.Begun() {
			return &answer{}, &UnmeasuredError{Key: e.key, Err: fmt.Errorf("the answer broke off after its beginning had reached the agent: %w", failure)}
		}
		if final(failure.Code) {
			if err := s.checkStray(r, e, tries, failure); err != nil {
				return &answer{}, err
			}
		}
		if err := s.waitForRetry(ctx, retrying{role: r, request: e, tries: tries, failure: failure, took: got.spend.Took}); err != nil {
			return &answer{}, err
		}
	}
}

// overdue reports whether the time of a call was over twice in a row. Once, it may have waited
// for others, or hung. It says nothing of the endpoint, which is asked for less.
func (r *role) overdue(tries *attempts, took time.Duration, code model.Code) bool {
	if code != model.Timeout || r.Timeout == 0 || took < r.Timeout {
		tries.overdue = false
		return false
	}
	if !tries.overdue {
		tries.overdue = true
		return false
	}
	r.end.excuse()
	return true
}

// tryOnce makes one attempt within the limits, and records its answer. A failure is
// the attempt's; an error means that there was none, that it was cut short, or
// that the run must end, which is noted before anybody gets the slot.
func (s *sender) tryOnce(ctx context.Context, r *role, e *request, again bool) (*answer, *model.Error, error) {
	if err := s.enter(ctx, r, e, again); err != nil {
		return &answer{}, nil, err
	}
	if !e.begun {
		ctx = s.underway(ctx)
	}
	started := time.Now()
	e.watch.begin(started)
	got := &answer{spend: journal.Spend{Stage: e.stage, Role: r.name, Model: e.req.Model, StartedAt: started}}
	failure := generate(ctx, r, &e.req, &got.reply.Response)
	now := time.Now()
	got.spend.Took = now.Sub(started)
	if e.served != nil && (failure == nil || ctx.Err() != nil) {
		*e.served += got.spend.Took
	}
	r.end.pause(now, got.reply.Pause) // before anybody gets the slot
	if failure != nil && ctx.Err() == nil {
		r.end.relieve(now, started, failure.Code)
	}
	r.end.slots.release()
	defer s.slots.release()

	if failure != nil && ctx.Err() != nil {
		// It may have cost something at the server.
		return got, nil, errors.Join(context.Cause(ctx), s.fault(ctx, e, got, faulted{code: codeCancelled, billed: true, why: context.Cause(ctx)}))
	}
	if got.read(failure); !got.received {
		return got, failure, s.checkRefusal(r, e, failure)
	}
	r.end.noteAnswer(now, got.spend.Took)
	got.price(r, e)
	err := e.record(got)
	s.meter.end(got.spend, true, e.reservation) // before anybody gets the slot
	return got, nil, err
}

// price says what an answer used and cost. What the provider says that it cost goes
// before the prices; what refuses a prompt costs nothing.
func (a *answer) price(r *role, e *request) {
	if a.reply.Limit != "" {
		a.spend.Usage = clampUsage(a.reply.Usage)
	} else {
		a.spend.Usage, a.spend.Estimate = r.replyUsage(&e.req, &a.reply.Response)
	}
	a.reply.Usage = saneUsage(a.reply.Usage)
	said := a.reply.CostUSD
	switch {
	case said != nil && *said >= 0 && *said < maxCost:
		nano := int64(math.Ceil(1e9 * *said))
		a.spend.Cost = &nano
	case !a.spend.Estimate:
		a.spend.Cost = r.Price.nano(a.spend.Usage)
	case a.spend.Usage != (journal.Usage{}):
		a.spend.Cost = r.Price.most(a.spend.Usage)
	}
}

// maxCost is more than any call costs, in dollars.
const maxCost = 1e5

// underway returns the context for what has begun and will be paid for.
func (s *sender) underway(ctx context.Context) context.Context {
	if s.lifetime != nil {
		return s.lifetime
	}
	return ctx
}

// waitForServer waits, without a slot, until the server grants requests again.
func (s *sender) waitForServer(ctx context.Context, r *role, begun bool) error {
	for {
		d := r.end.pausedFor(time.Now())
		if d <= 0 {
			return nil
		}
		if err := s.wait(ctx, d, begun); err != nil {
			return err
		}
	}
}

// enter waits for the server's bucket, a slot of the endpoint and one of the
// run. A request that finds the bucket empty once it has its slots gives them back.
func (s *sender) enter(ctx context.Context, r *role, e *request, again bool) error {
	for {
		if err := s.waitForServer(ctx, r, e.begun); err != nil {
			return err
		}
		if err := s.takeSlots(ctx, r, e, again); err != nil {
			return err
		}
		if r.end.pausedFor(time.Now()) <= 0 {
			return nil
		}
		s.slots.release()
		r.end.slots.release()
	}
}

// takeSlots takes a slot of the endpoint and one of the run.
func (s *sender) takeSlots(ctx context.Context, r *role, e *request, again bool) error {
	for {
		room, err := s.tryTakeSlots(ctx, r, e, again)
		if room == nil {
			return err
		}
		if err := s.waitForRoom(ctx, room, e.begun); err != nil {
			return err
		}
	}
}

// waitForRoom waits for a channel to be closed, unless the request must not be sent any
// more.
func (s *sender) waitForRoom(ctx context.Context, room <-chan struct{}, begun bool) error {
	stopping := s.stopping.ch
	if begun {
		stopping = nil
	}
	select {
	case <-room:
	case <-ctx.Done():
	case <-s.halted.ch:
	case <-stopping:
	}
	return s.admit(ctx, begun)
}

// tryTakeSlots takes the slots if the ceilings have room for the request. If they have not
// because of others that are under way, it takes none, and room is closed as soon
// as it is worth another try.
func (s *sender) tryTakeSlots(ctx context.Context, r *role, e *request, again bool) (room <-chan struct{}, err error) {
	begun := e.begun
	if err := s.admit(ctx, begun); err != nil {
		return nil, err
	}
	how := entry{again: again, quit: s.halted.ch, reason: func() error { return s.admit(ctx, begun) }}
	if len(e.req.Messages) > 0 {
		how.begins = e.req.Messages[0].Content
	}
	if !begun {
		how.quit2 = s.stopping.ch
	}
	if err := r.end.slots.acquire(ctx, how); err != nil {
		return nil, err
	}
	if err := s.slots.acquire(ctx, how); err != nil {
		r.end.slots.release()
		return nil, err
	}
	// Much may have happened while it waited.
	err = s.admit(ctx, begun)
	if err == nil {
		room, err = s.meter.begin(e.reservation)
	}
	if err != nil || room != nil {
		s.slots.release()
		r.end.slots.release()
	}
	return room, err
}

// generate calls the client under the timeout of one attempt.
func generate(ctx context.Context, r *role, req *model.Request, resp *model.Response) *model.Error {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	var err error
	if *resp, err = r.Client.Generate(ctx, *req); err != nil {
		return classifyError(ctx, r, err)
	}
	return nil
}

// classifyError gives a class to what a careless client leaves unclassified.
func classifyError(ctx context.Context, r *role, err error) *model.Error {
	var failure *model.Error
	if errors.As(err, &failure) {
		return failure
	}
	code := model.Server
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		code = model.Timeout
	}
	return &model.Error{Code: code, Endpoint: r.Endpoint, Err: err}
}

// read reports whether what a client returned is a reply. A refusal of the content
// and an empty answer are replies too: they are recorded.
func (a *answer) read(failure *model.Error) {
	a.received = true
	if failure == nil {
		return
	}
	switch failure.Code {
	case model.ContextLength, model.ContentFilter:
		a.reply.Limit, a.reply.Message = failure.Code, failure.Error()
		if failure.Err != nil {
			a.reply.Message = failure.Err.Error()
		}
	case model.Empty:
		a.reply.Text = ""
	default:
		a.reply, a.received = reply{}, false
	}
}

// faulted is how an attempt ended.
type faulted struct {
	code   string
	billed bool // it may have been charged for
	why    error
}

// fault puts an attempt without an answer into the ledger. One that may have been
// charged for counts with the most that it can have used, the others with nothing.
func (s *sender) fault(ctx context.Context, e *request, got *answer, f faulted) error {
	spend := got.spend
	spend.Usage, spend.Cost = journal.Usage{}, nil
	if f.billed && e.reservation.usage.Output > 0 {
		spend.Usage, spend.Cost, spend.Estimate = e.reservation.usage, e.reservation.cost, true
	}
	err := e.kept.charge(ctx, s.journal, journal.Record{
		Key: e.key, Kind: journal.Fault, Attempt: e.try, Code: f.code, Spend: spend,
	}, exchange.End{Fault: f.why.Error()})
	s.meter.fail(spend, e.reservation)
	return err
}

// final reports whether a failure is of a class that no retry is known to help against.
func final(code model.Code) bool {
	switch code {
	case model.Auth, model.Credit, model.Certificate, model.NotFound, model.BadRequest:
		return true
	}
	return false
}

// checkRefusal ends the run for failures that no retry helps against, of an endpoint that has
// answered nothing yet.
func (s *sender) checkRefusal(r *role, e *request, failure *model.Error) error {
	switch {
	case e.direct:
		return nil
	case failure.Code == model.Budget:
		return failure
	case final(failure.Code) && !r.end.hasAnswered():
		return s.stop(r, e, failure)
	}
	return nil
}

// checkStray decides on a failure that no retry is known to help against, of an endpoint that has
// answered before. The first of a request may be a stray one.
func (s *sender) checkStray(r *role, e *request, tries *attempts, failure *model.Error) error {
	if tries.finals++; tries.finals == 1 {
		return nil
	}
	if r.name == model.Optimizer || r.end.noteStray(keyItem(e.key)) {
		return s.stop(r, e, failure)
	}
	return &UnmeasuredError{Key: e.key, Err: fmt.Errorf("refused twice while %s answers others: %w", r.end.name, failure)}
}

// keyItem returns the item that a key belongs to, the key itself if it names none.
func keyItem(key string) string {
	at := strings.LastIndex(key, "/sample")
	if at < 0 {
		return key
	}
	return key[strings.LastIndexByte(key[:at], '/')+1 : at]
}

// stop ends the run for a failure.
func (s *sender) stop(r *role, e *request, failure *model.Error) error {
	err := &StoppedError{Endpoint: r.Endpoint, Model: e.req.Model, Key: e.key, Patience: s.patience, Err: failure}
	s.halted.set(err)
	return s.halted.err()
}

// retrying is a call after a failure that may pass.
type retrying struct {
	role    *role
	request *request
	tries   *attempts
	failure *model.Error
	took    time.Duration
}

// waitForRetry waits until the request may be tried again, or returns why it must not.
func (s *sender) waitForRetry(ctx context.Context, f retrying) error {
	end := f.role.end
	if f.failure.Code == model.RateLimit || f.failure.RetryAfter > 0 {
		end.spoke.Store(true)
	}
	j := end.noteFailure(time.Now(), f.tries)
	if err := s.verdict(f, j); err != nil {
		return err
	}
	hint, err := s.checkHint(f)
	if err != nil {
		return err
	}
	latency := j.median
	if latency == 0 {
		// Nothing is known of an endpoint that never answered; a refused
		// connection takes no time and says nothing about its pace.
		latency = max(f.took, unknownLatency)
	}
	delay := s.jitter.backoff(f.tries.failures, latency, hint)
	if f.failure.Code == model.Truncated && f.tries.failures <= atOnce {
		// The server has answered and the answer was lost on its way: nothing says
		// that it wants fewer requests.
		return nil
	}
	s.tell(f, j, delay)
	hinted := hint > 0
	for delay > 0 {
		pause := min(delay, j.left)
		if err := s.wait(ctx, pause, f.request.begun); err != nil {
			return err
		}
		delay -= pause
		if delay <= 0 || !hinted {
			return nil // one last try when patience is about to end
		}
		// The server asked for more time than there is patience.
		j = end.judgeAgain(time.Now(), f.tries)
		if err := s.verdict(f, j); err != nil {
			return err
		}
	}
	return nil
}

// tell says that the run waits for an endpoint.
func (s *sender) tell(f retrying, j judgement, delay time.Duration) {
	end := f.role.end
	if s.waiting != nil && end.tells(j, delay) {
		s.waiting(Outage{Endpoint: end.name, Model: end.model, Failing: j.failing, Patience: j.failing + j.left, Err: f.failure})
	}
}

// verdict turns a judgement into the error that it demands.
func (s *sender) verdict(f retrying, j judgement) error {
	switch j.verdict {
	case giveUp:
		return &UnmeasuredError{Key: f.request.key, Err: fmt.Errorf("given up after %d failures while %s answers others, last: %w",
			f.tries.failures, f.role.end.name, f.failure)}
	case stopRun:
		stop := &StoppedError{
			Endpoint: f.role.end.name, Model: f.role.end.model, Key: f.request.key,
			Failing: max(j.failing, 1), Patience: s.patience, Err: f.failure,
		}
		if hint := f.failure.RetryAfter; hint > s.patience {
			stop.Wait, stop.Until = hint, time.Now().Add(hint)
		}
		s.halted.set(stop)
		return s.halted.err()
	}
	return nil
}
