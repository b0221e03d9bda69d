package wiring

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
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
	r := &redacting{Client: e, hide: redact.NewExact(), renewed: &renewed{tokens: e.Tokens}}
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
	r := &redacting{Client: repeating{[]string{"data: you", "r key is sk-the-true-", "key-of-the-vendor\n\ndata: ", "x", "\n\nend"}}, hide: redact.NewExact(key)}
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
		r := &redacting{Client: repeating{[]string{text[:size+1], text[size+1:]}}, hide: redact.NewExact(key)}
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

// passed hands events over in chunks of a size, and returns what arrives.
func passed(t *testing.T, key, body string, size int) string {
	t.Helper()
	var chunks []string
	for rest := body; rest != ""; {
		n := min(size, len(rest))
		chunks, rest = append(chunks, rest[:n]), rest[n:]
	}
	g := &redacting{Client: repeating{chunks}, hide: redact.NewExact(key)}
	var got strings.Builder
	p := &model.Passage{Wire: "chat", Reply: func(string) io.Writer { return writer(func(b []byte) { got.Write(b) }) }}
	if _, err := g.Generate(t.Context(), model.Request{Passage: p}); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

// textOf puts the pieces of an answer together, as an agent does.
func textOf(t *testing.T, body, name string) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(line, "data:")
		if !ok || !json.Valid([]byte(data)) {
			continue
		}
		for _, l := range textsIn([]byte(data)) {
			if strings.HasPrefix(l.channel, name) {
				all.WriteString(l.text)
			}
		}
	}
	return all.String()
}

// A key that comes in pieces, one or several of its bytes an event, is in no text that
// an agent can put together, whatever the protocol, how the key is written and how the
// bytes arrive; and the text around it stays.
func TestKeysInPiecesDoNotPass(t *testing.T) {
	t.Parallel()
	const key = `Tq7target+key/cre"dential=1`
	forms := map[string]string{
		"plain": key, "base64": base64.StdEncoding.EncodeToString([]byte(key)), "hex": hex.EncodeToString([]byte(key)), "url": url.QueryEscape(key), "html": html.EscapeString(key),
	}
	for protocol, tt := range map[string]struct{ event, name, end string }{
		"chat":      {`{"id":"1","choices":[{"index":0,"delta":{"content":%s}}]}`, "content", "data: [DONE]\n\n"},
		"call":      {`{"choices":[{"delta":{"tool_calls":[{"index":2,"function":{"arguments":%s}}]},"index":0}]}`, "arguments", "data: [DONE]\n\n"},
		"messages":  {`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":%s}}`, "text", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"responses": {`{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":%s}`, "delta", "data: {\"type\":\"response.completed\"}\n\n"},
		"gemini":    {`{"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`, "text", ""},
	} {
		for form, said := range forms {
			for size := 1; size < len(said); size++ {
				var body strings.Builder
				body.WriteString(": hello\n\n")
				for rest := "Your key is " + said + ", is it?"; rest != ""; {
					n := min(size, len(rest))
					quoted, err := json.Marshal(rest[:n])
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&body, "data: "+tt.event+"\n\n", quoted)
					rest = rest[n:]
				}
				body.WriteString(tt.end)
				got := passed(t, key, body.String(), 7*size)
				if text := textOf(t, got, tt.name); strings.Contains(text, said[:5]) || strings.Contains(text, said[len(said)-6:]) ||
					!strings.HasPrefix(text, "Your key is ") || !strings.HasSuffix(text, ", is it?") || !strings.Contains(text, redact.Mask) && form != "html" {
					t.Fatalf("%s, %s, %d bytes an event: %q", protocol, form, size, text)
				}
				if !strings.HasSuffix(got, tt.end) || !strings.HasPrefix(got, ": hello\n\n") {
					t.Fatalf("%s: %q", protocol, got)
				}
			}
		}
	}
}

// Events without a key pass byte for byte, each as it comes.
func TestEventsPassAsTheyCome(t *testing.T) {
	t.Parallel()
	const key = "sk-the-true-key-of-the-vendor"
	p := pieces{across: redact.NewExact(key).Across, ready: redact.NewExact(key).Ready}
	for i, text := range []string{"This", " is", " a s", "k-", "th", "ing\\u00e9 \\", "\\/ & ", "100 %"} {
		event := fmt.Sprintf("event: x\r\ndata: {\"index\": 0, \"delta\" : {\"text\":\"%s\"} }\r\n\r\n", strings.ReplaceAll(text, `\`, `\\`))
		if i%2 == 0 {
			event = strings.ReplaceAll(event, "\r", "")
		}
		if got := string(p.add([]byte(event))); got != event && text != "th" && text != "ing\\u00e9 \\" {
			t.Errorf("%q became %q", event, got)
		}
	}
	if got := string(p.end()); got != "" {
		t.Errorf("%q was held back", got)
	}
}

// The texts of a whole answer are looked at together too.
func TestKeysInPartsAreFound(t *testing.T) {
	t.Parallel()
	const key = "sk-the-true-key-of-the-vendor"
	parts := []model.Part{{Text: "a " + key[:9]}, {Reasoning: &model.Reasoning{Text: key[:5]}}, {Text: key[9:20]}, {Reasoning: &model.Reasoning{Text: key[5:]}}, {Text: key[20:] + " b"}}
	got, err := json.Marshal(partsWithout(redact.NewExact(key), parts))
	if err != nil || strings.Contains(string(got), key[:5]) || strings.Contains(string(got), key[20:]) || !strings.Contains(string(got), "a "+redact.Mask) || !strings.Contains(string(got), `" b"`) {
		t.Errorf("%s, %v", got, err)
	}
}
