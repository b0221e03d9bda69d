package modeltest_test

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
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// toy is an adapter of a protocol of its own. It shows that the suite does not
// depend on any vendor, and by its flaw that the suite finds what is wrong.
type toy struct {
	modeltest.Settings
	flaw    string
	headers *header.Set
	http    *http.Client
}

// toyRequest is a request of the toy protocol: it has no place for the reasoning
// effort, demands a token limit and takes the schema as text.
type toyRequest struct {
	Ask    []model.Message
	Name   string
	Temp   *float64 `json:",omitempty"`
	Top    *float64 `json:",omitempty"`
	Limit  int
	Seed   *int64 `json:",omitempty"`
	Schema string `json:",omitempty"`
	Tools  []model.Tool
	Choice string
	Bit    bool // the answer is wanted bit by bit
}

// toyReply is an answer, or a bit of one; the last bit has a reason to stop.
type toyReply struct {
	Say     *string
	Calls   []toyCall `json:",omitempty"`
	Thought *toyThought
	Why     model.Finish
	In, Out int64
	Cached  int64
	Written int64
	By      string
	Sorry   string `json:",omitempty"`
}

type toyCall struct{ ID, Name, Args string }

type toyThought struct {
	Text string
	Mark json.RawMessage
}

func newToy(t *testing.T, s modeltest.Settings, flaw string) model.Client {
	t.Helper()
	headers, err := header.Parse(s.Headers)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &http.Client{Transport: transport, CheckRedirect: header.StayHere}
	if flaw == "follows redirects" {
		c.CheckRedirect = nil
	}
	return &toy{Settings: s, flaw: flaw, headers: headers, http: c}
}

func (c *toy) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	attempts := 1
	if c.flaw == "retries" {
		attempts = 2
	}
	var res model.Response
	var err error
	for range attempts {
		res, err = c.once(ctx, req)
		if err == nil {
			break
		}
	}
	return res, err
}

func (c *toy) once(ctx context.Context, req model.Request) (model.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/toy", bytes.NewReader(c.body(req)))
	if err != nil {
		return model.Response{}, err
	}
	if c.Key != "" || c.flaw == "empty key" {
		r.Header.Set("Authorization", "Toy "+c.Key)
	}
	if c.flaw != "no headers" {
		err = c.headers.Apply(r.Header, req.Tags)
	}
	if err != nil {
		return model.Response{}, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return model.Response{}, c.broken(ctx, 0, err)
	}
	defer func() { _ = res.Body.Close() }()
	limit := c.MaxBody
	if limit == 0 || c.flaw == "no limit" {
		limit = 16 << 20
	}
	if c.Stream && res.StatusCode < 300 {
		return c.stream(ctx, res.StatusCode, c.timed(http.MaxBytesReader(nil, res.Body, limit)))
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, limit))
	if res.StatusCode >= 300 {
		return model.Response{}, c.refused(res, body)
	}
	if err != nil && c.flaw != "ignores a cut" {
		return model.Response{}, c.broken(ctx, res.StatusCode, err)
	}
	return c.read(res.StatusCode, body)
}

func (c *toy) body(req model.Request) []byte {
	w := toyRequest{Ask: req.Messages, Name: req.Model, Temp: req.Temperature, Top: req.TopP, Limit: req.MaxTokens, Seed: req.Seed}
	w.Tools, w.Choice, w.Bit = req.Tools, req.ToolChoice, c.Stream
	if w.Limit == 0 {
		w.Limit = 4096
	}
	w.Ask = c.messages(req.Messages)
	if req.Schema != nil && (c.Structured || c.flaw == "schema for all") {
		w.Schema = string(req.Schema.JSON)
	}
	switch {
	case c.flaw == "drops the system message" && len(w.Ask) > 1:
		w.Ask = w.Ask[1:]
	case c.flaw == "drops the seed":
		w.Seed = nil
	case c.flaw == "drops zeros" && w.Temp != nil && *w.Temp == 0:
		w.Temp = nil
	case c.flaw == "drops the choice":
		w.Choice = ""
	case c.flaw == "drops descriptions":
		w.Tools = nil
		for _, t := range req.Tools {
			w.Tools = append(w.Tools, model.Tool{Name: t.Name, Parameters: t.Parameters})
		}
	case c.flaw == "sends a temperature" && w.Temp == nil:
		w.Temp = new(float64)
	}
	return mustJSON(w)
}

func (c *toy) read(status int, body []byte) (model.Response, error) {
	var w toyReply
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&w); err != nil {
		code := model.Malformed
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			code = model.Truncated
		}
		return model.Response{}, c.fault(code, status, errors.New("not a reply"))
	}
	if w.Say == nil {
		return model.Response{}, c.fault(model.Malformed, status, errors.New("no reply: "+c.clean(w.Sorry)))
	}
	return c.response(status, w)
}

func (c *toy) response(status int, w toyReply) (model.Response, error) {
	res := model.Response{Text: *w.Say, Finish: w.Why, Model: w.By}
	res.Usage.Input, res.Usage.Output, res.Usage.Cached, res.Usage.CacheWrite = w.In, w.Out, w.Cached, w.Written
	if err := c.parts(&res, w); err != nil {
		return model.Response{}, c.fault(model.Malformed, status, err)
	}
	switch {
	case c.flaw == "trims":
		res.Text = strings.TrimSpace(res.Text)
	case c.flaw == "adds cached tokens":
		res.Usage.Input += res.Usage.Cached
	case c.flaw == "empty is an error" && res.Text == "":
		return res, c.fault(model.Empty, status, errors.New("empty"))
	case c.flaw == "always stops":
		res.Finish = model.FinishStop
	}
	return res, nil
}

