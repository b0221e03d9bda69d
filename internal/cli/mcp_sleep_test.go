package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// grant notes the consent of the user that is staged.
func (h *stagedHome) grant(host string) {
	h.t.Helper()
	b, err := bank.Open(h.t.Context(), filepath.Join(h.dir, "state"))
	must(h.t, err)
	must(h.t, errors.Join(b.Grant(h.t.Context(), "target", host, time.Now()), b.Close()))
}

func (h *stagedHome) hashOf(s *sdk.ClientSession, target string) string {
	h.t.Helper()
	text, failed := callMCP(h.t, s, "sleep_diff", map[string]any{"night": stagedNight})
	if failed {
		h.t.Fatal(text)
	}
	for _, part := range strings.Split(text, `{"`) {
		if strings.Contains(part, `"target":"`+target+`"`) {
			_, hash, _ := strings.Cut(part, `hash":"`)
			hash, _, _ = strings.Cut(hash, `"`)
			return hash
		}
	}
	h.t.Fatal(text)
	return ""
}

// Sleep tools show a night to an agent whose vendor the user has agreed to alone.
func TestMCPSleepNeedsConsent(t *testing.T) {
	h := newStagedHome(t)
	flags := []string{"--root", filepath.Join(h.dir, "project"), "--profile", filepath.Join(h.dir, "sleep.yaml")}
	for _, tt := range []struct{ client, host, want string }{
		{"claude-code", "", "has not agreed that it goes to api.anthropic.com"},
		{"claude-code", "api.openai.com", "has not agreed that it goes to api.anthropic.com"},
		{"emacs", "api.openai.com", `who the vendor of "emacs" is`},
		{"codex-mcp-client", "api.openai.com", "Rule one"},
	} {
		if tt.host != "" {
			h.grant(tt.host)
		}
		t.Run(tt.client, func(t *testing.T) {
			s := connectMCP(t, h.dir, tt.client, nil, flags...)
			for _, tool := range []string{"sleep_diff", "sleep_status", "sleep_show"} {
				text, failed := callMCP(t, s, tool, nil)
				if want := tt.want; failed != (want != "Rule one") || tool == "sleep_diff" && !strings.Contains(text, want) {
					t.Errorf("%s: failed %v: %s", tool, failed, text)
				}
			}
			if text, failed := callMCP(t, s, "sleep_adopt", map[string]any{"night": stagedNight, "hash": strings.Repeat("0", 12)}); !failed {
				t.Error(text)
			}
		})
	}
}

// A project that the profile does not allow has no nights here.
func TestMCPSleepOfAnotherProject(t *testing.T) {
	h := newStagedHome(t)
	h.grant("api.anthropic.com")
	s := connectMCP(t, h.dir, "claude-code", nil, "--root", filepath.Join(h.dir, "outside"), "--profile", filepath.Join(h.dir, "sleep.yaml"))
	for _, tool := range []string{"sleep_diff", "sleep_status", "sleep_show"} {
		if text, failed := callMCP(t, s, tool, nil); !failed || !strings.Contains(text, "does not allow the project") {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// Nothing is adopted but by a person who has typed the beginning of the hash.
func TestMCPAdoptionNeedsAPerson(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  func(hash string) *sdk.ElicitResult // nil: the client shows no forms
		adopted bool
	}{
		{"no forms", nil, false},
		{"declined", func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} }, false},
		{"cancelled", func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} }, false},
		{"accepted and empty", func(string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"typed": ""}}
		}, false},
		{"accepted without content", func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "accept"} }, false},
		{"accepted by a program", func(string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"typed": "yes"}}
		}, false},
		{"another type", func(string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"typed": true}}
		}, false},
		{"declined with the hash", func(hash string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "decline", Content: map[string]any{"typed": hash[:6]}}
		}, false},
		{"the whole hash", func(hash string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"typed": hash}}
		}, false},
		{"typed", func(hash string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"typed": hash[:6]}}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newStagedHome(t)
			h.grant("api.anthropic.com")
			hash := ""
			opts := &sdk.ClientOptions{}
			if tt.answer != nil {
				opts.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					if m := r.Params.Message; !strings.Contains(m, "CLAUDE.md") || !strings.Contains(m, "Rule one") || !strings.Contains(m, hash) {
						t.Errorf("the form says: %s", m)
					}
					return tt.answer(hash), nil
				}
			}
			s := connectMCP(t, h.dir, "claude-code", opts, "--root", filepath.Join(h.dir, "project"), "--profile", filepath.Join(h.dir, "sleep.yaml"))
			hash = h.hashOf(s, "memory:CLAUDE.md")
			if text, failed := callMCP(t, s, "sleep_adopt", map[string]any{"night": stagedNight, "hash": strings.Repeat("0", 64)}); !failed || !strings.Contains(text, "has staged nothing with the hash") {
				t.Error(text)
			}
			text, failed := callMCP(t, s, "sleep_adopt", map[string]any{"night": stagedNight, "hash": hash[:12]})
			data, err := os.ReadFile(filepath.Join(h.dir, "project", "CLAUDE.md"))
			must(t, err)
			if got := strings.Contains(string(data), "Rule one"); got != tt.adopted || failed == tt.adopted {
				t.Errorf("adopted %v, failed %v: %s", got, failed, text)
			}
			if !tt.adopted && !strings.Contains(text, "skillopt sleep adopt "+stagedNight) {
				t.Errorf("no command: %s", text)
			}
		})
	}
}
