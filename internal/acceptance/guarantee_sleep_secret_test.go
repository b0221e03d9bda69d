package acceptance_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the database driver

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// ofEnvironment are secrets of the process that carries out nights. None has the shape of a key, and one has a
// name that says nothing.
var ofEnvironment = map[string]string{
	"OPENAI_API_KEY": "oN6of-the-environment-42", "GITHUB_TOKEN": "gQ8of-the-environment-77", "AWS_SECRET_ACCESS_KEY": "aM3of/the+environment/19", "SHOP_GATE": "uZ5of-no-name-that-tells",
}

// recorder keeps every byte that a model server is sent.
type recorder struct {
	inner http.Handler

	mu     sync.Mutex
	bodies bytes.Buffer
	n      int
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.n++
	fmt.Fprintf(&s.bodies, "%s\n%s\n", r.URL, body)
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.inner.ServeHTTP(w, r)
}

// places are where a session may hold a secret.
const places = 14

// sleeperWithSecrets lays out the example with secrets in its sessions: each shape in one of the places, in the next
// one for a higher turn. It returns the folder and the parts that must not be found.
func sleeperWithSecrets(t *testing.T, turn int) (dir string, parts map[string]string) {
	t.Helper()
	dir = t.TempDir()
	examples := filepath.Join("..", "..", "examples", "sleep")
	if err := errors.Join(os.CopyFS(filepath.Join(dir, "project"), os.DirFS(filepath.Join(examples, "project"))), os.Mkdir(filepath.Join(dir, "store"), 0o700)); err != nil {
		t.Fatal(err)
	}
	planted := redacttest.Planted()
	shapes := slices.Sorted(maps.Keys(planted))
	parts = map[string]string{}
	files, err := filepath.Glob(filepath.Join(examples, "day-[12]", "*.jsonl"))
	if err != nil || len(files) < 16 {
		t.Fatalf("%v %v", files, err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := map[int][]string{}
		for n := i; n < len(shapes); n += len(files) {
			text, secrets := redacttest.Plain(planted[shapes[n]])
			for _, s := range secrets {
				if len(s) >= 6 {
					parts[s] = shapes[n]
				}
			}
			place := (n/len(files) + i + turn) % places
			at[place] = append(at[place], text)
		}
		write(t, filepath.Join(dir, "store", filepath.Base(file)), withSecrets(t, data, at))
	}
	return dir, parts
}

// withSecrets is a session of the example with texts in places of it.
func withSecrets(t *testing.T, data []byte, at map[int][]string) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	add := func(rec map[string]any) {
		if err := enc.Encode(rec); err != nil {
			t.Fatal(err)
		}
	}
	all := func(place int) string { return strings.Join(at[place], "\n") }
	n := 0
	for line := range bytes.Lines(data) {
		var rec map[string]any
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		text, _ := rec["text"].(string)
		switch rec["type"] {
		case "session":
			rec["version"], rec["branch"], rec["commit"], rec["agent"] = all(0), all(1), all(2), all(3)
		case "user":
			rec["text"] = strings.TrimRight(text+"\n"+all(4+n), "\n")
			n++
		case "agent":
			rec["text"] = strings.TrimLeft(all(6+n)+"\n"+text, "\n") // what counts stands at its end
		}
		add(rec)
		if rec["type"] == "user" && n == 3 {
			add(map[string]any{"type": "tool", "id": "c1", "name": "shell", "ok": false, "command": all(10), "exit": 1})
			add(map[string]any{"type": "tool", "id": "c2", "name": all(11), "ok": true, "wrote": at[12], "read": append([]string{"notes.txt"}, at[12]...)})
			add(map[string]any{"type": "skill", "name": all(13)})
			add(map[string]any{"type": "error", "time": rec["time"], "text": all(13)})
		}
	}
	return out.String()
}

