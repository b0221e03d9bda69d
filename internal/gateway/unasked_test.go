package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// A program that did not ask for counts takes the first choice of each event, as
// clients of OpenAI do: it gets no event without one, and its call is counted.
func TestCountsThatNobodyAskedForStay(t *testing.T) {
	t.Parallel()
	const said = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\\"usage\\\": {} [DONE]\"}}],\"usage\":null}\n\n: wait\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	const counts = "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"
	const done = "data: [DONE]\n\n"
	for _, tt := range []struct{ name, options, answer, want string }{
		{"nothing", ``, said + counts + done, said + done},
		{"lines of Windows", ``, strings.ReplaceAll(said+counts+done, "\n", "\r\n"), strings.ReplaceAll(said+done, "\n", "\r\n")},
		{"no empty line at the end", ``, said + counts + "data: [DONE]\n", said + "data: [DONE]\n"},
		{"refused", `,"stream_options":{"include_usage":false}`, said + counts + done, said + done},
		{"wanted", `,"stream_options":{"include_usage":true}`, said + counts + done, said + counts + done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := newMaker(t, http.StatusOK, eventStream, tt.answer, false)
			g := testGateway(t, Options{})
			h := open(t, g, Session{Client: adapterOf(t, Chat, v.URL), Model: "true"})
			status, _, got, err := sent(t, h, g, "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"q"}]`+tt.options+`}`)
			if err != nil || status != http.StatusOK || got != tt.want {
				t.Errorf("%d, %v:\n%q, want\n%q", status, err, got, tt.want)
			}
			if !strings.Contains(v.body, `"include_usage":true`) || h.Usage() != usage || h.Err() != nil {
				t.Errorf("asked %s, usage %+v, %v", v.body, h.Usage(), h.Err())
			}
		})
	}
}

// Events are the same however their bytes come, and one without an end is not kept.
func TestEventsPassInPieces(t *testing.T) {
	t.Parallel()
	long := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("x", 3*maxHeldEvent) + "\"}}]}\n\n"
	var b strings.Builder
	u := &unasked{to: &b}
	if _, err := io.Copy(u, iotest.OneByteReader(strings.NewReader(long+"data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]"))); err != nil {
		t.Fatal(err)
	}
	if len(u.part) > maxHeldEvent {
		t.Errorf("%d bytes are held", len(u.part))
	}
	u.end()
	if b.String() != long+"data: [DONE]" {
		t.Errorf("%d bytes of %d: ... %q", b.Len(), len(long), b.String()[max(0, b.Len()-60):])
	}
}
