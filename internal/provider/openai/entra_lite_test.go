//go:build lite

package openai

import (
	"strings"
	"testing"
)

// TestAzureSourcesLite: a lite build fetches no tokens, and takes those of a caller.
func TestAzureSourcesLite(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{AzureCLI, AzureManagedIdentity} {
		_, err := New(Options{BaseURL: resource, Azure: &Azure{Auth: auth}})
		if err == nil || !strings.Contains(err.Error(), "lite") || !strings.Contains(err.Error(), auth) {
			t.Errorf("%s: %v", auth, err)
		}
	}
	if s, err := (&Azure{Auth: AzureCLI, Tokens: &tokens{}}).source(); err != nil || s == nil {
		t.Errorf("own tokens: %v, %v", s, err)
	}
}
