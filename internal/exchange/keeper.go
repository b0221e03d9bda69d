package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds of one try of an episode.
const (
	maxMessages = 4096     // of one request; of more the middle is left out
	maxOfTry    = 32 << 20 // bytes of text; what is said beyond them is named by length and hash
	perMessage  = 64       // bytes that a message takes in addition to its texts
)

// Keeper makes the forms of one try of an episode. Its methods may be called concurrently.
type Keeper struct {
	mask *Mask

	mu    sync.Mutex
	items map[rawKey]*item
	next  int // number
	room  int
}

// item is a message, a tool or settings.
type item struct {
	ready  sync.Once
	said   message // until it is written
	number int     // -1 before it is written
}

// NewKeeper begins a try.
func NewKeeper(m *Mask) *Keeper {
	return &Keeper{mask: m, items: make(map[rawKey]*item), room: maxOfTry}
}

// Request is a request that is to be written once it is known what happened to it.
type Request struct {
	settings *item
	messages []*item
	tools    []*item
	left     int
}

// Request takes what a request says. It reads req until it returns.
func (k *Keeper) Request(req *model.Request) *Request {
	r := &Request{settings: k.item(settings(req))}
	list := req.Messages
	if over := len(list) - maxMessages; over > 0 {
		r.left = over
		list = append(list[:maxMessages/2:maxMessages/2], list[len(list)-maxMessages/2:]...)
	}
	for _, m := range list {
		r.messages = append(r.messages, k.item(m.Role, splitMessage(m)))
	}
	for _, t := range req.Tools[:min(len(req.Tools), maxMessages)] {
		r.tools = append(r.tools, k.item(kindTool, []raw{{part: part{Kind: kindTool, Name: t.Name}, text: t.Description, more: string(t.Parameters)}}))
	}
	return r
}

// End is how a request ended.
type End struct {
	Reply   *model.Response // nil: there was none
	Limit   model.Code      // of the task, that it ran into
	Message string          // with Limit
	Fault   string          // what an attempt failed with
	Begun   string          // the beginning of an answer that broke off, as it came
}

// Write makes a form and hands it to write, one at a time and in an order in which none
// refers to what a later one says. A form that write refuses counts as written: those after
// it that refer to it are read without what it says.
func (k *Keeper) Write(r *Request, end End, write func(Form) error) error {
	var reply *item
	if end.Reply != nil {
		m := end.Reply.Message()
		reply = k.item(m.Role, splitMessage(m))
	}
	b := body{Limit: end.Limit, Message: k.reason(end.Message), Fault: k.reason(end.Fault), LeftOut: r.left}
	if end.Reply != nil {
		b.Finish, b.Served = end.Reply.Finish, k.name(end.Reply.Served())
	}
	begun := newText(k.mask.text(end.Begun))
	k.mu.Lock()
	defer k.mu.Unlock()
	w := writing{keeper: k, body: &b}
	b.First = k.next
	b.Settings = w.number(r.settings)
	for _, it := range r.messages {
		b.Sent = spans(b.Sent, w.number(it))
	}
	for _, it := range r.tools {
		b.Tools = spans(b.Tools, w.number(it))
	}
	if reply != nil {
		n := w.number(reply)
		b.Reply = &n
	}
	if !begun.IsZero() {
		w.place(&begun)
		b.Begun = &begun
	}
	encoded, err := encode(b)
	if err != nil {
		return err
	}
	return write(Form{Body: encoded, Texts: w.texts})
}

