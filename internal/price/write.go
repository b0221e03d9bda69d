package price

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Write writes entries in the form that Parse reads.
func Write(w io.Writer, entries []Entry) error {
	out := csv.NewWriter(w)
	records := [][]string{strings.Split(columns, ",")}
	for _, e := range entries {
		records = append(records, e.fields())
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("write price table: %w", err)
	}
	return nil
}

func (e Entry) fields() []string {
	f := []string{e.Provider, e.Model}
	f = append(append(f, e.Price.fields()...), "")
	if e.Batch > 0 {
		f[6] = dollars(e.Batch)
	}
	if e.UpTo > 0 {
		f = append(append(f, tokens(e.UpTo)), e.Long.fields()...)
	} else {
		f = append(f, "", "", "", "", "")
	}
	return append(f, tokens(e.MaxInput), tokens(e.MaxOutput), e.AsOf, e.Source)
}

func (p Price) fields() []string {
	return []string{dollars(p.Input), dollars(p.Cached), dollars(p.CacheWrite), dollars(p.Output)}
}

func dollars(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func tokens(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// Fresh is how long a price is taken to hold after it was compared with its source.
const Fresh = 90 * 24 * time.Hour

// Stale reports whether an entry was compared with its source longer ago than Fresh.
// A month counts to its end. A price that the user set never is.
func (e Entry) Stale(now time.Time) bool {
	if e.AsOf == "" {
		return false
	}
	day, err := time.Parse(time.DateOnly, e.AsOf)
	if err != nil {
		month, err := time.Parse("2006-01", e.AsOf)
		if err != nil {
			return true
		}
		day = month.AddDate(0, 1, -1)
	}
	return now.Sub(day) > Fresh
}
