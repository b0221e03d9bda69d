package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

func (a *app) pricesCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "prices", Short: "List what models cost, or import prices"})
	c.AddCommand(a.pricesList(), a.pricesImport())
	return c
}

func (a *app) pricesList() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "list [CONFIG_OR_DIR]",
		Short: "List the prices that a config knows, with dates and sources",
		Long: `List the prices that a config knows: its own (prices), those of its price_file, and
those that the program brings. Dollars are for a million tokens; a mark behind a date
says that the price was last compared with its source more than 90 days ago.`,
		Example: `  skillopt prices list
  skillopt prices list my-skill --json`,
		Args: atMost(1, "at most one config"),
		RunE: func(c *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			l, err := a.loadConfig(path, sets, nil)
			if err != nil {
				return err
			}
			table, err := l.Config.PriceTable(c.Context())
			if err != nil {
				return usagef("%v", err)
			}
			return a.showPrices(table.Entries())
		},
	}
	addSet(c, &sets)
	return c
}

// pricedModel is a price as --json tells it.
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

func (a *app) showPrices(entries []price.Entry) error {
	list := []pricedModel{}
	for _, e := range entries {
		list = append(list, pricedModel{
			Provider: e.Provider, Model: e.Model, Input: e.Price.Input, Output: e.Price.Output, Cached: e.Price.Cached, CacheWrite: e.Price.CacheWrite,
			UpTo: e.UpTo, MaxInput: e.MaxInput, MaxOutput: e.MaxOutput, AsOf: e.AsOf, Stale: e.Stale(time.Now()), Source: e.Source,
		})
	}
	if a.json {
		return printJSON(a.Out, list)
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
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

func (a *app) pricesImport() *cobra.Command {
	var out, asOf string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a price_file of the table that LiteLLM publishes",
		Long: `Make a price_file of a downloaded model_prices_and_context_window.json of LiteLLM:
prices of input, output and cached tokens, those of long prompts, and the limits of
models, each with its source and the day of the file. Rows that cannot be read are
named and left out, never guessed; so are those of servers that skillopt does not
know. The table goes to standard output and the report to standard error; with --out
the table goes to a file and the report to standard output.`,
		Example: `  skillopt prices import model_prices_and_context_window.json --out prices.csv
  skillopt train my-skill --set price_file=prices.csv --set limits.usd=5`,
		Args: exactly(1, "one file"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.importPrices(c.Context(), priceImport{file: args[0], out: out, asOf: asOf})
		},
	}
	c.Flags().StringVar(&out, "out", "", "the file to write; one that exists is never overwritten")
	c.Flags().StringVar(&asOf, "as-of", "", "the day on which the prices held, such as 2026-10-31; default: the day of the file")
	return c
}

type priceImport struct{ file, out, asOf string }

// maxNamed is how many rows that cannot be read are named.
const maxNamed = 20

func (a *app) importPrices(ctx context.Context, p priceImport) error {
	if p.out != "" {
		if _, err := os.Lstat(a.absolute(p.out)); err == nil {
			return usagef("%s is there already; choose another file with --out", p.out)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for a file to keep: %w", err)
		}
	}
	day, err := a.priceDay(p)
	if err != nil {
		return err
	}
	data, err := userfile.Read(ctx, a.absolute(p.file), config.MaxPrices)
	if err != nil {
		return usagef("import %s: %v", p.file, err)
	}
	got, err := price.ImportLiteLLM(data, day)
	if err != nil {
		return usagef("import %s: %v", p.file, err)
	}
	if len(got.Entries) == 0 {
		return usagef("import %s: it holds no price of a model that skillopt knows a server of", p.file)
	}
	var table bytes.Buffer
	if err := price.Write(&table, got.Entries); err != nil {
		return err
	}
	report := a.Out
	if p.out == "" {
		report = a.Err
		if _, err := a.Out.Write(table.Bytes()); err != nil {
			return fmt.Errorf("print prices: %w", err)
		}
	} else if err := run.WriteExport(a.absolute(p.out), table.Bytes()); err != nil {
		return err
	}
	fmt.Fprint(report, importReport(got, day))
	return nil
}

// priceDay is the day of the prices: what the user says, or that of the file.
func (a *app) priceDay(p priceImport) (string, error) {
	if p.asOf != "" {
		if _, err := time.Parse(time.DateOnly, p.asOf); err != nil {
			return "", usagef("--as-of %q: want a day such as 2026-10-31", p.asOf)
		}
		return p.asOf, nil
	}
	info, err := os.Stat(a.absolute(p.file))
	if err != nil {
		return "", usagef("import %s: %v", p.file, err)
	}
	return info.ModTime().UTC().Format(time.DateOnly), nil
}

func importReport(got price.Imported, day string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s as of %s\n", plural.Of(len(got.Entries), "price", "prices"), day)
	if got.Others > 0 {
		fmt.Fprintf(&b, "left out: %s of other providers, or of models that write no text\n", plural.Of(got.Others, "row", "rows"))
	}
	if len(got.Bad) > 0 {
		fmt.Fprintf(&b, "skipped: %s that cannot be read\n", plural.Of(len(got.Bad), "row", "rows"))
	}
	for i, s := range got.Bad {
		if i == maxNamed {
			fmt.Fprintf(&b, "  and %d more\n", len(got.Bad)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", oneLine(s.Name), oneLine(s.Why))
	}
	return b.String()
}