func encode(b body) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("encode a call inside an episode: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// writing is a form that is being made, under the lock of its keeper.
type writing struct {
	keeper *Keeper
	body   *body
	texts  []string
}

// number returns the number of an item, and writes the item if it was not written before.
func (w *writing) number(it *item) int {
	if it.number >= 0 {
		return it.number
	}
	said := it.said
	for i := range said.Parts {
		w.place(&said.Parts[i].Text)
		w.place(&said.Parts[i].More)
	}
	w.body.New = append(w.body.New, said)
	it.number, it.said = w.keeper.next, message{}
	w.keeper.next++
	return it.number
}

// place gives the pieces of a text places in the form.
func (w *writing) place(t *text) {
	for _, piece := range t.pieces {
		t.places = append(t.places, len(w.texts))
		w.texts = append(w.texts, piece)
	}
	t.pieces = nil
}

// raw is a part of a message as it was said.
type raw struct {
	part
	text, more string
}

// item returns the item for something that was said, the same one for what is equal.
func (k *Keeper) item(role string, parts []raw) *item {
	key := k.hashParts(role, parts)
	k.mu.Lock()
	it, ok := k.items[key]
	if !ok {
		it = &item{number: -1}
		k.items[key] = it
	}
	k.mu.Unlock()
	it.ready.Do(func() {
		it.said.Role = k.name(role)
		if !k.take(perMessage) {
			it.said.Parts = []part{{Text: short("[not kept: what is kept of this episode is full]")}}
			return
		}
		for _, p := range parts {
			it.said.Parts = append(it.said.Parts, k.maskPart(p))
		}
	})
	return it
}

// maxName is the length of names, of what failed and the like, in bytes.
const maxName = 200

// name returns what is kept of a name.
func (k *Keeper) name(s string) string { return wording.Middle(k.mask.text(s), maxName) }

// hashParts returns the key of something that was said.
func (k *Keeper) hashParts(role string, parts []raw) rawKey {
	var h maphash.Hash
	h.SetSeed(k.mask.seed)
	size := 0
	add := func(s string) {
		var b [20]byte
		_, _ = h.Write(append(strconv.AppendInt(b[:0], int64(len(s)), 10), ':')) // it never fails
		_, _ = h.WriteString(s)
		size += len(s)
	}
	add(role)
	for _, p := range parts {
		add(p.Kind)
		add(p.ID)
		add(p.Name)
		add(strconv.FormatBool(p.Failed))
		add(p.text)
		add(p.more)
	}
	return rawKey{h.Sum64(), size}
}

// maxReason is the length of what an attempt failed with, in bytes.
const maxReason = 2000

func (k *Keeper) reason(s string) string { return wording.Middle(k.mask.text(s), maxReason) }

// maskPart returns a part in the form in which it is kept.
func (k *Keeper) maskPart(p raw) part {
	out := p.part
	out.ID, out.Name = k.name(p.ID), k.name(p.Name)
	out.Text, out.More = k.text(p.text), k.text(p.more)
	return out
}

// text returns what is kept of a text.
func (k *Keeper) text(s string) text {
	t := k.mask.text(s)
	if !k.take(len(t)) {
		t = fmt.Sprintf("[%d bytes not kept, sha256 %s: what is kept of this episode is full]", len(s), sum(s))
	}
	return newText(t)
}

// take takes room for n bytes, if there is some left.
func (k *Keeper) take(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.room < n {
		return false
	}
	k.room -= n
	return true
}

// newText returns a text in the form in which it is kept.
func newText(s string) text {
	if len(s) < shortText {
		return short(s)
	}
	return text{pieces: pieces(s)}
}

// splitMessage takes a message apart. Texts of an assistant that follow each other are one:
// agents hand them back in other pieces.
func splitMessage(m model.Message) []raw {
	if len(m.Parts) == 0 {
		return []raw{{text: m.Content}}
	}
	var out []raw
	for _, p := range m.Parts {
		switch {
		case p.Image != nil:
			out = append(out, image(*p.Image))
		case p.Call != nil:
			out = append(out, raw{part: part{Kind: kindCall, ID: p.Call.ID, Name: p.Call.Name}, text: compact(p.Call.Arguments)})
		case p.Result != nil:
			out = append(out, raw{part: part{Kind: kindResult, ID: p.Result.CallID, Name: p.Result.Name, Failed: p.Result.IsError}, text: p.Result.Content})
			for _, i := range p.Result.Images {
				out = append(out, image(i))
			}
		case p.Reasoning != nil:
			out = append(out, rawReasoning(*p.Reasoning))
		case len(out) > 0 && out[len(out)-1].Kind == "" && m.Role == model.Assistant:
			out[len(out)-1].text += p.Text
		default:
			out = append(out, raw{text: p.Text})
		}
	}
	return out
}

// image keeps length and hash instead of a picture.
func image(i model.Image) raw {
	return raw{part: part{Kind: kindImage, Name: i.MIME}, text: fmt.Sprintf("[%d bytes, sha256 %s]", len(i.Data), hashBytes(i.Data))}
}

// rawReasoning returns what can be read of it.
func rawReasoning(r model.Reasoning) raw {
	out := raw{part: part{Kind: kindReasoning, Name: r.Provider}, text: r.Text}
	if len(r.Opaque) > 0 {
		out.more = fmt.Sprintf("[%d bytes in the form of the provider, sha256 %s]", len(r.Opaque), hashBytes(r.Opaque))
	}
	return out
}

// compact returns JSON without blanks; what is no JSON stays as it is, without the blanks around it.
func compact(b json.RawMessage) string {
	var buf bytes.Buffer
	if json.Compact(&buf, b) != nil {
		return strings.TrimSpace(string(b))
	}
	return buf.String()
}

// kindSettings is the role of the settings of a request.
const kindSettings = ":settings"

// settings returns what of a request is neither message nor tool.
func settings(req *model.Request) (role string, parts []raw) {
	b, err := json.Marshal(Settings{Model: req.Model, Sampling: req.Sampling, ToolChoice: req.ToolChoice})
	if err != nil { // a sampling that is no number
		b = []byte("{}")
	}
	p := raw{text: string(b)}
	if req.Schema != nil {
		p.Name, p.more = req.Schema.Name, compact(req.Schema.JSON)
	}
	return kindSettings, []raw{p}
}

// Settings are what of a request is neither message, tool nor schema.
type Settings struct {
	Model string `json:"model,omitempty"`
	model.Sampling
	ToolChoice string `json:"tool_choice,omitempty"`
}
