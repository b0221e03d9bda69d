// Package gateway is the operation that serves the model of a configuration to agents on
// this machine, with the ledger and the ceilings of a run.
//
// It knows sessions, and what went through. It knows nothing of the protocols, which are
// internal/gateway's.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Options say how a gateway is reached.
type Options struct {
	Addr string // host:port on the loopback interface; "" = a free port of 127.0.0.1
	Key  string // what agents must send; "" = a random one

	// Observe learns of each exchange once it is over. It is not called
	// concurrently. Nil is normal.
	Observe func(result.Exchange)
}

// Gateway serves the model of a configuration to any agent on this machine, in
// the protocols of OpenAI, Anthropic and Gemini. It sends what it is asked once
// and passes on what the server says: agents retry by themselves. Every call goes
// into the ledger of a run directory, and limits.calls, limits.tokens, limits.usd
// and limits.time hold.
type Gateway struct {
	URL    string // root; agents of OpenAI's protocols get it with /v1 behind it
	Key    string // what agents must send
	RunDir string
	Model  string // as the provider knows it, "" if it has one only
	// Provider is who answers, as models.target.provider names it.
	Provider string

	session *session.Session
	built   wiring.Built
	price   *caller.Price
	serves  *gateway.Gateway
	began   time.Time
	life    context.Context // of drain
	stop    context.CancelFunc
	ended   chan struct{} // closed by finish
	finish  func()        // may be called again
	deaf    func()        // ends that anything is asked of it; nil: no one listens yet
	wg      sync.WaitGroup
	key     string // of the session in the ledger
	try     int    // of the session: one before it may have been killed

	mu     sync.Mutex
	sum    result.GatewaySummary
	usd    float64
	priced bool
	over   *caller.BudgetError
	late   *session.TimeError
}

// stageGateway is the stage of its calls in the ledger.
const stageGateway = "gateway"

// Open begins to serve. Of cfg it uses the target model, limits, prices and run.
// The caller closes the gateway.
func Open(ctx context.Context, cfg config.Config, o Options, so session.Options) (*Gateway, error) {
	g := &Gateway{priced: true, ended: make(chan struct{})}
	g.finish = sync.OnceFunc(func() { close(g.ended) })
	// What ends a session are Close and the clock, not the context of its beginning.
	g.life, g.stop = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if g.session, err = prepare(ctx, cfg, so); err != nil {
		g.stop()
		return nil, err
	}
	g.built = g.session.Models.Of(model.Target)
	if err := g.open(ctx, o); err != nil {
		return nil, errors.Join(err, g.release())
	}
	return g, nil
}

