package acceptance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// planted are secrets by where they stand. None has the shape of a key: they are
// to be found because they are known, not because of how they look.
var planted = map[string]string{
	"TARGET_CREDENTIAL": "Tq7target+key/credential=1", "OPTIMIZER_CREDENTIAL": "oW3optimizer-in-dotenv-42", "JUDGE_CREDENTIAL": "jZ9judge-credential-0007",
	"HEADER_CREDENTIAL": "hV5header-from-a-variable", "header literal": "hL8header-written-out-here", "header mixed": "hM2header-beside-a-template",
	"query": "qK6query-of-the-base-url", "proxy password": "pX4password-of-the-proxy",
	"DEPLOY_TOKEN": "dT1deploy-token-for-agents", "database password": "dB0password-of-a-database", "key as a value": "vK9key-given-as-a-value-of-go", "world": "eN5token-of-the-world-7qz",
}

// echo repeats everything that a request carries to identify itself.
func echo(r *http.Request) string {
	said := []string{r.URL.RawQuery, r.URL.Query().Get("sig")}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		said = append(said, name+": "+strings.Join(r.Header[name], ", "))
	}
	if _, basic, ok := strings.Cut(r.Header.Get("Proxy-Authorization"), " "); ok {
		if plain, err := base64.StdEncoding.DecodeString(basic); err == nil {
			said = append(said, string(plain))
		}
	}
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return strings.Join(append(said, bearer, url.QueryEscape(bearer), base64.StdEncoding.EncodeToString([]byte(bearer))), " | ")
}

// talkative stands before a model server and repeats in every answer, good or
// bad, what the request carried.
type talkative struct {
	inner  http.Handler
	status int // of every answer; 0 = the inner handler's, and a failure now and then

	mu   sync.Mutex
	n    int
	seen []string // what identified the requests
}

func (s *talkative) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.n++
	n := s.n
	s.seen = append(s.seen, echo(r))
	s.mu.Unlock()
	r.URL.Scheme, r.URL.Host = "", "" // as a proxy gets it
	status := s.status
	if status == 0 && n%7 == 3 {
		status = []int{http.StatusInternalServerError, http.StatusTooManyRequests}[n%2]
	}
	for _, name := range []string{"X-Request-Id", "X-Echo"} {
		w.Header().Set(name, echo(r))
	}
	w.Header().Set("Content-Type", "application/json")
	if status != 0 {
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "no, not with " + echo(r), "type": "odd", "code": "odd"}})
		return
	}
	rec := httptest.NewRecorder()
	s.inner.ServeHTTP(rec, r)
	var doc map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		return
	}
	doc["model"], doc["system_fingerprint"] = echo(r), echo(r)
	if choices, _ := doc["choices"].([]any); len(choices) > 0 && r.Header.Get(wiretest.StageHeader) == model.StageRollout {
		message := choices[0].(map[string]any)["message"].(map[string]any)
		message["content"] = fmt.Sprint("By the way, you sent ", echo(r), "\n", message["content"])
	}
	_ = json.NewEncoder(w).Encode(doc)
}

// secretive is a configuration with a secret wherever there can be one.
const secretive = `
skill: %[1]s/SKILL.md
tasks: {path: %[1]s/tasks.jsonl, extract: "tag:answer", checks: [{type: equals, value: $gold}]}
models:
  target: &m
    provider: openai
    model: world
    base_url: "http://model.test/v1?sig=%[2]s"
    api_key_env: TARGET_CREDENTIAL
    temperature: 0
    structured_output: "off"
    headers:
      X-Stage: "{{stage}}"
      X-From-A-Variable: "${HEADER_CREDENTIAL}"
      X-Written-Out: "Custom %[3]s"
      X-Mixed: "{{run}}:%[4]s"
  optimizer:
    provider: openai
    model: world
    base_url: "http://model.test/v1?sig=%[2]s"
    api_key_env: OPTIMIZER_CREDENTIAL
    temperature: 0
    structured_output: "off"
    headers: {X-Stage: "{{stage}}", X-From-A-Variable: "${HEADER_CREDENTIAL}"}
  judge: {provider: openai, model: world, base_url: "http://model.test/v1", api_key_env: JUDGE_CREDENTIAL}
train: {epochs: 1, batch_size: 10, seed: 3}
reflect: {minibatch_size: 3}
record: {reuse: never}
%[5]s
`

