package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func newMemory() *memory { return &memory{total: new(atomic.Int64)} }

// readBy is what a decoder makes of a body, as a text: the request or the fault.
// The body is gone afterwards, as it is when its desk is used again.
func readBy(t require, c codec, body []byte, m *memory) string {
	d := on(bytes.Clone(body))
	q, err := c.decode(inbound{desk: d, memory: m, model: "from-path"})
	clear(d.body.Bytes())
	for i := range d.room {
		d.room[i] = 'x'
	}
	d.clear()
	if err != nil {
		var f *fault
		if !errors.As(err, &f) {
			t.Fatalf("%v", err)
		}
		return err.Error()
	}
	b, err := json.Marshal(struct {
		decoded
		Spaced map[string]string
	}{decoded{Request: q.req, Asked: q.asked, Stream: q.stream, Usage: q.usage, Stop: q.stop, LeftOut: q.leftOut}, spaced(q)})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := range q.req.Messages { // what a client does with a request is its own affair
		q.req.Messages[i].Content = "spoiled"
		_ = append(q.req.Messages[i].Parts, model.Part{Text: "spoiled"})
	}
	_ = append(q.req.Messages, model.Message{Content: "spoiled"})
	_ = append(q.req.Tools, model.Tool{Name: "spoiled"})
	return string(b)
}

func spaced(q question) map[string]string {
	m := map[string]string{}
	for known, s := range q.tools {
		m[known] = s.space + " / " + s.name
	}
	return m
}

// require is what both kinds of test have.
type require interface {
	Fatalf(format string, args ...any)
}

// conversations is where a wire has its conversation.
var conversations = map[Wire]string{Chat: "messages", Responses: "input", Messages: "messages", Gemini: "contents"}

// drawnTurn is one message; most are long enough to be remembered.
func drawnTurn(t *rapid.T, wire Wire) string {
	text := rapid.SampledFrom([]string{"a", "line\n\t\"x\"\\", "é😀", "</html>", "\x01"}).Draw(t, "text")
	text = strings.Repeat(text, rapid.SampledFrom([]int{1, 20, 200}).Draw(t, "times")) + fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "which"))
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s := string(b)
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		s = rapid.SampledFrom([]string{"\"\\ud83d\"", "\"\xff" + strings.Repeat("y", 150) + "\"", "\"\\u00e9\\/\"", "null", "7", "[]", "\"" + strings.Repeat("z", 130) + "\\x\""}).Draw(t, "oddity")
	}
	role := rapid.SampledFrom([]string{"user", "assistant", "tool", "system", "model"}).Draw(t, "role")
	id := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "id"))
	forms := map[Wire][]string{
		Chat: {
			`{"role":"ROLE","content":TEXT}`, `{"role":"ROLE","content":[{"type":"text","text":TEXT},{"type":"odd"}]}`,
			`{"role":"assistant","tool_calls":[{"id":"ID","function":{"name":"n","arguments":"{\"a\": 1}"}}],"reasoning_content":TEXT}`,
			`{"role":"tool","tool_call_id":"ID","content":TEXT}`,
		},
		Responses: {
			`{"role":"ROLE","content":TEXT}`, `{"type":"function_call","call_id":"ID","namespace":"s","name":"n","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":"ID","output":TEXT}`, `{"type":"reasoning","summary":[{"text":TEXT}],"encrypted_content":TEXT}`,
		},
		Messages: {
			`{"role":"ROLE","content":TEXT}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID","content":TEXT},{"type":"text","text":TEXT,"cache_control":{"type":"ephemeral"}}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":TEXT,"signature":"s"},{"type":"tool_use","id":"ID","name":"n","input":{"a":TEXT,"b":[1e3,-0.5,true]}}]}`,
		},
		Gemini: {
			`{"role":"ROLE","parts":[{"text":TEXT}]}`, `{"role":"model","parts":[{"text":TEXT,"thoughtSignature":"c2ln"},{"functionCall":{"name":"n","args":{"a":TEXT}}}]}`,
			`{"parts":[{"functionResponse":{"name":"n","response":{"a":TEXT}}},{"other":TEXT}]}`,
		},
	}
	form := rapid.SampledFrom(forms[wire]).Draw(t, "form")
	return strings.NewReplacer("ROLE", role, "TEXT", s, "ID", id).Replace(form)
}

