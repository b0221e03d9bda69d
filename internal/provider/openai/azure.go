package openai

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// The ways to prove who one is to Azure.
const (
	AzureKey             = "api_key"          // the key of the resource, in the header api-key
	AzureCLI             = "azure_cli"        // the user who is logged in with az
	AzureManagedIdentity = "managed_identity" // the machine that this runs on
	AzureCompatible      = "compatible"       // a bearer token of the user, as at OpenAI
)

// DefaultAzureVersion is the version of the API in the older form of addresses.
const DefaultAzureVersion = "2025-04-01-preview"

// Azure says how Azure OpenAI is spoken to. There are two forms of addresses, and
// Options.BaseURL may be the bare address of the resource for both:
//
//   - https://RESOURCE.openai.azure.com/openai/v1, where a version is not needed;
//   - https://RESOURCE.openai.azure.com/openai/deployments/MODEL/...?api-version=V,
//     which is used when APIVersion is a date, or BaseURL ends in /openai or
//     /openai/deployments/NAME.
//
// The model of a request is the name of the deployment.
type Azure struct {
	// Auth is one of the constants; "" means AzureKey.
	Auth string
	// APIVersion is such as 2025-04-01-preview, or preview with the newer form.
	// "" means none there and DefaultAzureVersion in the older form.
	APIVersion string
	// Tokens is where tokens come from, with AzureCLI and AzureManagedIdentity; nil is
	// ErrNoTokens once all else is right.
	Tokens TokenSource
}

// check refuses what would send a token to a host that it is not meant for.
func (a *Azure) check(o Options) error {
	if a == nil {
		return nil
	}
	faults := []error{oneOf("azure auth", a.Auth, "", AzureKey, AzureCLI, AzureManagedIdentity, AzureCompatible)}
	if a.APIVersion != "" && !regexp.MustCompile(`^[A-Za-z0-9.-]+$`).MatchString(a.APIVersion) {
		faults = append(faults, fmt.Errorf("azure api version %q: want a date such as %s, or preview", a.APIVersion, DefaultAzureVersion))
	}
	base, err := parseBase(o.BaseURL)
	if err != nil || !a.WithToken() {
		return errors.Join(faults...) // a broken base is reported by New
	}
	if err := tokenHost(base); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// WithToken reports whether Auth is by a token of Entra ID.
func (a *Azure) WithToken() bool {
	return a != nil && (a.Auth == AzureCLI || a.Auth == AzureManagedIdentity)
}

// azureHost reports whether a host is one of Azure's for models.
func azureHost(host string) bool {
	host = strings.ToLower(host)
	for _, domain := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// tokenHost refuses a place that a token of Entra ID must not be sent to: such a
// token opens more than the models.
func tokenHost(u *url.URL) error {
	if u.Scheme == "https" && azureHost(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("azure: a token of Entra ID is sent to https:// hosts of openai.azure.com, cognitiveservices.azure.com and services.ai.azure.com only, not to %s://%s", u.Scheme, u.Host)
}

// place completes the address of a resource and reports whether it is of the
// older form, with deployments.
func (a *Azure) place(u *url.URL) (deployment bool) {
	path := strings.TrimSuffix(u.Path, "/")
	if a.Auth == AzureCompatible {
		return false
	}
	if i := strings.Index(path+"/", "/openai/deployments/"); i >= 0 {
		path, deployment = path[:i]+"/openai", true
	}
	switch {
	case deployment, strings.HasSuffix(path, "/openai"):
		deployment = true
	case path != "":
		// The user's own path, such as /openai/v1.
	case a.APIVersion != "" && a.APIVersion[0] >= '0' && a.APIVersion[0] <= '9':
		path, deployment = "/openai", true
	default:
		path = "/openai/v1"
	}
	u.Path = path
	version := a.APIVersion
	if version == "" && deployment {
		version = DefaultAzureVersion
	}
	if q := u.Query(); version != "" && (a.APIVersion != "" || !q.Has("api-version")) {
		q.Set("api-version", version)
		u.RawQuery = q.Encode()
	}
	return deployment
}