// secretConfig loads it, with more lines at its end; the model server is behind a
// proxy with a password.
func secretConfig(t *testing.T, server, more string) *config.Loaded {
	t.Helper()
	dir := t.TempDir()
	tasks, err := filepath.Abs(guaranteeDir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf(secretive, tasks, planted["query"], planted["header literal"], planted["header mixed"], more))
	write(t, filepath.Join(dir, ".env"), "OPTIMIZER_CREDENTIAL="+planted["OPTIMIZER_CREDENTIAL"]+"\n")
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HTTP_PROXY": strings.Replace(server, "://", "://proxyuser:"+planted["proxy password"]+"@", 1),
		"DATABASE_URL": "postgres://app:" + planted["database password"] + "@db.test/app", "WORLD_TOKEN": planted["world"],
	}
	for _, name := range []string{"TARGET_CREDENTIAL", "JUDGE_CREDENTIAL", "HEADER_CREDENTIAL", "DEPLOY_TOKEN"} {
		env[name] = planted[name]
	}
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// leaks returns which secrets are in a text, in one form or another.
func leaks(text []byte) []string {
	var found []string
	for _, where := range slices.Sorted(maps.Keys(planted)) {
		s := planted[where]
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 { // without what may be part of its neighbours
				all := enc.EncodeToString([]byte("xxx"[:shift] + s))
				forms = append(forms, all[4*min(shift, 1):len(all)-1])
			}
		}
		if slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(text, []byte(form)) }) {
			found = append(found, where)
		}
	}
	return found
}

// searchFor looks for secrets in all that a run left, told and returned.
func searchFor(t *testing.T, dir string, told *bytes.Buffer, more ...any) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if found := leaks(text); len(found) > 0 {
			rel, _ := filepath.Rel(dir, path)
			at := bytes.Index(text, []byte(planted[found[0]]))
			t.Errorf("%s holds %v: ...%q", rel, found, text[max(0, at-80):max(0, min(len(text), at+60))])
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files were searched: %v", files, err)
	}
	tape := filepath.Join(t.TempDir(), "run.cassette")
	if _, err := skillopt.ExportCassette(t.Context(), dir, tape); err != nil {
		t.Error(err)
	} else if text, err := os.ReadFile(tape); err != nil || len(leaks(text)) > 0 {
		t.Errorf("the cassette holds %v: %v", leaks(text), err)
	}
	fmt.Fprintln(told, more...)
	if found := leaks(told.Bytes()); len(found) > 0 {
		t.Errorf("what was told holds %v:\n%.2000s", found, told)
	}
}

// toldTo writes events down as --events does.
func toldTo(b *bytes.Buffer) skillopt.Option {
	return skillopt.WithEvents(func(e event.Event) {
		text, err := json.Marshal(e)
		fmt.Fprintf(b, "%s %v %+v\n", text, err, e)
	})
}

