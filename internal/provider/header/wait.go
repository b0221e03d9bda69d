package header

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds a server's hint, so that none overflows a Duration.
const longestWait = 24 * time.Hour

// Wait returns how long the server asks to wait before the next request, or 0
// when it does not say or says something unreadable. It reads, in this order:
//
//   - Retry-After-Ms: milliseconds, whole or fractional
//   - Retry-After: seconds, whole or fractional, or a date (RFC 9110, 10.2.3),
//     which is compared with the response's own Date where it has one, since
//     the clocks of client and server need not agree
//   - X-Ratelimit-Reset-Requests and -Tokens: a duration such as "6m0s" or
//     seconds, of those whose X-Ratelimit-Remaining-… is 0; the longer one
//   - X-Ratelimit-Reset, unless X-Ratelimit-Remaining reports that something is
//     left: the same, or a moment (a date, or the seconds or milliseconds since
//     1970)
//
// A hint above one day counts as one day. now is the client's clock.
func Wait(h http.Header, now time.Time) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		return boundWait(ms, time.Millisecond)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		return retryAfter(v, h.Get("Date"), now)
	}
	if wait := max(reset(h, "Requests"), reset(h, "Tokens")); wait > 0 {
		return wait
	}
	if left, ok := number(h.Get("X-Ratelimit-Remaining")); ok && left > 0 {
		return 0
	}
	return moment(h.Get("X-Ratelimit-Reset"), h.Get("Date"), now)
}

// moment reads a wait, or the moment of its end. A number of seconds above three
// years is one since 1970, and one above three thousand is of milliseconds.
func moment(v, date string, now time.Time) time.Duration {
	const seconds, milliseconds, none = 1e8, 1e11, 1e15
	v = strings.TrimSpace(v)
	n, ok := number(v)
	switch {
	case !ok || n < seconds:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return timeUntil(at, date, now)
		}
		if at, err := http.ParseTime(v); err == nil {
			return timeUntil(at, date, now)
		}
		return span(v)
	case n < milliseconds:
		return timeUntil(time.Unix(int64(n), 0), date, now)
	case n < none:
		return timeUntil(time.UnixMilli(int64(n)), date, now)
	}
	return longestWait
}

// Pause returns how long the server asks to wait after an answer, because its
// bucket of requests is empty, or its bucket of tokens holds less than spent, the
// tokens of the request that was just answered; 0 when it does not say so. It
// reads X-Ratelimit-Remaining-Requests and -Tokens with the -Reset- of each.
func Pause(h http.Header, spent int64) time.Duration {
	var pause time.Duration
	if left, ok := number(h.Get("X-Ratelimit-Remaining-Requests")); ok && left <= 0 {
		pause = full(h, "Requests")
	}
	if left, ok := number(h.Get("X-Ratelimit-Remaining-Tokens")); ok && left < float64(spent) {
		pause = max(pause, full(h, "Tokens"))
	}
	return pause
}

func retryAfter(v, date string, now time.Time) time.Duration {
	if s, ok := number(v); ok {
		return boundWait(s, time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return timeUntil(at, date, now)
}

// timeUntil returns the time from the response's own date, or else from now.
func timeUntil(at time.Time, date string, now time.Time) time.Duration {
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), longestWait)
}

func reset(h http.Header, what string) time.Duration {
	if left, ok := number(h.Get("X-Ratelimit-Remaining-" + what)); !ok || left > 0 {
		return 0
	}
	return full(h, what)
}

// full reads when a bucket is full again.
func full(h http.Header, what string) time.Duration { return span(h.Get("X-Ratelimit-Reset-" + what)) }

// span reads seconds, or a duration like "6m0s".
func span(v string) time.Duration {
	v = strings.TrimSpace(v)
	if s, ok := number(v); ok {
		return boundWait(s, time.Second)
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0
	}
	return min(max(d, 0), longestWait)
}

// number reads a decimal number; "inf" and "nan", which ParseFloat knows, are
// none.
func number(v string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func boundWait(n float64, unit time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	if n >= float64(longestWait)/float64(unit) {
		return longestWait
	}
	return time.Duration(n * float64(unit))
}
