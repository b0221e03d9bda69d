package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// maxCatalog bounds the list of its models that a program prints, in bytes.
const maxCatalog = 8 << 20

// codexBare takes away the tools that go by the model and not by a setting:
// apply_patch, code mode with the tools in it, helpers. Codex is handed its own
// list of models without them; one that is not in the list has none of them. A
// version that prints no such list is left as it is: the sandbox lets it write
// nothing.
func (l *launch) codexBare() error {
	for _, key := range []string{
		"include_environment_context", "include_permissions_instructions", "include_apps_instructions",
		"include_collaboration_mode_instructions", "skills.include_instructions", "skills.bundled.enabled",
	} {
		l.codexConfig(key, "false")
	}
	args := []string{"debug", "models"}
	if !l.login() {
		args = append(args, "--bundled") // or it would look for a newer list
	}
	printed, err := l.ask(args...)
	if err != nil {
		return err
	}
	bare, ok := codexCatalog(printed)
	if !ok {
		return nil
	}
	path, err := l.file("models.json", string(bare))
	if err != nil {
		return err
	}
	l.codexConfig("model_catalog_json", strconv.Quote(path))
	return nil
}

// codexCatalog returns a list of models without their tools; false if printed is no such list.
func codexCatalog(printed []byte) (bare []byte, ok bool) {
	var list struct {
		Models []map[string]json.RawMessage `json:"models"`
	}
	if json.Unmarshal(printed, &list) != nil || len(list.Models) == 0 {
		return nil, false
	}
	without := map[string]json.RawMessage{
		"apply_patch_tool_type": []byte("null"), "tool_mode": []byte("null"), "multi_agent_version": []byte("null"), "model_messages": []byte("null"),
		"experimental_supported_tools": []byte("[]"), "shell_type": []byte(`"disabled"`), "supports_search_tool": []byte("false"),
	}
	for _, m := range list.Models {
		for name, value := range without {
			if _, given := m[name]; given {
				m[name] = value
			}
		}
	}
	bare, err := json.Marshal(list)
	return bare, err == nil
}

// newAskFunc returns the function by which an adapter asks its program about itself before it is
// launched: in the workspace, with the variables of the launch. What it prints counts only if it
// ended well; the error is that of ctx or of the start.
func (a *Agent) newAskFunc(ctx context.Context, l *launch, program, login string) func(args ...string) ([]byte, error) {
	return func(args ...string) ([]byte, error) {
		var out bytes.Buffer
		plan, _ := a.Reach() // that it cannot be confined is said when it is to work
		res, err := sandbox.Run(ctx, sandbox.Spec{
			Argv: append([]string{program}, args...), Dir: l.job.Workspace, Stdout: &out, MaxOutput: maxCatalog, Timeout: detectTime,
			Env: mergeEnv(plan.Env, baseEnv(a.opts.Path, l.job.Home, login), l.env, l.job.Env),
		})
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", program, err)
		}
		if res.Reason == sandbox.Cancelled {
			return nil, context.Cause(ctx)
		}
		if res.Reason != sandbox.Exited || res.Code != 0 {
			return nil, nil
		}
		return out.Bytes(), nil
	}
}
