package corpus

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

func TestParseQueries(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string][]string{
		`<search_queries>["a b", " c ", "a b", ""]</search_queries>`:        {"a b", "c"},
		`<search_queries>["receipts, March 1941"]</search_queries>`:         {"receipts, March 1941"},
		`<Search_Queries>{"queries": ["a", 7]}</Search_Queries>`:            {"a", "7"},
		`<search_queries>{"search_queries": "a"}</search_queries>`:          {"a"},
		`<search_queries>{"query": "a; b"}</search_queries>`:                {"a; b"},
		`<search_queries>"a"</search_queries>`:                              {"a"},
		"<search_queries>\n- a\n* \"b\"\n\n- a\n</search_queries>":          {"a", "b"},
		`<search_queries>a; b, c</search_queries>`:                          {"a", "b", "c"},
		`<search_queries>[broken</search_queries>`:                          {"[broken"},
		`<search_queries>{}</search_queries>`:                               {"{}"},
		`<search_queries> </search_queries>`:                                nil,
		`<search_queries>[]</search_queries>`:                               {"[]"},
		`<search_queries>["a"]`:                                             nil,
		`no queries`:                                                        nil,
		"<search_queries>\"a\"</search_queries><search_queries>b</search_q": {"a"},
	} {
		if diff := cmp.Diff(want, parseQueries(reply)); diff != "" {
			t.Errorf("%s: %s", reply, diff)
		}
	}
}

