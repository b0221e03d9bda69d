package tree

import (
	"path"
	"slices"
	"strings"
)

// steering are the files and folders (with a slash at the end) that say to an agent what to run,
// what to connect to or what it may do, wherever they lie. What it is given in words (CLAUDE.md,
// AGENTS.md, GEMINI.md, rules, skills) is what is trained, and stays.
var steering = []string{
	".mcp.json", "mcp.json",
	".claude/settings*.json", ".claude/hooks/", ".claude/plugins/", ".claude/mcp*.json", ".claude-plugin/",
	".codex/config.toml", ".codex/hooks*", ".codex/*.json", ".codex/rules/",
	".cursor/mcp.json", ".cursor/hooks*", ".cursor/*.json", ".cursor/environment.json",
	".gemini/settings.json", ".gemini/hooks/", ".gemini/extensions/", ".gemini/*.json", ".gemini/.env",
	".qwen/settings.json", ".qwen/hooks/", ".qwen/extensions/", ".qwen/*.json",
	"opencode.json*", ".opencode/*.json*", ".opencode/plugin/", ".opencode/plugins/", ".opencode/tool/", ".opencode/tools/",
	".github/copilot/", ".github/hooks/", ".copilot/",
	".pi/settings.json", ".pi/extensions/", ".pi/*.json", ".pi/hooks/",
	".agents/hooks/", ".agents/*.json", ".agents/plugins/",
	".vscode/mcp.json", ".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json",
	".devin/config*", ".devin/hooks/", ".devin/*.json", ".windsurf/mcp*.json", ".windsurf/hooks*",
	".openclaw/*.json", ".openclaw/hooks/", ".envrc", ".mise.toml", ".tool-versions",
}

// Steers reports whether a file of a project steers agents: what they run, connect to or may do.
// name has slashes.
func Steers(name string) bool {
	have := strings.Split(strings.ToLower(name), "/")
	return slices.ContainsFunc(steering, func(rule string) bool { return matchesRule(have, rule) })
}

// matchesRule reports whether a path, in its parts, ends with what a rule names, or lies in the folder that it names.
func matchesRule(have []string, rule string) bool {
	rule, folder := strings.CutSuffix(rule, "/")
	parts := 1 + strings.Count(rule, "/")
	first, _, _ := strings.Cut(rule, "/")
	for i := 0; i+parts <= len(have); i++ {
		if folder == (i+parts == len(have)) {
			continue
		}
		if ok, err := path.Match(first, have[i]); err != nil || !ok {
			continue
		}
		if ok, err := path.Match(rule, strings.Join(have[i:i+parts], "/")); err == nil && ok {
			return true
		}
	}
	return false
}

// secrets are names of files that hold secrets, in lower case.
var secrets = []string{
	".env", ".env.*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa.*", "id_ed25519.*",
	"credentials", "credentials.*", "*credentials.json", "client_secret*.json", "service-account*.json", "service_account*.json",
	"secrets.*", "secret.*", "*.tfstate", "*.tfstate.backup", "terraform.tfvars", "kubeconfig", ".vault-token", ".vault_pass*", "auth.json", "wp-config.php",
}

// secretFolders are folders whose files are secrets.
var secretFolders = []string{".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".gcloud"}

// examples are the endings of files that show how one with secrets is written.
var examples = []string{".example", ".sample", ".template", ".dist", ".tmpl", ".defaults", ".test"}

// sources are the endings of programs: a file secrets.go holds no secrets.
var sources = []string{".go", ".py", ".rs", ".js", ".ts", ".tsx", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".cs", ".rb", ".php", ".swift", ".md", ".html", ".sh", ".ex", ".hs", ".scala", ".proto"}

// Secret reports whether a file looks by its name as if it held secrets. name has slashes.
func Secret(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains(secretFolders, dir) {
			return true
		}
	}
	if slices.Contains(examples, path.Ext(base)) || slices.Contains(sources, path.Ext(base)) && base != "wp-config.php" {
		return false
	}
	return slices.ContainsFunc(secrets, func(rule string) bool { ok, err := path.Match(rule, base); return err == nil && ok })
}
