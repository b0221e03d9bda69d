package skillopt

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
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
)

// GatewayOptions say how a gateway is reached.
type GatewayOptions struct {
	Role string // whose model is served: target, optimizer or judge; "" = target
	Addr string // host:port on the loopback interface; "" = a free port of 127.0.0.1
	Key  string // what agents must send; "" = a random one

	// Observe is told of each exchange once it is over. It is not called
	// concurrently. Nil is normal.
	Observe func(Exchange)
}

// Exchange is one call of an agent.
type Exchange struct {
	At        time.Time `json:"time"` // when it began
	Wire      string    `json:"wire"` // protocol of the agent: chat, responses, messages or gemini
	Asked     string    `json:"asked,omitempty"`
	Model     string    `json:"model"` // which one answered
	Input     int64     `json:"input_tokens"`
	Output    int64     `json:"output_tokens"`
	Cached    int64     `json:"cached_tokens"` // of the input
	CostUSD   *float64  `json:"cost_usd"`      // null: not known
	TookS     float64   `json:"took_s"`
	Error     string    `json:"error,omitempty"`
	ErrorKind string    `json:"error_kind,omitempty"` // its class, such as rate_limit or budget
	LeftOut   []string  `json:"left_out,omitempty"`   // of the agent's request, which the model has no place for
}

// GatewaySummary is what went through a gateway.
type GatewaySummary struct {
	RunDir    string       `json:"run_dir"`
	Exchanges int          `json:"exchanges"` // of this session
	Failed    int          `json:"failed"`    // of those, without an answer
	Tokens    TokenSummary `json:"tokens"`    // of this session
	CostUSD   *float64     `json:"cost_usd"`  // of this session; null: not known

	// What the run directory counts altogether, earlier sessions included: the
	// ceilings of limits hold for that.
	TotalCalls  int64        `json:"total_calls"`
	TotalTokens TokenSummary `json:"total_tokens"`
	TotalUSD    *float64     `json:"total_usd"`
}

// Gateway serves the model of a configuration to any agent on this machine, in
// the protocols of OpenAI, Anthropic and Gemini. It sends what it is asked once
// and hands on what the server says: agents retry by themselves. Every call goes
// into the ledger of a run directory, and limits.calls, limits.tokens, limits.usd
// and limits.time hold.
type Gateway struct {
	URL    string // root; agents of OpenAI's protocols get it with /v1 behind it
	Key    string // what agents must send
	RunDir string
	Model  string // as the provider knows it, "" if it has one only
	// Provider is who answers, as models.ROLE.provider names it.
	Provider string

	followed followed
	setup    *setup
	built    wire.Built
	price    *caller.Price
	run      *run.Run
	caller   *caller.Caller
	serves   *gateway.Gateway
	began    time.Time
	life     context.Context // of watch
	stop     context.CancelFunc
	ended    chan struct{} // closed by watch when limits.time is reached
	wg       sync.WaitGroup
	key      string // of the session in the ledger
	try      int    // of the session: one before it may have been killed
	role     string

	mu     sync.Mutex
	sum    GatewaySummary
	usd    float64
	priced bool
	over   *caller.BudgetError
	late   *timeError
}

// GatewayFile is the file of a run directory with the GatewaySummary of the last
// session.
const GatewayFile = "gateway.json"

// stageGateway is the stage of its calls in the ledger.
const stageGateway = "gateway"

// OpenGateway begins to serve. Of cfg it uses the model of the role, limits,
// prices and run. Whoever opens a gateway closes it. The error is an *Error.
func OpenGateway(ctx context.Context, cfg Config, o GatewayOptions, opts ...Option) (*Gateway, error) {
	g := &Gateway{role: o.Role, priced: true, ended: make(chan struct{})}
	// What ends a session are Close and the clock, not the context of its beginning.
	g.life, g.stop = context.WithCancel(context.WithoutCancel(ctx))
	if g.role == "" {
		g.role = model.Target
	}
	var err error
	if g.setup, err = prepareGateway(ctx, cfg, g.role, opts); err != nil {
		return nil, classify(err, "")
	}
	g.built = g.setup.models[g.role]
	if err := g.open(ctx, o); err != nil {
		return nil, classify(errors.Join(err, g.release()), "")
	}
	return g, nil
}

