package harvest_test

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/fakemodel"
)

// realCLI is how a coding agent is driven without a terminal so that it writes down its
// session, and what is known of what it writes. In its texts $HOME, $URL and $PROJECT stand
// for the home folder, the model's server and the project.
type realCLI struct {
	name    string
	module  string            // of npm
	files   map[string]string // settings in the home folder
	env     []string          // besides what all have
	first   []string          // arguments for a new session; the prompt is standard input
	again   []string          // for the newest session of the folder
	load    fakemodel.Call    // loads the skill
	write   fakemodel.Call    // writes the file; $TEXT is what
	rewrite []fakemodel.Call  // writes it once more; nil: the same
	fail    fakemodel.Call    // fails
	source  transcript.Source //
	skillBy transcript.Evidence
	origin  transcript.Origin
	failed  string // what a 401 is called

	records   bool // the commit
	noVersion bool // sessions do not tell the version
}

type args = map[string]any

// realCLIs are those that .ci/agents/package.json installs.
func realCLIs() []realCLI {
	return []realCLI{realClaude(), realCodex(), realPi(), realCopilot(), realGemini(), realQwen(), realOpenCode()}
}

func realClaude() realCLI {
	flags := []string{"-p", "--output-format", "json", "--strict-mcp-config", "--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-6"}
	return realCLI{
		name: "claude", module: "@anthropic-ai/claude-code", source: transcript.Claude{},
		env: []string{
			"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_API_KEY=made-up", "IS_SANDBOX=1", "CLAUDE_CODE_MAX_RETRIES=1", "DISABLE_AUTOUPDATER=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		},
		first: flags, again: append(flags, "--continue"),
		load:    fakemodel.Call{Tool: "Skill", Args: args{"skill": "house-rules"}},
		write:   fakemodel.Call{Tool: "Write", Args: args{"file_path": "$PROJECT/out.txt", "content": "$TEXT"}},
		fail:    fakemodel.Call{Tool: "Bash", Args: args{"command": "exit 3", "description": "fail"}},
		skillBy: transcript.ByRecord, origin: transcript.Headless, failed: "authentication_failed",
	}
}

func realCodex() realCLI {
	flags := []string{
		"--json", "--skip-git-repo-check", "-c", "model_provider=fake", "-c", `model="fake-model"`, "-c", `model_providers.fake.name="fake"`,
		"-c", `model_providers.fake.base_url="$URL/v1"`, "-c", `model_providers.fake.env_key="FAKE_KEY"`, "-c", `model_providers.fake.wire_api="responses"`,
		"-c", "model_providers.fake.request_max_retries=1", "-c", "model_providers.fake.stream_max_retries=1", "-c", "features.plugins=false",
		"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-c", `sandbox_mode="danger-full-access"`, "-c", "allow_login_shell=false",
	}
	patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: out.txt\n+$TEXT\n*** End Patch\nEOF"
	return realCLI{
		name: "codex", module: "@openai/codex", source: transcript.Codex{},
		files: map[string]string{".codex/.keep": ""}, // it wants the folder to be there
		env:   []string{"FAKE_KEY=made-up"},
		first: append([]string{"exec"}, flags...), again: append([]string{"exec", "resume", "--last"}, append(flags, "-")...),
		load:    fakemodel.Call{Tool: "exec_command", Args: args{"cmd": "cat .agents/skills/house-rules/SKILL.md"}},
		write:   fakemodel.Call{Tool: "exec_command", Args: args{"cmd": patch}},
		fail:    fakemodel.Call{Tool: "exec_command", Args: args{"cmd": "exit 3"}},
		skillBy: transcript.ByRead, origin: transcript.Headless, failed: "http_connection_failed 401", records: true,
	}
}

func realPi() realCLI {
	flags := []string{"--mode", "json", "--provider", "fake", "--model", "fake-model", "-p"}
	return realCLI{
		name: "pi", module: "@earendil-works/pi-coding-agent", source: transcript.Pi{}, noVersion: true,
		files: map[string]string{".pi/agent/models.json": settings(args{"providers": args{"fake": args{
			"baseUrl": "$URL/v1", "api": "openai-completions", "apiKey": "FAKE_KEY", "models": []any{args{"id": "fake-model", "name": "Fake", "input": []string{"text"}}},
		}}})},
		env:   []string{"FAKE_KEY=made-up", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"},
		first: flags, again: append(flags, "--continue"),
		load:    fakemodel.Call{Tool: "read", Args: args{"path": "$PROJECT/.agents/skills/house-rules/SKILL.md"}},
		write:   fakemodel.Call{Tool: "write", Args: args{"path": "$PROJECT/out.txt", "content": "$TEXT"}},
		fail:    fakemodel.Call{Tool: "bash", Args: args{"command": "exit 3"}},
		skillBy: transcript.ByRead, origin: transcript.Interactive, failed: `401: {"code":"invalid_api_key","message":"invalid api key","type":"invalid_request_error"}`, // nothing tells a script's
	}
}

func realCopilot() realCLI {
	flags := []string{"--output-format", "json", "--stream", "off", "--no-color", "--log-level", "none", "--disable-builtin-mcps", "--no-custom-instructions", "--allow-all-tools", "--allow-all-paths"}
	return realCLI{
		name: "copilot", module: "@github/copilot", source: transcript.Copilot{},
		env: []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_HOME=$HOME/.copilot", "COPILOT_PROVIDER_BASE_URL=$URL/v1", "COPILOT_PROVIDER_TYPE=openai",
			"COPILOT_PROVIDER_WIRE_API=completions", "COPILOT_PROVIDER_API_KEY=made-up", "COPILOT_MODEL=fake-model",
		},
		first: flags, again: append(flags, "--continue"),
		load:    fakemodel.Call{Tool: "skill", Args: args{"skill": "house-rules"}},
		write:   fakemodel.Call{Tool: "create", Args: args{"path": "$PROJECT/out.txt", "file_text": "$TEXT"}},
		rewrite: []fakemodel.Call{{Tool: "edit", Args: args{"path": "$PROJECT/out.txt", "old_str": "22.11.26", "new_str": "$TEXT"}}},
		fail:    fakemodel.Call{Tool: "view", Args: args{"path": "$PROJECT/missing.txt"}},
		skillBy: transcript.ByRecord, origin: transcript.Headless, failed: "authentication", records: true,
	}
}

func realGemini() realCLI {
	flags := []string{"--approval-mode", "yolo", "--output-format", "json", "-m", "gemini-2.5-flash"}
	return realCLI{
		name: "gemini", module: "@google/gemini-cli", source: transcript.Gemini{}, noVersion: true,
		files: map[string]string{".gemini/settings.json": settings(args{
			"security": args{"auth": args{"selectedType": "gemini-api-key"}}, "privacy": args{"usageStatisticsEnabled": false},
			"general": args{"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "sessionRetention": args{"enabled": false}}, "telemetry": args{"enabled": false},
		})},
		env:   []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=$URL", "GEMINI_API_KEY=made-up"},
		first: flags, again: append(flags, "--resume", "latest"),
		load:    fakemodel.Call{Tool: "activate_skill", Args: args{"name": "house-rules"}},
		write:   fakemodel.Call{Tool: "write_file", Args: args{"file_path": "$PROJECT/out.txt", "content": "$TEXT"}},
		fail:    fakemodel.Call{Tool: "read_file", Args: args{"file_path": "$PROJECT/missing.txt"}},
		skillBy: transcript.ByTool, origin: transcript.Headless, failed: "unanswered",
	}
}

func realQwen() realCLI {
	flags := []string{"--auth-type", "openai", "-y", "--output-format", "json"}
	return realCLI{
		name: "qwen", module: "@qwen-code/qwen-code", source: transcript.Qwen{},
		files: map[string]string{".qwen/settings.json": settings(args{
			"privacy": args{"usageStatisticsEnabled": false}, "telemetry": args{"enabled": false},
			"general": args{"disableAutoUpdate": true, "enableAutoUpdate": false, "disableUpdateNag": true},
		})},
		env:   []string{"OPENAI_BASE_URL=$URL/v1", "OPENAI_API_KEY=made-up", "OPENAI_MODEL=fake-model"},
		first: flags, again: append(flags, "--continue"),
		load:  fakemodel.Call{Tool: "skill", Args: args{"skill": "house-rules"}},
		write: fakemodel.Call{Tool: "write_file", Args: args{"file_path": "$PROJECT/out.txt", "content": "$TEXT"}},
		rewrite: []fakemodel.Call{ // it refuses to write a file that it has not read since it was started
			{Tool: "read_file", Args: args{"file_path": "$PROJECT/out.txt"}},
			{Tool: "write_file", Args: args{"file_path": "$PROJECT/out.txt", "content": "$TEXT"}},
		},
		fail:    fakemodel.Call{Tool: "read_file", Args: args{"file_path": "$PROJECT/missing.txt"}},
		skillBy: transcript.ByTool, origin: transcript.Headless, failed: "AuthenticationError",
	}
}

func realOpenCode() realCLI {
	flags := []string{"run", "--format", "json", "-m", "fake/fake-model"}
	config := settings(args{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
		"permission": args{"edit": "allow", "bash": "allow", "webfetch": "deny"},
		"provider": args{"fake": args{
			"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": args{"baseURL": "$URL/v1", "apiKey": "made-up"},
			"models": args{"fake-model": args{"name": "Fake", "limit": args{"context": 100000, "output": 8000}}},
		}},
	})
	return realCLI{
		name: "opencode", module: "opencode-ai", source: transcript.OpenCode{},
		env: []string{
			"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		},
		first: append(flags, "--title", "task"), again: append(flags, "--continue"),
		load:    fakemodel.Call{Tool: "skill", Args: args{"name": "house-rules"}},
		write:   fakemodel.Call{Tool: "write", Args: args{"filePath": "$PROJECT/out.txt", "content": "$TEXT"}},
		fail:    fakemodel.Call{Tool: "read", Args: args{"filePath": "$PROJECT/missing.txt"}},
		skillBy: transcript.ByTool, origin: transcript.Headless, failed: "APIError",
	}
}

func settings(v args) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
