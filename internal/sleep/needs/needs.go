// Package needs reports what a session used that a replay of its task does not have: the network, a
// login of the user's, an agent that holds keys, a container engine, a server on this machine,
// tools of other programs. It is pure.
//
// It judges by the names of tools and by the first words of commands, as a shell would read them.
// What a program reaches by itself, such as a test that connects to a database, it cannot see.
// It knows nothing about how a replay is confined, about repositories or nights.
package needs

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Need is something that a replay does not have.
type Need struct {
	What string // the tool or the command
	Kind Kind
}

// Kind says what it needs.
type Kind string

// The kinds of needs.
const (
	Network   Kind = "the network"
	Login     Kind = "a login"
	Keys      Kind = "an agent that holds keys"
	Container Kind = "a container engine"
	Server    Kind = "a server on this machine"
	Tools     Kind = "another program's tools"
)

// String says it for a person.
func (n Need) String() string { return n.What + " needs " + string(n.Kind) }

// Of returns the first thing that turns used and a replay does not have. Calls and commands that
// failed did not get it, and do not count.
func Of(turns []transcript.Turn) (Need, bool) {
	for i := range turns {
		for _, call := range turns[i].Tools {
			if kind := tool(call.Name); kind != "" && (call.OK == nil || *call.OK) {
				return Need{What: "the tool " + call.Name, Kind: kind}, true
			}
		}
		for _, c := range turns[i].Commands {
			if c.Exit != nil && *c.Exit != 0 {
				continue
			}
			if what, kind := command(c.Text, 0); kind != "" {
				return Need{What: "the command " + what, Kind: kind}, true
			}
		}
	}
	return Need{}, false
}

// tools of agents by which they reach the network, in lower case without "_" and "-".
var webTools = []string{"webfetch", "websearch", "googlewebsearch", "websearchexa", "fetch", "fetchurl", "browser", "computer", "computeruse", "readurl", "httprequest"}

// tool says what a tool needs; "" for nothing that is known.
func tool(name string) Kind {
	switch plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)); {
	case strings.Contains(name, "__"), strings.HasPrefix(plain, "mcp"), strings.Contains(plain, "mcpserver"):
		return Tools
	case slices.Contains(webTools, plain), strings.HasPrefix(plain, "browser"):
		return Network
	}
	return ""
}

// programs that need something whatever their arguments are.
var programs = map[string]Kind{
	"curl": Network, "wget": Network, "ftp": Network, "telnet": Network, "nc": Network, "ncat": Network, "netcat": Network, "socat": Network,
	"ping": Network, "dig": Network, "nslookup": Network, "http": Network, "https": Network, "xh": Network,
	"npx": Network, "bunx": Network, "uvx": Network, "pipx": Network,
	"ssh": Keys, "scp": Keys, "sftp": Keys, "mosh": Keys, "ssh-add": Keys, "ssh-agent": Keys, "gpg": Keys, "gpg2": Keys,
	"gh": Login, "glab": Login, "hub": Login, "aws": Login, "gcloud": Login, "gsutil": Login, "az": Login, "doctl": Login, "flyctl": Login, "fly": Login, "heroku": Login,
	"vercel": Login, "netlify": Login, "firebase": Login, "wrangler": Login, "kubectl": Login, "helm": Login, "k9s": Login, "terraform": Login, "tofu": Login, "pulumi": Login,
	"op": Login, "vault": Login, "sops": Login, "snowsql": Login, "bq": Login, "stripe": Login, "jira": Login,
	"docker": Container, "docker-compose": Container, "podman": Container, "nerdctl": Container, "buildah": Container, "minikube": Container, "kind": Container, "vagrant": Container,
	"psql": Server, "mysql": Server, "mariadb": Server, "redis-cli": Server, "mongosh": Server, "mongo": Server, "systemctl": Server, "service": Server,
	"uvicorn": Server, "gunicorn": Server, "nginx": Server, "http-server": Server, "serve": Server,
}

// subcommands that need something, by program.
var subcommands = map[string]map[string]Kind{
	"git":      {"push": Login, "pull": Network, "fetch": Network, "clone": Network, "ls-remote": Network, "lfs": Network, "send-email": Network},
	"npm":      {"install": Network, "i": Network, "ci": Network, "add": Network, "update": Network, "publish": Login, "login": Login, "audit": Network, "view": Network, "create": Network, "init": Network, "exec": Network, "start": Server},
	"yarn":     {"": Network, "install": Network, "add": Network, "upgrade": Network, "publish": Login, "dlx": Network, "create": Network, "start": Server, "dev": Server},
	"pnpm":     {"install": Network, "i": Network, "add": Network, "update": Network, "publish": Login, "dlx": Network, "create": Network, "start": Server, "dev": Server},
	"bun":      {"install": Network, "i": Network, "add": Network, "update": Network, "publish": Login, "x": Network, "create": Network},
	"deno":     {"install": Network, "add": Network, "deploy": Login},
	"pip":      {"install": Network, "download": Network},
	"pip3":     {"install": Network, "download": Network},
	"uv":       {"add": Network, "sync": Network, "lock": Network, "pip": Network, "tool": Network, "publish": Login},
	"poetry":   {"install": Network, "add": Network, "update": Network, "lock": Network, "publish": Login},
	"conda":    {"install": Network, "create": Network, "update": Network},
	"cargo":    {"install": Network, "add": Network, "update": Network, "fetch": Network, "publish": Login, "login": Login},
	"go":       {"get": Network, "install": Network},
	"gem":      {"install": Network, "push": Login},
	"bundle":   {"install": Network, "update": Network},
	"composer": {"install": Network, "require": Network, "update": Network},
	"dotnet":   {"restore": Network, "add": Network},
	"apt":      {"install": Network, "update": Network, "upgrade": Network},
	"apt-get":  {"install": Network, "update": Network, "upgrade": Network},
	"brew":     {"install": Network, "update": Network, "upgrade": Network},
	"dnf":      {"install": Network, "update": Network},
	"yum":      {"install": Network, "update": Network},
	"apk":      {"add": Network, "update": Network},
	"pacman":   {"-S": Network, "-Syu": Network, "-Sy": Network},
	"next":     {"dev": Server, "start": Server},
	"vite":     {"": Server, "dev": Server, "preview": Server},
	"flask":    {"run": Server},
	"rails":    {"s": Server, "server": Server},
	"php":      {"-S": Server},
}