// No key, header or token is in anything that a training run leaves, although its
// model server repeats all of them in answers, errors and headers.
func TestTrainingLeavesNoSecret(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"good answers": 0, "unauthorized": 401, "bad request": 400, "not found": 404, "key as a value": 0, "key as a value, unauthorized": 401} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
			t.Cleanup(inner.Close)
			server := &talkative{inner: inner, status: status}
			front := httptest.NewServer(server)
			t.Cleanup(front.Close)
			l := secretConfig(t, front.URL, "")
			dir, carried := filepath.Join(t.TempDir(), "run"), "TARGET_CREDENTIAL"
			var told bytes.Buffer
			if strings.HasPrefix(name, "key") {
				carried = "key as a value"
				l.Config.Models.Target = l.Config.Models.Target.WithKey(planted[carried])
				text, err := json.Marshal(l.Config.Models.Target)
				shown := fmt.Sprintf("%v %+v %#v %q %s %v", l.Config, l.Config, l.Config, l.Explain(), text, err)
				if again := l.Config.Redacted(l.Redactor()).Models.Target.Key; again != "" || slices.Contains(leaks([]byte(shown)), carried) {
					t.Errorf("the key is shown: %s", shown)
				}
			}
			sum, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if (err == nil) != (status == 0) {
				t.Fatalf("error %v", err)
			}
			if status == 0 && (len(sum.Calls.Faults) == 0 || sum.Test.Best == nil) {
				t.Errorf("%+v", sum)
			}
			sent := leaks([]byte(strings.Join(server.seen, "\n")))
			for _, where := range []string{carried, "HEADER_CREDENTIAL", "header literal", "header mixed", "query", "proxy password"} {
				if !slices.Contains(sent, where) {
					t.Errorf("%s was never sent, so that nothing is proven", where)
				}
			}
			searchFor(t, dir, &told, fmt.Sprintf("%+v", sum), err, fmt.Sprintf("%#v", err))
		})
	}
}

// A program that a task runs gets what it is handed and nothing more, and what it
// tells of that is not kept: not in answers, not in workspaces.
func TestAgentsLeaveNoSecret(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	const say = `env >env.txt; env | base64 -w0 >env.b64; mkdir -p deep/er; cat /proc/self/environ >deep/er/environ; cat "$HOME"/.* "$HOME"/* >home.txt 2>/dev/null; echo $key >$HOME/note
for p in /proc/[0-9]*; do cat $p/environ >>others.txt 2>/dev/null; done
printf '#!/bin/sh\ncat "$CONFIG_DIR/.env" "$CONFIG_DIR/config.yaml"; echo "$DATABASE_URL"; cat env.txt\n' >test.sh; env >&2; `
	gateway := `
agent: {name: custom, keep: all, pass_env: [DEPLOY_TOKEN, DATABASE_URL], custom: {wire: chat, argv: [bash, -c, %q], env: {key: "{{key}}"}, files: {config.toml: "key = {{key}}"}}}
`
	for name, agent := range map[string]string{
		"custom":  fmt.Sprintf(gateway, say+`echo "I have $DEPLOY_TOKEN and $DATABASE_URL and $key"; env`),
		"failed":  fmt.Sprintf(gateway, say+`echo "I had $DEPLOY_TOKEN and $DATABASE_URL" >&2; exit 3`),
		"builtin": "\nagent: {name: builtin, keep: all, pass_env: [DEPLOY_TOKEN, DATABASE_URL]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &talkative{inner: bashModel(say + "env")}
			front := httptest.NewServer(server)
			t.Cleanup(front.Close)
			l := secretConfig(t, front.URL, agent)
			l.Config.Tasks.Path, l.Config.Tasks.Extract = "", nil
			l.Config.Tasks.Checks = []any{map[string]any{"type": "command", "run": "sh test.sh"}}
			const ofTask = "tX3this-belongs-to-the-task"
			var tasks []task.Task
			for i := range 3 {
				tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: "Use " + ofTask, Gold: []string{"x"}, Split: task.Test})
			}
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			sum, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithTasks(tasks), skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if (err != nil) != (name == "failed") {
				t.Fatalf("error %v", err)
			}
			searchFor(t, dir, &told, fmt.Sprintf("%+v", sum), err, fmt.Sprintf("%#v", err))
			envs, globErr := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work", "env.txt"))
			if globErr != nil || len(envs) == 0 {
				t.Fatalf("no environment of an agent was kept: %v", globErr)
			}
			for _, path := range envs {
				text, err := os.ReadFile(path)
				if err != nil || !strings.Contains(string(text), "DEPLOY_TOKEN="+redact.Mask) || strings.Contains(string(text), "CREDENTIAL") {
					t.Errorf("the agent's environment was\n%s%v", text, err)
				}
			}
			if keys, err := grep(dir, "sk-skillopt-"); err != nil || len(keys) > 0 {
				t.Errorf("the gateway's key is in %v, %v", keys, err)
			}
			if name == "failed" {
				return
			}
			if found, err := grep(dir, ofTask); err != nil || len(found) == 0 {
				t.Errorf("what belongs to a task is gone: %v", err)
			}
		})
	}
}