func (c *toy) refused(res *http.Response, body []byte) error {
	code := map[int]model.Code{401: model.Auth, 403: model.Auth, 404: model.NotFound, 408: model.Timeout, 429: model.RateLimit, 503: model.Overloaded, 529: model.Overloaded}[res.StatusCode]
	switch {
	case code != "":
	case res.StatusCode >= 500:
		code = model.Server
	case res.StatusCode >= 400:
		code = model.BadRequest
	default:
		code = model.Redirect
	}
	if c.flaw == "one class" {
		code = model.Server
	}
	var w toyReply
	_ = json.Unmarshal(body, &w) // the status says enough
	e := c.fault(code, res.StatusCode, errors.New(c.clean(w.Sorry)))
	if code.Transient() && c.flaw != "does not wait" {
		e.RetryAfter = max(header.Wait(res.Header, time.Now()), toyWait(res.Header))
	}
	return e
}

// toyWait reads the moment at which an empty bucket is full again.
func toyWait(h http.Header) time.Duration {
	at, err := time.Parse(time.RFC3339, h.Get("Toy-Tokens-Reset"))
	now, nerr := http.ParseTime(h.Get("Date"))
	if err != nil || nerr != nil || h.Get("Toy-Tokens-Remaining") != "0" {
		return 0
	}
	return max(at.Sub(now), 0)
}

func (c *toy) broken(ctx context.Context, status int, err error) error {
	if over := model.Interrupted(ctx, c.host()); over != nil {
		if c.flaw == "cancel is a fault" {
			return c.fault(model.Timeout, 0, over)
		}
		return over
	}
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return c.fault(model.Malformed, status, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return c.fault(model.Truncated, status, err)
	}
	if c.flaw == "network is a server error" {
		return c.fault(model.Server, status, err)
	}
	return header.NewEndpoint(c.host(), c.Key).Unsent(ctx, err)
}

func (c *toy) fault(code model.Code, status int, err error) *model.Error {
	return &model.Error{Code: code, Status: status, Endpoint: c.host(), Err: err}
}

func (c *toy) host() string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return c.URL
	}
	return u.Host
}

func (c *toy) clean(text string) string {
	if c.flaw == "tells secrets" {
		return text
	}
	for _, s := range append(c.headers.Secrets(), c.Key) {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return text[:min(len(text), 200)]
}

func readToy(r *http.Request, body []byte) (modeltest.Seen, error) {
	var w toyRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return modeltest.Seen{}, fmt.Errorf("decode %s: %w", body, err)
	}
	for _, m := range w.Ask {
		for _, p := range m.Parts {
			if p.Reasoning != nil && len(p.Reasoning.Opaque) == 0 {
				p.Reasoning.Opaque = nil
			}
		}
	}
	s := modeltest.Seen{Tools: w.Tools, ToolChoice: w.Choice, Stream: w.Bit, Model: w.Name, Messages: w.Ask, Temperature: w.Temp, TopP: w.Top, MaxTokens: w.Limit, Seed: w.Seed}
	if w.Schema != "" {
		s.Schema = json.RawMessage(w.Schema)
	}
	s.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Toy ")
	return s, nil
}

func writeToy(r modeltest.Reply) []byte {
	return mustJSON(toyAnswer(r))
}

func toyAnswer(r modeltest.Reply) toyReply {
	w := toyReply{Say: &r.Text, Why: r.Finish, By: r.Model}
	for _, c := range r.Calls {
		w.Calls = append(w.Calls, toyCall{c.ID, c.Name, string(c.Arguments)})
	}
	if r.Trace != nil {
		w.Thought = &toyThought{r.Trace.Text, r.Trace.Opaque}
	}
	if !r.NoUsage {
		w.In, w.Out, w.Cached, w.Written = r.Input, r.Output, r.Cached, r.CacheWrite
	}
	return w
}

// streamToy says the first half of the text, the second, and then the rest.
func streamToy(r modeltest.Reply) []string {
	whole, half := toyAnswer(r), len(r.Text)/2
	first, second, nothing := r.Text[:half], r.Text[half:], ""
	for !utf8.ValidString(first) {
		half++
		first, second = r.Text[:half], r.Text[half:]
	}
	whole.Say = &nothing
	var events []string
	for _, w := range []toyReply{{Say: &first}, {Say: &second}, whole} {
		events = append(events, "data: "+string(mustJSON(w))+"\n\n")
	}
	return events
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func toyHarness(flaw string) modeltest.Harness {
	return modeltest.Harness{
		New:    func(t *testing.T, s modeltest.Settings) model.Client { return newToy(t, s, flaw) },
		Read:   readToy,
		Write:  writeToy,
		Stream: streamToy,
		Refuse: func(message string) []byte { return mustJSON(toyReply{Sorry: message}) },
		StreamFaults: []modeltest.StreamFault{{
			Name:  "sorry",
			Event: func(m string) string { return "data: " + string(mustJSON(toyReply{Sorry: m})) + "\n\n" },
			Want:  model.Server,
		}},
		Faults: modeltest.DatedWaits("Toy-", "{}"),
		Lacks:  modeltest.Lacks{Refusal: true, Reasoning: true, Effort: true, Fingerprint: true, TokenDefault: true},
	}
}
