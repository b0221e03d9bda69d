package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/world"
)

// Bounds of a search.
const (
	maxQueries = 4 // of a round
	maxQuery   = 500
	maxResults = 4 // of a query
	maxSnippet = 2000
	maxBody    = 1 << 20
	maxTries   = 5
	timeOfTry  = 20 * time.Second
	firstPause = time.Second // doubled after each try
	noResults  = "[no results]"
)

// Search is an endpoint that the user has.
type Search struct {
	URL           string
	Authorization string            // value of the header; "": none is sent
	Transport     http.RoundTripper // nil: the network, without a proxy
}

type searcher struct {
	url           string
	authorization string
	client        *http.Client
}

func newSearcher(s Search) (*searcher, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("env.search.url: mode search needs the address of an endpoint, such as https://search.example.org/query")
	}
	if s.Transport == nil {
		s.Transport = &http.Transport{TLSHandshakeTimeout: timeOfTry, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a query goes where the user has sent it
	return &searcher{url: s.URL, authorization: s.Authorization, client: &http.Client{Transport: s.Transport, Timeout: timeOfTry, CheckRedirect: stay}}, nil
}

// round answers a reply that is not final with the results of its queries.
func (c *Corpus) round(ctx context.Context, a world.Action) (world.Observation, error) {
	if a.Last {
		return world.Observation{}, nil
	}
	queries := parseQueries(a.Text)
	if len(queries) == 0 {
		return world.Observation{Text: "The reply has neither queries nor an answer.\n\n" + c.roundRule(a.Turn)}, nil
	}
	var parts []string
	for _, query := range queries[:min(maxQueries, len(queries))] {
		results, err := c.search.find(ctx, query)
		if err != nil {
			return world.Observation{}, fmt.Errorf("search for %q: %w", query, err)
		}
		parts = append(parts, fmt.Sprintf("## Results for %q\n%s", query, results))
	}
	return world.Observation{Text: wording.Plain(strings.Join(append(parts, c.roundRule(a.Turn)), "\n\n"))}, nil
}

// roundRule says what the next reply may be, after that many.
func (c *Corpus) roundRule(replies int) string {
	left := c.turns - replies
	switch {
	case c.turns > 0 && left <= 1:
		return "## Next reply\nIt is the last one: give the final answer between <answer> and </answer>."
	case c.turns > 0:
		return fmt.Sprintf("## Next reply\n%d replies are left. %s", left, ruleOfQueries)
	}
	return "## Next reply\n" + ruleOfQueries
}

const ruleOfQueries = `Either search: write <search_queries>["first query", "second query"]</search_queries> with up to 4 queries, and nothing else. Or give the final answer between <answer> and </answer>.`

// find asks the endpoint. It tries again after what may pass.
func (s *searcher) find(ctx context.Context, query string) (string, error) {
	pause := firstPause
	for try := 1; ; try++ {
		text, err := s.ask(ctx, query)
		var passing *passingError
		if err == nil || try == maxTries || !errors.As(err, &passing) {
			if err != nil {
				return "", fmt.Errorf("env.search.url, after %s: %w", wording.Plural(try, "try", "tries"), err)
			}
			return text, nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// passingError is a failure that another try may not have.
type passingError struct{ err error }

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

func (s *searcher) ask(ctx context.Context, query string) (text string, err error) {
	body, err := json.Marshal(map[string]any{"query": query, "max_num_results": maxResults})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "skillopt")
	if s.authorization != "" {
		r.Header.Set("Authorization", s.authorization)
	}
	resp, err := s.client.Do(r)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var sent *url.Error
	if errors.As(err, &sent) { // an address may hold a key
		err = sent.Err
	}
	if err != nil {
		return "", &passingError{err}
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	switch code := resp.StatusCode; {
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return "", &passingError{fmt.Errorf("the endpoint answered %s", resp.Status)}
	case code != http.StatusOK:
		return "", fmt.Errorf("the endpoint answered %s", resp.Status)
	}
	return readResults(resp.Body)
}

// readResults reads what the endpoint found.
func readResults(body io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return "", &passingError{err}
	case len(data) > maxBody:
		return "", errors.New("the answer of the endpoint is larger than 1 MB")
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return "", fmt.Errorf("the answer of the endpoint is no JSON: %w", err)
	}
	return formatResults(resultList(v)), nil
}

// resultList finds the list of results, wherever endpoints have it.
func resultList(v any) (items []map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, entry := range v {
			if item, ok := entry.(map[string]any); ok {
				items = append(items, item)
			}
		}
	case map[string]any:
		for _, key := range []string{"results", "items", "data", "organic", "organic_results", "search_results", "webPages", "value"} {
			if items = resultList(v[key]); items != nil {
				return items
			}
		}
	}
	return items
}

// formatResults writes results for the target.
func formatResults(items []map[string]any) string {
	if len(items) == 0 {
		return noResults
	}
	var parts []string
	for i, item := range items[:min(maxResults, len(items))] {
		part := fmt.Sprintf("[%d] %s", i+1, field(item, "title", "name", "headline", "source"))
		for _, line := range []string{field(item, "url", "link", "href", "display_url"), field(item, "snippet", "description", "body", "text", "content")} {
			if line != "" {
				part += "\n" + line
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n")
}

// field returns the first of some fields that is a text.
func field(item map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := item[name].(string); ok && strings.TrimSpace(s) != "" {
			return wording.Cut(strings.TrimSpace(s), maxSnippet)
		}
	}
	return ""
}
