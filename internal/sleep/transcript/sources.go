package transcript

// Sources are all sources, in the order of their names in documentation.
func Sources() []Source {
	return []Source{Claude{}, Codex{}, Copilot{}, VSCode{}, Cursor{}, Gemini{}, Qwen{}, OpenCode{}, Pi{}, Devin{}, OpenClaw{}, JSONL{}}
}

// Untried names the sources that were written from public descriptions and never read a store
// of the real program.
func Untried(source string) bool {
	switch source {
	case "vscode", "cursor", "devin", "openclaw":
		return true
	}
	return false
}