// drawnBody writes a request around the messages.
func drawnBody(t *rapid.T, wire Wire, turns []string) []byte {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
	rest := []string{
		`"model":"m"`,
		`"` + conversations[wire] + `":` + space + "[" + strings.Join(turns, space+","+space) + space + "]",
		`"system":"` + strings.Repeat("Be brief. ", 20) + `"`, `"instructions":"` + strings.Repeat("Be\\nbrief. ", 20) + `"`,
		`"tools":[{"type":"function","name":"n","function":{"name":"n","description":"` + strings.Repeat("long ", 40) + `"},"functionDeclarations":[{"name":"n","parameters":{"type":"OBJECT","description":"` + strings.Repeat("\\t", 60) + `"}}]}]`,
		`"` + conversations[wire] + `":[` + strings.Join(turns[:len(turns)/2], ",") + `]`, // stands twice: the last one counts
	}
	n := rapid.SampledFrom([]int{5, 5, 5, 6}).Draw(t, "members")
	body := "{" + strings.Join(rapid.Permutation(rest[:n]).Draw(t, "order"), space+",") + "}" + space
	if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
		body = body[:rapid.IntRange(0, len(body)).Draw(t, "at")]
	}
	return []byte(body)
}

// TestMemoryChangesNothing: whatever an agent has sent before, a request is read
// as if it were the first.
func TestMemoryChangesNothing(t *testing.T) {
	t.Parallel()
	for wire, c := range codecs() {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				m, talks := newMemory(), make([][]string, 3)
				for range rapid.IntRange(2, 12).Draw(t, "requests") {
					talk := &talks[rapid.IntRange(0, 2).Draw(t, "talk")]
					switch rapid.SampledFrom([]string{"add", "add", "add", "change", "drop", "fork"}).Draw(t, "step") {
					case "add":
						*talk = append(slices.Clone(*talk), drawnTurn(t, wire), drawnTurn(t, wire))
					case "change":
						if *talk = slices.Clone(*talk); len(*talk) > 0 {
							(*talk)[rapid.IntRange(0, len(*talk)-1).Draw(t, "where")] = drawnTurn(t, wire)
						}
					case "drop":
						*talk = (*talk)[rapid.IntRange(0, len(*talk)).Draw(t, "first"):]
					case "fork":
						*talk = talks[rapid.IntRange(0, 2).Draw(t, "from")]
					}
					body := drawnBody(t, wire, *talk)
					if diff := cmp.Diff(readBy(t, c, body, nil), readBy(t, c, body, m)); diff != "" {
						t.Fatalf("%s\n(-alone +remembered):\n%s", body, diff)
					}
				}
				m.forget()
				if m.size != 0 || m.total.Load() != 0 {
					t.Fatalf("%d bytes, %d in all after forget", m.size, m.total.Load())
				}
			})
		})
	}
}

// TestMemoryReadsAgents: bodies of real agents are read from memory as they were
// read at first, also when their order of members and messages changes.
func TestMemoryReadsAgents(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "agents", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for wire, c := range codecs() {
		m := newMemory()
		for _, name := range append(files, files...) {
			if !strings.HasPrefix(filepath.Base(name), string(wire)) || strings.HasSuffix(name, ".want.json") {
				continue
			}
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(readBy(t, c, body, nil), readBy(t, c, body, m)); diff != "" {
				t.Errorf("%s (-alone +remembered):\n%s", name, diff)
			}
		}
	}
}

// known reads a request and counts the elements of its conversation that were
// known and those that were not, and the other values of both kinds.
func known(t *testing.T, c codec, m *memory, body []byte) (old, fresh, values, others int) {
	t.Helper()
	n, r, err := parsed(inbound{desk: on(bytes.Clone(body)), memory: m}, c.wire, conversations[c.wire])
	if err != nil {
		t.Fatal(err)
	}
	list := n.get(conversations[c.wire])
	old, fresh, values, others = list.past.talk.last().elements, len(list.kids), len(r.used), len(r.fresh)
	if old > 0 {
		m.keep(list.past.talk, nil, nil)
	}
	if _, err := c.decode(inbound{desk: on(body), memory: m, model: "m"}); err != nil {
		t.Fatal(err)
	}
	return old, fresh, values, others
}