// prepareGateway loads the model alone: a gateway needs no tasks, and its ledger
// goes on when the rest of the configuration has changed.
func prepareGateway(ctx context.Context, cfg Config, role string, opts []Option) (*setup, error) {
	only := config.Default()
	only.Limits, only.Run, only.Telemetry = cfg.Limits, cfg.Run, cfg.Telemetry
	only.Prices, only.PriceFile = cfg.Prices, cfg.PriceFile
	var m config.Model
	switch role {
	case model.Target:
		only.Models.Target, m = cfg.Models.Target, cfg.Models.Target
	case model.Optimizer:
		only.Models.Optimizer, m = cfg.Models.Optimizer, cfg.Models.Optimizer
	case model.Judge:
		only.Models.Judge, m = cfg.Models.Judge, cfg.Models.Judge
	default:
		return nil, &inputError{fmt.Errorf("the role %q is none; allowed: target, optimizer, judge", role)}
	}
	s := &setup{cfg: only, command: "gateway", contents: map[string]string{}}
	if err := s.begin(ctx, opts); err != nil {
		return nil, err
	}
	if m.Provider == "" && s.clients[role] == nil {
		return nil, &inputError{fmt.Errorf("models.%s is not set: there is no model to serve", role)}
	}
	if err := only.Validate(); err != nil {
		return nil, err
	}
	s.cfg.Agent.HostedTools = cfg.Agent.HostedTools // no agent is part of a gateway, what it may use is
	s.identify("gateway", role)
	s.cfg.Run.Name = s.runName() + "-gateway"
	return s, s.loadModel(role)
}

func (g *Gateway) open(ctx context.Context, o GatewayOptions) (err error) {
	s := g.setup
	// Whether it can be listened at is found out before a run is begun.
	if g.serves, err = gateway.New(gateway.Options{Addr: o.Addr, Now: s.now}); err != nil {
		return &inputError{fmt.Errorf("listen: %w", err)}
	}
	if g.run, err = s.openLedger(ctx); err != nil {
		return err
	}
	if g.followed, err = s.follow(g.run); err != nil {
		return err
	}
	role := s.role(g.role, g.built)
	l := s.cfg.Limits
	g.caller, err = caller.New(caller.Options{
		Journal: g.run.Journal, RunName: g.run.Manifest.Name, Roles: map[string]caller.Role{g.role: role},
		Concurrency: l.Concurrency, Patience: l.Patience.Std(), Limits: ceilings(l),
		JitterSeed: uint64(s.cfg.Train.Seed), Observe: g.followed.observe(),
	})
	if err != nil {
		return unheld(err)
	}
	g.price, g.key = role.Price, fmt.Sprintf("gateway/%d", g.run.Journal.Counts().Results+1)
	g.try = g.run.Journal.Attempts(g.key)
	client, err := g.caller.Direct(g.key, g.stage(), g.role)
	if err != nil {
		return err
	}
	m := s.model(g.role)
	h, err := g.serves.Open(gateway.Session{
		Client: client, Model: m.Model, Sampling: wire.Sampling(m), Hosted: s.cfg.Agent.HostedTools, Key: o.Key, Concurrency: l.Concurrency,
		Observe: func(e gateway.Exchange) { g.observe(e, o.Observe) },
	})
	if err != nil {
		return &inputError{err}
	}
	g.URL, g.Key, g.RunDir, g.Model, g.Provider = g.serves.URL(), h.Key(), g.run.Dir, m.Model, m.Provider
	if err := s.writeConfig(g.run); err != nil {
		return err
	}
	if l.Time != nil {
		g.began = s.now()
		g.wg.Go(func() { g.watch(l.Time.Std()) })
	}
	return nil
}

// watch ends the session softly after limit: what is in flight is answered, since
// it is paid for.
func (g *Gateway) watch(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-g.life.Done():
		return
	case <-t.C:
	}
	late := &timeError{used: g.setup.now().Sub(g.began), limit: limit}
	g.mu.Lock()
	g.late = late
	g.mu.Unlock()
	// It fails only when Close does not wait for it.
	_ = g.serves.Drain(g.life, late)
	close(g.ended)
}

