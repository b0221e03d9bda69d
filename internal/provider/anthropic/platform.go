package anthropic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/vertex"
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
)

// Bedrock says how Claude on Amazon Bedrock is reached: with AccessKey and
// SecretKey, by which requests are signed, or with BearerToken. No profile, no
// AWS_ variable and no metadata server is asked; who has temporary credentials
// makes a client again when they end.
type Bedrock struct {
	Region       string // such as us-east-1
	AccessKey    string
	SecretKey    string
	SessionToken string // of temporary credentials
	BearerToken  string // a Bedrock API key, instead of the three above
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

// platform is who serves the model: it is the option by which the SDK rewrites
// requests, and it adds the credentials.
type platform struct {
	option.RequestOption

	address   func() string
	authorize func(*http.Request) error
	secrets   func() []string
}

// name is what may be in a host or a path as it is.
var name = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

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
	return platform{
		RequestOption: option.Join(),
		address:       func() string { return DefaultBaseURL },
		secrets:       func() []string { return nil },
		authorize: func(r *http.Request) error {
			if key != "" && r.Header["X-Api-Key"] == nil {
				r.Header["X-Api-Key"] = []string{key}
			}
			return nil
		},
	}
}

func onBedrock(b Bedrock) (platform, error) {
	signer := v4.NewSigner() // keeps the keys that it derives
	p := platform{
		RequestOption: bedrock.WithConfig(aws.Config{
			Region: b.Region,
			// A are-in: the SDK prefers a token of the environment to the keys it
			// is given. What it puts on a request is replaced by authorize.
			BearerAuthTokenProvider: bedrock.NewStaticBearerTokenProvider("unused"),
		}),
		address:   func() string { return "https://bedrock-runtime." + b.Region + ".amazonaws.com" },
		secrets:   func() []string { return []string{b.AccessKey, b.SecretKey, b.SessionToken, b.BearerToken} },
		authorize: func(r *http.Request) error { return b.sign(signer, r) },
	}
	if b.BearerToken != "" {
		p.authorize = func(r *http.Request) error {
			r.Header["Authorization"] = []string{"Bearer " + b.BearerToken}
			return nil
		}
	}
	return p, b.check()
}

func (b Bedrock) check() error {
	var faults []error
	if !name.MatchString(b.Region) {
		faults = append(faults, fmt.Errorf("bedrock region %q: want one such as us-east-1", b.Region))
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

// sign puts AWS's signature, version 4, onto a request.
func (b Bedrock) sign(signer *v4.Signer, r *http.Request) error {
	hash := sha256.New()
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return fmt.Errorf("sign request: %w", err)
		}
		if _, err := io.Copy(hash, body); err != nil {
			return fmt.Errorf("sign request: %w", err)
		}
		// The SDK's copies share one reader: it must be at the beginning again.
		if r.Body, err = r.GetBody(); err != nil {
			return fmt.Errorf("sign request: %w", err)
		}
	}
	delete(r.Header, "Authorization")
	keys := aws.Credentials{AccessKeyID: b.AccessKey, SecretAccessKey: b.SecretKey, SessionToken: b.SessionToken}
	err := signer.SignHTTP(r.Context(), keys, r, hex.EncodeToString(hash.Sum(nil)), "bedrock", b.Region, time.Now())
	if err != nil {
		return fmt.Errorf("sign request: %w", err)
	}
	return nil
}

func onVertex(v Vertex) (platform, error) {
	p := platform{
		address:   v.address,
		secrets:   func() []string { return nil }, // tokens come and go: see doer
		authorize: v.authorize,
	}
	if err := v.check(); err != nil {
		return p, err
	}
	var err error
	p.RequestOption, err = vertexOption(v)
	return p, err
}

// vertexOption returns the SDK's option, with a are-in for the credentials:
// its own way to use them knows no deadline. Beside what is wanted it makes a
// client of its own, which looks at GOOGLE_API_USE_ variables, may panic, and is
// never used.
func vertexOption(v Vertex) (opt option.RequestOption, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("vertex: %v", fault)
		}
	}()
	unused := &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "unused"})}
	return vertex.WithCredentials(context.Background(), v.Region, v.Project, unused), nil
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

func (v Vertex) authorize(r *http.Request) error {
	token, err := v.Token(r.Context())
	if err != nil {
		return fmt.Errorf("get an access token: %w", err)
	}
	r.Header["Authorization"] = []string{"Bearer " + token}
	return nil
}
