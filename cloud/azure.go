package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// Azure returns a source of tokens of Entra ID for a scope: of the user who is logged in with az
// (azure_cli), or of the machine (managed_identity), among whose identities clientID
// chooses. Nothing is asked for yet.
func Azure(auth, scope, clientID string) (func(context.Context) (string, time.Time, error), error) {
	if auth == "azure_cli" {
		cred, err := azidentity.NewAzureCLICredential(nil)
		if err != nil {
			return nil, fmt.Errorf("azure cli: %w", err)
		}
		return entraTokens(cred.GetToken, scope), nil
	}
	o := &azidentity.ManagedIdentityCredentialOptions{}
	if clientID != "" {
		o.ID = azidentity.ClientID(clientID)
	}
	cred, err := azidentity.NewManagedIdentityCredential(o)
	if err != nil {
		return nil, fmt.Errorf("azure managed identity: %w", err)
	}
	return entraTokens(cred.GetToken, scope), nil
}

func entraTokens(get func(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error), scope string) func(context.Context) (string, time.Time, error) {
	return func(ctx context.Context) (string, time.Time, error) {
		t, err := get(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
		return t.Token, t.ExpiresOn, err
	}
}
