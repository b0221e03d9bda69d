package caller

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// Call is one logical call of a stage: a request that is sent until there is
// a usable reply, or no hope for one.
type Call struct {
	Key   string // logical place without attempt and turn: "e1/s3/rollout/item42/sample0"
	Turn  int    // turn of a conversation
	Role  string
	Stage string

	Messages   []model.Message
	Tools      []model.Tool
	ToolChoice string
	Schema     *model.Schema
	Model      string         // overrides the role's
	Sampling   model.Sampling // what is set overrides the role's
	Seed       *int64         // of the request, see Seed; overrides Sampling.Seed

	// Divisible has two tries in a row that pass the timeout end the call, with a
	// *TimeoutError: the one who calls asks about less. Else it is tried again.
	Divisible bool

	// Accept reports why a reply cannot be used, nil if it can. It must be pure.
	// A nil Accept takes every reply that is not empty.
	Accept func(text string) error
	Reask  Reask
}

// Reask says how often an unusable reply is asked for again. The zero value
// represents DefaultReask; Same = -1 means not at all.
type Reask struct {
	Same      int // with the identical request
	WithError int // after that, with the reply and what is wrong with it
}

// DefaultReask returns what the zero Reask represents.
func DefaultReask() Reask { return Reask{Same: 8, WithError: 1} }

func (r Reask) orDefault() Reask {
	if r == (Reask{}) {
		return DefaultReask()
	}
	return Reask{Same: max(0, r.Same), WithError: max(0, r.WithError)}
}

// Seed derives the seed of a request from the run's seed, the item that is
// asked about and the number of the sample. It is positive, below 2^31, and the
// same on every machine and in every version.
func Seed(runSeed int64, item string, sample int) int64 {
	h := sha256.New()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(runSeed))
	binary.BigEndian.PutUint64(b[8:], uint64(sample))
	h.Write(b[:])
	h.Write([]byte(item))
	n := binary.BigEndian.Uint64(h.Sum(nil))
	return int64(n%(1<<31-1)) + 1
}

// reply is what came back for a request, in the form in which it is recorded:
// a response, or the limit of the task that was in its way.
type reply struct {
	model.Response
	Limit   model.Code `json:"limit,omitempty"`
	Message string     `json:"message,omitempty"`
}

// refusal names the cause for which the provider or the model refused, "" if neither did.
func (r *reply) refusal() string { return cmp.Or(string(r.Limit), r.Finish.Refusal()) }

// Do makes a call, or answers it from the record. Its errors are: the cause of
// a done ctx; ErrStopping; *TaskLimitError, *UnmeasuredError and *LostError,
// which concern this call alone; *StoppedError, *BudgetError and
// *DivergedError, which end the run; and those of the journal.
func (c *Caller) Do(ctx context.Context, call Call) (model.Response, error) {
	r, err := c.role(call.Role)
	if err != nil {
		return model.Response{}, err
	}
	if err := c.given.check(call.Key); err != nil {
		return model.Response{}, cmp.Or(c.usedBefore(ctx, call), err)
	}
	call.Reask = call.Reask.orDefault()
	if r.Patient {
		call.Reask.Same = 0
	}
	messages := call.Messages
	inherited := true
	for n := 0; ; n++ {
		s := &step{call: &call, attempt: n, messages: messages}
		rep, err := c.attempt(ctx, r, s)
		if err != nil {
			return model.Response{}, err
		}
		inherited = inherited && s.inherited
		c.usedReply(ctx, s.key, r.name, &rep)
		if rep.Limit != "" {
			return model.Response{}, limitError(r, call.Key, rep, inherited)
		}
		reason := call.refuses(rep.Response)
		if reason == nil {
			return rep.Response, nil
		}
		if n >= call.Reask.Same+call.Reask.WithError {
			return model.Response{}, call.unusableError(&LostError{Key: call.Key, Replies: n + 1, Err: reason, Text: rep.Text, Inherited: inherited})
		}
		if n >= call.Reask.Same {
			messages = withError(call.Messages, rep.Text, reason)
		}
	}
}

