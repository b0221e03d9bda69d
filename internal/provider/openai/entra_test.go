//go:build !lite

package openai

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// TestAzureSources: what Auth means asks for nothing when it is built, and for
// the right scope when a token is wanted.
func TestAzureSources(t *testing.T) {
	t.Parallel()
	for _, a := range []Azure{{Auth: AzureCLI}, {Auth: AzureManagedIdentity}, {Auth: AzureManagedIdentity, ClientID: "id-1", Scope: "s"}} {
		s, err := a.source()
		if err != nil {
			t.Errorf("%+v: %v", a, err)
			continue
		}
		want := a.Scope
		if want == "" {
			want = DefaultAzureScope
		}
		if got := s.(entra).scope; got != want {
			t.Errorf("%+v: scope %q, want %q", a, got, want)
		}
	}
	end := time.Now().Add(time.Hour)
	var asked []string
	e := entra{scope: "s", get: func(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
		asked = o.Scopes
		return azcore.AccessToken{Token: "t", ExpiresOn: end}, nil
	}}
	got, err := e.Token(t.Context())
	if err != nil || got != (Token{Value: "t", ExpiresAt: end}) || len(asked) != 1 || asked[0] != "s" {
		t.Errorf("got %+v, %v for %v", got, err, asked)
	}
}
