package anthropic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
)

// Amazon does what Amazon's SDK is needed for.
type Amazon interface {
	// Sign puts the signature of AWS, version 4, onto a request for Bedrock.
	Sign(r *http.Request, body []byte, region, accessKey, secretKey, session string) error
	// Events returns a stream in AWS's binary framing as server-sent events.
	Events(body io.Reader) io.Reader
}

// Bedrock says how Claude on Amazon Bedrock is reached: with AccessKey and
// SecretKey, by which requests are signed, or with BearerToken. No profile, no
// AWS_ variable and no metadata server is asked. A user with temporary credentials
// makes a new client when they end.
type Bedrock struct {
	Region       string // such as us-east-1
	AccessKey    string
	SecretKey    string
	SessionToken string // of temporary credentials
	BearerToken  string // a Bedrock API key, instead of the three above
	Amazon       Amazon
}

// Vertex says how Claude on Google Vertex AI is reached. No application default
// credentials are looked for: Token is where they come from.
type Vertex struct {
	Project string
	Region  string // such as us-east5, global, us or eu
	// Token returns an access token that is valid now. It is called for each
	// request, concurrently, under the context of the request; it keeps a token as
	// long as it lasts. An error that is a *model.Error counts as it is, any other
	// as Auth.
	Token func(context.Context) (string, error)
}

// platform is who serves the model: place gives a request the address, the body and
// the credentials that it wants.
type platform struct {
	address string
	secrets []string
	place   func(*http.Request, request) error
}

// name matches what may be in a host or a path without escapes.
var name = pattern.New(`^[a-z0-9][a-z0-9-]{0,62}$`)

func (o Options) platform() (platform, error) {
	switch {
	case o.Bedrock != nil && o.Vertex != nil:
		return anthropicItself(o.APIKey), errors.New("bedrock and vertex: only one platform can be chosen")
	case (o.Bedrock != nil || o.Vertex != nil) && o.APIKey != "":
		return anthropicItself(""), errors.New("api key: a platform has its own credentials: remove it")
	case o.Bedrock != nil:
		return onBedrock(*o.Bedrock)
	case o.Vertex != nil:
		return onVertex(*o.Vertex)
	}
	return anthropicItself(o.APIKey), nil
}

func anthropicItself(key string) platform {
	return platform{address: DefaultBaseURL, place: func(r *http.Request, _ request) error {
		if key != "" && r.Header["X-Api-Key"] == nil {
			r.Header["X-Api-Key"] = []string{key}
		}
		return nil
	}}
}

func onBedrock(b Bedrock) (platform, error) {
	return platform{
		address: "https://bedrock-runtime." + b.Region + ".amazonaws.com",
		secrets: []string{b.AccessKey, b.SecretKey, b.SessionToken, b.BearerToken},
		place:   b.place,
	}, b.check()
}

// place moves the model and the beta features to where Bedrock wants them, and signs.
func (b Bedrock) place(r *http.Request, e request) error {
	body := header.NewBody(e.body)
	body.Set("anthropic_version", "bedrock-2023-05-31")
	var betas []string
	for value := range strings.SplitSeq(strings.Join(r.Header["Anthropic-Beta"], ","), ",") {
		if value = strings.TrimSpace(value); value != "" {
			betas = append(betas, value)
		}
	}
	if len(betas) > 0 {
		body.Set("anthropic_beta", betas)
	}
	delete(r.Header, "Anthropic-Beta")
	body.Drop("model", "stream")
	method := "/invoke"
	if e.stream {
		method = "/invoke-with-response-stream"
	}
	r.URL.Path, r.URL.RawPath = "/model/"+e.model+method, "/model/"+url.QueryEscape(e.model)+method
	raw, err := body.Bytes()
	if err != nil {
		return &header.Unsendable{Err: err}
	}
	setBody(r, raw)
	if b.BearerToken != "" {
		r.Header["Authorization"] = []string{"Bearer " + b.BearerToken}
		return nil
	}
	delete(r.Header, "Authorization")
	if err := b.Amazon.Sign(r, raw, b.Region, b.AccessKey, b.SecretKey, b.SessionToken); err != nil {
		return fmt.Errorf("sign request: %w", err)
	}
	return nil
}

// translate makes a good stream of Bedrock one of server-sent events.
func (b Bedrock) translate(res *http.Response) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // what is none is no such stream
	if kind == "application/vnd.amazon.eventstream" {
		res.Body = reader{b.Amazon.Events(res.Body), res.Body}
		res.Header.Set("Content-Type", "text/event-stream")
	}
}

func setBody(r *http.Request, raw []byte) {
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
}

func (b Bedrock) check() error {
	var faults []error
	if !name.MatchString(b.Region) {
		faults = append(faults, fmt.Errorf("bedrock region %q: want one such as us-east-1", b.Region))
	}
	if b.Amazon == nil {
		faults = append(faults, errors.New("bedrock: has no part of Amazon's SDK"))
	}
	keys := b.AccessKey != "" && b.SecretKey != ""
	switch {
	case b.BearerToken != "" && (b.AccessKey != "" || b.SecretKey != "" || b.SessionToken != ""):
		faults = append(faults, errors.New("bedrock: has a bearer token and keys: keep one of them"))
	case b.BearerToken == "" && !keys:
		faults = append(faults, errors.New("bedrock: has no credentials: set the access key and the secret key, or the bearer token"))
	}
	for _, c := range []struct{ what, value string }{
		{"bedrock access key", b.AccessKey},
		{"bedrock secret key", b.SecretKey},
		{"bedrock session token", b.SessionToken},
		{"bedrock bearer token", b.BearerToken},
	} {
		faults = append(faults, header.CheckKey(c.what, c.value))
	}
	return errors.Join(faults...)
}

func onVertex(v Vertex) (platform, error) {
	return platform{address: v.address(), place: v.place}, v.check()
}

// place moves the model to where Vertex wants it, and adds a token.
func (v Vertex) place(r *http.Request, e request) error {
	body := header.NewBody(e.body)
	body.Set("anthropic_version", "vertex-2023-10-16")
	body.Drop("model")
	method := ":rawPredict"
	if e.stream {
		method = ":streamRawPredict"
	}
	r.URL.Path = "/v1/projects/" + v.Project + "/locations/" + v.Region + "/publishers/anthropic/models/" + e.model + method
	raw, err := body.Bytes()
	if err != nil {
		return &header.Unsendable{Err: err}
	}
	setBody(r, raw)
	token, err := v.Token(r.Context())
	if err != nil {
		return fmt.Errorf("get an access token: %w", err)
	}
	r.Header["Authorization"] = []string{"Bearer " + token}
	return nil
}

func (v Vertex) address() string {
	switch v.Region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + v.Region + ".rep.googleapis.com"
	}
	return "https://" + v.Region + "-aiplatform.googleapis.com"
}

func (v Vertex) check() error {
	var faults []error
	if !name.MatchString(v.Region) {
		faults = append(faults, fmt.Errorf("vertex region %q: want one such as us-east5 or global", v.Region))
	}
	if !name.MatchString(v.Project) {
		faults = append(faults, fmt.Errorf("vertex project %q: want the id of a project: small letters, digits and -", v.Project))
	}
	if v.Token == nil {
		faults = append(faults, errors.New("vertex: has no source of tokens"))
	}
	return errors.Join(faults...)
}
