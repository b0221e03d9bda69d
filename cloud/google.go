package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"cloud.google.com/go/auth/credentials"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
)

// Google returns a source of access tokens, for Vertex, from the JSON of a
// service account or of a user (gcloud's application_default_credentials.json).
// Other kinds, which name programs to run and addresses to ask, are refused.
// Tokens are fetched through transport, kept while they last, and fetched again
// within the call that needs one; nothing is fetched here. nil is a transport
// without a proxy. The source is safe for concurrent use.
func Google(file []byte, transport http.RoundTripper) (func(context.Context) (string, error), error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(file, &kind); err != nil {
		return nil, errors.New("google credentials: no JSON object") // err may report what is there
	}
	if kind.Type != "service_account" && kind.Type != "authorized_user" {
		return nil, fmt.Errorf("google credentials of type %q: allowed are service_account and authorized_user", kind.Type)
	}
	if transport == nil {
		transport = header.NewTransport(nil)
	}
	creds, err := credentials.NewCredentialsFromJSON(credentials.CredType(kind.Type), file, &credentials.DetectOptions{
		Scopes:              []string{"https://www.googleapis.com/auth/cloud-platform"},
		Client:              &http.Client{Transport: transport, CheckRedirect: header.StayHere},
		DisableAsyncRefresh: true, // a goroutine of its own would outlive its call
	})
	if err != nil {
		return nil, fmt.Errorf("google credentials: %w", err)
	}
	return func(ctx context.Context) (string, error) {
		token, err := creds.Token(ctx)
		if err != nil {
			return "", err
		}
		return token.Value, nil
	}, nil
}
