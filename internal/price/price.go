// Package price knows what tokens cost: a dated table of list prices
// (prices.csv), over which the user's own prices win. What is not in the table
// is unknown, which is not the same as free.
//
// It knows nothing about calls, budgets or accounts: discounts, taxes and
// prices by contract are the user's to set.
package price

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

//go:embed prices.csv
var embedded []byte

// Price is in US dollars per million tokens. Tokens read from the provider's
// cache cost Cached, those written to it CacheWrite, the other input tokens
// Input; reasoning tokens are output.
type Price struct {
	Input      float64
	Output     float64
	Cached     float64
	CacheWrite float64
}

// Nano returns what usage costs in billionths of a dollar, fractions dropped.
func (p Price) Nano(u trajectory.Usage) int64 {
	plain := float64(max(0, u.Input-u.Cached-u.CacheWrite))
	return int64(1000 * (p.Input*plain + p.Cached*float64(u.Cached) + p.CacheWrite*float64(u.CacheWrite) + p.Output*float64(u.Output)))
}

// Times returns the price multiplied by factor, that of a batch for instance.
func (p Price) Times(factor float64) Price {
	return Price{Input: p.Input * factor, Output: p.Output * factor, Cached: p.Cached * factor, CacheWrite: p.CacheWrite * factor}
}

// Entry says where a price comes from.
type Entry struct {
	Provider string // name of a preset; "" of a price that the user set
	Model    string // the name that matched
	Price    Price
	Batch    float64 // factor of the batch interface; 0 = there is none, or it is not known
	UpTo     int64   // tokens of a prompt up to which the price holds; 0 = any
	Long     Price   // of all tokens of a call whose prompt is longer
	AsOf     string  // year-month or day; "" of a price that the user set

	// MaxInput and MaxOutput are the most tokens that the model takes and gives; 0 =
	// not known.
	MaxInput  int64
	MaxOutput int64

	Source string // address of the price list; "config" of a price that the user set
}

// Of returns the price of the tokens of a call whose prompt has the given number of them,
// those from the cache included.
func (e Entry) Of(prompt int64) Price {
	if e.UpTo > 0 && prompt > e.UpTo {
		return e.Long
	}
	return e.Price
}

// FromConfig is the source of prices that the user set.
const FromConfig = "config"

// Override is a price that the user set. Cached and CacheWrite absent: as input.
type Override struct {
	Input      float64
	Output     float64
	Cached     *float64
	CacheWrite *float64
	MaxOutput  int64 // tokens; 0 = not known
}

// Table holds prices. It is immutable and safe for concurrent use. The zero
// value knows none.
type Table struct {
	rows []row
	own  []row
}

type row struct {
	names []string // in lower case
	entry Entry
}

// Default returns the table that comes with the program.
func Default() (Table, error) { return Parse(bytes.NewReader(embedded)) }

// With returns a table in which the given prices, by the name of the model, win
// over those of t, no matter who serves the model.
func (t Table) With(overrides map[string]Override) Table {
	own := slices.Clone(t.own)
	for _, model := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[model]
		p := Price{Input: o.Input, Output: o.Output, Cached: o.Input, CacheWrite: o.Input}
		if o.Cached != nil {
			p.Cached = *o.Cached
		}
		if o.CacheWrite != nil {
			p.CacheWrite = *o.CacheWrite
		}
		own = append(own, row{names: []string{strings.ToLower(model)}, entry: Entry{Model: model, Price: p, MaxOutput: o.MaxOutput, Source: FromConfig}})
	}
	return Table{rows: t.rows, own: own}
}

// Over returns a table in which the rows of t win over those of below that have the
// same name.
func (t Table) Over(below Table) Table {
	return Table{rows: slices.Concat(below.rows, t.rows), own: slices.Concat(below.own, t.own)}
}

// Find returns the price of a model that the named provider serves. The longest
// name that matches wins, of equal ones the one set last; a price of the user
// goes before all of the table. A name matches itself, and itself with a date
// behind it (gpt-4o-2024-08-06), but no other model of its family. A price of the
// user without a limit of replies has that of the table. A caller that asks
// a server at another address than the provider's own must not ask for its
// price.
func (t Table) Find(provider, model string) (Price, Entry, bool) {
	model = strings.ToLower(strings.TrimPrefix(model, "models/"))
	listed, known := longest(t.rows, provider, model)
	if e, ok := longest(t.own, "", model); ok {
		if e.MaxOutput == 0 {
			e.MaxOutput = listed.MaxOutput
		}
		return e.Price, e, true
	}
	return listed.Price, listed, known
}