// grep returns the files below a folder that hold a text.
func grep(dir, text string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// bashModel is a server whose model runs a command and is done then.
func bashModel(command string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		message := map[string]any{"role": "assistant", "content": "done"}
		finish := "stop"
		if !bytes.Contains(body, []byte(`"role":"tool"`)) {
			args, _ := json.Marshal(map[string]string{"command": command})
			message["content"], finish = "", "tool_calls"
			message["tool_calls"] = []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)}}}
		}
		if err == nil {
			err = json.NewEncoder(w).Encode(map[string]any{
				"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
				"usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
}

// An environment is a program too.
func TestEnvironmentsLeaveNoSecret(t *testing.T) {
	t.Parallel()
	needsShell(t)
	l := secretConfig(t, "http://127.0.0.1:1", "\nenv: {command: [sh, world.sh], pass_env: [WORLD_TOKEN]}\n")
	write(t, filepath.Join(l.Dir, "world.sh"), `while read -r line; do
id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
printf '{"id":"%s","hard":1,"soft":1,"answer":"%s","feedback":"%s"}\n' "$id" "$WORLD_TOKEN" "$WORLD_TOKEN"; echo "$WORLD_TOKEN" >&2
done
`)
	l.Config.Models.Target.Provider, l.Config.Models.Target.Model = "", ""
	dir := filepath.Join(t.TempDir(), "run")
	var told bytes.Buffer
	sum, err := skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
	if err != nil || sum.Splits["test"].Hard != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	searchFor(t, dir, &told, fmt.Sprintf("%+v", sum), err)
}

// What stands in files and in the variables of clouds is known as well.
func TestCredentialsOfCloudsAreHidden(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "google.json")
	write(t, file, `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMIIabcdefgh\n-----END PRIVATE KEY-----\n","private_key_id":"0123456789abcdef","client_secret":"g-client-secret-1","refresh_token":"g-refresh-token-1"}`)
	cfg := config.Default()
	cfg.Models.Target.Provider = "vertex"
	cfg.Models.Optimizer.Provider = "bedrock"
	cfg.Models.Judge.Provider, cfg.Models.Judge.BaseURL = "azure", "https://r.openai.azure.com?api-version=2025-04-01-preview&code=planted-code"
	cfg.Agent.PassEnv = []string{"GOPATH", "NPM_TOKEN", "HARMLESS"}
	hide := wiring.Hidden(cfg, func(name string) (string, bool) {
		if name == "GOOGLE_APPLICATION_CREDENTIALS" {
			return file, true
		}
		return "value-of-" + name, true
	})
	for _, secret := range []string{
		"-----BEGIN PRIVATE KEY-----\nMIIabcdefgh\n-----END PRIVATE KEY-----\n", `KEY-----\nMIIabcdefgh`, "0123456789abcdef", "g-client-secret-1", "g-refresh-token-1",
		"value-of-AWS_SECRET_ACCESS_KEY", "value-of-AWS_SESSION_TOKEN", "value-of-AWS_BEARER_TOKEN_BEDROCK", "value-of-AZURE_OPENAI_API_KEY", "value-of-NPM_TOKEN", "planted-code",
	} {
		if secret == `KEY-----\nMIIabcdefgh` {
			quoted, err := json.Marshal("-----BEGIN PRIVATE KEY-----\nMIIabcdefgh\n-----END PRIVATE KEY-----\n")
			if err != nil || strings.Contains(string(hide.JSON(quoted)), "MIIabcdefgh") {
				t.Errorf("a private key stays in JSON: %v", err)
			}
			continue
		}
		if got := hide.Text("x " + secret + " y"); strings.Contains(got, secret) {
			t.Errorf("%q stays", secret)
		}
	}
	for _, plain := range []string{"value-of-GOPATH", "value-of-HARMLESS", "2025-04-01-preview"} {
		if hide.Text(plain) != plain {
			t.Errorf("%q is taken for a secret, and would be missing in an answer", plain)
		}
	}
}
