package header

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
)

func TestApply(t *testing.T) {
	t.Parallel()
	s, err := Parse(map[string]string{
		"x-stage":       "{{stage}}",
		"X-Who":         "{{ role }} of {{run}}",
		"X-Team":        "blue",
		"X-Brace":       "{{{{stage}}",
		"X-Empty":       "",
		"authorization": "Basic abc",
	})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"Authorization": {"Bearer sdk"}, "Accept": {"*/*"}}
	if err := s.Apply(h, model.Tags{Stage: "rollout", Role: "target", Run: "r-1"}); err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"X-Stage": {"rollout"}, "X-Who": {"target of r-1"}, "X-Team": {"blue"}, "X-Brace": {"{{stage}}"},
		"X-Empty": {""}, "Authorization": {"Basic abc"}, "Accept": {"*/*"},
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestApplyNothing(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*Set{"nil": nil, "zero": {}} {
		h := http.Header{}
		if err := s.Apply(h, model.Tags{}); err != nil || len(h) != 0 || s.Secrets() != nil {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}

func TestApplyRefusesControlCharacters(t *testing.T) {
	t.Parallel()
	s, err := Parse(map[string]string{"X-Run": "{{run}}"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Apply(http.Header{}, model.Tags{Run: "a\r\nX-Admin: yes"})
	if err == nil || !strings.Contains(err.Error(), "X-Run") {
		t.Errorf("error %v, want one that names X-Run", err)
	}
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		headers map[string]string
		want    []string // parts of the message
	}{
		{"unknown tag", map[string]string{"X-A": "{{stag}}"}, []string{"X-A", "stage"}},
		{"syntax", map[string]string{"X-A": "{{stage"}, []string{"X-A", "}}"}},
		{"name", map[string]string{"X A": "1"}, []string{`"X A"`, "not a header name"}},
		{"no name", map[string]string{"": "1"}, []string{"not a header name"}},
		{"not ASCII", map[string]string{"Größe": "1"}, []string{"not a header name"}},
		{"the transport's", map[string]string{"content-length": "1", "host": "evil"}, []string{"content-length", "host", "remove it"}},
		{"twice", map[string]string{"X-Stage": "a", "x-stage": "b"}, []string{`"X-Stage"`, `"x-stage"`, "the same"}},
		{"line break", map[string]string{"X-A": "a\nb"}, []string{"X-A", "control character"}},
		{"all of them", map[string]string{"X-A": "{{nope}}", "X B": "", "X-C": "\x00"}, []string{"X-A", "X B", "X-C"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(tt.headers)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestParseFaultHidesValue(t *testing.T) {
	t.Parallel()
	_, err := Parse(map[string]string{"X-Key": "very-secret-value\n"})
	if err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("error %v tells the value", err)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	s, err := Parse(map[string]string{"Api-Key": "0123456789", "X-Auth": "Bearer abcdefgh", "X-Short": "blue", "X-Stage": "{{stage}}-long-enough"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0123456789", "abcdefgh"}, s.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	epoch := func(n int64) string { return strconv.FormatInt(n, 10) }
	tests := []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "20"}, 20 * time.Second},
		{"zero", map[string]string{"Retry-After": "0"}, 0},
		{"fraction", map[string]string{"Retry-After": " 1.5 "}, 1500 * time.Millisecond},
		{"negative", map[string]string{"Retry-After": "-1"}, 0},
		{"huge", map[string]string{"Retry-After": "9e18"}, 24 * time.Hour},
		{"infinite", map[string]string{"Retry-After": "inf"}, 0},
		{"not a number", map[string]string{"Retry-After": "nan"}, 0},
		{"words", map[string]string{"Retry-After": "in a while"}, 0},
		{"date", map[string]string{"Retry-After": in(time.Minute)}, time.Minute},
		{"old date forms", map[string]string{"Retry-After": now.Add(time.Minute).Format(time.ANSIC)}, time.Minute},
		{"date gone by", map[string]string{"Retry-After": in(-time.Minute)}, 0},
		{"far date", map[string]string{"Retry-After": in(1000 * time.Hour)}, 24 * time.Hour},
		{"date by a clock that is an hour ahead", map[string]string{"Retry-After": in(time.Hour + time.Second), "Date": in(time.Hour)}, time.Second},
		{"milliseconds", map[string]string{"Retry-After-Ms": "12.5"}, 12500 * time.Microsecond},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "10", "Retry-After": "1"}, 10 * time.Millisecond},
		{"broken milliseconds", map[string]string{"Retry-After-Ms": "soon", "Retry-After": "1"}, time.Second},
		{"requests used up", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "2s"}, 2 * time.Second},
		{"tokens used up", map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "1.5"}, 1500 * time.Millisecond},
		{"both used up", map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "120ms",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s",
		}, 6 * time.Minute},
		{"some left", map[string]string{"X-Ratelimit-Remaining-Requests": "1", "X-Ratelimit-Reset-Requests": "2s"}, 0},
		{"reset in seconds", map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}, 30 * time.Second},
		{"reset as a duration", map[string]string{"X-Ratelimit-Reset": "1m30s"}, 90 * time.Second},
		{"reset by the second", map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": epoch(now.Add(time.Minute).Unix())}, time.Minute},
		{"reset by the millisecond", map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": epoch(now.Add(1500 * time.Millisecond).UnixMilli())}, 1500 * time.Millisecond},
		{"reset gone by", map[string]string{"X-Ratelimit-Reset": epoch(now.Add(-time.Minute).UnixMilli())}, 0},
		{"reset at a date", map[string]string{"X-Ratelimit-Reset": in(time.Minute)}, time.Minute},
		{"reset at a moment", map[string]string{"X-Ratelimit-Reset": now.Add(time.Minute).Format(time.RFC3339)}, time.Minute},
		{"reset by a clock that is an hour ahead", map[string]string{"X-Ratelimit-Reset": epoch(now.Add(61 * time.Minute).Unix()), "Date": in(time.Hour)}, time.Minute},
		{"reset, but some left", map[string]string{"X-Ratelimit-Remaining": "3", "X-Ratelimit-Reset": "30"}, 0},
		{"reset of nonsense", map[string]string{"X-Ratelimit-Reset": "soon"}, 0},
		{"reset out of reach", map[string]string{"X-Ratelimit-Reset": "1e300"}, 24 * time.Hour},
		{"reset after the hint", map[string]string{"Retry-After": "2", "X-Ratelimit-Reset": "30"}, 2 * time.Second},
		{"reset unreadable", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "later"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for name, value := range tt.header {
				h.Set(name, value)
			}
			if got := Wait(h, now); got != tt.want {
				t.Errorf("Wait = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestWaitBounds: whatever a server sends, the wait is neither negative nor
// above a day.
func TestWaitBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,5})?(e[0-9]{1,4})?`),
			rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(s int64) string { return time.Unix(s, 0).UTC().Format(http.TimeFormat) }),
		)
		h := http.Header{}
		for _, name := range []string{"Retry-After", "Retry-After-Ms", "Date", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", "X-Ratelimit-Reset"} {
			if rapid.Bool().Draw(t, name+" set") {
				h.Set(name, value.Draw(t, name))
			}
		}
		now := time.Unix(rapid.Int64Range(0, math.MaxInt32).Draw(t, "now"), 0)
		if got := Wait(h, now); got < 0 || got > 24*time.Hour {
			t.Errorf("Wait(%v) = %v", h, got)
		}
	})
}

func TestPause(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		header map[string]string
		spent  int64
		want   time.Duration
	}{
		{"says nothing", nil, 10, 0},
		{"enough left", map[string]string{"X-Ratelimit-Remaining-Requests": "3", "X-Ratelimit-Reset-Requests": "20s"}, 10, 0},
		{"no requests left", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "20s"}, 10, 20 * time.Second},
		{"seconds", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1.5"}, 10, 1500 * time.Millisecond},
		{"too few tokens", map[string]string{"X-Ratelimit-Remaining-Tokens": "9", "X-Ratelimit-Reset-Tokens": "6m0s"}, 10, 6 * time.Minute},
		{"just enough tokens", map[string]string{"X-Ratelimit-Remaining-Tokens": "10", "X-Ratelimit-Reset-Tokens": "6m0s"}, 10, 0},
		{"the longer one", map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "2s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "9s",
		}, 10, 9 * time.Second},
		{"unreadable", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "soon"}, 10, 0},
		{"negative", map[string]string{"X-Ratelimit-Remaining-Requests": "-1", "X-Ratelimit-Reset-Requests": "-5s"}, 10, 0},
	} {
		h := http.Header{}
		for k, v := range tc.header {
			h.Set(k, v)
		}
		if got := Pause(h, tc.spent); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
