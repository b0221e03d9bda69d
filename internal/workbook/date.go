package workbook

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// dateKind says what a number with a style is.
type dateKind uint8

const (
	noDate dateKind = iota
	dateOrTime
	spanOfTime
)

// Days are counted from these.
var (
	windowsEpoch = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	macEpoch     = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
)

// readStyles reads which styles make a number a date.
func (b *Book) readStyles(part string) error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := b.decode(part, &styles); err != nil {
		return err
	}
	codes := map[int]string{
		14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
		45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0",
	} // built in; those of other languages are numbers for openpyxl
	for _, f := range styles.Formats {
		codes[f.ID] = f.Code
	}
	for _, c := range styles.Cells {
		b.dates = append(b.dates, parseFormat(codes[c.Format]))
	}
	return nil
}

var (
	literalForm = pattern.New(`".*?"`)
	bracketForm = pattern.New(`\[[^\]]*\]`)
	spanForm    = pattern.New(`(?i)\[(?:hh?|mm?|ss?)\]`)
	keptForm    = pattern.New(`^\[(?:hh?|mm?|ss?)\]`)
	dateForm    = pattern.New(`(?:^|[^_\\])[dmhysDMHYS]`)
)

// parseFormat returns what a number with a format is. Only the part for positive numbers counts, without what
// is in quotes, and in brackets but for hours, minutes and seconds.
func parseFormat(code string) dateKind {
	code, _, _ = strings.Cut(code, ";")
	plain := bracketForm.Regexp().ReplaceAllStringFunc(literalForm.ReplaceAllString(code, ""), func(s string) string {
		if keptForm.MatchString(s) {
			return s
		}
		return ""
	})
	switch {
	case !dateForm.MatchString(plain):
		return noDate
	case spanForm.MatchString(code):
		return spanOfTime
	}
	return dateOrTime
}

// date returns the date, the time or the span of time that a number of days is. What is no date of a
// calendar is an error of the sheet.
func (b *Book) date(days float64, span bool) Value {
	const mostDays, mostSpan = 4e6, 999_999_999
	if size := math.Abs(days); !(size <= mostDays || span && size <= mostSpan) {
		return NewText("#VALUE!")
	}
	if span {
		return Value{Kind: Span, Micros: roundSpan(days)}
	}
	whole := math.Floor(days)
	left := time.Duration(math.RoundToEven((days-whole)*86400*1000)) * time.Millisecond
	epoch := windowsEpoch
	switch {
	case days >= 0 && days < 1 && left < 24*time.Hour:
		return Value{Kind: Clock, Micros: left.Microseconds()}
	case b.is1904:
		epoch = macEpoch
	case days > 0 && days < 60: // there was no 29 February 1900, which the numbers have
		whole++
	}
	at := epoch.AddDate(0, 0, int(whole)).Add(left)
	if at.Year() < 1 || at.Year() > 9999 {
		return NewText("#VALUE!")
	}
	return Value{Kind: DateTime, At: at}
}

// roundSpan returns days in microseconds, rounded to a thousandth of a second.
func roundSpan(days float64) int64 {
	whole := math.Floor(days)
	micros := math.RoundToEven((days - whole) * 86400 * 1e6) // first, as Python does
	return int64(whole)*86400*1e6 + int64(math.RoundToEven(micros/1000))*1000
}

var (
	isoForm      = pattern.New(`^(\d{4}-\d{2}-\d{2})?T?((\d{2}:\d{2})(:\d{2})?(\.\d{1,3})?)?Z?`)
	durationForm = pattern.New(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?`)
)

// parseISO reads a date, a time, both, or a span of time as ISO 8601 writes them.
func parseISO(text string) (Value, error) {
	m := isoForm.FindStringSubmatch(text)
	if m[1] != "" || m[2] != "" {
		clock := "00:00:00"
		if m[2] != "" {
			clock = m[3] + cmp.Or(m[4], ":00")
		}
		day := cmp.Or(m[1], "2000-01-01")
		at, err := time.Parse(time.DateTime, day+" "+clock)
		if err != nil {
			return Value{}, fmt.Errorf("found %q, allowed: a date or a time", text)
		}
		if m[4] != "" && m[5] != "" {
			below, _ := strconv.ParseFloat(m[5], 64)
			at = at.Add(time.Duration(below*1e6) * time.Microsecond)
		}
		switch {
		case m[1] == "":
			return Value{Kind: Clock, Micros: at.Sub(at.Truncate(24 * time.Hour)).Microseconds()}, nil
		case m[2] == "":
			return Value{Kind: Date, At: at}, nil
		}
		return Value{Kind: DateTime, At: at}, nil
	}
	if m := durationForm.FindStringSubmatch(text); m != nil && m[1]+m[2]+m[3] != "" {
		var total float64
		for i, unit := range []float64{3600, 60, 1} {
			n, _ := strconv.ParseFloat("0"+m[i+1], 64)
			total += n * unit
		}
		return Value{Kind: Span, Micros: int64(math.RoundToEven(total * 1e6))}, nil
	}
	return Value{}, fmt.Errorf("found %q, allowed: a date or a time", text)
}
