package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// protocol reads the answers of one API. An error that is no *model.Error means
// a document or an event that is none of the API's.
type protocol struct {
	whole    func(c *Client, res *http.Response, body []byte, req model.Request) (model.Response, error)
	streamed func(c *Client, res *http.Response, events ssestream.Decoder, req model.Request) (model.Response, error)
}

// send makes one request and reads its answer.
func (c *Client) send(ctx context.Context, req model.Request, endpoint string, body []byte, p protocol) (model.Response, error) {
	path, err := c.address.path(endpoint, req.Model)
	if err != nil {
		return model.Response{}, c.fault(model.BadRequest, err)
	}
	if c.stream {
		return c.sendStream(ctx, req, path, body, p)
	}
	res, err := c.post(ctx, path, body, req.Tags)
	if err != nil {
		return model.Response{}, c.failure(ctx, res, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	return c.readWhole(ctx, res, req, p)
}

// post sends a body. The response of a refused request is returned beside the
// error.
func (c *Client) post(ctx context.Context, path string, body []byte, tags model.Tags) (*http.Response, error) {
	credential, err := c.credential(ctx)
	if err != nil {
		return nil, err
	}
	var res *http.Response
	err = c.api.Post(ctx, path, body, &res, option.WithMiddleware(c.dress(tags, credential)))
	if res != nil && res.StatusCode == http.StatusUnauthorized {
		c.tokens.forget(credential.value)
	}
	return res, err
}

// readWhole reads an answer that is one document.
func (c *Client) readWhole(ctx context.Context, res *http.Response, req model.Request, p protocol) (model.Response, error) {
	if res.StatusCode >= http.StatusMultipleChoices {
		return model.Response{}, c.redirected(res)
	}
	body, err := readAll(res)
	if err != nil {
		return model.Response{}, c.unread(ctx, res.StatusCode, err)
	}
	resp, err := p.whole(c, res, body, req)
	if err != nil {
		return model.Response{}, c.misread(res.StatusCode, body, err)
	}
	resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
	return resp, nil
}

// sendStream asks for a stream and reads it to its end. Only silence after the
// server's first word counts: a server may let requests wait in a queue.
func (c *Client) sendStream(ctx context.Context, req model.Request, path string, body []byte, p protocol) (model.Response, error) {
	w := watch(ctx)
	defer w.stop()
	res, err := c.post(w.ctx, path, body, req.Tags)
	if err != nil {
		return model.Response{}, c.failure(ctx, res, err)
	}
	defer func() { _ = res.Body.Close() }()
	res.Body = w.alive(res.Body, c.idle)
	// A server that has no streams answers as if none had been asked for.
	if res.StatusCode >= http.StatusMultipleChoices || strings.Contains(res.Header.Get("Content-Type"), "json") {
		return c.readWhole(ctx, res, req, p)
	}
	events := ssestream.NewDecoder(res)
	resp, err := p.streamed(c, res, events, req)
	switch {
	case err == nil:
		w.drain(res.Body)
		resp.Pause = header.Pause(res.Header, resp.Usage.Input+resp.Usage.Output)
		return resp, nil
	case w.silent():
		return model.Response{}, c.faultStatus(model.Timeout, res.StatusCode, fmt.Errorf("the stream was silent for %v", c.idle))
	case errors.Is(err, errCut) && events.Err() != nil:
		return model.Response{}, c.unread(ctx, res.StatusCode, events.Err())
	}
	return model.Response{}, c.misread(res.StatusCode, nil, err)
}

// errCut is a stream that ends before the answer does.
var errCut = errors.New("the stream ends before the answer does")

// errSilent is why a watch gave up.
var errSilent = errors.New("nothing was heard")

// watcher gives a request up when its stream is silent for too long.
type watcher struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil until there is a stream
	idle   time.Duration
}

// watch returns a watcher whose ctx is to be used for the request. It is to be
// stopped.
func watch(ctx context.Context) *watcher {
	w := &watcher{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

func (w *watcher) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

func (w *watcher) silent() bool { return errors.Is(context.Cause(w.ctx), errSilent) }

// alive begins to watch, and returns a body each byte of which is a sign of life.
func (w *watcher) alive(body io.ReadCloser, idle time.Duration) io.ReadCloser {
	w.idle = idle
	w.timer = time.AfterFunc(idle, func() { w.cancel(errSilent) })
	return &watched{body, w}
}

type watched struct {
	io.ReadCloser
	w *watcher
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.w.timer.Reset(b.w.idle)
	}
	return n, err
}

// drain reads what follows the end of an answer, so that the connection can be
// used again. Nothing of it matters, and hardly any time is spent on it.
func (w *watcher) drain(body io.Reader) {
	const most, longest = 4 << 10, 100 * time.Millisecond
	w.idle = longest
	w.timer.Reset(longest)
	_, _ = io.CopyN(io.Discard, body, most)
}
