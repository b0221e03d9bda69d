package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt/config"
)

// actionFile is what action.yml says, as far as steps that run something need it.
type actionFile struct {
	Inputs map[string]struct {
		Description string
		Default     string
		Required    bool
	}
	Runs struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Uses, Run, Shell, If string
	Env                  map[string]string
}

func readAction() (actionFile, error) {
	var a actionFile
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		return a, err
	}
	return a, yaml.Unmarshal(data, &a)
}

// expression is what the runner puts a value in the place of.
var expression = regexp.MustCompile(`\$\{\{ *([a-z._-]+) *\}\}`)

// runAction carries out the steps of action.yml as the runner would: action CODE INPUT=VALUE...
// Steps that use another action are left out; the one that installs is told to take the
// program on the path. What they print stands in action.log.
func runAction(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: action CODE INPUT=VALUE...")
	}
	a, err := readAction()
	ts.Check(err)
	root, err := filepath.Abs("../..")
	ts.Check(err)
	values := map[string]string{"github.token": "token-of-the-job", "github.base_ref": ts.Getenv("GITHUB_BASE_REF")}
	for name, in := range a.Inputs {
		values["inputs."+name] = in.Default
	}
	values["inputs.version"] = "path"
	for _, arg := range args[1:] {
		name, value, ok := strings.Cut(arg, "=")
		if _, known := a.Inputs[name]; !ok || !known {
			ts.Fatalf("action.yml has no input %q", name)
		}
		values["inputs."+name] = value
	}
	fill := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			v, ok := values[expression.FindStringSubmatch(e)[1]]
			if !ok {
				ts.Fatalf("action.yml: nobody knows %s", e)
			}
			return v
		})
	}
	values["inputs.token"] = fill(values["inputs.token"])
	ts.Setenv("GITHUB_ACTION_PATH", root)
	code, log := 0, ""
	for _, step := range a.Runs.Steps {
		if step.Run == "" || code != 0 && step.If != "always()" {
			continue
		}
		for name, value := range step.Env {
			ts.Setenv(name, fill(value))
		}
		if err := ts.Exec("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run); err != nil && code == 0 {
			code = 1
		}
		log += ts.ReadFile("stdout") + ts.ReadFile("stderr")
		for name := range step.Env {
			ts.Setenv(name, "")
		}
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "action.log"), []byte(log), 0o600))
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("the action ended with %d, want %s", code, args[0])
	}
}

// github starts what the action needs of GitHub's API and keeps the comments of pull
// request 7 of o/r in a file: github FILE [readonly].
func github(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: github FILE [readonly]")
	}
	type user struct {
		Type string `json:"type"`
	}
	type comment struct {
		ID   int    `json:"id"`
		User user   `json:"user"`
		Body string `json:"body"`
	}
	var mu sync.Mutex
	file := ts.MkAbs(args[0])
	// Somebody has copied the mark of the action, and a page is full of talk.
	all := []comment{{1, user{"User"}, "<!-- skillopt action: skill -->\nmine"}}
	for i := range 120 {
		all = append(all, comment{i + 2, user{"User"}, "talk"})
	}
	keep := func() {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(all); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			panic(err)
		}
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer token-of-the-job" || r.Method != http.MethodGet && len(args) > 1 {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
			return
		}
		var in struct{ Body string }
		if r.Method != http.MethodGet {
			data, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(data, &in); err != nil || len([]rune(in.Body)) > 65536 {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
		}
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/repos/o/r/issues/7/comments":
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			from := min(len(all), 100*(page-1))
			_ = json.NewEncoder(w).Encode(all[from:min(len(all), from+100)])
		case r.Method == http.MethodPost && r.URL.Path == "/repos/o/r/issues/7/comments":
			all = append(all, comment{len(all) + 1, user{"Bot"}, in.Body})
			keep()
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{}`)
		case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, "/repos/o/r/issues/comments/"):
			id, err := strconv.Atoi(filepath.Base(r.URL.Path))
			if err != nil || id < 1 || id > len(all) {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			all[id-1].Body = in.Body
			keep()
			fmt.Fprint(w, `{}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
	keep()
	s := httptest.NewServer(http.HandlerFunc(serve))
	ts.Defer(s.Close)
	ts.Setenv("GITHUB_API_URL", s.URL)
}

// TestActionFile: no text of somebody else becomes part of a script, what is used of others
// is pinned by its commit, and each input says what it is.
func TestActionFile(t *testing.T) {
	t.Parallel()
	a, err := readAction()
	if err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) < 6 {
		t.Fatalf("action.yml: %+v", a.Runs)
	}
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("a script with an expression: %s", step.Run)
		}
		if step.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
			t.Errorf("%s is not pinned by a commit", step.Uses)
		}
		if m := regexp.MustCompile(`action/\S+\.(sh|py)`).FindString(step.Run); step.Run != "" {
			if _, err := os.Stat(filepath.Join("../..", m)); err != nil || m == "" {
				t.Errorf("%s: %v", step.Run, err)
			}
		}
	}
	for name, in := range a.Inputs {
		if in.Description == "" {
			t.Errorf("input %s has no description", name)
		}
		for _, key := range regexp.MustCompile(`\b[a-z_]+(\.[a-z_]+)+=`).FindAllString(in.Description, -1) {
			known := func(k config.Key) bool { return k.Path+"=" == key }
			if !slices.ContainsFunc(config.Default().Keys(), known) {
				t.Errorf("input %s: there is no key %s", name, key)
			}
		}
	}
}

// canAct reports whether there is what the action runs with.
func canAct(look func(string) (string, error)) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, program := range []string{"bash", "git", "python3", "tar", "diff"} {
		if _, err := look(program); err != nil {
			return false
		}
	}
	return true
}
