package config

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/price"
)

// MaxPrices is the size of the largest table of prices, in bytes.
const MaxPrices = 16 << 20

// PriceTable returns the prices that c knows: its own, over those of its file, over
// those that the program brings, and a warning of rows of the file that are left out.
func (c Config) PriceTable(ctx context.Context) (table price.Table, warning string, err error) {
	if table, err = price.Default(); err != nil {
		return table, "", fmt.Errorf("the table of prices that the program brings: %w", err)
	}
	if c.PriceFile != "" {
		own, bad, err := readPrices(ctx, c.PriceFile)
		if err != nil {
			return table, "", fmt.Errorf("price_file %s: %w", c.PriceFile, err)
		}
		if len(bad) > 0 {
			warning = fmt.Sprintf("price_file %s: rows that cannot be read are left out: %d, the first is %q: %s", c.PriceFile, len(bad), bad[0].Name, bad[0].Why)
		}
		table = own.Over(table)
	}
	own := map[string]price.Override{}
	for name, p := range c.Prices {
		own[name] = price.Override{Input: p.Input, Output: p.Output, Cached: p.Cached, CacheWrite: p.CacheWrite, MaxOutput: p.MaxOutput}
	}
	return table.With(own), warning, nil
}

// readPrices reads a file of prices. Those of LiteLLM held on the day of the file.
func readPrices(ctx context.Context, path string) (price.Table, []price.Skipped, error) {
	data, err := disk.Read(ctx, path, MaxPrices)
	if err != nil {
		return price.Table{}, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return price.Table{}, nil, err
	}
	return price.Read(data, info.ModTime().UTC().Format(time.DateOnly))
}

// checkCeilings checks that a ceiling of cost or tokens sees all calls before they are sent:
// nothing would be counted of a model without a price, and no one can say what a call takes where
// the replies of a model have no known limit.
func (d *decoder) checkCeilings(c *Config) {
	table, _, err := c.PriceTable(context.Background())
	if err != nil {
		d.fail("price_file", c.PriceFile, "a table of prices", err.Error())
		return
	}
	for _, role := range []struct {
		name  string
		model Model
	}{{"target", c.Models.Target}, {"optimizer", c.Models.Optimizer}, {"judge", c.Models.Judge}} {
		m := role.model
		if m.Provider == "" || m.Provider == "sim" || m.Provider == "handoff" {
			continue
		}
		e, found := price.Entry{}, false
		if _, own := c.Prices[m.Model]; own || m.BaseURL == "" && len(m.Endpoints) == 0 { // list prices are those of the provider itself
			_, e, found = table.Find(m.Provider, m.Model)
		}
		s := ceilinged{decoder: d, role: role.name, model: m, priced: found, bounded: m.MaxTokens > 0 || e.MaxOutput > 0}
		s.check(c.Limits)
	}
}

// ceilinged is a model whose calls count for ceilings.
type ceilinged struct {
	*decoder
	role    string
	model   Model
	priced  bool
	bounded bool
}

func (s ceilinged) check(c Limits) {
	name := s.model.Model
	switch {
	case c.USD != nil && !s.priced:
		s.fail("limits.usd", fmt.Sprintf("%v, and no price for models.%s (%s)", *c.USD, s.role, name),
			"a ceiling only with prices for all models", "set prices."+name+".input and .output, or price_file to the table that LiteLLM publishes (model_prices_and_context_window.json)")
	case c.USD != nil && !s.bounded:
		s.failUnbounded("limits.usd", fmt.Sprint(*c.USD))
	case c.Tokens != nil && !s.bounded:
		s.failUnbounded("limits.tokens", fmt.Sprint(*c.Tokens))
	}
}

func (s ceilinged) failUnbounded(key, found string) {
	s.fail(key, fmt.Sprintf("%s, and no limit of the replies of models.%s (%s)", found, s.role, s.model.Model),
		"a ceiling only where it is known before a call what it can take", fmt.Sprintf("set models.%s.max_tokens, or prices.%s.max_output to the limit of the model", s.role, s.model.Model))
}
