package importer

import "strings"

// The backends of SkillOpt, by their present names. Two of them are labels: names
// for both roles, which no role has.
const (
	AzureLabel       = "azure_openai" // a label: no choice was made
	CodexLabel       = "codex"        // a label: CodexExec
	OpenAIChat       = "openai_chat"
	OpenAICompatible = "openai_compatible"
	ClaudeChat       = "claude_chat"
	QwenChat         = "qwen_chat"
	MiniMaxChat      = "minimax_chat"
	CopilotChat      = "copilot_chat"
	CodexExec        = "codex_exec"
	ClaudeCodeExec   = "claude_code_exec"
	CursorExec       = "cursor_exec"
	CopilotExec      = "copilot_exec"
)

// BackendAlias returns the backend that a name represents. Case and white space
// around it do not matter; no name is AzureLabel. A name that is not known is
// returned as it is, in lower case.
func BackendAlias(name string) string {
	name = strings.ToLower(strings.TrimFunc(name, isSpace))
	switch name {
	case "", "azure", "azure-openai":
		return AzureLabel
	case "openai":
		return CodexLabel
	case "openai-compatible", "openai_compatible_chat", "compat":
		return OpenAICompatible
	case "claude", "anthropic":
		return ClaudeChat
	case "qwen":
		return QwenChat
	case "minimax":
		return MiniMaxChat
	case "copilot", "copilot_cli", "github_copilot":
		return CopilotChat
	case "cursor", "cursor_agent":
		return CursorExec
	}
	return name
}

// RoleBackends returns the backends of the two roles: a label sets the roles
// that it can serve, and a role that names a backend of its own keeps that. A
// role counts as silent when it is empty or has the default, OpenAIChat.
func RoleBackends(label, optimizer, target string) (forOptimizer, forTarget string) {
	forOptimizer, forTarget = OpenAIChat, OpenAIChat
	switch b := role(label); b {
	case ClaudeChat, CodexExec, CopilotChat, OpenAICompatible:
		forOptimizer, forTarget = b, b
	case ClaudeCodeExec, CursorExec, CopilotExec, QwenChat, MiniMaxChat:
		forTarget = b
	}
	if b := role(optimizer); b != OpenAIChat {
		forOptimizer = b
	}
	if b := role(target); b != OpenAIChat {
		forTarget = b
	}
	return forOptimizer, forTarget
}

// role returns the backend that a name means for one role.
func role(name string) string {
	switch b := BackendAlias(name); b {
	case AzureLabel:
		return OpenAIChat
	case CodexLabel:
		return CodexExec
	default:
		return b
	}
}

// backends returns the backends that a role can have.
func backends() []string {
	return []string{
		OpenAIChat, OpenAICompatible, ClaudeChat, QwenChat, MiniMaxChat, CopilotChat,
		CodexExec, ClaudeCodeExec, CursorExec, CopilotExec,
	}
}
