package agent

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An agent with a login of its own may have to go through a company's gateway. Its
// variables are passed on by name (Job.Env); what follows is what else they need.

// FileVariables returns the variables that name a file which an agent reads itself: certificates of
// a company's own, and credentials for a cloud.
func FileVariables() []string {
	return []string{
		"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CODEX_CA_CERTIFICATE",
		"GOOGLE_APPLICATION_CREDENTIALS", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY",
	}
}

// jobVariable returns the value of a variable that the job passes on, "" if it does not.
func (l *launch) jobVariable(name string) string {
	for _, e := range slices.Backward(l.job.Env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// codexRoute leads codex with a login of its own to the server of OPENAI_BASE_URL. The
// user's own settings, which may name a provider, are left out, and codex does not
// read that variable itself. With OPENAI_API_KEY it sends that key, otherwise it keeps
// its login.
func (l *launch) codexRoute() {
	base := l.jobVariable("OPENAI_BASE_URL")
	switch {
	case base == "":
	case l.jobVariable("OPENAI_API_KEY") == "":
		l.codexConfig("openai_base_url", strconv.Quote(base))
	default:
		l.codexConfig("model_provider", `"company"`)
		l.codexConfig("model_providers.company.name", `"company"`)
		l.codexConfig("model_providers.company.base_url", strconv.Quote(base))
		l.codexConfig("model_providers.company.env_key", `"OPENAI_API_KEY"`)
		l.codexConfig("model_providers.company.wire_api", `"responses"`)
	}
}

// claudeRoute returns the variables that say where claude's model is, of those that the
// job passes on. In its settings they are stronger than what a workspace brings.
func (l *launch) claudeRoute() map[string]string {
	if !l.login() {
		return map[string]string{"ANTHROPIC_BASE_URL": l.job.Endpoint.base()}
	}
	route := map[string]string{}
	for _, name := range []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLOUD_ML_REGION", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
	} {
		if value := l.jobVariable(name); value != "" {
			route[name] = value
		}
	}
	return route
}

// readable returns those of the files that the agent may read: one that is kept from
// it, or that is not there, is left out.
func (a *Agent) readable(files []string, try func(file string) error) []string {
	var out []string
	for _, file := range files {
		if filepath.IsAbs(file) && isFile(file) && try(file) == nil {
			out = append(out, file)
		}
	}
	return out
}
