package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// send returns a response whose status is good and whose body is unread.
func (c *Client) send(ctx context.Context, r *request) (*http.Response, error) {
	to := *c.url
	to.Path += "/" + r.path
	if !r.stream {
		to.Path += ":generateContent"
	} else {
		to.Path += ":streamGenerateContent"
		to.RawQuery = strings.TrimSuffix("alt=sse&"+to.RawQuery, "&")
	}
	out, err := c.headers.NewPost(ctx, to.String(), r.body, r.tags, nil)
	if err == nil {
		err = c.authorize(out)
	}
	if err != nil {
		return nil, c.server.Unsent(ctx, err)
	}
	return c.server.Send(c.http, out, c.o.MaxBody, c.responseError)
}

// modelPath returns where below the base URL a model is, by its name: a name with its
// folder stays as it is.
func (c *Client) modelPath(name string) (string, error) {
	if name == "" {
		return "", errors.New("the model is empty")
	}
	if strings.ContainsAny(name, "?&") || strings.Contains(name, "..") {
		return "", fmt.Errorf("invalid model %q: ?, & and .. are not allowed", name)
	}
	folder, own, inFolder := strings.Cut(name, "/")
	v := c.o.Vertex
	switch {
	case v == nil && (folder == "models" || folder == "tunedModels") && inFolder:
		return "v1beta/" + name, nil
	case v == nil:
		return "v1beta/models/" + name, nil
	case folder == "projects" && inFolder:
		return "v1beta1/" + name, nil
	case !inFolder:
		name = "publishers/google/models/" + name
	case folder != "models" && folder != "publishers":
		name = "publishers/" + folder + "/models/" + own
	}
	return "v1beta1/projects/" + v.Project + "/locations/" + v.Region + "/" + name, nil
}

func (c *Client) authorize(r *http.Request) error {
	if c.o.Vertex == nil {
		if c.o.APIKey != "" && r.Header["X-Goog-Api-Key"] == nil {
			r.Header["X-Goog-Api-Key"] = []string{c.o.APIKey}
		}
		return nil
	}
	token, err := c.o.Vertex.Token(r.Context())
	if err != nil {
		if model.CodeOf(err) != "" {
			return err
		}
		return c.server.Fault(model.Auth, 0, c.server.Clean(fmt.Errorf("get an access token: %w", err)))
	}
	c.server.Learn(token)
	r.Header["Authorization"] = []string{"Bearer " + token}
	return nil
}

// stream makes a request whose answer comes in pieces.
func (c *Client) stream(ctx context.Context, req *request) (model.Response, error) {
	within, watch := header.NewWatch(ctx, c.o.Idle)
	defer watch.Stop()
	res, err := c.send(within, req)
	if err != nil {
		return model.Response{}, err
	}
	body := req.passage.Through(watch.Body(res.Body), res.Header.Get("Content-Type"))
	defer func() { _ = body.Close() }() // read to its end or given up: its error changes nothing
	r, events := header.Sniff(body)
	res.Body = io.NopCloser(r)
	var out model.Response
	if events {
		out, err = c.events(ctx, res, req)
	} else {
		out, err = c.document(ctx, res, req)
	}
	if idle := watch.Idle(); err != nil && idle != nil && ctx.Err() == nil {
		return model.Response{}, c.server.Fault(model.Timeout, res.StatusCode, idle)
	}
	return out, err
}