// TestSecretsOfSessionsReachNothing plants every shape of a secret in sessions, and secrets in the environment; two
// nights are carried out, one of chats and one of an agent, and looked at by every command. No byte of what is kept,
// sent, printed or handed to other programs may hold one.
func TestSecretsOfSessionsReachNothing(t *testing.T) {
	needsSandbox(t)
	turns := 1
	if os.Getenv("SKILLOPT_LONG") == "1" {
		turns = places
	}
	for name, value := range ofEnvironment {
		t.Setenv(name, value)
	}
	for turn := range turns {
		t.Run(fmt.Sprint("turn ", turn), func(t *testing.T) { nightOfSecrets(t, turn) })
	}
}

func nightOfSecrets(t *testing.T, turn int) {
	dir, parts := sleeperWithSecrets(t, turn)
	if len(parts) < 40 {
		t.Fatalf("only %d secrets are planted", len(parts))
	}
	world, err := sim.Load(filepath.Join("..", "..", "examples", "sleep", "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	inner := wiretest.Start(wiretest.Options{Client: sim.New(world)})
	t.Cleanup(inner.Close)
	server := &recorder{inner: inner}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	model := fmt.Sprintf("{provider: openai, model: world, base_url: %q, api_key_env: OPENAI_API_KEY, temperature: 0, max_tokens: 200, structured_output: \"off\", headers: {X-Stage: \"{{stage}}\"}}", front.URL+"/v1")
	write(t, filepath.Join(dir, "tell.sh"), "#!/bin/sh\nenv >>told.env\n")
	if err := os.Chmod(filepath.Join(dir, "tell.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sleep.yaml"), `
sleep:
  {projects: [project], sources: [jsonl], stores: {jsonl: store}, dir: state, memory: CLAUDE.md, keep: 36500d, half_life: 36500d, notify: [./tell.sh]}
models: {target: `+model+`, optimizer: `+model+`}
`)
	said := commandsOfNights(t, dir)
	files := searched(t, dir, parts, map[string][]byte{"printed": said, "sent to models": server.bodies.Bytes()})
	if masks := bytes.Count(server.bodies.Bytes(), []byte(redact.Mask)); server.n < 40 || files < 40 || masks < 100 {
		t.Errorf("%d requests with %d masks and %d files prove nothing", server.n, masks, files)
	}
	told, err := os.ReadFile(filepath.Join(dir, "state", "told.env"))
	if err != nil || bytes.Count(told, []byte("SKILLOPT_NIGHT=")) != 2 {
		t.Errorf("what sleep.notify was told: %v\n%s", err, told)
	}
	if seen, err := grep(filepath.Join(dir, "state"), rotated("PATH=/")); err != nil || len(seen) == 0 {
		t.Errorf("no environment of an agent was recorded: %v", err)
	}
}

// commandsOfNights carries nights out, asks all there is to ask of them, and returns what was printed.
func commandsOfNights(t *testing.T, dir string) []byte {
	t.Helper()
	var said bytes.Buffer
	run := func(want int, args ...string) string {
		var out, errs bytes.Buffer
		if code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test"); code != want {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, &out, &errs)
		}
		fmt.Fprintf(&said, "%v\n%s%s", args, &out, &errs)
		return out.String()
	}
	sleep := func(args ...string) string {
		return run(0, append([]string{"sleep"}, append(args, "--profile", "sleep.yaml")...)...)
	}
	first := sleep("run", "--events", "events.jsonl")
	if !strings.Contains(first, "memory:CLAUDE.md: s") {
		t.Errorf("the night staged nothing:\n%s", first)
	}
	sleep("run", "--no-harvest", "--explore", "--set", `agent={name: custom, custom: {wire: chat, argv: [bash, -c, "env | tr a-zA-Z n-za-mN-ZA-M"]}}`)
	for _, args := range [][]string{{}, {"show"}, {"show", "--why"}, {"status"}, {"sessions"}, {"doctor"}, {"rollback"}, {"harvest", "--show-outbound"}, {"harvest", "--dry-run"}} {
		sleep(args...)
		if !slices.Contains(args, "--show-outbound") {
			sleep(append(slices.Clone(args), "--json")...)
		}
	}
	sleep("sessions", "--json", "desk-01")
	sleep("review", "--json")
	nights, err := filepath.Glob(filepath.Join(dir, "state", "nights", "*", "*"))
	if err != nil || len(nights) < 2 {
		t.Fatalf("%v %v", nights, err)
	}
	sleep("show", filepath.Base(nights[0]))
	runs, err := filepath.Glob(filepath.Join(dir, "state", "runs", "*", "manifest.json"))
	if err != nil || len(runs) < 3 {
		t.Fatalf("%v %v", runs, err)
	}
	for _, manifest := range runs {
		folder := filepath.Dir(manifest)
		run(0, "runs", "show", "--json", folder)
		tape := filepath.Join(dir, "state", filepath.Base(folder)+".cassette")
		if _, err := skillopt.ExportCassette(t.Context(), folder, tape); err != nil {
			t.Error(err)
		}
	}
	return said.Bytes()
}

// searched looks for secrets in all files of a user and in other texts, and returns how many files there were. The
// sessions themselves are the user's.
func searched(t *testing.T, dir string, parts map[string]string, others map[string][]byte) (files int) {
	t.Helper()
	all := maps.Clone(parts)
	for name, value := range ofEnvironment {
		all[value] = name
		all[rotated(value)] = name
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(filepath.ToSlash(rel), "store/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		others[rel] = data
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			if others[rel+", unpacked"], err = io.ReadAll(z); err != nil {
				return err
			}
		}
		if bytes.HasPrefix(data, []byte("SQLite format 3")) {
			others[rel+", its rows"] = cellsOf(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	spaces := regexp.MustCompile(`(\\[nrt]|\s)+`)
	for where, text := range others {
		wrapped := spaces.ReplaceAll(text, nil)
		for secret, shape := range all {
			for how, form := range formsOf(secret) {
				in := text
				if how == "wrapped" {
					in = wrapped
				}
				if at := bytes.Index(in, []byte(form)); at >= 0 {
					t.Errorf("%s (%s) is in %s, %s: %q", shape, secret, where, how, in[max(0, at-120):min(len(in), at+len(form)+40)])
					break
				}
			}
		}
	}
	return files
}

// formsOf are the ways in which a secret may be written down.
func formsOf(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	forms := map[string]string{"plain": secret, "in JSON": string(quoted[1 : len(quoted)-1]), "in a URL": url.QueryEscape(secret)}
	if whole := strings.Join(strings.Fields(secret), ""); len(whole) >= 8 {
		forms["wrapped"] = whole
	}
	for shift := range 3 { // without what may be part of its neighbours
		all := base64.RawStdEncoding.EncodeToString([]byte("xxx"[:shift] + secret))
		if form := all[4*min(shift, 1) : len(all)-1]; len(form) >= 8 {
			forms[fmt.Sprint("in base64, ", shift)] = form
		}
	}
	return forms
}

// rotated is a text as the agent of the test prints its environment, so that nobody recognises it there.
func rotated(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// cellsOf are the texts of all cells of a database.
func cellsOf(t *testing.T, path string) []byte {
	t.Helper()
	db := sqlstore.Open(path, "?mode=ro")
	defer func() { _ = db.Close() }()
	var out bytes.Buffer
	for _, table := range column(t, db, "SELECT name FROM sqlite_master WHERE type = 'table'") {
		list, err := db.QueryContext(t.Context(), fmt.Sprintf("SELECT * FROM %q", table)) //nolint:gosec // the name of a table
		if err != nil {
			t.Fatal(err)
		}
		names, err := list.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for list.Next() {
			cells := make([]any, len(names))
			for i := range cells {
				cells[i] = new(any)
			}
			if err := list.Scan(cells...); err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				switch v := (*c.(*any)).(type) {
				case []byte:
					out.Write(v)
				default:
					fmt.Fprint(&out, v)
				}
				out.WriteByte('\n')
			}
		}
		if err := list.Err(); err != nil {
			t.Fatal(err)
		}
		_ = list.Close()
	}
	return out.Bytes()
}

func column(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	list, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = list.Close() }()
	for list.Next() {
		var s string
		if err := list.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
