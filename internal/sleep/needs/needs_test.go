package needs_test

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/needs"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"curl -s https://example.com":           "the command curl needs the network",
		"cd x && FOO=1 sudo -E /usr/bin/wget y": "the command wget needs the network",
		"bash -lc 'make && ssh host ls'":        "the command ssh needs an agent that holds keys",
		"git -C sub push origin main":           "the command git push needs a login",
		"git commit -m 'curl is gone'":          "",
		"git status; git diff | cat":            "",
		"git submodule update --init":           "the command git submodule update needs the network",
		"npm ci && npm test":                    "the command npm ci needs the network",
		"npm test":                              "",
		"npm run dev &":                         "the command npm run dev needs a server on this machine",
		"yarn":                                  "the command yarn needs the network",
		"yarn test":                             "",
		"python3 -m pip install -r r.txt":       "the command python3 -m pip install needs the network",
		"python -m pytest -k pip":               "",
		"python manage.py runserver":            "the command python runserver needs a server on this machine",
		"docker compose up -d":                  "the command docker needs a container engine",
		"docker --version":                      "",
		"echo \"$(gh pr list)\"":                "the command gh needs a login",
		"x=`aws s3 ls`":                         "the command aws needs a login",
		"timeout 60 kubectl get pods":           "the command kubectl needs a login",
		"if ! curl -f x; then echo no; fi":      "the command curl needs the network",
		"go test ./... && go vet ./...":         "",
		"go mod download":                       "the command go mod download needs the network",
		"go mod tidy":                           "",
		"grep -rn curl .":                       "",
		"cat ssh_config # curl":                 "",
		"rsync -a a/ b/":                        "",
		"rsync -a a/ host:b/":                   "the command rsync needs an agent that holds keys",
		"ls | xargs -n1 curl":                   "the command curl needs the network",
		"make\ncurl x":                          "the command curl needs the network",
		"":                                      "",
		"'unended":                              "",
		strings.Repeat("$(", 5000):              "",
	} {
		need, is := needs.Of([]transcript.Turn{{Commands: []transcript.Command{{Text: text}}}})
		if got := map[bool]string{true: need.String()}[is]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	code := 6
	for name, want := range map[string]string{
		"mcp__github__list": "the tool mcp__github__list needs another program's tools", "linear__search": "the tool linear__search needs another program's tools",
		"WebFetch": "the tool WebFetch needs the network", "web_search": "the tool web_search needs the network", "google_web_search": "the tool google_web_search needs the network",
		"github-mcp-server-get_me": "the tool github-mcp-server-get_me needs another program's tools",
		"Bash":                     "", "Read": "", "apply_patch": "", "Skill": "",
	} {
		need, is := needs.Of([]transcript.Turn{{Tools: []transcript.Tool{{Name: name, OK: &yes}}}})
		if got := map[bool]string{true: need.String()}[is]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if need, is := needs.Of([]transcript.Turn{{Tools: []transcript.Tool{{Name: name, OK: &no}}}}); is {
			t.Errorf("%s, which failed: %v", name, need)
		}
	}
	if need, is := needs.Of([]transcript.Turn{{Commands: []transcript.Command{{Text: "curl x", Exit: &code}}}}); is {
		t.Errorf("a command that failed: %v", need)
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("bash -c 'bash -c \"curl $(x)\"'")
	f.Fuzz(func(_ *testing.T, text string) {
		needs.Of([]transcript.Turn{{Commands: []transcript.Command{{Text: text}}}})
	})
}