var (
	errEmpty = errors.New("the reply is empty")
	errCut   = errors.New("the reply was cut at the output limit (max_tokens)")
)

// refuses reports why a response cannot be used. What the target says when it
// runs out of room or declines is its answer. Of the others, a cut reply in free
// text looks like a complete one, while Accept can detect that for JSON.
func (call *Call) refuses(resp model.Response) error {
	cut := resp.Finish == model.FinishLength
	switch {
	case len(resp.Calls()) > 0 && len(call.Tools) > 0:
		return nil
	case call.Role == model.Target && (cut || resp.Finish == model.FinishFilter || resp.Finish == model.FinishRefusal):
		return nil
	case strings.TrimSpace(resp.Text) == "" && cut:
		return errCut
	case strings.TrimSpace(resp.Text) == "":
		return errEmpty
	case cut && call.Schema == nil:
		return errCut
	case call.Accept == nil:
		return nil
	}
	return call.Accept(resp.Text)
}

func (call *Call) unusableError(lost *LostError) error {
	if call.Role == model.Target {
		return &UnmeasuredError{Key: call.Key, Err: fmt.Errorf("%s in a row could not be used, last: %w", wording.Plural(lost.Replies, "reply", "replies"), lost.Err)}
	}
	return lost
}

// limitError returns the error of a request that the provider refused for its content. It is an
// answer for the target; no other model can be asked again with any hope, so its reply is lost.
func limitError(r *role, key string, rep reply, inherited bool) error {
	err := &model.Error{Code: rep.Limit, Endpoint: r.Endpoint, Err: errors.New(rep.Message)}
	if r.name == model.Target {
		return &TaskLimitError{Key: key, Code: rep.Limit, Err: err}
	}
	return &LostError{Key: key, Replies: 1, Err: err, Inherited: inherited}
}

// step is one attempt of a call: the unit that the record holds.
type step struct {
	call     *Call
	attempt  int
	messages []model.Message

	key    string
	req    model.Request
	input  journal.Input
	digest journal.Digest

	inherited bool // its reply was taken over from another run
	elsewhere bool // it was recorded with its origin
}

// stepKey returns the key under which an attempt is recorded.
func stepKey(key string, attempt, turn int) string {
	b := make([]byte, 0, len(key)+24)
	b = append(b, key...)
	b = append(b, "/attempt"...)
	b = strconv.AppendInt(b, int64(attempt), 10)
	b = append(b, "/turn"...)
	b = strconv.AppendInt(b, int64(turn), 10)
	return string(b)
}

// FirstAttempt reports whether key is that of a first attempt: only those are
// reused, since a re-ask wants another answer to the same request.
// What is before the last two segments is free text.
func FirstAttempt(key string) bool {
	slash := strings.LastIndexByte(key, '/')
	return slash >= 0 && strings.HasPrefix(key[slash:], "/turn") && strings.HasSuffix(key[:slash], "/attempt0")
}

// attempt answers a step: from its own record, from that of an equal step, or
// from the model.
func (c *Caller) attempt(ctx context.Context, r *role, s *step) (reply, error) {
	call := s.call
	s.req = model.Request{Model: call.Model, Messages: s.messages, Tools: call.Tools, ToolChoice: call.ToolChoice, Schema: call.Schema, Sampling: call.Sampling}
	if call.Seed != nil {
		s.req.Seed = call.Seed
	}
	c.complete(r, call.Stage, &s.req)
	s.key = stepKey(call.Key, s.attempt, call.Turn)
	var err error
	if s.input, err = c.input(r, &s.req); err != nil {
		return reply{}, err
	}
	s.digest = s.input.Digest()
	rec, err := c.findRecord(ctx, s.key, s.digest, s.input)
	if err != nil {
		return reply{}, err
	}
	if rec != nil {
		c.live.add(call.Stage, r.name, replayed)
		s.inherited = rec.Code == journal.CodeInherited
		return decodeReply(rec)
	}
	if s.attempt == 0 && c.opts.Reuse != ReuseNever && s.req.Deterministic() {
		return c.merge(ctx, r, s)
	}
	return c.ask(ctx, r, s)
}

