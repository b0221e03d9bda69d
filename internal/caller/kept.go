package caller

import (
	"context"
	"io"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/exchange"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// kept is a call inside an episode whose words are kept next to its ledger entry: of every
// attempt, however it ended. The nil kept keeps nothing. What is said is taken while
// the model is at work, and what cannot be kept is no failure of the call.
type kept struct {
	keeper  *exchange.Keeper
	request *exchange.Request // once taken is closed
	taken   chan struct{}
	begun   *beginning // nil: the agent does not read the model's own bytes
}

// keep begins to take what a request says. end waits until that is done.
func (e *episodeClient) keep(req *model.Request, begun *beginning) (k *kept, end func()) {
	if e.keeper == nil {
		return nil, func() {}
	}
	k = &kept{keeper: e.keeper, taken: make(chan struct{}), begun: begun}
	go func() {
		defer close(k.taken)
		k.request = e.keeper.Request(req)
	}()
	return k, func() { <-k.taken }
}

// charge puts an entry into the ledger, with what was said.
func (k *kept) charge(ctx context.Context, j *journal.Journal, r journal.Record, end exchange.End) error {
	ctx = context.WithoutCancel(ctx)
	if k == nil {
		return j.Charge(ctx, r)
	}
	<-k.taken
	if end.Reply == nil {
		end.Begun = k.begun.text()
	}
	charged := false
	err := k.keeper.Write(k.request, end, func(f exchange.Form) error {
		r.Exchange, charged = &journal.Exchange{Form: f.Body, Texts: f.Texts}, true
		return j.Charge(ctx, r)
	})
	if charged {
		return err
	}
	return j.Charge(ctx, r) // the words alone could not be encoded
}

// end returns a reply as the end of a request.
func (r *reply) end() exchange.End {
	if r.Limit != "" {
		return exchange.End{Limit: r.Limit, Message: r.Message}
	}
	return exchange.End{Reply: &r.Response}
}

// beginning is the beginning of an answer that an agent reads as it comes.
type beginning struct {
	mu  sync.Mutex
	got []byte
}

// maxBeginning bounds it, in bytes.
const maxBeginning = 64 << 10

// follow returns the beginning of what p will pass on; nil: no one reads it.
func (e *episodeClient) follow(p *model.Passage) *beginning {
	if e.keeper == nil || p == nil {
		return nil
	}
	b, reply := &beginning{}, p.Reply
	p.Reply = func(contentType string) io.Writer { return &followed{reply(contentType), b} }
	return b
}

// text returns the beginning as far as it has come, "" for nil.
func (b *beginning) text() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.got)
}

type followed struct {
	io.Writer
	b *beginning
}

// Write implements io.Writer.
func (f *followed) Write(p []byte) (int, error) {
	f.b.mu.Lock()
	f.b.got = append(f.b.got, p[:min(len(p), max(0, maxBeginning-len(f.b.got)))]...)
	f.b.mu.Unlock()
	return f.Writer.Write(p)
}