// Ended is closed when limits.time is reached and all that was in flight then is
// answered. Nothing is answered any more; it remains to Close.
func (g *Gateway) Ended() <-chan struct{} { return g.ended }

// stage is that of the calls. A simulated world answers by the stage alone and
// knows none of agents.
func (g *Gateway) stage() string {
	if g.built.Simulated {
		return model.StageRollout
	}
	return stageGateway
}

// openLedger opens the run directory. Without a given one it is new: several
// gateways may serve side by side, and none goes on with the ledger of another.
func (s *setup) openLedger(ctx context.Context) (*run.Run, error) {
	if s.runDir != "" {
		return s.open(ctx)
	}
	base, err := filepath.Abs(s.cfg.Run.Dir)
	if err != nil {
		return nil, fmt.Errorf("find run.dir: %w", err)
	}
	for {
		s.runDir, _, err = run.Choose(base, s.cfg.Run.Name, func(map[string]string) bool { return false })
		if err != nil {
			return nil, err
		}
		r, err := s.open(ctx)
		var taken *run.LockedError // by one that began at the same time
		if !errors.As(err, &taken) {
			return r, err
		}
	}
}

// observe adds an exchange up and tells of it.
func (g *Gateway) observe(e gateway.Exchange, tell func(Exchange)) {
	out := Exchange{
		At: e.StartedAt.UTC(), Wire: string(e.Wire), Asked: e.Asked, Model: e.Request.Model, TookS: e.Took.Seconds(), LeftOut: gateway.Whats(e.LeftOut),
		Input: e.Response.Usage.Input, Output: e.Response.Usage.Output, Cached: e.Response.Usage.Cached,
	}
	if e.Response.Model != "" {
		out.Model = e.Response.Model
	}
	if usd, known := g.price.USD(e.Response.Usage); known && e.Response.Usage.Input > 0 && e.Err == nil && !g.built.Simulated { // 0 is not what was used: nobody said
		out.CostUSD = &usd
	}
	if e.Err != nil {
		out.Error, out.ErrorKind = g.setup.loaded.Redactor().Text(e.Err.Error()), string(model.CodeOf(e.Err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(out, e.Err)
	if tell != nil {
		tell(out)
	}
}

// add needs the lock.
func (g *Gateway) add(e Exchange, err error) {
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
func (g *Gateway) Close() (GatewaySummary, error) {
	err := g.serves.Close()
	g.stop()
	g.wg.Wait()
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
	return sum, classify(err, g.RunDir)
}

// settle records that the session has ended, so that what it spent is no loss,
// and adds up the ledger, in which all its calls stand from then on.
func (g *Gateway) settle(sum *GatewaySummary) error {
	sum.RunDir = "." // a run directory can be moved
	data, err := json.Marshal(map[string]any{"exchanges": sum.Exchanges, "failed": sum.Failed, "tokens": sum.Tokens, "cost_usd": sum.CostUSD})
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	err = g.run.Journal.Append(context.Background(), journal.Record{
		Key: g.key, Kind: journal.Episode, Attempt: g.try, Result: data,
		Spend: journal.Spend{Stage: g.stage(), Role: g.role, Model: g.Model},
	})
	if err != nil {
		return err
	}
	total := g.caller.Stats().Sum
	sum.TotalCalls = total.Calls
	sum.TotalTokens = tokensOf(total)
	if usd, all := total.USD(); all && !g.built.Simulated {
		sum.TotalUSD = &usd
	}
	kept := *sum // it is written beside what follows
	if err := g.run.WriteJSON(GatewayFile, kept); err != nil {
		return err
	}
	sum.RunDir = g.RunDir
	return g.run.SetStatus("completed")
}

// release closes what is open.
func (g *Gateway) release() error {
	g.stop()
	g.wg.Wait()
	if g.followed.Telemetry != nil {
		g.followed.close(g.setup.options.events, endedAs(g.run))
	}
	var errs []error
	if g.serves != nil {
		errs = append(errs, g.serves.Close())
	}
	if g.run != nil {
		errs = append(errs, g.run.Close())
	}
	if g.built.Close != nil {
		errs = append(errs, g.built.Close())
	}
	return errors.Join(errs...)
}
