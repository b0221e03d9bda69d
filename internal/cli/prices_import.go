package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// pricesImportOptions are the flags of prices import.
type pricesImportOptions struct{ out, asOf string }

func pricesImportCommand(a *app) *cobra.Command {
	var o pricesImportOptions
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
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), a, args[0]) },
	}
	c.Flags().StringVar(&o.out, "out", "", "the file to write; one that exists is never overwritten")
	c.Flags().StringVar(&o.asOf, "as-of", "", "the day on which the prices held, such as 2026-10-31; default: the day of the file")
	return c
}

// maxNamed is how many rows that cannot be read are named.
const maxNamed = 20

// run imports prices, and writes or prints them.
func (o *pricesImportOptions) run(ctx context.Context, a *app, file string) error {
	if err := checkOut(a, o.out); err != nil {
		return err
	}
	day, err := o.day(a, file)
	if err != nil {
		return err
	}
	data, err := disk.Read(ctx, a.absolute(file), config.MaxPrices)
	if err != nil {
		return usagef("import %s: %v", file, err)
	}
	got, err := price.ImportLiteLLM(data, day)
	if err != nil {
		return usagef("import %s: %v", file, err)
	}
	if len(got.Entries) == 0 {
		return usagef("import %s: it holds no price of a model that skillopt knows a server of", file)
	}
	var table bytes.Buffer
	if err := price.Write(&table, got.Entries); err != nil {
		return err
	}
	report := a.Out
	if o.out == "" {
		report = a.Err
		if _, err := a.Out.Write(table.Bytes()); err != nil {
			return fmt.Errorf("print prices: %w", err)
		}
	} else if err := run.WriteExport(a.absolute(o.out), table.Bytes()); err != nil {
		return err
	}
	fmt.Fprint(report, importReport(got, day))
	return nil
}

// day is the day of the prices: what the user says, or that of the file.
func (o *pricesImportOptions) day(a *app, file string) (string, error) {
	if o.asOf != "" {
		if _, err := time.Parse(time.DateOnly, o.asOf); err != nil {
			return "", usagef("--as-of %q: want a day such as 2026-10-31", o.asOf)
		}
		return o.asOf, nil
	}
	info, err := os.Stat(a.absolute(file))
	if err != nil {
		return "", usagef("import %s: %v", file, err)
	}
	return info.ModTime().UTC().Format(time.DateOnly), nil
}

func importReport(got price.Imported, day string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s as of %s\n", wording.Plural(len(got.Entries), "price", "prices"), day)
	if got.Others > 0 {
		fmt.Fprintf(&b, "left out: %s of other providers, or of models that write no text\n", wording.Plural(got.Others, "row", "rows"))
	}
	if len(got.Bad) > 0 {
		fmt.Fprintf(&b, "skipped: %s that cannot be read\n", wording.Plural(len(got.Bad), "row", "rows"))
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
