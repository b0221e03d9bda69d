package transcript

import (
	"time"

	"github.com/tidwall/gjson"
)

// instant reads a time as stores write it: a text by RFC 3339, a text without a zone, which is
// UTC, or a number of milliseconds (seconds where it is small). What is none is the zero time.
func instant(v gjson.Result) time.Time {
	switch v.Type {
	case gjson.String:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
			if t, err := time.Parse(layout, v.Str); err == nil {
				return plausible(t.UTC())
			}
		}
	case gjson.Number:
		return ofMillis(v.Num)
	case gjson.Null, gjson.False, gjson.True, gjson.JSON:
	}
	return time.Time{}
}

// plausible returns a time, or none where no session can have been. With such a year a clock or a
// file is wrong.
func plausible(t time.Time) time.Time {
	if t.Year() < 2000 || t.Year() > 2200 {
		return time.Time{}
	}
	return t
}

// ofMillis returns the time of milliseconds since 1970, or of seconds where the number is below
// that of March 1973.
func ofMillis(n float64) time.Time {
	switch {
	case n <= 0 || n >= 1e14:
		return time.Time{}
	case n < 1e11:
		return plausible(time.UnixMilli(int64(n * 1000)).UTC())
	}
	return plausible(time.UnixMilli(int64(n)).UTC())
}

// texts joins the parts of a content: a text, or a list of blocks of which those of a type are
// taken, with their member text.
func texts(content gjson.Result, types ...string) string {
	if content.Type == gjson.String {
		return content.Str
	}
	out := ""
	content.ForEach(func(_, block gjson.Result) bool {
		kind := block.Get("type").Str
		for _, t := range types {
			if kind == t {
				if out != "" {
					out += "\n"
				}
				out += block.Get("text").Str
			}
		}
		return true
	})
	return out
}