// findRecord returns the record of a key, nil if there is no result. A record of another input is
// never an answer.
func (c *Caller) findRecord(ctx context.Context, key string, digest journal.Digest, in journal.Input) (*journal.Record, error) {
	rec, ok, err := c.journal.Lookup(key)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, nil
	case rec.Digest == digest:
		return &rec, nil
	case c.opts.Forked && rec.Code == journal.CodeInherited:
		return nil, nil
	}
	return nil, c.describeDivergence(ctx, key, in)
}

// Recorded reports whether the step under key has a result.
func (c *Caller) Recorded(key string) bool { return c.journal.Has(key) }

// StepRecorded reports whether the first try of a turn of a conversation has a result.
func (c *Caller) StepRecorded(key string, turn int) bool { return c.journal.Has(stepKey(key, 0, turn)) }

func decodeReply(rec *journal.Record) (reply, error) {
	var rep reply
	if err := json.Unmarshal(rec.Result, &rep); err != nil {
		return rep, fmt.Errorf("read the recorded reply of %s: %w", rec.Key, err)
	}
	return rep, nil
}

// ask sends a step and records its reply, or takes that of another run.
func (c *Caller) ask(ctx context.Context, r *role, s *step) (reply, error) {
	if c.opts.Replay != nil {
		return c.replayAttempt(ctx, r, s)
	}
	if rep, found := c.knownReply(r, s); found {
		return rep, c.inherit(ctx, r, s, rep, journal.Origin{})
	}
	if rep, found, err := fromOthers(ctx, c, r, s); found || err != nil {
		return rep, err
	}
	got, err := c.sender.send(ctx, r, &request{key: s.key, stage: s.call.Stage, req: s.req, divisible: s.call.Divisible, record: func(got *answer) error {
		return c.store(ctx, s, got.reply, journal.Record{Spend: got.spend})
	}})
	if err != nil {
		return reply{}, err
	}
	if c.opts.Others != nil {
		c.opts.Others.Answered(r.name, s.req.Model, got.reply.Model)
	}
	return got.reply, nil
}

// inherit makes a reply durable that another run paid for, origin if that is known.
func (c *Caller) inherit(ctx context.Context, r *role, s *step, rep reply, origin journal.Origin) error {
	s.inherited = true
	return c.store(ctx, s, rep, journal.Record{
		Code: journal.CodeInherited, Origin: origin, Spend: journal.Spend{Stage: s.call.Stage, Role: r.name, Model: s.req.Model},
	})
}

// store makes the reply of a step durable.
func (c *Caller) store(ctx context.Context, s *step, rep reply, rec journal.Record) error {
	result, err := json.Marshal(rep)
	if err != nil {
		return fmt.Errorf("encode the reply of %s: %w", s.key, err)
	}
	rec.Key, rec.Kind, rec.Input, rec.Digest, rec.Replace = s.key, journal.Call, s.input, s.digest, c.opts.Forked
	rec.Result = result
	return c.journal.Append(context.WithoutCancel(ctx), rec)
}

// Bind returns a client whose calls are those of one conversation: each is a
// durable step of its own, the first with base.Turn, the next with one more.
// What a request sets goes before what base sets. The calls must be made one
// after the other, as those of a conversation are.
func (c *Caller) Bind(base Call) model.Client { return &bound{caller: c, base: base} }

type bound struct {
	caller *Caller
	base   Call
	turns  atomic.Int64
}

// Generate implements model.Client.
func (b *bound) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	call := b.base
	call.Turn += int(b.turns.Add(1)) - 1
	call.Messages, call.Sampling = req.Messages, req.Sampling.Over(call.Sampling)
	if req.Schema != nil {
		call.Schema = req.Schema
	}
	if len(req.Tools) > 0 {
		call.Tools, call.ToolChoice = req.Tools, req.ToolChoice
	}
	if req.Model != "" {
		call.Model = req.Model
	}
	if req.Seed != nil {
		call.Seed = req.Seed
	}
	return b.caller.Do(ctx, call)
}
