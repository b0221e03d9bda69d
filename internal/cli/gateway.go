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
)

type gatewayFlags struct {
	role, addr, keyFile, keyEnv, run string
	sets                             []string
}

func (a *app) gatewayCommand() *cobra.Command {
	var f gatewayFlags
	c := &cobra.Command{
		Use:   "gateway CONFIG_OR_DIR",
		Short: "Serve a config's model to coding agents, metered",
		Long: `Serve the model of a config on this machine, in the protocols of OpenAI (Chat
Completions and Responses), Anthropic and Gemini, so that any agent can use it.
Agents get a key that is good here only; the real one stays in this process.

Each exchange is a line on standard error and an entry in the ledger of a run
directory. limits.calls, limits.tokens and limits.usd hold: beyond them agents are
refused with status 402. Over several sessions they hold with the same --run.
Nothing is sent twice: agents retry by themselves.

It ends at an interrupt (Ctrl-C), and prints what was used. With --json standard
output is one JSON line for the start ("event": "listening"), one an exchange and
one at the end ("event": "end").

` + exitHelp,
		Example: `  skillopt gateway my-skill
  skillopt gateway my-skill --set limits.usd=2 --run runs/gateway
  skillopt gateway my-skill --addr 127.0.0.1:4141 --key-env GATEWAY_KEY --json`,
		Args: exactly(1, "a config or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.gateway(cmd.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.role, "role", "target", "whose model is served: target, optimizer or judge")
	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:0", "where to listen, on the loopback interface; port 0 takes a free one")
	c.Flags().StringVar(&f.keyFile, "key-file", "", "a file with the key that agents must send; default: a random one")
	c.Flags().StringVar(&f.keyEnv, "key-env", "", "an environment variable with it")
	c.Flags().StringVar(&f.run, "run", "", "keep the ledger in this directory; goes on if it is there")
	addSet(c, &f.sets)
	return c
}

func (a *app) gateway(ctx context.Context, path string, f gatewayFlags) error {
	l, err := a.loadConfig(path, f.sets, nil)
	if err != nil {
		return err
	}
	key, err := a.gatewayKey(f, l.Lookup)
	if err != nil {
		return err
	}
	lines := &exchangeLines{app: a}
	g, err := skillopt.OpenGateway(ctx, l.Config, skillopt.GatewayOptions{Role: f.role, Addr: f.addr, Key: key, Observe: lines.print},
		skillopt.WithLoaded(l), skillopt.WithVersion(a.version), skillopt.WithRunDir(a.absolute(f.run)))
	if err != nil {
		return err
	}
	if err := a.printListening(g, f, key == ""); err != nil {
		_, cerr := g.Close()
		return errors.Join(err, cerr)
	}
	select {
	case <-a.Signals:
	case <-ctx.Done():
	}
	sum, err := g.Close()
	if perr := a.printGatewayEnd(sum); perr != nil && err == nil {
		err = perr
	}
	return err
}

// gatewayKey returns the key that the user chose, "" for none.
func (a *app) gatewayKey(f gatewayFlags, lookup func(string) (string, bool)) (string, error) {
	switch {
	case f.keyFile != "" && f.keyEnv != "":
		return "", usagef("--key-file and --key-env both say what agents must send: give one of them")
	case f.keyEnv != "":
		v, _ := lookup(f.keyEnv)
		if v == "" {
			return "", usagef("--key-env %s: the variable is not set; export it, or leave the flag out for a random key", f.keyEnv)
		}
		return v, nil
	case f.keyFile != "":
		data, err := os.ReadFile(a.absolute(f.keyFile))
		if err != nil {
			return "", usagef("--key-file %s: %v; leave the flag out for a random key", f.keyFile, reasonOf(err))
		}
		key := strings.TrimSpace(string(data))
		if key == "" {
			return "", usagef("--key-file %s: it is empty; leave the flag out for a random key", f.keyFile)
		}
		return key, nil
	}
	return "", nil
}

// listening is the first line of --json.
type listening struct {
	Event    string `json:"event"`
	URL      string `json:"url"`
	Key      string `json:"key,omitempty"` // only if it was made here
	Role     string `json:"role"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	RunDir   string `json:"run_dir"`
}

// printListening says where the gateway is. A key of the user's own is not shown.
func (a *app) printListening(g *skillopt.Gateway, f gatewayFlags, made bool) error {
	first := listening{Event: "listening", URL: g.URL, Role: f.role, Provider: g.Provider, Model: g.Model, RunDir: g.RunDir}
	key := "$KEY"
	if made {
		first.Key, key = g.Key, g.Key
	}
	if a.json {
		return printLine(a.Out, first)
	}
	w := a.Out
	name := strings.TrimSpace(g.Provider + " " + g.Model)
	fmt.Fprintf(w, "serving models.%s (%s)\n  url     %s\n", f.role, oneLine(name), g.URL)
	switch {
	case made:
		fmt.Fprintf(w, "  key     %s\n", key)
	case f.keyEnv != "":
		fmt.Fprintf(w, "  key     $KEY, the value of %s\n", f.keyEnv)
	default:
		fmt.Fprintf(w, "  key     $KEY, the content of %s\n", f.keyFile)
	}
	fmt.Fprintf(w, "  ledger  %s\n", a.relative(g.RunDir))
	for _, line := range agentLines(g.URL, key, g.Model) {
		fmt.Fprintf(w, "\n%s\n", line)
	}
	_, err := fmt.Fprintln(w, "\nCtrl-C ends it and tells what was used")
	return err
}

// agentLines say how agents are pointed at a gateway, as a shell takes it.
func agentLines(url, key, model string) []string {
	if model == "" {
		model = "model"
	}
	if key != "$KEY" {
		key = quote(key)
	}
	provider := fmt.Sprintf(`{name="skillopt", base_url="%s/v1", env_key="GATEWAY_KEY", wire_api="responses"}`, url)
	pi := map[string]any{"providers": map[string]any{"skillopt": map[string]any{
		"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": "GATEWAY_KEY",
		"models": []any{map[string]any{"id": model, "name": model}},
	}}}
	settings, err := json.Marshal(pi)
	if err != nil {
		settings = []byte("{}") // texts alone can be encoded
	}
	return []string{
		fmt.Sprintf("codex   GATEWAY_KEY=%s codex -m %s -c model_provider=skillopt \\\n          -c %s", key, quote(model), quote("model_providers.skillopt="+provider)),
		fmt.Sprintf("claude  ANTHROPIC_BASE_URL=%s ANTHROPIC_API_KEY=%s \\\n          claude --model %s", url, key, quote(model)),
		fmt.Sprintf("pi      GATEWAY_KEY=%s pi --provider skillopt --model %s\n          with ~/.pi/agent/models.json: %s", key, quote(model), settings),
	}
}

// exchangeLines prints what is exchanged.
type exchangeLines struct {
	app *app

	mu sync.Mutex
}

// exchangeLine is a line of --json.
type exchangeLine struct {
	Event string `json:"event"`
	skillopt.Exchange
}

func (l *exchangeLines) print(e skillopt.Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.app.json {
		// That nobody reads it any more is no reason to end.
		_ = printLine(l.app.Out, exchangeLine{Event: "exchange", Exchange: e})
		return
	}
	text := fmt.Sprintf("%s  %-9s  %s", e.At.Local().Format(time.TimeOnly), e.Wire, exchangeText(e))
	if l.app.Terminal {
		text = fold(text, l.app.Width-1)
	}
	fmt.Fprintln(l.app.Err, text)
}

// exchangeText is what came of an exchange.
func exchangeText(e skillopt.Exchange) string {
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
	skillopt.GatewaySummary
}

func (a *app) printGatewayEnd(s skillopt.GatewaySummary) error {
	if a.json {
		return printLine(a.Out, gatewayEnd{Event: "end", GatewaySummary: s})
	}
	w := a.Out
	fmt.Fprintf(w, "%d %s", s.Exchanges, plural(s.Exchanges, "exchange", "exchanges"))
	if s.Failed > 0 {
		fmt.Fprintf(w, ", %d without an answer", s.Failed)
	}
	fmt.Fprintf(w, ": %s\n", tokensText(s.Tokens, s.CostUSD))
	if s.TotalCalls > int64(s.Exchanges-s.Failed) {
		fmt.Fprintf(w, "all sessions: %d calls, %s\n", s.TotalCalls, tokensText(s.TotalTokens, s.TotalUSD))
	}
	_, err := fmt.Fprintf(w, "ledger: %s\n", a.relative(s.RunDir))
	return err
}

func tokensText(t skillopt.TokenSummary, usd *float64) string {
	text := fmt.Sprintf("%d input tokens (%d of them cached) and %d output tokens", t.Input, t.Cached, t.Output)
	if usd == nil {
		return text + ", cost unknown"
	}
	return fmt.Sprintf("%s, $%.4f", text, *usd)
}

// printLine prints a document on one line.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(data(w))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}
