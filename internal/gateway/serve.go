package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// ServeHTTP answers one request of an agent.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		http.Error(w, "the gateway is closed", http.StatusServiceUnavailable)
		return
	}
	defer g.handlers.Done()
	setWriteDeadline(w) // the deadline of the answer before this one may have passed
	if !g.opts.Remote && !local(r.Host) {
		http.Error(w, "the gateway answers to names of the loopback interface only", http.StatusForbidden)
		return
	}
	if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.WriteHeader(http.StatusOK) // agents look whether somebody is there
		return
	}
	to, ok := g.find(r)
	h, refused := g.admit(requestKey(r))
	if h == nil {
		g.refuse(w, to.codec, &fault{code: model.Auth, message: refused.Error(), final: true})
		return
	}
	if refused != nil {
		g.refuse(w, to.codec, toFault(refused, true))
		return
	}
	defer h.leave()
	if !ok {
		h.noteUnserved(r.Method, r.URL.Path)
		g.refuse(w, to.codec, &fault{code: model.NotFound, message: "nothing is served at " + r.Method + " " + r.URL.Path, final: true})
		return
	}
	switch to.op {
	case opModels, opModel:
		write(w, http.StatusOK, models(to, h.session.Model))
	case opCount, opGenerate:
		g.serve(w, r, to, h)
	}
}

// admit finds the session of a request and counts the request in, or says why not. It
// returns no session for a key that is that of none.
func (g *Gateway) admit(key string) (*Handle, error) {
	h, ended := g.session(key)
	if h == nil && !ended {
		g.strangers.Add(1)
		return nil, errStranger
	}
	if h == nil {
		return nil, errClosed
	}
	err := h.enter()
	if errors.Is(err, errClosed) { // meanwhile
		return nil, err
	}
	return h, err
}

// serve reads a request and answers it.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, to target, h *Handle) {
	release, err := h.reserve(r.Context())
	if err != nil {
		g.refuse(w, to.codec, toFault(err, true))
		return
	}
	defer release()
	q, err := g.read(w, r, to)
	if err != nil {
		if r.Context().Err() == nil {
			h.noteRefusal(to.codec.wire, err)
		}
		g.refuse(w, to.codec, toFault(err, h.session.Retried))
		return
	}
	if to.op == opCount {
		write(w, http.StatusOK, to.codec.count(estimate(q.req)))
		return
	}
	id, err := g.id(12)
	if err != nil {
		g.refuse(w, to.codec, toFault(err, true))
		return
	}
	var taken remarks
	q.passage, taken = h.passage(to.codec.wire, q, r.Header)
	q.taken, q.body = taken.list, node{}
	a := answering{codec: to.codec, handle: h, q: q, head: head{id: id, at: g.opts.Now()}}
	w.Header().Set("X-Request-Id", "req_"+id)
	w.Header().Set("Request-Id", "req_"+id)
	if q.stream {
		g.serveStream(w, r, a)
		return
	}
	if q.passage != nil {
		q.passage.Reply = (&outlet{w: w}).relay
	}
	resp, err := h.ask(r.Context(), to.codec.wire, q)
	if over(q.passage, err) {
		return
	}
	if err != nil {
		g.refuse(w, to.codec, toFault(err, h.session.Retried))
		return
	}
	write(w, http.StatusOK, to.codec.answer(q, reply{head: a.head, resp: resp}))
}

// answering is a request on its way to an answer.
type answering struct {
	codec  codec
	handle *Handle
	q      agentRequest
	head   head
}

// read reads and decodes the body.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, to target) (agentRequest, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return agentRequest{}, badRequest("a body in the encoding %q is not supported", e)
	}
	control := http.NewResponseController(w)
	// Deadlines are of the connection: one that is left would end the wait for
	// the model. A writer without them has none to set.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := whole(http.MaxBytesReader(w, r.Body, g.opts.MaxBody), r.ContentLength)
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		return agentRequest{}, unread(err)
	}
	return to.codec.decode(inbound{body: body, model: to.model, stream: to.stream, query: r.URL.Query()})
}

