package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Surroundings are variables by which a program's user, or their company, leads
// it to its model: the names that its documentation has for them.
type Surroundings struct {
	Open   []string // where to: addresses, regions, switches, files of certificates
	Secret []string // as whom: keys, tokens, headers
}

// Surround returns those of an agent with a login of its own. home is its
// user's; "" leaves out what is set up there.
func Surround(name, home string) Surroundings {
	s := Surroundings{Open: []string{
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}}
	cloud := []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"}
	keys := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}
	switch name {
	case "claude":
		s.Open = append(append(s.Open, cloud...),
			"ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "ANTHROPIC_BEDROCK_BASE_URL",
			"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION")
		s.Secret = append(keys, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "GOOGLE_APPLICATION_CREDENTIALS")
	case "codex":
		s.Open = append(s.Open, "OPENAI_BASE_URL")
		if home != "" {
			_, s.Secret = codexProvider(home)
		}
	case "gemini":
		s.Open = append(s.Open, "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
	case "qwen":
		s.Open = append(s.Open, "OPENAI_BASE_URL")
	}
	return s
}

// maxCodexConfig bounds the settings of codex that are read, in bytes.
const maxCodexConfig = 1 << 20

var (
	tomlSection = pattern.New(`^\[\s*([A-Za-z0-9_.-]+)\s*\]`)
	tomlSetting = pattern.New(`^([A-Za-z0-9_-]+)\s*=\s*(.+?)\s*$`)
	tomlText    = pattern.New(`"([^"\\]*)"`)
)

// codexProvider reads from the settings of codex's user which server its model is
// behind: settings to be given again, since all others are left out, and the
// variables that they name. What would show a secret in arguments is left out:
// headers and tokens that are in the file itself. So is a setting of several
// lines.
func codexProvider(home string) (settings, vars []string) {
	data, err := disk.Read(context.Background(), filepath.Join(home, ".codex", "config.toml"), maxCodexConfig)
	if err != nil {
		return nil, nil // there are none
	}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if m := tomlSection.FindStringSubmatch(line); m != nil {
			section = m[1]
			continue
		}
		m := tomlSetting.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "[") || !codexRoute(section, m[1]) || strings.HasPrefix(m[2], `"""`) || strings.HasPrefix(m[2], "'''") {
			continue
		}
		key := m[1]
		if section != "" {
			key = section + "." + key
		}
		settings = append(settings, key+"="+m[2])
		if m[1] == "env_key" || m[1] == "env_http_headers" || strings.HasSuffix(section, ".env_http_headers") {
			values := tomlText.FindAllStringSubmatch(m[2], -1)
			if len(values) > 0 {
				vars = append(vars, values[len(values)-1][1])
			}
		}
	}
	return settings, vars
}

// codexRoute reports whether a setting says where the model is.
func codexRoute(section, key string) bool {
	provider, part, _ := strings.Cut(strings.TrimPrefix(section, "model_providers."), ".")
	switch {
	case section == "":
		return key == "model_provider" || key == "openai_base_url"
	case !strings.HasPrefix(section, "model_providers.") || provider == "":
		return false
	case part == "":
		return slices.Contains([]string{
			"name", "base_url", "env_key", "wire_api", "query_params", "env_http_headers", "requires_openai_auth", "supports_websockets",
			"request_max_retries", "stream_max_retries", "stream_idle_timeout_ms",
		}, key)
	}
	return part == "query_params" || part == "env_http_headers" || part == "auth" || part == "aws"
}