// Entries returns all prices, those of the user first.
func (t Table) Entries() []Entry {
	var all []Entry
	for _, rows := range [][]row{t.own, t.rows} {
		for _, r := range rows {
			all = append(all, r.entry)
		}
	}
	return all
}

func longest(rows []row, provider, model string) (best Entry, found bool) {
	length := -1
	for _, r := range rows {
		if r.entry.Provider != provider {
			continue
		}
		for _, name := range r.names {
			if len(name) >= length && matches(name, model) {
				best, length, found = r.entry, len(name), true
				best.Model = name
			}
		}
	}
	return best, found
}

// matches reports whether model is name, with or without a date behind it.
func matches(name, model string) bool {
	rest, ok := strings.CutPrefix(model, name)
	if !ok || name == "" {
		return false
	}
	return rest == "" || (rest[0] == '-' || rest[0] == '@') && isDay(rest[1:])
}

// isDay reports whether s is a day, written 20240806 or 2024-08-06.
func isDay(s string) bool {
	for _, layout := range []string{"20060102", time.DateOnly} {
		if day, err := time.Parse(layout, s); err == nil && day.Year() >= 2020 && day.Year() < 2100 {
			return true
		}
	}
	return false
}

// columns are those of a table, in order.
const columns = "provider,models,input,cached,cache_write,output,batch,up_to,long_input,long_cached,long_cache_write,long_output,max_input,max_output,as_of,source"

// Parse reads a table: CSV with the columns of prices.csv. Its errors name the
// line.
func Parse(r io.Reader) (Table, error) {
	in := csv.NewReader(r)
	in.Comment, in.FieldsPerRecord = '#', strings.Count(columns, ",")+1
	head, err := in.Read()
	if err != nil {
		return Table{}, fmt.Errorf("read price table: %w", err)
	}
	if got := strings.Join(head, ","); got != columns {
		return Table{}, fmt.Errorf("read price table: the columns are %q, want %q", got, columns)
	}
	var t Table
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return Table{}, fmt.Errorf("read price table: %w", err)
		}
		r, err := parseRow(fields)
		if err != nil {
			line, _ := in.FieldPos(0)
			return Table{}, fmt.Errorf("read price table: line %d: %w", line, err)
		}
		t.rows = append(t.rows, r)
	}
}

func parseRow(f []string) (row, error) {
	r := row{names: strings.Fields(strings.ToLower(f[1])), entry: Entry{Provider: f[0], AsOf: f[14], Source: f[15]}}
	if r.entry.Provider == "" || len(r.names) == 0 || r.entry.Source == "" {
		return r, errors.New("a provider, a model or a source is missing")
	}
	r.entry.Model = r.names[0]
	err := errors.Join(r.entry.Price.parse(f[2:6]), numberOr(f[6], 0, &r.entry.Batch), r.entry.tier(f[7], f[8:12]),
		tokensOr0(f[12], &r.entry.MaxInput), tokensOr0(f[13], &r.entry.MaxOutput))
	if r.entry.AsOf == "" {
		err = errors.Join(err, errors.New("the date is missing on which it was compared with the source"))
	}
	if _, day := time.Parse(time.DateOnly, r.entry.AsOf); day != nil {
		if _, month := time.Parse("2006-01", r.entry.AsOf); month != nil {
			err = errors.Join(err, fmt.Errorf("as of %q: want a month or a day such as 2025-12", r.entry.AsOf))
		}
	}
	return r, err
}

// parse reads input, cached, cache_write and output.
func (p *Price) parse(f []string) error {
	return errors.Join(
		number(f[0], &p.Input), number(f[3], &p.Output),
		numberOr(f[1], p.Input, &p.Cached), numberOr(f[2], p.Input, &p.CacheWrite),
	)
}

// tier reads the length of a prompt from which another price holds, and that
// price. One without the other would be a call counted at a wrong price.
func (e *Entry) tier(upTo string, long []string) error {
	if upTo == "" {
		if text := strings.Join(long, ""); text != "" {
			return fmt.Errorf("a price of long prompts (%s) without up_to", text)
		}
		return nil
	}
	n, err := strconv.ParseInt(upTo, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("up_to %q: want a number of tokens", upTo)
	}
	e.UpTo = n
	if err := e.Long.parse(long); err != nil {
		return fmt.Errorf("up_to %d, and of longer prompts: %w", n, err)
	}
	return nil
}

// tokensOr0 reads a limit; an empty field is one that is not known.
func tokensOr0(text string, to *int64) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q is no number of tokens", text)
	}
	*to = n
	return nil
}

func numberOr(text string, absent float64, to *float64) error {
	if text == "" {
		*to = absent
		return nil
	}
	return number(text, to)
}

func number(text string, to *float64) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return fmt.Errorf("%q is no price", text)
	}
	*to = v
	return nil
}
