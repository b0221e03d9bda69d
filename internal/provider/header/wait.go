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
//
// A hint above one day counts as one day. now is the client's clock.
func Wait(h http.Header, now time.Time) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		return bounded(ms, time.Millisecond)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		return retryAfter(v, h.Get("Date"), now)
	}
	return max(reset(h, "Requests"), reset(h, "Tokens"))
}

// Pause returns how long the server asks to wait after an answer, because its
// bucket of requests is empty, or its bucket of tokens holds less than spent, the
// tokens of the request that was just answered; 0 when it does not say so. It
// reads X-Ratelimit-Remaining-Requests and -Tokens with the -Reset- of each.
func Pause(h http.Header, spent int64) time.Duration {
	var pause time.Duration
	if left, ok := number(h.Get("X-Ratelimit-Remaining-Requests")); ok && left <= 0 {
		pause = until(h, "Requests")
	}
	if left, ok := number(h.Get("X-Ratelimit-Remaining-Tokens")); ok && left < float64(spent) {
		pause = max(pause, until(h, "Tokens"))
	}
	return pause
}

func retryAfter(v, date string, now time.Time) time.Duration {
	if s, ok := number(v); ok {
		return bounded(s, time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), longestWait)
}

func reset(h http.Header, what string) time.Duration {
	if left, ok := number(h.Get("X-Ratelimit-Remaining-" + what)); !ok || left > 0 {
		return 0
	}
	return until(h, what)
}

// until reads when a bucket is full again: seconds, or a duration like "6m0s".
func until(h http.Header, what string) time.Duration {
	v := strings.TrimSpace(h.Get("X-Ratelimit-Reset-" + what))
	if s, ok := number(v); ok {
		return bounded(s, time.Second)
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

func bounded(n float64, unit time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	if n >= float64(longestWait)/float64(unit) {
		return longestWait
	}
	return time.Duration(n * float64(unit))
}
