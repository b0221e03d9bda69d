package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

func testFaults(t *testing.T, h Harness) {
	faults := slices.Concat(statusFaults(h), waitFaults(h), h.Faults)
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, h, func(w http.ResponseWriter, _ *http.Request, _ Seen) {
				for _, name := range slices.Sorted(maps.Keys(f.Header)) {
					w.Header().Set(name, f.Header[name])
				}
				writeJSON(w, f.Status, []byte(f.Body))
			})
			_, err := srv.client(t).Generate(t.Context(), question("q"))
			checkFault(t, err, f, srv.endpoint())
			srv.only(t)
		})
	}
}

// checkFault compares all that an *Error promises.
func checkFault(t *testing.T, err error, f Fault, host string) {
	t.Helper()
	var got *model.Error
	if !errors.As(err, &got) {
		t.Fatalf("error %v (%T), want a *model.Error", err, err)
	}
	if got.Code != f.Want {
		t.Errorf("code = %s, want %s: %v", got.Code, f.Want, err)
	}
	if got.Status != f.Status {
		t.Errorf("status = %d, want %d", got.Status, f.Status)
	}
	if got.RetryAfter != f.Wait {
		t.Errorf("retry after = %v, want %v", got.RetryAfter, f.Wait)
	}
	if got.Endpoint != host {
		t.Errorf("endpoint = %q, want %q", got.Endpoint, host)
	}
	if text := err.Error(); strings.ContainsAny(text, "\r\n") || len(text) > 1000 {
		t.Errorf("message is not one short line: %q", text)
	}
}

// statusFaults returns the faults whose class follows from the status, whatever the body.
func statusFaults(h Harness) []Fault {
	statuses := map[int]model.Code{
		400: model.BadRequest,
		401: model.Auth,
		403: model.Auth,
		404: model.NotFound,
		408: model.Timeout,
		422: model.BadRequest,
		429: model.RateLimit,
		500: model.Server,
		502: model.Server,
		503: model.Overloaded,
		529: model.Overloaded,
	}
	bodies := map[string]string{
		"reason": string(h.Refuse("it did not work")),
		"html":   "<html><body><h1>Bad\ngateway</h1></body></html>",
		"empty":  "",
		"cut":    `{"error": {"mess`,
		"long":   string(h.Refuse(strings.Repeat("very long ", 500))),
	}
	var faults []Fault
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		for _, body := range slices.Sorted(maps.Keys(bodies)) {
			faults = append(faults, Fault{
				Name:   strconv.Itoa(status) + " " + body,
				Status: status,
				Body:   bodies[body],
				Want:   statuses[status],
			})
		}
	}
	return faults
}

// waitFaults returns a fault for each form in which a server says how long to wait.
func waitFaults(h Harness) []Fault {
	sent := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		status int
		header map[string]string
		want   time.Duration
	}{
		{"seconds", 429, map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"fraction", 429, map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		{"date", 429, map[string]string{
			"Date":        sent.Format(http.TimeFormat),
			"Retry-After": sent.Add(90 * time.Second).Format(http.TimeFormat),
		}, 90 * time.Second},
		{"date gone by", 429, map[string]string{
			"Date":        sent.Format(http.TimeFormat),
			"Retry-After": sent.Add(-time.Hour).Format(http.TimeFormat),
		}, 0},
		{"milliseconds win", 429, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, 1500 * time.Millisecond},
		{"overloaded", 503, map[string]string{"Retry-After": "3"}, 3 * time.Second},
		{"rubbish", 429, map[string]string{"Retry-After": "soon"}, 0},
		{"negative", 429, map[string]string{"Retry-After": "-5"}, 0},
		{"huge", 429, map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{"milliseconds", 503, map[string]string{"Retry-After-Ms": "20"}, 20 * time.Millisecond},
		{"empty bucket", 429, map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "1m30s",
			"X-Ratelimit-Remaining-Tokens": "5000", "X-Ratelimit-Reset-Tokens": "6m0s",
		}, 90 * time.Second},
		{"two empty buckets", 429, map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "120ms",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "4",
		}, 4 * time.Second},
		{"until a second since 1970", 429, map[string]string{
			"Date": sent.Format(http.TimeFormat), "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": strconv.FormatInt(sent.Unix()+40, 10),
		}, 40 * time.Second},
		{"until a millisecond since 1970", 429, map[string]string{
			"Date": sent.Format(http.TimeFormat), "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": strconv.FormatInt(sent.UnixMilli()+40_500, 10),
		}, 40500 * time.Millisecond},
		{"seconds before buckets", 429, map[string]string{
			"Retry-After": "2", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s",
		}, 2 * time.Second},
	}
	var faults []Fault
	for _, tt := range tests {
		want := model.RateLimit
		if tt.status == 503 {
			want = model.Overloaded
		}
		faults = append(faults, Fault{
			Name:   "wait " + tt.name,
			Status: tt.status,
			Header: tt.header,
			Body:   string(h.Refuse("wait")),
			Want:   want,
			Wait:   tt.want,
		})
	}
	return faults
}

