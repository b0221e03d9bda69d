package transcript

// Sources returns all sources, in the order of their names in documentation.
func Sources() []Source {
	return []Source{Claude{}, Codex{}, Copilot{}, VSCode{}, Cursor{}, Gemini{}, Qwen{}, OpenCode{}, Pi{}, Devin{}, OpenClaw{}, JSONL{}}
}

// IsUntried reports whether a source was written from public descriptions and never read a store of
// the real program.
func IsUntried(source string) bool {
	switch source {
	case "vscode", "cursor", "devin", "openclaw":
		return true
	}
	return false
}
