package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
)

const companyConfig = `model_provider = "company"
model = "their-model"
[model_providers.company]
name = "Company gateway"
base_url = "http://gateway.example/v1"
env_key = "COMPANY_LLM_KEY"
wire_api = "responses"
experimental_bearer_token = "secret-in-the-file"
http_headers = { "X-Team" = "secret-header" }
env_http_headers = { "X-User" = "COMPANY_USER" }
[model_providers.company.query_params]
"api-version" = "1"
version = "2"
[mcp_servers.mine]
command = "mcp"
`

func userHome(t *testing.T, config string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// Of the settings of codex's user those count that say where the model is, without
// what must not stand in arguments.
func TestCodexProvider(t *testing.T) {
	t.Parallel()
	settings, vars := codexProvider(userHome(t, companyConfig))
	want := []string{
		`model_provider="company"`,
		`model_providers.company.name="Company gateway"`,
		`model_providers.company.base_url="http://gateway.example/v1"`,
		`model_providers.company.env_key="COMPANY_LLM_KEY"`,
		`model_providers.company.wire_api="responses"`,
		`model_providers.company.env_http_headers={ "X-User" = "COMPANY_USER" }`,
		`model_providers.company.query_params.version="2"`,
	}
	if diff := cmp.Diff(want, settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"COMPANY_LLM_KEY", "COMPANY_USER"}, vars); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if settings, vars := codexProvider(t.TempDir()); settings != nil || vars != nil {
		t.Errorf("without settings: %q, %q", settings, vars)
	}
}

func TestSurround(t *testing.T) {
	t.Parallel()
	claude := Surround("claude", "")
	for _, name := range []string{"ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "AWS_REGION", "CLAUDE_CODE_USE_VERTEX", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"} {
		if !slices.Contains(claude.Open, name) {
			t.Errorf("claude lacks %s", name)
		}
	}
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY"} {
		if !slices.Contains(claude.Secret, name) || slices.Contains(claude.Open, name) {
			t.Errorf("%s is no secret of claude", name)
		}
	}
	if got := Surround("codex", userHome(t, companyConfig)).Secret; !slices.Contains(got, "COMPANY_LLM_KEY") {
		t.Errorf("codex has the secrets %q", got)
	}
	if !slices.Contains(Surround("gemini", "").Open, "GOOGLE_GEMINI_BASE_URL") {
		t.Error("gemini lacks its address")
	}
	for _, name := range Names() {
		for _, open := range Surround(name, "").Open {
			if strings.Contains(open, "KEY") || strings.Contains(open, "TOKEN") {
				t.Errorf("%s: %s is open", name, open)
			}
		}
	}
}

func TestCodexCatalog(t *testing.T) {
	t.Parallel()
	got, ok := codexCatalog([]byte(`{"models":[{"slug":"m","apply_patch_tool_type":"freeform","tool_mode":"code_mode_only","context_window":9}]}`))
	var list struct{ Models []map[string]any }
	if err := json.Unmarshal(got, &list); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := map[string]any{"slug": "m", "apply_patch_tool_type": nil, "tool_mode": nil, "context_window": 9.0}
	if diff := cmp.Diff(want, list.Models[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "error: unrecognized subcommand", `{"models":[]}`} {
		if _, ok := codexCatalog([]byte(text)); ok {
			t.Errorf("%q passes for a list", text)
		}
	}
}

// With a login of its own codex goes to the server that its user has set up.
func TestRealCompanyGateway(t *testing.T) {
	each(t, func(t *testing.T, a *Agent) {
		if a.Name() != "codex" {
			t.Skip("it is led by variables")
		}
		f := newFakeModel(t, plotText)
		j := realJob(t, f)
		j.LoginHome = userHome(t, strings.Replace(companyConfig, "http://gateway.example", j.Endpoint.URL, 1))
		j.Endpoint, j.Chat, j.Env = nil, &Chat{System: "Be brief."}, []string{"COMPANY_LLM_KEY=company-secret-key"}
		rep, err := a.Run(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Status != score.OK || rep.Answer != fakeAnswer {
			t.Errorf("%s %s: %q\n%s", rep.Status, rep.Reason, rep.Answer, rep.Raw)
		}
	})
}
