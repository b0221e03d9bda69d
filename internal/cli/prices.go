package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/price"
)

// pricesOptions are the flags of prices.
type pricesOptions struct{ sets []string }

func pricesCommand(a *app) *cobra.Command {
	var o pricesOptions
	c := &cobra.Command{
		Use:   "prices [CONFIG_OR_DIR]",
		Short: "List the prices that a config knows, with dates and sources",
		Long: `List the prices that a config knows: its own (prices), those of its price_file, and
those that the program brings. Dollars are for a million tokens; a mark after a date
says that the price was last compared with its source more than 90 days ago.

price_file is a downloaded model_prices_and_context_window.json of LiteLLM, whose prices
hold on the day of the file, or a CSV file with the columns of docs/models.md.`,
		Example: `  skillopt prices
  skillopt prices my-skill --json
  skillopt prices my-skill --set price_file=model_prices_and_context_window.json`,
		Args: atMost(1, "at most one config"),
		RunE: func(c *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			return o.run(c.Context(), a, path)
		},
	}
	addSet(c, &o.sets)
	return c
}

// run lists the prices that a config knows, "" for the defaults.
func (o *pricesOptions) run(ctx context.Context, a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	table, warning, err := l.Config.PriceTable(ctx)
	if err != nil {
		return usagef("%v", err)
	}
	if warning != "" {
		fmt.Fprintf(a.Err, "warning: %s\n", oneLine(warning))
	}
	list := pricedModels(table.Entries(), time.Now())
	if a.json {
		return printJSON(a.Out, list)
	}
	return writePrices(a.Out, list)
}

// pricedModel is a price as --json prints it.
type pricedModel struct {
	Provider   string  `json:"provider,omitempty"`
	Model      string  `json:"model"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	Cached     float64 `json:"cached"`
	CacheWrite float64 `json:"cache_write"`
	UpTo       int64   `json:"up_to,omitempty"`
	MaxInput   int64   `json:"max_input,omitempty"`
	MaxOutput  int64   `json:"max_output,omitempty"`
	AsOf       string  `json:"as_of,omitempty"`
	Stale      bool    `json:"stale,omitempty"`
	Source     string  `json:"source"`
}

func pricedModels(entries []price.Entry, now time.Time) []pricedModel {
	list := []pricedModel{}
	for _, e := range entries {
		list = append(list, pricedModel{
			Provider: e.Provider, Model: e.Model, Input: e.Price.Input, Output: e.Price.Output, Cached: e.Price.Cached, CacheWrite: e.Price.CacheWrite,
			UpTo: e.UpTo, MaxInput: e.MaxInput, MaxOutput: e.MaxOutput, AsOf: e.AsOf, Stale: e.Stale(now), Source: e.Source,
		})
	}
	return list
}

// writePrices prints a table of prices.
func writePrices(out io.Writer, list []pricedModel) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "provider\tmodel\tinput\toutput\tcached\tmax output\tas of\tsource")
	for _, e := range list {
		most, asOf := "?", e.AsOf
		if e.MaxOutput > 0 {
			most = fmt.Sprint(e.MaxOutput)
		}
		if e.Stale {
			asOf += " (old)"
		}
		fmt.Fprintf(w, "%s\t%s\t%g\t%g\t%g\t%s\t%s\t%s\n", e.Provider, e.Model, e.Input, e.Output, e.Cached, most, asOf, e.Source)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print prices: %w", err)
	}
	return nil
}
