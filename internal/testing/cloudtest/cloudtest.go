// Package cloudtest has clouds without SDKs for tests that look at what is around them.
package cloudtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// Clouds returns clouds that sign with the names of what they are given.
func Clouds() wiring.Clouds {
	return wiring.Clouds{Amazon: amazon{}, Azure: azure, Google: google}
}

type amazon struct{}

func (amazon) Sign(r *http.Request, _ []byte, region, accessKey, _, _ string) error {
	r.Header.Set("Authorization", "signed for "+region+" by "+accessKey)
	return nil
}

func (amazon) Events(body io.Reader) io.Reader { return body }

// azure returns a source that has no token, and says of what.
func azure(auth, scope, clientID string) (func(context.Context) (string, time.Time, error), error) {
	return func(context.Context) (string, time.Time, error) {
		return "", time.Time{}, fmt.Errorf("no token by %s for %q of %q", auth, scope, clientID)
	}, nil
}

func google(file []byte, _ http.RoundTripper) (func(context.Context) (string, error), error) {
	return func(context.Context) (string, error) { return fmt.Sprintf("token-of-%d-bytes", len(file)), nil }, nil
}