// DatedWaits returns faults for the protocols whose servers name the moment at which a bucket is
// full again. prefix begins the names of the headers, such as Anthropic-Ratelimit-; body is that of
// a refusal.
func DatedWaits(prefix, body string) []Fault {
	sent := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	header := func(left string, wait time.Duration) map[string]string {
		return map[string]string{
			"Date":                      sent.Format(http.TimeFormat),
			prefix + "Tokens-Remaining": left,
			prefix + "Tokens-Reset":     sent.Add(wait).Format(time.RFC3339),
		}
	}
	fault := func(name, left string, wait, want time.Duration) Fault {
		return Fault{Name: "wait " + name, Status: 429, Header: header(left, wait), Body: body, Want: model.RateLimit, Wait: want}
	}
	return []Fault{
		fault("until a moment", "0", 40*time.Second, 40*time.Second),
		fault("until a moment gone by", "0", -40*time.Second, 0),
		fault("bucket not empty", "9000", 40*time.Second, 0),
	}
}

// testWire breaks the connection and the body in the ways that happen.
func testWire(t *testing.T, h Harness) {
	good := h.Write(Reply{Text: "all is well and the answer is long enough to be cut", Finish: model.FinishStop, Input: 9, Output: 9})
	tests := []struct {
		name    string
		respond func(w http.ResponseWriter)
		want    model.Code
		status  int
	}{
		{"body shorter than announced", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(len(good)))
			writeJSON(w, 200, good[:len(good)/2])
		}, model.Truncated, 200},
		{"chunked body cut", func(w http.ResponseWriter) { cutChunk(w, good[:len(good)/2]) }, model.Truncated, 200},
		{"half a document", func(w http.ResponseWriter) { writeJSON(w, 200, good[:len(good)/2]) }, model.Truncated, 200},
		{"no body", func(w http.ResponseWriter) { writeJSON(w, 200, nil) }, model.Truncated, 200},
		{"a web page", func(w http.ResponseWriter) { writeJSON(w, 200, []byte("<html>log in</html>")) }, model.Malformed, 200},
		{"another document", func(w http.ResponseWriter) { writeJSON(w, 200, []byte(`{"status":"ok"}`)) }, model.Malformed, 200},
		{"a list", func(w http.ResponseWriter) { writeJSON(w, 200, []byte(`[1,2]`)) }, model.Malformed, 200},
		{"null", func(w http.ResponseWriter) { writeJSON(w, 200, []byte(`null`)) }, model.Malformed, 200},
		{"connection closed", hangUp, model.Network, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, h, func(w http.ResponseWriter, _ *http.Request, _ Seen) { tt.respond(w) })
			_, err := srv.client(t).Generate(t.Context(), question("q"))
			checkFault(t, err, Fault{Want: tt.want, Status: tt.status}, srv.endpoint())
			srv.only(t)
		})
	}
	t.Run("every cut of a body", func(t *testing.T) { testCuts(t, h, good) })
	t.Run("a body above the limit", func(t *testing.T) { testLimit(t, h) })
	t.Run("nobody there", func(t *testing.T) { testNobody(t, h) })
}

// cutChunk writes part of a chunked body and drops the connection.
func cutChunk(w http.ResponseWriter, body []byte) {
	writeJSON(w, http.StatusOK, body)
	flush(w)
	panic(http.ErrAbortHandler)
}

func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// testCuts has the server end the document after every byte: no part of an
// answer may pass for an answer.
func testCuts(t *testing.T, h Harness, good []byte) {
	t.Parallel()
	cut := 0
	srv := newServer(t, h, func(w http.ResponseWriter, _ *http.Request, _ Seen) { writeJSON(w, 200, good[:cut]) })
	c := srv.client(t)
	for cut = range len(strings.TrimSpace(string(good))) {
		_, err := c.Generate(t.Context(), question("q"))
		if code := model.CodeOf(err); code != model.Truncated {
			t.Errorf("body cut after %d bytes: error %v, want %s", cut, err, model.Truncated)
		}
	}
}

func testLimit(t *testing.T, h Harness) {
	t.Parallel()
	srv := reply(t, h, Reply{Text: strings.Repeat("x", 5000), Finish: model.FinishStop})
	_, err := h.New(t, Settings{URL: srv.URL, MaxBody: 4096}).Generate(t.Context(), question("q"))
	checkFault(t, err, Fault{Want: model.Malformed, Status: 200}, srv.endpoint())
}

// testNobody calls a port on which no one listens any more.
func testNobody(t *testing.T, h Harness) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err := h.New(t, Settings{URL: gone.URL, Key: testKey}).Generate(t.Context(), question("q"))
	checkFault(t, err, Fault{Want: model.Network}, cmp.Or(h.Endpoint, gone.Listener.Addr().String()))
	var op *net.OpError
	if !errors.As(err, &op) {
		t.Errorf("error %v does not keep its cause", err)
	}
}

// testSecrets has servers repeat the credentials in their errors.
func testSecrets(t *testing.T, h Harness) {
	const inHeader = "proxy-secret-55aa02"
	for _, status := range []int{200, 307, 400, 401, 429, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			said := fmt.Sprintf("who is %s, and what is %s?", testKey, inHeader)
			srv := newServer(t, h, func(w http.ResponseWriter, _ *http.Request, _ Seen) {
				w.Header().Set("Location", "http://elsewhere.invalid/"+testKey)
				w.WriteHeader(status)
				_, _ = w.Write(h.Refuse(said))
			})
			c := h.New(t, Settings{URL: srv.URL, Key: testKey, Headers: map[string]string{"X-Proxy-Auth": "Bearer " + inHeader}})
			_, err := c.Generate(t.Context(), question("q"))
			if err == nil {
				t.Fatal("no error")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				for _, text := range []string{e.Error(), fmt.Sprintf("%+v", e)} {
					if strings.Contains(text, testKey) || strings.Contains(text, inHeader) {
						t.Errorf("the error shows a credential: %s", text)
					}
				}
			}
		})
	}
}
