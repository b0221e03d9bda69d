package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// answers reads what a server says, of either API.
type answers struct {
	faults faults
	cost   bool // the server reports what an answer has cost
}

// protocol reads the answers of one API. An error that is no *model.Error means
// a document or an event that is none of the API's.
type protocol struct {
	whole    func(a answers, res *http.Response, body []byte, req *model.Request) (model.Response, error)
	streamed func(a answers, res *http.Response, events iter.Seq[header.Event], req *model.Request) (model.Response, error)
}

func chatProtocol() protocol {
	return protocol{whole: answers.readChat, streamed: answers.readChatStream}
}

func respondProtocol() protocol {
	return protocol{whole: answers.readRespond, streamed: answers.readRespondStream}
}

// send makes one request and reads its answer.
func (c *Client) send(ctx context.Context, req *model.Request, endpoint string, body []byte, p protocol) (model.Response, error) {
	path, err := c.address.path(endpoint, req.Model)
	if err != nil {
		return model.Response{}, c.faults.plain(model.BadRequest, err)
	}
	if c.streams(req) {
		return c.sendStream(ctx, req, path, body, p)
	}
	res, err := c.post(ctx, path, body, req)
	if err != nil {
		return model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	return c.readWhole(ctx, res, req, p)
}

// post returns a response whose status is good and whose body, which is bounded, is unread.
func (c *Client) post(ctx context.Context, path string, body []byte, req *model.Request) (*http.Response, error) {
	cred, err := c.credential(ctx)
	if err != nil {
		return nil, c.faults.server.Unsent(ctx, err)
	}
	own := map[string]string{"Accept": "application/json"}
	if cred.value != "" {
		own[cred.header] = cred.prefix + cred.value
	}
	r, err := c.headers.NewPost(ctx, c.address.base+"/"+path, body, req.Tags, own)
	if err != nil {
		return nil, c.faults.server.Unsent(ctx, err)
	}
	header.Carry(r.Header, req.Passage)
	return c.faults.server.Send(c.http, r, c.maxBody, func(res *http.Response) error {
		if res.StatusCode == http.StatusUnauthorized {
			c.tokens.forget(cred.value)
		}
		return c.faults.refusedBy(res)
	})
}

// readWhole reads an answer that is one document.
func (c *Client) readWhole(ctx context.Context, res *http.Response, req *model.Request, p protocol) (model.Response, error) {
	body, err := readAll(res)
	if err != nil {
		return model.Response{}, c.faults.server.Unread(ctx, res.StatusCode, err)
	}
	resp, err := p.whole(c.answers, res, body, req)
	if err != nil {
		return model.Response{}, c.faults.misread(res.StatusCode, body, err)
	}
	resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
	if req.Passage != nil {
		_, err = req.Passage.Write(res.Header.Get("Content-Type"), body)
	}
	return resp, err
}

// streams reports whether the answer is asked for as events.
func (c *Client) streams(req *model.Request) bool {
	if req.Passage != nil {
		return req.Passage.Stream
	}
	return c.bodies.stream
}

// sendStream asks for a stream and reads it to its end. Only silence after the
// server's first word counts: a server may let requests wait in a queue.
func (c *Client) sendStream(ctx context.Context, req *model.Request, path string, body []byte, p protocol) (model.Response, error) {
	within, watch := header.NewWatch(ctx, c.idle)
	defer watch.Stop()
	res, err := c.post(within, path, body, req)
	if err != nil {
		return model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	res.Body = watch.Body(res.Body)
	// A server that has no streams answers as if none had been asked for.
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		return c.readWhole(ctx, res, req, p)
	}
	res.Body = req.Passage.Through(res.Body, res.Header.Get("Content-Type"))
	var broken error
	events := func(yield func(header.Event) bool) {
		for e, err := range header.Events(res.Body) {
			if broken = err; err != nil || !yield(e) {
				return
			}
		}
	}
	resp, err := p.streamed(c.answers, res, events, req)
	silence := watch.Idle()
	switch {
	case err == nil:
		drain(res.Body, watch)
		resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
		return resp, nil
	case silence != nil:
		return model.Response{}, c.faults.status(model.Timeout, res.StatusCode, silence)
	case errors.Is(err, errCut) && broken != nil:
		return model.Response{}, c.faults.server.Unread(ctx, res.StatusCode, broken)
	}
	return model.Response{}, c.faults.misread(res.StatusCode, nil, err)
}

// errCut is a stream that ends before the answer does.
var errCut = errors.New("the stream ends before the answer does")

// errNoReason is a stream whose end has no finish_reason before it.
var errNoReason = fmt.Errorf("%w: it has no finish_reason, as where the server answers another request instead; "+
	"limits.concurrency: 1 or models.*.stream: false helps if that happens to every answer", errCut)

// drain reads what follows the end of an answer, so that the connection can be
// used again. Nothing of it matters, and hardly any time is spent on it.
func drain(body io.Reader, watch *header.Watch) {
	const most, longest = 4 << 10, 100 * time.Millisecond
	enough := time.AfterFunc(longest, watch.Stop)
	defer enough.Stop()
	_, _ = io.CopyN(io.Discard, body, most)
}
