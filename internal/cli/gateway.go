package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// gatewayOptions are the flags of gateway.
type gatewayOptions struct {
	addr, keyEnv, runDir string
	sets                 []string
}

func gatewayCommand(a *app) *cobra.Command {
	var o gatewayOptions
	c := &cobra.Command{
		Use:   "gateway CONFIG_OR_DIR",
		Short: "Serve a config's target model to coding agents, metered",
		Long: `Serve the target model of a config on this machine, in the protocols of OpenAI (Chat
Completions and Responses), Anthropic and Gemini, so that any agent can use it.
Agents get a key that is good here only; the real one stays in this process.

Each exchange is a line on standard error and an entry in the ledger of a run
directory. limits.calls, limits.tokens and limits.usd hold: beyond them agents are
refused with status 402. Over several sessions they hold with the same --run.
Nothing is sent twice: agents retry by themselves.

It ends at an interrupt (Ctrl-C), or once limits.time has passed and what was asked
by then is answered, and prints what was used. With --json standard
output is one JSON line for the start ("event": "listening"), one an exchange and
one at the end ("event": "end").

` + exitHelp,
		Example: `  skillopt gateway my-skill
  skillopt gateway my-skill --set limits.usd=2 --run runs/gateway
  skillopt gateway my-skill --set limits.time=8h
  skillopt gateway my-skill --addr 127.0.0.1:4141 --key-env GATEWAY_KEY --json`,
		Args: exactArgs(1, "a config or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.addr, "addr", "127.0.0.1:0", "where to listen, on the loopback interface; port 0 takes a free one")
	c.Flags().StringVar(&o.keyEnv, "key-env", "", "an environment variable with the key that agents must send; default: a random one")
	c.Flags().StringVar(&o.runDir, "run", "", "keep the ledger in this directory; continues if it is there")
	addSet(c, &o.sets)
	return c
}

// run serves until it is interrupted or its time is up.
func (o *gatewayOptions) run(ctx context.Context, a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	key, err := o.key(l.Lookup)
	if err != nil {
		return err
	}
	lines := &exchangeLines{out: a.Out, errs: a.printer(a.Err), json: a.json}
	lines.mu.Lock() // an agent that knows key and port may be faster than the first line
	g, err := skillopt.OpenGateway(ctx, l.Config, skillopt.GatewayOptions{Addr: o.addr, Key: key, Observe: lines.print},
		skillopt.WithLoaded(l), skillopt.WithVersion(a.version), skillopt.WithClouds(a.Clouds), skillopt.WithRunDir(a.absolute(o.runDir)), skillopt.WithEvents(lines.event))
	if err != nil {
		return err
	}
	err = o.printListening(a, g, key == "")
	lines.begin()
	lines.mu.Unlock()
	if err != nil {
		_, cerr := g.Close()
		return errors.Join(err, cerr)
	}
	if stopped := awaitEnd(ctx, a.Signals, g); stopped && a.Terminal {
		lines.breakLine() // behind the ^C that it shows
	}
	sum, err := g.Close()
	if perr := printGatewayEnd(a, sum); perr != nil && err == nil {
		err = perr
	}
	return err
}

// awaitEnd waits until a gateway is stopped or its time is up, and reports which.
func awaitEnd(ctx context.Context, signals <-chan os.Signal, g *skillopt.Gateway) (stopped bool) {
	select {
	case <-signals:
		return true
	case <-ctx.Done():
		return true
	case <-g.Ended():
		return false
	}
}

// key returns the key that the user chose, "" for none.
func (o *gatewayOptions) key(lookup func(string) (string, bool)) (string, error) {
	if o.keyEnv == "" {
		return "", nil
	}
	v, _ := lookup(o.keyEnv)
	if v == "" {
		return "", usagef("--key-env %s: the variable is not set; export it, or leave the flag out for a random key", o.keyEnv)
	}
	return v, nil
}

// gatewayStart is the first line of --json.
type gatewayStart struct {
	Event    string `json:"event"`
	URL      string `json:"url"`
	Key      string `json:"key,omitempty"` // only if it was made here
	Role     string `json:"role"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	RunDir   string `json:"run_dir"`
}

// printListening says where the gateway is, and how agents get there. A key of
// the user's own is not shown.
func (o *gatewayOptions) printListening(a *app, g *skillopt.Gateway, made bool) error {
	first := gatewayStart{Event: "listening", URL: g.URL, Role: model.Target, Provider: g.Provider, Model: g.Model, RunDir: g.RunDir}
	key := "the value of " + o.keyEnv
	if made {
		first.Key, key = g.Key, g.Key
	}
	if a.json {
		return printLine(a.Out, first)
	}
	w := a.printer(a.Out)
	fmt.Fprintf(w, "serving models.target (%s)\n", oneLine(strings.TrimSpace(g.Provider+" "+g.Model)))
	fmt.Fprintf(w, "  url     %s\n  key     %s\n  ledger  %s\n", g.URL, key, w.path(g.RunDir))
	fmt.Fprintf(w, "\nset GATEWAY_KEY to the key; agents then use the server like this:\n\n")
	for _, block := range agentBlocks(g.URL, g.Model) {
		fmt.Fprintf(w, "  %s\n\n", strings.Join(block, "\n    "))
	}
	_, err := fmt.Fprintln(w, "Ctrl-C ends it and prints what was used")
	return err
}

// agentBlocks returns the lines that say how agents are pointed at a gateway, as a shell takes them.
func agentBlocks(url, model string) [][]string {
	if model == "" {
		model = "any"
	}
	name := shellWord(model)
	const codex = "model_providers.skillopt."
	return [][]string{
		{
			fmt.Sprintf(`codex -m %s -c model_provider=skillopt \`, name),
			fmt.Sprintf(`-c '%sname="skillopt"' \`, codex),
			fmt.Sprintf(`-c '%sbase_url="%s/v1"' \`, codex, url),
			fmt.Sprintf(`-c '%senv_key="GATEWAY_KEY"' \`, codex),
			fmt.Sprintf(`-c '%swire_api="responses"'`, codex),
		},
		{
			fmt.Sprintf(`ANTHROPIC_BASE_URL=%s \`, url),
			fmt.Sprintf(`ANTHROPIC_API_KEY=$GATEWAY_KEY claude --model %s`, name),
		},
		{
			fmt.Sprintf(`pi --provider skillopt --model %s`, name),
			`with ~/.pi/agent/models.json:`,
			fmt.Sprintf(`{"providers": {"skillopt": {"baseUrl": "%s/v1",`, url),
			`  "api": "openai-completions", "apiKey": "GATEWAY_KEY",`,
			fmt.Sprintf(`  "models": [{"id": %q, "name": %q}]}}}`, model, model),
		},
	}
}

// exchangeLines prints what is exchanged.
type exchangeLines struct {
	out  io.Writer // of --json
	errs printer
	json bool

	mu sync.Mutex

	waiting sync.Mutex // of what is reported when the first lines are printed
	open    bool
	early   []event.Event
}

// event reports what was asked of the gateway from outside, and what its user should
// know: not before the first lines are printed.
func (l *exchangeLines) event(e event.Event) {
	l.waiting.Lock()
	if !l.open {
		l.early = append(l.early, e)
		l.waiting.Unlock()
		return
	}
	l.waiting.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(e)
}

// begin reports what has happened before the first lines. It needs the lock.
func (l *exchangeLines) begin() {
	l.waiting.Lock()
	defer l.waiting.Unlock()
	for _, e := range l.early {
		l.tell(e)
	}
	l.open, l.early = true, nil
}

// tell needs the lock.
func (l *exchangeLines) tell(e event.Event) {
	switch e := e.(type) {
	case event.Steered:
		if l.json {
			if data, err := event.Marshal(e, time.Now()); err == nil {
				_ = printLine(l.out, json.RawMessage(data)) // the gateway continues when its standard output is closed
			}
			return
		}
		l.errs.line(steeredText(e))
	case event.Warning:
		l.errs.line("warning: " + strings.ReplaceAll(e.Text, "\n", "\n  "))
	}
}

// breakLine ends the line that a terminal shows.
func (l *exchangeLines) breakLine() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.errs)
}

// exchangeLine is a line of --json.
type exchangeLine struct {
	Event string `json:"event"`
	result.Exchange
}

func (l *exchangeLines) print(e result.Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json {
		// The gateway continues when its standard output is closed.
		_ = printLine(l.out, exchangeLine{Event: "exchange", Exchange: e})
		return
	}
	l.errs.line(fmt.Sprintf("%s  %-9s  %s", e.At.Local().Format(time.TimeOnly), e.Wire, exchangeText(e)))
}

// exchangeText returns the result of an exchange in a line.
func exchangeText(e result.Exchange) string {
	parts := []string{oneLine(e.Model)}
	if e.Error != "" {
		parts = append(parts, "failed: "+oneLine(e.Error))
	} else {
		parts = append(parts, fmt.Sprintf("in %d", e.Input), fmt.Sprintf("out %d", e.Output))
		if e.Cached > 0 {
			parts = append(parts, fmt.Sprintf("cached %d", e.Cached))
		}
		if e.CostUSD != nil {
			parts = append(parts, fmt.Sprintf("$%.4f", *e.CostUSD))
		}
	}
	parts = append(parts, fmt.Sprintf("%.1fs", e.TookS))
	if len(e.LeftOut) > 0 {
		parts = append(parts, "left out: "+oneLine(strings.Join(e.LeftOut, ", ")))
	}
	return strings.Join(parts, "  ")
}

// gatewayEnd is the last line of --json.
type gatewayEnd struct {
	Event string `json:"event"`
	result.GatewaySummary
}

func printGatewayEnd(a *app, s result.GatewaySummary) error {
	if a.json {
		return printLine(a.Out, gatewayEnd{Event: "end", GatewaySummary: s})
	}
	w := a.printer(a.Out)
	fmt.Fprintf(w, "%s", wording.Plural(s.Exchanges, "exchange", "exchanges"))
	if s.Failed > 0 {
		fmt.Fprintf(w, ", %d without an answer", s.Failed)
	}
	fmt.Fprintf(w, "\n%s\n", tokensText(s.Tokens, s.CostUSD))
	if s.TotalCalls > int64(s.Exchanges-s.Failed) {
		fmt.Fprintf(w, "all sessions: %s\n%s\n", wording.Plural(s.TotalCalls, "call", "calls"), tokensText(s.TotalTokens, s.TotalUSD))
	}
	_, err := fmt.Fprintf(w, "ledger: %s\n", w.path(s.RunDir))
	return err
}

func tokensText(t result.Tokens, usd *float64) string {
	text := fmt.Sprintf("tokens: %d in (%d cached), %d out", t.Input, t.Cached, t.Output)
	if usd == nil {
		return text + "; cost unknown"
	}
	return fmt.Sprintf("%s; $%.4f", text, *usd)
}

// printLine prints a document on one line.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(onScreen(w))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}
