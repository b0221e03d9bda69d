package anthropic

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// longestWait bounds a server's hint.
const longestWait = 24 * time.Hour

// wait returns how long a server that refused a request asks to wait: the usual
// headers, or else the time at which the last of its empty buckets is full again.
func wait(h http.Header, now time.Time) time.Duration {
	if d := header.Wait(h, now); d > 0 || h.Get("Retry-After") != "" || h.Get("Retry-After-Ms") != "" {
		return d
	}
	return buckets(h, now, func(string) int64 { return 1 })
}

// pause returns how long the server asks to wait after an answer, because a
// bucket holds less than a request like this one takes.
func pause(h http.Header, spent trajectory.Usage, now time.Time) time.Duration {
	need := map[string]int64{
		"Requests":      1,
		"Tokens":        spent.Input + spent.Output,
		"Input-Tokens":  spent.Input - spent.Cached, // what is read from a cache does not count
		"Output-Tokens": spent.Output,
	}
	return buckets(h, now, func(bucket string) int64 { return need[bucket] })
}

// buckets returns the time until the last of those buckets is full again that
// hold less than needed.
func buckets(h http.Header, now time.Time, need func(bucket string) int64) time.Duration {
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent // the clocks of client and server need not agree
	}
	var longest time.Duration
	for _, bucket := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		name := "Anthropic-Ratelimit-" + bucket
		left, err := strconv.ParseInt(strings.TrimSpace(h.Get(name+"-Remaining")), 10, 64)
		if err != nil || left >= need(bucket) {
			continue
		}
		at, err := time.Parse(time.RFC3339, strings.TrimSpace(h.Get(name+"-Reset")))
		if err != nil {
			continue
		}
		longest = max(longest, min(at.Sub(now), longestWait))
	}
	return longest
}