// prepare loads the model alone: a gateway needs no tasks, and its ledger continues when
// the rest of the configuration has changed.
func prepare(ctx context.Context, cfg config.Config, o session.Options) (*session.Session, error) {
	only := config.Default()
	only.Limits, only.Run, only.Telemetry = cfg.Limits, cfg.Run, cfg.Telemetry
	only.Prices, only.PriceFile = cfg.Prices, cfg.PriceFile
	only.Models.Target = cfg.Models.Target
	in, err := session.NewInputs(only, o)
	if err != nil {
		return nil, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, err
	}
	if cfg.Models.Target.Provider == "" && s.Clients[model.Target] == nil {
		return nil, fault.Input(errors.New("models.target is not set: there is no model to serve"))
	}
	s.Kind = result.ServeModel
	s.Config.Agent.HostedTools = cfg.Agent.HostedTools // no agent is part of a gateway, what it may use is
	s.Identify("gateway", model.Target)
	s.Config.Run.Name = s.RunName() + "-gateway"
	if err := s.Models.Load(model.Target); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (g *Gateway) open(ctx context.Context, o Options) (err error) {
	s := g.session
	// Whether it can be listened at is found out before a run is begun.
	if g.serves, err = gateway.New(gateway.Options{Addr: o.Addr, Now: s.Now}); err != nil {
		return fault.Input(fmt.Errorf("listen: %w", err))
	}
	if err := openLedger(ctx, s); err != nil {
		return err
	}
	if err := s.ConnectCalls(ctx, nil); err != nil {
		return err
	}
	g.price, g.key = s.Models.Role(model.Target).Price, fmt.Sprintf("gateway/%d", s.Run.Journal.Counts().Results+1)
	g.try = s.Run.Journal.Attempts(g.key)
	client, err := s.Caller.Direct(g.key, g.stage(), model.Target)
	if err != nil {
		return err
	}
	m := s.Config.Models.Target
	h, err := g.serves.Open(gateway.Session{
		Client: client, Model: m.Model, Sampling: wiring.Sampling(m), Hosted: s.Config.Agent.HostedTools, Key: o.Key, Concurrency: s.Config.Limits.Concurrency,
		Observe: func(e gateway.Exchange) { g.observe(e, o.Observe) },
	})
	if err != nil {
		return fault.Input(err)
	}
	g.URL, g.Key, g.RunDir, g.Model, g.Provider = g.serves.URL(), h.Key(), s.Run.Dir, m.Model, m.Provider
	if err := s.WriteConfig(); err != nil {
		return err
	}
	g.began = s.Now()
	g.deaf = session.Listen(s, session.Listener{
		Stop: func() { g.wg.Go(func() { g.drain(errStopped) }) }, StopNow: g.finish, Late: func() { g.wg.Go(g.expire) },
	})
	return nil
}

// errStopped is the error that agents get once somebody has stopped the gateway from outside.
var errStopped = errors.New("the gateway was stopped")

// expire ends the session softly when limits.time is reached.
func (g *Gateway) expire() {
	late := &session.TimeError{Used: g.session.Now().Sub(g.began), Limit: session.InForce(g.session).Time.Std()}
	g.mu.Lock()
	g.late = late
	g.mu.Unlock()
	g.drain(late)
}

// drain ends the session softly: what is in flight is answered, since it is paid for.
func (g *Gateway) drain(why error) {
	// It fails only when Close does not wait for it, or somebody ends it at once.
	_ = g.serves.Drain(g.life, why)
	g.finish()
}

// Ended returns a channel that closes after limits.time is reached, or somebody has stopped the
// gateway from outside. It closes when all that was in flight then is answered. Nothing is answered
// after that; only Close remains.
func (g *Gateway) Ended() <-chan struct{} { return g.ended }

// stage returns the stage of the calls. A simulated world answers by the stage alone and knows none
// of agents.
func (g *Gateway) stage() string {
	if g.built.Simulated {
		return model.StageRollout
	}
	return stageGateway
}

// openLedger opens the run directory. Without a given one it is new: several
// gateways may serve side by side, and none continues with the ledger of another.
func openLedger(ctx context.Context, s *session.Session) error {
	if s.RunDir != "" {
		return s.Open(ctx)
	}
	base, err := filepath.Abs(s.Config.Run.Dir)
	if err != nil {
		return fmt.Errorf("find run.dir: %w", err)
	}
	for {
		s.RunDir, _, err = run.Choose(base, s.Config.Run.Name, func(map[string]string) bool { return false })
		if err != nil {
			return err
		}
		err := s.Open(ctx)
		var taken *run.LockedError // by one that began at the same time
		if !errors.As(err, &taken) {
			return err
		}
	}
}

// observe adds an exchange up and reports it.
func (g *Gateway) observe(e gateway.Exchange, tell func(result.Exchange)) {
	out := result.Exchange{
		At: e.StartedAt.UTC(), Wire: string(e.Wire), Asked: e.Asked, Model: e.Request.Model, TookS: e.Took.Seconds(), LeftOut: gateway.Whats(e.LeftOut),
		Input: e.Response.Usage.Input, Output: e.Response.Usage.Output, Cached: e.Response.Usage.Cached,
	}
	if e.Response.Model != "" {
		out.Model = e.Response.Model
	}
	if usd, known := g.price.USD(e.Response.Usage); known && e.Response.Usage.Input > 0 && e.Err == nil && !g.built.Simulated { // 0 means that the server did not say
		out.CostUSD = &usd
	}
	if e.Err != nil {
		out.Error, out.ErrorKind = g.session.Loaded.Redactor().Text(e.Err.Error()), string(model.CodeOf(e.Err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(out, e.Err)
	if tell != nil {
		tell(out)
	}
}

// add needs the lock.
func (g *Gateway) add(e result.Exchange, err error) {
	g.sum.Exchanges++
	if err != nil {
		g.sum.Failed++
		var over *caller.BudgetError
		if errors.As(err, &over) && g.over == nil {
			g.over = over
		}
		return
	}
	g.sum.Tokens.Input += e.Input
	g.sum.Tokens.Output += e.Output
	g.sum.Tokens.Cached += e.Cached
	if e.CostUSD == nil {
		g.priced = false
		return
	}
	g.usd += *e.CostUSD
}

// Close ends the gateway and all requests in flight, and says what went through
// it. The error is an *Error; one of the kind OverBudget says that a ceiling has
// kept answers from agents, or that limits.time was reached.
func (g *Gateway) Close() (result.GatewaySummary, error) {
	err := g.serves.Close()
	g.quiet()
	g.mu.Lock()
	sum, over, late := g.sum, g.over, g.late
	if g.priced && !g.built.Simulated {
		usd := g.usd
		sum.CostUSD = &usd
	}
	g.mu.Unlock()
	err = errors.Join(err, g.settle(&sum), g.release())
	switch {
	case err != nil:
	case over != nil:
		err = over
	case late != nil:
		err = late
	}
	return sum, fault.InRun(g.RunDir, err)
}

// settle records that the session has ended, so that what it spent is no loss,
// and adds up the ledger, which holds all its calls from then on.
func (g *Gateway) settle(sum *result.GatewaySummary) error {
	sum.RunDir = "." // a run directory can be moved
	data, err := json.Marshal(map[string]any{"exchanges": sum.Exchanges, "failed": sum.Failed, "tokens": sum.Tokens, "cost_usd": sum.CostUSD})
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	err = g.session.Run.Journal.Append(context.Background(), journal.Record{
		Key: g.key, Kind: journal.Episode, Attempt: g.try, Result: data,
		Spend: journal.Spend{Stage: g.stage(), Role: model.Target, Model: g.Model},
	})
	if err != nil {
		return err
	}
	total := g.session.Caller.Stats().Sum
	sum.TotalCalls = total.Calls
	sum.TotalTokens = session.StageTokens(total)
	if usd, all := total.USD(); all && !g.built.Simulated {
		sum.TotalUSD = &usd
	}
	kept := *sum // a copy: RunDir changes below
	if err := g.session.Run.WriteJSON(result.GatewayFile, kept); err != nil {
		return err
	}
	sum.RunDir = g.RunDir
	return g.session.Run.SetStatus(result.Completed)
}

// quiet returns when nothing but the session is left.
func (g *Gateway) quiet() {
	if g.deaf != nil {
		g.deaf()
	}
	g.stop()
	g.wg.Wait()
}

// release closes what is open.
func (g *Gateway) release() error {
	g.quiet()
	var err error
	if g.serves != nil {
		err = g.serves.Close()
	}
	return errors.Join(err, g.session.Close())
}