// whole reads a body that may have stated its length. The stated length is not believed
// beyond a megabyte: memory is taken when the bytes are there.
func whole(body io.Reader, told int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(told, 0), 1<<20)) + bytes.MinRead)
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// serveStream answers with events. The stream is opened when the answer is there,
// or when that takes so long that the agent should see a sign of life; until
// then a failure can still have its own status.
func (g *Gateway) serveStream(w http.ResponseWriter, r *http.Request, a answering) {
	out := &outlet{w: w, json: a.q.list}
	s := a.codec.stream(a.q, a.head, &out.events)
	sign := func() {
		s.ping()
		_ = out.flush()
	}
	if a.q.passage != nil {
		sign = func() {
			out.raw(a.codec.sign)
			_ = out.flush()
		}
	}
	p := newPulse(g.opts.Patience, g.opts.KeepAlive, sign)
	defer p.stop()
	passed := &unasked{to: out}
	if a.q.passage != nil {
		a.q.passage.Reply = func(contentType string) io.Writer {
			p.stop()
			if a.codec.wire != Chat || a.q.usage {
				return out.relay(contentType)
			}
			out.relay(contentType)
			return passed
		}
	}
	resp, err := a.handle.ask(r.Context(), a.codec.wire, a.q)
	p.stop()
	passed.end()
	if over(a.q.passage, err) {
		return
	}
	if err == nil {
		s.finish(resp)
		out.end()
		return
	}
	f := toFault(err, a.handle.session.Retried)
	// Codex shortens its prompt only when it is notified within a stream.
	if out.opened || a.codec.wire == Responses && f.code == model.ContextLength {
		s.fail(f)
		out.end()
		return
	}
	g.refuse(w, a.codec, f)
}

// over reports whether the agent has had its answer as the model's server wrote it.
// One that broke off ends with the connection, so that no one takes it for whole.
func over(p *model.Passage, err error) bool {
	if p.Begun() && err != nil {
		panic(http.ErrAbortHandler)
	}
	return p.Begun()
}

// relay returns the writer for the bytes of the model's server, and notes the type of their content.
func (o *outlet) relay(contentType string) io.Writer {
	o.kind = contentType
	return o
}

// Write implements io.Writer.
func (o *outlet) Write(b []byte) (int, error) {
	o.buf.Write(b)
	return len(b), o.flush()
}

// outlet writes events to an agent.
type outlet struct {
	events
	w      http.ResponseWriter
	json   bool   // the events are one JSON document
	kind   string // the type of the content, "" for that of our own
	opened bool
}

// end writes the last events. An answer that comes at once has a length, which
// spares the agent and the gateway the mark of its end.
func (o *outlet) end() {
	if !o.opened {
		o.w.Header().Set("Content-Length", strconv.Itoa(o.buf.Len()))
	}
	_ = o.flush()
}

// flush writes what has been collected. An agent that is gone cancels its
// request, so that errors need no other answer than to write no more.
func (o *outlet) flush() error {
	if !o.opened {
		o.opened = true
		kind := "text/event-stream; charset=utf-8"
		switch {
		case o.kind != "":
			kind = o.kind
		case o.json:
			kind = "application/json"
		}
		o.w.Header().Set("Content-Type", kind)
		o.w.Header().Set("Cache-Control", "no-cache")
		o.w.Header().Set("X-Accel-Buffering", "no")
		o.w.WriteHeader(http.StatusOK)
	}
	setWriteDeadline(o.w)
	_, err := o.w.Write(o.buf.Bytes())
	o.buf.Reset()
	return errors.Join(err, http.NewResponseController(o.w).Flush())
}

// setWriteDeadline bounds the next write. A writer without deadlines has none to set.
func setWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// refuse writes a failure in the form of the wire.
func (g *Gateway) refuse(w http.ResponseWriter, c codec, f *fault) {
	f.headers(w.Header())
	status, v := c.refuse(f)
	write(w, status, v)
}

// write writes a JSON document.
func write(w http.ResponseWriter, status int, v any) {
	b, err := document(v)
	if err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	setWriteDeadline(w)
	w.WriteHeader(status)
	_, _ = w.Write(b) // an agent that is gone needs no answer
}

// models lists the model of a session, in a form that serves both OpenAI's and
// Anthropic's clients, or in Gemini's.
func models(to target, name string) any {
	if to.op == opModel {
		name = to.model
	}
	entry := object{
		{"id", name},
		{"object", "model"},
		{"created", 0},
		{"owned_by", "skillopt"},
		{"type", "model"},
		{"display_name", name},
		{"created_at", "1970-01-01T00:00:00Z"},
	}
	list := "data"
	if to.codec.wire == Gemini {
		list = "models"
		entry = object{
			{"name", "models/" + name},
			{"displayName", name},
			{"version", "1"},
			{"supportedGenerationMethods", []string{"generateContent", "countTokens"}},
		}
	}
	if to.op == opModel {
		return entry
	}
	all := []object{}
	if name != "" {
		all = append(all, entry)
	}
	if to.codec.wire == Gemini {
		return object{{list, all}}
	}
	return object{{"object", "list"}, {list, all}, {"has_more", false}, {"first_id", nil}, {"last_id", nil}}
}

var _ http.Handler = (*Gateway)(nil)
