package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func loadWith(t *testing.T, env map[string]string, yaml string) *Loaded {
	t.Helper()
	dir := write(t, map[string]string{"config.yaml": yaml})
	l, err := Load(Options{Path: dir, Dir: dir, Lookup: func(k string) (string, bool) { v, ok := env[k]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAVariableIsTextWhereTextIsHeld(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"0017", "1e5", "4.10", "true", "null", "~", "[a]", "a: b", " x "} {
		l := loadWith(t, map[string]string{"V": value}, `
models: {target: {model: "${V}", provider: openai, api_key_env: "${V}", headers: {X-Tok: "${V}", X.Dotted: "${V}"}}}
env: {command: [run, "${V}"], pass_env: ["${V}"]}
`)
		m, e := l.Config.Models.Target, l.Config.Env
		got := []string{m.Headers["X-Tok"], m.Headers["X.Dotted"], *m.APIKeyEnv, e.Command[1], e.PassEnv[0], m.Model}
		want := []string{value, value, value, value, value, value}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
	l := loadWith(t, map[string]string{"N": "12", "P": "0.5"}, `{limits: {calls: "${N}"}, prices: {m: {input: "${P}"}}, extras: {n: "${N}"}}`)
	if *l.Config.Limits.Calls != 12 || l.Config.Prices["m"].Input != 0.5 || fmt.Sprint(l.Config.Extras["n"]) != "12" {
		t.Errorf("numbers from variables: %+v", l.Config)
	}
}

const secretive = `
models:
  target: {provider: openai, model: "${NAME}", base_url: "${URL}/v1?sig=${TOK}", headers: {X-Org: "${TOK}", Authorization: "Bearer plain-key-9"}}
  optimizer: {provider: openai, model: "${NAME}", base_url: "${SITE}"}
  judge: {provider: azure, model: m, base_url: "https://r.openai.azure.com?api-version=2025-04-01-preview&code=planted-code-9"}
extras: {org: "${TOK}", list: ["is ${TOK}"], password: in-the-file}
env: {command: [run, "--org=${TOK}", --token, abcdefgh], pass_env: [HOME]}
limits: {calls: "${N}"}
`

var secretEnv = map[string]string{
	"TOK": "innocent-looking", "NAME": "a-model-name", "N": "1234567", "URL": "http://localhost:8000",
	"SITE": "https://me:swordfish@api.example.org/key-in-the-path-of-it/v1",
}

func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	l := loadWith(t, secretEnv, secretive)
	r := l.Redactor()
	text, err := l.Config.Redacted(r).YAML(false)
	if err != nil {
		t.Fatal(err)
	}
	all := string(text) + fmt.Sprint(l.Config.Fingerprint(nil, r)) + fmt.Sprint(l.Explain())
	for _, secret := range []string{"innocent-looking", "plain-key-9", "in-the-file", "abcdefgh", "swordfish", "key-in-the-path-of-it", "planted-code-9"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown:\n%s", secret, all)
		}
	}
	for _, want := range []string{"a-model-name", "1234567", "http://localhost:8000", "api-version=2025-04-01-preview", "HOME", digestMark} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not shown:\n%s", want, all)
		}
	}
	if again, err := load(t, map[string]string{"config.yaml": string(text)}); err != nil || again.Config.Env.Command[0] != "run" {
		t.Errorf("the redacted config does not load: %v\n%s", err, text)
	}
	if l.Config.Models.Target.Headers["X-Org"] != "innocent-looking" || l.Config.Extras["password"] != "in-the-file" || l.Config.Env.Command[3] != "abcdefgh" {
		t.Error("masking changed the configuration itself")
	}
	if got := r.Text("--set x=plain-key-9 innocent-looking"); strings.Contains(got, "plain-key-9") || strings.Contains(got, "innocent") {
		t.Errorf("text shows %s", got)
	}
}

func TestIdentitySeesSecretsByTheirDigest(t *testing.T) {
	t.Parallel()
	const yaml = `extras: {org: "${TOK}"}`
	print := func(l *Loaded) map[string]string { return l.Config.Fingerprint(nil, l.Redactor()) }
	one := print(loadWith(t, map[string]string{"TOK": "first-value"}, yaml))
	if d := Changes(one, print(loadWith(t, map[string]string{"TOK": "other-value"}, yaml))); len(d) != 1 || d[0].Key != "extras" {
		t.Errorf("another secret gives %v", d)
	}
	if d := Changes(one, print(loadWith(t, nil, `extras: {org: first-value}`))); len(d) != 0 {
		t.Errorf("the same value, written out, gives %v", d)
	}
	if d := Changes(one, print(loadWith(t, nil, `extras: {org: third-value}`))); len(d) != 1 {
		t.Errorf("another value, written out, gives %v", d)
	}
}

func TestAProblemShowsNoSecret(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"config.yaml": `limits: {calls: "${TOK}"}`})
	_, err := Load(Options{Path: dir, Dir: dir, Lookup: func(string) (string, bool) { return "innocent-looking", true }})
	if !IsInput(err) || strings.Contains(err.Error(), "innocent") {
		t.Errorf("error = %v", err)
	}
}

func TestRunNames(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"../../zz", "a/b", `a\b`, "..", " ", ".hidden", "a\x1b[2J", "a\nb", "con", "NUL.txt", "lpt1", "a.", "a..b", " a", ""} {
		if IsRunName(bad) {
			t.Errorf("%q is taken", bad)
		}
		c := Default()
		c.Run.Name = bad
		if err := c.Validate(); (err == nil) != (bad == "") {
			t.Errorf("run.name %q: %v", bad, err)
		}
	}
	for _, good := range []string{"a", "a b", "2024", "v1.2", "com", "com10", "console", "Übung", "任务"} {
		if !IsRunName(good) {
			t.Errorf("%q is refused", good)
		}
	}
}

// Of a configuration that could not be read no secret is known, and what looks like one is masked.
func TestRedactorOfNoConfiguration(t *testing.T) {
	t.Parallel()
	var l *Loaded
	if got := l.Redactor("a-secret-of-ours").Text("token=sk-abcDEF1234567890 and a-secret-of-ours"); strings.Contains(got, "DEF") || strings.Contains(got, "ours") {
		t.Errorf("%q", got)
	}
}