// wrappers run the command that follows them.
var wrappers = []string{"sudo", "env", "time", "nohup", "command", "exec", "nice", "xargs", "then", "do", "else", "if", "while", "until", "!", "{", "doas", "stdbuf", "setsid", "eval"}

// maxDeep is how deep a shell may be given a command that gives one to a shell.
const maxDeep = 4

// command says what a command of a shell needs, and which of its programs does.
func command(text string, depth int) (what string, kind Kind) {
	for _, words := range simple(text) {
		if what, kind = program(words, depth); kind != "" {
			return what, kind
		}
	}
	return "", ""
}

// program says what one program with its arguments needs.
func program(words []string, depth int) (what string, kind Kind) {
	words = skipWrappers(words)
	if len(words) == 0 {
		return "", ""
	}
	name, args := path.Base(strings.ReplaceAll(words[0], `\`, "/")), words[1:]
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if kind := programs[name]; kind != "" && !asksOnly(args) {
		return name, kind
	}
	switch {
	case slices.Contains([]string{"sh", "bash", "zsh", "dash"}, name) && depth < maxDeep:
		if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") }); i >= 0 && i+1 < len(args) {
			return command(args[i+1], depth+1)
		}
	case strings.HasPrefix(name, "python"):
		return python(name, args)
	case name == "npm" || name == "pnpm" || name == "yarn" || name == "bun":
		if len(args) > 1 && args[0] == "run" && slices.Contains([]string{"dev", "start", "serve", "preview"}, args[1]) {
			return name + " run " + args[1], Server
		}
	case name == "go" && len(args) > 1 && args[0] == "mod" && args[1] == "download":
		return "go mod download", Network
	case name == "rsync" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, ":") }):
		return name, Keys
	}
	list := subcommands[name]
	if list == nil {
		return "", ""
	}
	sub := first(name, args)
	if kind := list[sub]; kind != "" {
		return strings.TrimSpace(name + " " + sub), kind
	}
	if name == "git" && (sub == "submodule" || sub == "remote") && slices.Contains(args, "update") {
		return "git " + sub + " update", Network
	}
	return "", ""
}

// asksOnly reports whether a program is only asked what it is.
func asksOnly(args []string) bool {
	return len(args) == 1 && slices.Contains([]string{"--version", "-V", "-v", "version", "--help", "-h", "help"}, args[0])
}

// python says what a module needs that is run by its name.
func python(name string, args []string) (what string, kind Kind) {
	i := slices.Index(args, "-m")
	if i < 0 || i+1 >= len(args) {
		if slices.Contains(args, "runserver") {
			return name + " runserver", Server
		}
		return "", ""
	}
	switch module := args[i+1]; {
	case module == "http.server" || module == "flask" || module == "uvicorn":
		return name + " -m " + module, Server
	case module == "pip" && i+2 < len(args) && subcommands["pip"][args[i+2]] != "":
		return name + " -m pip " + args[i+2], Network
	}
	return "", ""
}

// first returns the subcommand of a program: its first argument that is no option.
func first(name string, args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case subcommands[name][a] != "":
			return a
		case name == "git" && (a == "-C" || a == "-c"), name == "npm" && a == "--prefix", a == "--cwd":
			i++
		case !strings.HasPrefix(a, "-"):
			return a
		}
	}
	return ""
}

// skipWrappers returns the words without what is before a program: variables and wrappers.
func skipWrappers(words []string) []string {
	wrapped := false
	for len(words) > 0 {
		switch w := words[0]; {
		case slices.Contains(wrappers, w):
			wrapped = true
		case w == "timeout" && len(words) > 2:
			words, wrapped = words[1:], false
		case isVariable(w):
		case wrapped && strings.HasPrefix(w, "-"):
		default:
			return words
		}
		words = words[1:]
	}
	return nil
}

func isVariable(word string) bool {
	name, _, is := strings.Cut(word, "=")
	return is && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

// simple returns the words of each simple command in a text, as a shell splits it: what is quoted
// is one word, and a command within another ($(…) and `…`) is one of its own.
func simple(text string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	open, quote := false, byte(0)
	endWord := func() {
		if open {
			words, open = append(words, word.String()), false
			word.Reset()
		}
	}
	end := func() {
		endWord()
		if len(words) > 0 {
			out, words = append(out, words), nil
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '\'' && c != quote, quote == '"' && c != quote && c != '\\' && c != '`' && !strings.HasPrefix(text[i:], "$("):
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\n' {
				word.WriteByte(text[i])
				open = true
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '`' || strings.HasPrefix(text[i:], "$("):
			end()
			quote = 0
			if c == '$' {
				i++
			}
		case c == ' ' || c == '\t':
			endWord()
		case c == '#' && !open:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case strings.IndexByte("\n\r;|&()", c) >= 0:
			end()
		default:
			word.WriteByte(c)
			open = true
		}
	}
	end()
	return out
}