func FuzzParseQueries(f *testing.F) {
	f.Add(`<search_queries>["a", "b"]</search_queries>`)
	f.Add("<search_queries>a;;b\n,</search_queries>")
	f.Add(`<search_queries>{"query": [{"a": 1}, null]}</search_queries>`)
	f.Fuzz(func(t *testing.T, reply string) {
		seen := map[string]bool{}
		for _, query := range parseQueries(reply) {
			if seen[query] || strings.TrimSpace(query) == "" || len(query) > maxQuery {
				t.Errorf("%q of %q", query, reply)
			}
			seen[query] = true
		}
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	const two = "[1] One\nhttp://one\nText\n\n[2] Two\nhttp://two"
	for body, want := range map[string]string{
		`[{"title":"One","url":"http://one","snippet":"Text"},7,{"name":"Two","link":"http://two"}]`:                                two,
		`{"results":[{"headline":" One ","href":"http://one","body":"Text"},{"source":"Two","display_url":"http://two"}]}`:          two,
		`{"webPages":{"value":[{"title":"One","url":"http://one","content":"Text"},{"title":"","name":"Two","url":"http://two"}]}}`: two,
		`{"data":{"items":[]},"organic":[{"title":"One"}]}`:                                                                         "[1] One",
		`{"results":[{},{},{},{},{}]}`: "[1] \n\n[2] \n\n[3] \n\n[4] ",
		`{"results":[]}`:               noResults,
		`{"answer":"x"}`:               noResults,
		`null`:                         noResults,
		`"text"`:                       noResults,
	} {
		got, err := readResults(strings.NewReader(body))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", body, err, diff)
		}
	}
	for body, want := range map[string]string{"": "is no JSON", "<html>busy</html>": "is no JSON", `[{]`: "is no JSON", strings.Repeat(" ", maxBody) + "[]": "is larger than 1 MB"} {
		if got, err := readResults(strings.NewReader(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %q, %v", body, got, err)
		}
	}
	long, err := readResults(strings.NewReader(`[{"title":"` + strings.Repeat("x", 9000) + `"}]`))
	if err != nil || len(long) > maxSnippet+10 {
		t.Error(len(long), err)
	}
}

// TestSearchRounds plays a dialogue with an endpoint on this machine.
func TestSearchRounds(t *testing.T) {
	t.Parallel()
	type asked struct{ Method, Auth, Body string }
	got := make(chan asked, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- asked{r.Method, r.Header.Get("Authorization"), string(body)}
		_, _ = io.WriteString(w, `{"items":[{"title":"Found\u001b[31m","url":"http://x"}]}`)
	}))
	t.Cleanup(server.Close)
	c, err := New(Options{Mode: ModeSearch, Turns: 3, Search: Search{URL: server.URL, Authorization: "Bearer k"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Open(t.Context(), world.Setting{Task: task.Task{ID: "t", Data: map[string]any{FieldFiles: []any{"a.txt"}, FieldDocs: []any{"http://x?page=1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	scene, err := e.Start(t.Context())
	if want := "## Sources\n- http://x?page=1\n\n## Files of the sources\n- a.txt\n\n## Next reply\n3 replies are left. " + ruleOfQueries; err != nil || scene.Text != want || scene.Tools != nil {
		t.Fatalf("%q, %v", scene.Text, err)
	}
	const last = "## Next reply\nIt is the last one: give the final answer between <answer> and </answer>."
	for _, tt := range []struct {
		reply string
		turn  int
		want  world.Observation
	}{
		{"Hm.", 1, world.Observation{Text: "The reply has neither queries nor an answer.\n\n## Next reply\n2 replies are left. " + ruleOfQueries}},
		{`<search_queries>["a"]</search_queries>`, 2, world.Observation{Text: "## Results for \"a\"\n[1] Found[31m\nhttp://x\n\n" + last}},
		{`<search_queries>["late"]</search_queries>`, 3, world.Observation{}},
		{`<answer>7</answer> <search_queries>["b"]</search_queries>`, 3, world.Observation{Done: true}},
	} {
		seen, err := e.Act(t.Context(), world.Action{Turn: tt.turn, Last: tt.turn == 3, Text: tt.reply})
		if diff := cmp.Diff(tt.want, seen); diff != "" || err != nil {
			t.Errorf("%s: %v %s", tt.reply, err, diff)
		}
	}
	if diff := cmp.Diff(asked{"POST", "Bearer k", `{"max_num_results":4,"query":"a"}`}, <-got); diff != "" || len(got) > 0 {
		t.Error(diff, len(got))
	}
	if seen, err := e.Act(t.Context(), world.Action{Turn: 1, Text: `<search_queries>["1","2","3","4","5"]</search_queries>`}); err != nil || strings.Count(seen.Text, "## Results") != 4 {
		t.Errorf("%+v, %v", seen, err)
	}
	if c.Pure() || c.Close() != nil {
		t.Error("a search is not pure, and closes")
	}
}

// replies answers requests in order: a status, or an error for 0.
type replies struct {
	list  []int
	times []time.Duration
	begun time.Time
}

func (r *replies) RoundTrip(q *http.Request) (*http.Response, error) {
	status := r.list[min(len(r.times), len(r.list)-1)]
	r.times = append(r.times, time.Since(r.begun))
	switch status {
	case 0:
		return nil, errors.New("connection refused")
	case -1: // it hangs
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(`[{"title":"T"}]`)), Header: http.Header{"Location": {"http://elsewhere"}}, Request: q}, nil
}

// TestTries checks what is asked again, when, and what is shown of a failure.
func TestTries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		list  []int
		times []time.Duration // of the requests, in seconds
		want  string          // of the error; "" none
	}{
		{"at once", []int{200}, []time.Duration{0}, ""},
		{"busy, then not", []int{429, 503, 0, 408, 200}, []time.Duration{0, 1, 3, 7, 15}, ""},
		{"busy for good", []int{500}, []time.Duration{0, 1, 3, 7, 15}, "env.search.url, after 5 tries: the endpoint answered Internal Server Error"},
		{"no network", []int{0}, []time.Duration{0, 1, 3, 7, 15}, "after 5 tries: connection refused"},
		{"it hangs", []int{-1, 200}, []time.Duration{0, 21}, ""},
		{"refused", []int{401, 200}, []time.Duration{0}, "after 1 try: the endpoint answered Unauthorized"},
		{"bad request", []int{400, 200}, []time.Duration{0}, "after 1 try"},
		{"sent elsewhere", []int{307, 200}, []time.Duration{0}, "after 1 try: the endpoint answered Temporary Redirect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &replies{list: tt.list, begun: time.Now()}
				s, err := newSearcher(Search{URL: "http://127.0.0.1:9/?key=sk-secret", Authorization: "sk-header", Transport: r})
				if err != nil {
					t.Fatal(err)
				}
				text, err := s.find(t.Context(), "q")
				if tt.want == "" && (err != nil || text != "[1] T") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("%q, %v", text, err)
				}
				if err != nil && strings.Contains(err.Error(), "sk-") {
					t.Errorf("it shows a secret: %v", err)
				}
				var times []time.Duration
				for _, at := range r.times {
					times = append(times, at/time.Second)
				}
				if diff := cmp.Diff(tt.times, times); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		s, err := newSearcher(Search{URL: "http://x", Transport: &replies{list: []int{500}, begun: time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.find(ctx, "q"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestSearchNeedsAnEndpoint(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "search.example", "ftp://x/", "http://", "::"} {
		if _, err := New(Options{Mode: ModeSearch, Search: Search{URL: address}}); err == nil || !strings.Contains(err.Error(), "env.search.url") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
