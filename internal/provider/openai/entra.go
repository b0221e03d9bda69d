//go:build !lite

package openai

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// source returns what gives tokens. Nothing is asked for yet.
func (a *Azure) source() (TokenSource, error) {
	if a.Tokens != nil {
		return a.Tokens, nil
	}
	scope := a.Scope
	if scope == "" {
		scope = DefaultAzureScope
	}
	if a.Auth == AzureCLI {
		cred, err := azidentity.NewAzureCLICredential(nil)
		if err != nil {
			return nil, fmt.Errorf("azure cli: %w", err)
		}
		return entra{cred.GetToken, scope}, nil
	}
	o := &azidentity.ManagedIdentityCredentialOptions{}
	if a.ClientID != "" {
		o.ID = azidentity.ClientID(a.ClientID)
	}
	cred, err := azidentity.NewManagedIdentityCredential(o)
	if err != nil {
		return nil, fmt.Errorf("azure managed identity: %w", err)
	}
	return entra{cred.GetToken, scope}, nil
}

// entra is a credential of the SDK as a source of tokens.
type entra struct {
	get   func(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error)
	scope string
}

// Token implements TokenSource.
func (e entra) Token(ctx context.Context) (Token, error) {
	t, err := e.get(ctx, policy.TokenRequestOptions{Scopes: []string{e.scope}})
	if err != nil {
		return Token{}, err
	}
	return Token{Value: t.Token, ExpiresAt: t.ExpiresOn}, nil
}
