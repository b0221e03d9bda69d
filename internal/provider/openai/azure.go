package openai

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// The ways to prove who one is to Azure.
const (
	AzureKey             = "api_key"          // the key of the resource, in the header api-key
	AzureCLI             = "azure_cli"        // the user who is logged in with az
	AzureManagedIdentity = "managed_identity" // the machine that this runs on
	AzureCompatible      = "compatible"       // a bearer token of the user, as at OpenAI
)

// azureVersion is the version of the API in the older form of addresses.
const azureVersion = "2025-04-01-preview"

// Azure says how Azure OpenAI is spoken to. There are two forms of addresses, and
// Options.BaseURL may be the bare address of the resource for both:
//
//   - https://RESOURCE.openai.azure.com/openai/v1, where a version is not needed;
//   - https://RESOURCE.openai.azure.com/openai/deployments/MODEL/...?api-version=V,
//     which is used when BaseURL has a date as its api-version and no path, or ends in
//     /openai or /openai/deployments/NAME. Without a version there it is
//     azureVersion.
//
// The model of a request is the name of the deployment.
type Azure struct {
	// Auth is one of the constants; "" means AzureKey.
	Auth string
	// Tokens is where tokens come from, with AzureCLI and AzureManagedIdentity; nil is
	// ErrNoTokens once all else is right.
	Tokens TokenSource
}

// check refuses what would send a token to a host that it is not meant for.
func (a *Azure) check(o Options) error {
	if a == nil {
		return nil
	}
	fault := checkChoice("azure auth", a.Auth, "", AzureKey, AzureCLI, AzureManagedIdentity, AzureCompatible)
	base, err := parseBase(o.BaseURL)
	if err != nil || !a.WithToken() {
		return fault // a broken base is reported by New
	}
	return tokenHost(base)
}

// WithToken reports whether Auth is by a token of Entra ID.
func (a *Azure) WithToken() bool {
	return a != nil && (a.Auth == AzureCLI || a.Auth == AzureManagedIdentity)
}

// azureHost matches hosts of Azure's clouds for models: the public one, that of the
// government of the USA, and that in China.
var azureHost = pattern.New(`(?i)\.(?:openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn)$`)

// AzureScope returns what a token of Entra ID is asked for: the models of the cloud that
// the server at an address is in.
func AzureScope(base string) string {
	cloud := "com"
	if u, err := url.Parse(base); err == nil {
		if host := azureHost.FindStringSubmatch(u.Hostname()); host != nil {
			cloud = strings.ToLower(host[1])
		}
	}
	return "https://cognitiveservices.azure." + cloud + "/.default"
}

// tokenHost refuses a place that a token of Entra ID must not be sent to: such a
// token opens more than the models.
func tokenHost(u *url.URL) error {
	if u.Scheme == "https" && azureHost.MatchString(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("azure: a token of Entra ID is sent to https:// hosts of openai.azure.com, cognitiveservices.azure.com and services.ai.azure.com only (or .us, .cn), not to %s://%s", u.Scheme, u.Host)
}

// place completes the address of a resource and reports whether it is of the
// older form, with deployments.
func (a *Azure) place(u *url.URL) (deployment bool) {
	path, query := strings.TrimSuffix(u.Path, "/"), u.Query()
	version := query.Get("api-version")
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
	case version != "" && version[0] >= '0' && version[0] <= '9':
		path, deployment = "/openai", true
	default:
		path = "/openai/v1"
	}
	u.Path = path
	if version == "" && deployment {
		query.Set("api-version", azureVersion)
		u.RawQuery = query.Encode()
	}
	return deployment
}
