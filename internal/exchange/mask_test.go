package exchange

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
)

const secret = "Tq7target+key/credential=1"

// kept is what is kept of one request with these messages.
func kept(t *testing.T, messages ...model.Message) (Conversation, int) {
	t.Helper()
	k := NewKeeper(NewMask(redact.New(secret).Text))
	var p pile
	if err := k.Write(k.Request(&model.Request{Messages: messages}), End{}, p.store); err != nil {
		t.Fatal(err)
	}
	return p.read(), p.bytes
}

// A message that is too large keeps its beginning, its end, its length and its hash.
func TestALargeMessageIsShortened(t *testing.T) {
	t.Parallel()
	line := "a line of what the tool gave, and it goes on\n"
	text := "BEGIN " + strings.Repeat(line, 50<<20/len(line)) + " END"
	c, bytes := kept(t, model.Message{Role: model.User, Content: text})
	got := c.Messages[0].Parts[0].Text
	if bytes > maxText || !strings.HasPrefix(got, "BEGIN a line") || !strings.HasSuffix(got, " END") {
		t.Errorf("%d bytes are kept, from %.20q to %q", bytes, got, got[len(got)-20:])
	}
	if mark := fmt.Sprintf("of %d bytes left out, sha256 of all %s]", len(text), sum(text)); !strings.Contains(got, mark) {
		t.Errorf("%q is not in it", mark)
	}
}

// A secret is taken out wherever it stands, also where a text is cut.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		fill := func(n int) string { return strings.Repeat("word word\n", n/10+1)[:n] }
		around := rapid.SampledFrom([]int{0, keptHead, keptHead + margin, maxText, 1 << 20}).Draw(rt, "about")
		before := max(0, around+rapid.IntRange(-40, 40).Draw(rt, "off"))
		text := fill(before) + secret + fill(rapid.SampledFrom([]int{0, 100, keptTail - 10, keptTail + margin - 13, 1 << 19}).Draw(rt, "behind"))
		call := model.Part{Call: &model.ToolCall{ID: secret, Name: "bash", Arguments: json.RawMessage(`{"api_key":"` + secret + `"}`)}}
		c, _ := kept(t, model.Message{Role: model.User, Content: text}, model.Message{Role: model.Assistant, Parts: []model.Part{call, {Text: "Bearer " + secret}}})
		all, err := json.Marshal(c)
		if err != nil {
			rt.Fatal(err)
		}
		for n := len(secret); n >= 8; n-- { // nor half of it
			if strings.Contains(string(all), secret[:n]) || strings.Contains(string(all), secret[len(secret)-n:]) {
				rt.Fatalf("%d bytes of the secret are kept of a text of %d bytes with the secret at %d", n, len(text), before)
			}
		}
	})
}

// Pictures and data in base64 are told by length and hash.
func TestDataIsToldByLengthAndHash(t *testing.T) {
	t.Parallel()
	data := make([]byte, 90_000)
	rand.New(rand.NewSource(1)).Read(data)
	line := base64.StdEncoding.EncodeToString(data)
	var lines strings.Builder
	for at := 0; at < len(line); at += 76 {
		lines.WriteString(line[at:min(len(line), at+76)] + "\n")
	}
	for name, text := range map[string]string{
		"in a line":  "the file: " + line + ", as it is",
		"in a url":   `{"url":"data:image/png;base64,` + line + `"}`,
		"over lines": "the file:\n" + lines.String() + "\nas it is",
	} {
		c, bytes := kept(t, model.Message{Role: model.User, Parts: []model.Part{{Text: text}, {Image: &model.Image{MIME: "image/png", Data: data}}}})
		parts := c.Messages[0].Parts
		if bytes > 2000 || !strings.Contains(parts[0].Text, "bytes of base64 left out, sha256 ") {
			t.Errorf("%s: %d bytes, %q", name, bytes, parts[0].Text)
		}
		if want := fmt.Sprintf("[90000 bytes, sha256 %s]", hashBytes(data)); parts[1].Text != want || parts[1].Name != "image/png" {
			t.Errorf("%s: picture %+v", name, parts[1])
		}
	}
	prose := strings.Repeat("Long words without any data in them stay what they are.\n", 2000)
	if c, _ := kept(t, model.Message{Role: model.User, Content: prose}); c.Messages[0].Parts[0].Text != prose {
		t.Error("prose was changed")
	}
}

// A try that says more than there is room for goes on, and what is kept stays bounded.
func TestATryIsBounded(t *testing.T) {
	t.Parallel()
	k := NewKeeper(NewMask(plain))
	var p pile
	text := strings.Repeat("0123456789 abcdefgh\n", 10<<10) // 200 KiB
	for i := range 250 {
		m := model.Message{Role: model.User, Content: fmt.Sprint(i) + text}
		if err := k.Write(k.Request(&model.Request{Messages: []model.Message{m}}), End{}, p.store); err != nil {
			t.Fatal(err)
		}
	}
	c := p.read()
	last := c.Messages[len(c.Messages)-1].Parts[0].Text
	if p.bytes > maxOfTry+1<<20 || !strings.Contains(last, "bytes not kept, sha256") || len(c.Calls) != 250 {
		t.Errorf("%d bytes of %d calls, last %q", p.bytes, len(c.Calls), last)
	}
	many := make([]model.Message, 100_000)
	for i := range many {
		many[i] = model.Message{Role: model.User, Content: fmt.Sprint("m", i)}
	}
	c, _ = kept(t, many...)
	if got := c.Calls[0]; got.LeftOut != len(many)-maxMessages || len(c.sent(got)) != maxMessages {
		t.Errorf("%d left out, %d kept", got.LeftOut, len(c.sent(got)))
	}
}

// BenchmarkRequest is what a call of an agent takes whose 40 messages were sent before.
func BenchmarkRequest(b *testing.B) {
	k := NewKeeper(NewMask(redact.New(secret).Text))
	var messages []model.Message
	for i := range 40 {
		messages = append(messages, model.Message{Role: model.User, Content: fmt.Sprint(i) + strings.Repeat(" what a tool gave\n", 120)})
	}
	req := &model.Request{Messages: messages, Tools: []model.Tool{{Name: "bash", Parameters: json.RawMessage(`{"type":"object"}`)}}}
	var p pile
	for b.Loop() {
		if err := k.Write(k.Request(req), End{Reply: &model.Response{Text: "done"}}, p.store); err != nil {
			b.Fatal(err)
		}
		p.forms, p.refs = nil, nil
	}
}