// TestMemoryIsUsed: of a conversation that goes on only what is new is read,
// also beside others; one takes the place of its own last request.
func TestMemoryIsUsed(t *testing.T) {
	t.Parallel()
	for wire, c := range codecs() {
		m := newMemory()
		for i := range 5 * talkers {
			old, fresh, values, others := known(t, c, m, asking(t, wire, growing, 100<<10, i))
			if i >= talkers && (fresh > 2 || old < 60 || values != 1 || others != 0) {
				t.Errorf("%s, request %d: %d known and %d new elements, %d and %d values", wire, i, old, fresh, values, others)
			}
		}
		if len(m.talks) != talkers {
			t.Errorf("%s: %d remembered of %d conversations", wire, len(m.talks), talkers)
		}
	}
}

// TestMovedMark: Claude Code marks the last messages, so that those are written
// otherwise in the next request; what follows them is found nonetheless.
func TestMovedMark(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", minValue)
	body := func(marked int) []byte {
		turns := make([]string, 6)
		for i := range turns {
			turns[i] = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%d%s"}]}`, i, long)
			if i == marked {
				turns[i] = strings.Replace(turns[i], `{"type"`, `{"cache_control":{"type":"ephemeral"},"type"`, 1)
			}
		}
		return []byte(`{"messages":[` + strings.Join(turns, ",") + `],"system":[{"type":"text","text":"` + long + `"}]}`)
	}
	m := newMemory()
	known(t, messagesCodec(), m, body(2))
	if old, fresh, values, _ := known(t, messagesCodec(), m, body(3)); old != 2 || fresh != 4 || values != 1 {
		t.Errorf("%d known, %d new, %d values", old, fresh, values)
	}
}

// TestMemoryIsBounded: by the number of conversations, by what a session and by
// what all sessions of a gateway may remember.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	body := func(name string, size int) []byte {
		return []byte(`{"messages":[{"role":"user","content":"` + name + strings.Repeat("\\n", size/2) + `"}]}`)
	}
	m := newMemory()
	for i := range 2 * maxTalks {
		readBy(t, chatCodec(), body(fmt.Sprint(i), 1000), m)
	}
	if len(m.talks) != maxTalks {
		t.Errorf("%d conversations", len(m.talks))
	}
	for i := range 2 * maxKnown {
		readBy(t, chatCodec(), []byte(`{"messages":[],"tools":[{"function":{"name":"n","description":"`+fmt.Sprint(i)+strings.Repeat("x", minValue)+`"}}]}`), m)
	}
	if len(m.values) != maxKnown {
		t.Errorf("%d values", len(m.values))
	}
	for i := range 8 {
		readBy(t, chatCodec(), body(fmt.Sprint(i), maxRemembered/8), m)
		if m.size > maxRemembered || m.total.Load() != int64(m.size) {
			t.Fatalf("%d bytes, %d in all", m.size, m.total.Load())
		}
	}
	if len(m.talks) < 2 {
		t.Errorf("%d conversations of a quarter", len(m.talks))
	}
	before := m.size
	readBy(t, chatCodec(), body("big", 2*maxRemembered), m)
	if m.size != before {
		t.Errorf("a request of %d bytes is remembered: %d", 2*maxRemembered, m.size)
	}
	for range 8 {
		other := &memory{total: m.total}
		readBy(t, chatCodec(), body("other", maxRemembered/4), other)
		if m.total.Load() > maxMemory {
			t.Fatalf("%d bytes in all", m.total.Load())
		}
	}
	if m.total.Load() < maxMemory/2 {
		t.Errorf("%d bytes in all of %d", m.total.Load(), maxMemory)
	}
}

// TestMemoryEndsWithItsSession, also when its agent asks many things at once.
func TestMemoryEndsWithItsSession(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	fake := modeltest.Always("fine")
	h := open(t, g, Session{Client: fake})
	c := agent(t)
	var wg sync.WaitGroup
	want := map[string]int{}
	for i := range 3 * talkers {
		body := asking(t, Chat, growing, 10<<10, i)
		q, err := decodeChat(inbound{desk: on(bytes.Clone(body))})
		if err != nil {
			t.Fatal(err)
		}
		want[said(t, q.req)]++
		wg.Go(func() { send(t, c, g.URL()+"/v1/chat/completions", h.Key(), body) })
	}
	wg.Wait()
	got := map[string]int{}
	for _, call := range fake.Calls() {
		got[said(t, call.Request)]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if g.remembered.Load() == 0 {
		t.Error("nothing is remembered")
	}
	h.Close()
	if n := g.remembered.Load(); n != 0 {
		t.Errorf("%d bytes are remembered after the session", n)
	}
}

func said(t *testing.T, req model.Request) string {
	b, err := json.Marshal(req.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
