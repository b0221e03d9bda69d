package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

// echoing repeats the token that it has proved itself with, in every place.
type echoing struct {
	model.Client
	token string
	err   error
}

func (e *echoing) Tokens() []string { return []string{e.token} }

func (e *echoing) Generate(context.Context, model.Request) (model.Response, error) {
	if e.err != nil {
		return model.Response{}, e.err
	}
	return model.Response{
		Text: "you are " + e.token, Model: e.token, Fingerprint: e.token,
		Parts: []model.Part{
			{Text: "you are " + e.token},
			{Call: &model.ToolCall{ID: "1", Name: "n", Arguments: json.RawMessage(`{"a":"` + e.token + `"}`)}},
			{Reasoning: &model.Reasoning{Text: e.token, Opaque: json.RawMessage(`["` + e.token + `"]`)}},
		},
	}, nil
}

// A token that lasts an hour is as secret as a key: a server that repeats it has
// it neither recorded nor handed to an agent, also after it has changed.
func TestRenewedTokensAreKeptOutOfAnswers(t *testing.T) {
	t.Parallel()
	e := &echoing{}
	r := &guarded{Client: e, hide: redact.NewExact(), renewed: &renewed{tokens: e.Tokens}}
	for _, token := range []string{"ya29.the-first-access-token", "ya29.the-second-access-token"} {
		e.token, e.err = token, nil
		resp, err := r.Generate(t.Context(), model.Request{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(resp)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), token) || !strings.Contains(resp.Text, "you are ") {
			t.Errorf("the answer holds the token, or lost its text: %s", b)
		}
		e.err = &model.Error{Code: model.Server, Err: errors.New("bad token " + token)}
		if _, err := r.Generate(t.Context(), model.Request{}); err == nil || strings.Contains(err.Error(), token) || model.CodeOf(err) != model.Server {
			t.Errorf("the failure is %v", err)
		}
	}
}

// repeating hands an answer over that repeats a key, in pieces.
type repeating struct{ pieces []string }

func (repeating) Passes(string) bool { return true }

func (r repeating) Generate(_ context.Context, req model.Request) (model.Response, error) {
	for _, piece := range r.pieces {
		if _, err := req.Passage.Write("text/event-stream", []byte(piece)); err != nil {
			return model.Response{}, err
		}
	}
	return model.Response{Text: "a"}, nil
}

// What passes holds no credentials either, and arrives line by line.
func TestPassagesHoldNoKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-the-true-key-of-the-vendor"
	r := &guarded{Client: repeating{[]string{"data: you", "r key is sk-the-true-", "key-of-the-vendor\n\ndata: ", "x", "\n\nend"}}, hide: redact.NewExact(key)}
	var got []string
	p := &model.Passage{Wire: "chat", Reply: func(kind string) io.Writer {
		got = append(got, kind)
		return writer(func(b []byte) { got = append(got, string(b)) })
	}}
	if _, err := r.Generate(t.Context(), model.Request{Passage: p}); err != nil {
		t.Fatal(err)
	}
	whole := strings.Join(got, "|")
	if strings.Contains(whole, key) || !strings.HasPrefix(whole, "text/event-stream|data: your key is ") || !strings.HasSuffix(whole, "|data: x\n\n|end") || !p.Begun() {
		t.Errorf("%q", got)
	}
}

// A credential with a line break in it does not pass in two lines.
func TestPassagesHoldNoKeysOfSeveralLines(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIabcdefgh\n-----END PRIVATE KEY-----\n"
	for size := range len(key) {
		text := "data: " + key + "\n\nend"
		r := &guarded{Client: repeating{[]string{text[:size+1], text[size+1:]}}, hide: redact.NewExact(key)}
		var got strings.Builder
		p := &model.Passage{Wire: "chat", Reply: func(string) io.Writer {
			return writer(func(b []byte) { got.Write(b) })
		}}
		if _, err := r.Generate(t.Context(), model.Request{Passage: p}); err != nil {
			t.Fatal(err)
		}
		if want := "data: " + redact.Mask + "\n\nend"; got.String() != want {
			t.Errorf("cut at %d it is %q", size, got.String())
		}
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}
