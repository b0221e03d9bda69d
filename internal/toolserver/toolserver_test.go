package toolserver

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// newWorld lists the tools of servers and makes a world of them.
func newWorld(t *testing.T, o Options) *World {
	t.Helper()
	lists, err := Lists(t.Context(), o)
	must(t, err)
	w, err := New(o, lists)
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	return w
}

// open begins an episode in a new folder.
func open(t *testing.T, w *World) (e world.Episode, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	e, err = w.Open(t.Context(), world.Setting{Task: task.Task{ID: "t"}, Dir: dir})
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e, dir
}

// act calls a tool with a text.
func act(t *testing.T, e world.Episode, tool, text string) (world.Observation, error) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"text": text})
	must(t, err)
	return e.Act(t.Context(), world.Action{Turn: 1, Call: &model.ToolCall{ID: "1", Name: tool, Arguments: arguments}})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(keyed(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newTestServer("") }, nil)))
	t.Cleanup(web.Close)
	for name, server := range map[string]Server{
		"program": program(t, "plain"),
		"address": {Key: "env.mcp[0]", URL: web.URL, Authorization: "Bearer key"},
		"shared":  {Key: "env.mcp[0]", URL: web.URL, Authorization: "Bearer key", Shared: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := open(t, newWorld(t, Options{Servers: []Server{server}}))
			scene, err := e.Start(t.Context())
			must(t, err)
			if len(scene.Tools) != 12 || scene.Tools[3].Name != "echo" || !strings.Contains(string(scene.Tools[3].Parameters), `"text"`) {
				t.Errorf("%d tools", len(scene.Tools))
			}
			for _, tt := range []struct {
				tool, text string
				want       world.Observation
			}{
				{"echo", "a\x1b[2Jb", world.Observation{Text: "a[2Jb"}},
				{"echo", "", world.Observation{}},
				{"fail", "", world.Observation{Text: "no such row", Failed: true}},
				{"long", "", world.Observation{Text: strings.Repeat("ä", maxResult/2) + "\n[cut: the result has 524288 bytes, and the first 262144 are shown]"}},
				{"picture", "", world.Observation{Text: "[image, image/png, 2 KB: it is not shown]\n[audio, audio/wav, 1 bytes: it is not shown]\n[a link to a resource: a file:///a ]\nof b"}},
				{"structured", "", world.Observation{Text: `{"rows":3}`}},
				{"nothing", "", world.Observation{Text: `There is no tool "nothing". There are: ask, change, die, echo, fail, hang, long, picture, reach, structured, where, write.`, Failed: true}},
			} {
				got, err := act(t, e, tt.tool, tt.text)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", tt.tool, err, diff)
				}
			}
			for _, arguments := range []string{`[1]`, `{"text":1}`} {
				got, err := e.Act(t.Context(), world.Action{Turn: 1, Call: &model.ToolCall{Name: "echo", Arguments: json.RawMessage(arguments)}})
				if err != nil || !got.Failed {
					t.Errorf("%s: %+v, %v", arguments, got, err)
				}
			}
			got, err := act(t, e, "ask", "")
			if n := strings.Count(got.Text, "is refused") + strings.Count(got.Text, "does not support elicitation"); err != nil || n != 3 {
				t.Errorf("requests of a server: %+v, %v", got, err)
			}
			if got, err = e.Act(t.Context(), world.Action{Turn: 2, Text: "done"}); err != nil || !got.Done {
				t.Errorf("a reply without calls: %+v, %v", got, err)
			}
		})
	}
}

// keyed refuses requests without the key.
func keyed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A program works in the folder of the episode, which checks look at, and is gone when the episode has ended.
func TestFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Servers: []Server{program(t, "plain")}})
	e, dir := open(t, w)
	if got, err := act(t, e, "where", ""); err != nil || got.Text != "file" {
		t.Errorf("where it works: %+v, %v", got, err)
	}
	if got, err := act(t, e, "write", "left"); err != nil || got.Failed {
		t.Fatalf("%+v, %v", got, err)
	}
	must(t, e.Close())
	if data, err := os.ReadFile(filepath.Join(dir, "out.txt")); err != nil || string(data) != "left" {
		t.Errorf("left: %q, %v", data, err)
	}
}

// A server that fails is named with its key and what helps, and nothing is measured.
func TestFailures(t *testing.T) {
	t.Parallel()
	absent := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(absent.Close)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or it would not notice that the client has left
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	missing := program(t, "")
	missing.Argv = []string{"/nowhere/server"}
	for name, tt := range map[string]struct {
		server Server
		want   string // is in the error
	}{
		"it is not there":         {missing, "/nowhere/server"},
		"it dies at once":         {program(t, "dies at once"), "no license was found"},
		"it says nothing":         {program(t, "says nothing"), "did not answer initialize within 1s"},
		"it writes prose":         {program(t, "writes prose"), "invalid character"},
		"it floods":               {program(t, "floods"), "it printed more than 64 MB"},
		"it floods its errors":    {program(t, "floods stderr"), "it printed more than 64 MB"},
		"it lies about ids":       {program(t, "lies about ids"), "did not answer initialize"},
		"no server at an address": {Server{Key: "env.mcp[0]", URL: absent.URL + "/?key=secret"}, "Not Found"},
		"a silent address":        {Server{Key: "env.mcp[0]", URL: silent.URL}, "did not answer initialize within 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Second
			if strings.Contains(tt.want, "printed") {
				limit = time.Minute // it ends before
			}
			_, err := Lists(t.Context(), Options{Servers: []Server{tt.server}, Timeout: limit})
			var fault *Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "env.mcp[0] (") || !strings.Contains(err.Error(), "nothing was measured") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Credentials go where the user has sent them.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	_, err := Lists(t.Context(), Options{Servers: []Server{{Key: "env.mcp[0]", URL: web.URL, Authorization: "Bearer key"}}})
	var fault *Error
	if !errors.As(err, &fault) || asked.Load() > 0 {
		t.Errorf("%d requests elsewhere, %v", asked.Load(), err)
	}
}

// A server that fails at a call is named, and the next episode has another one.
func TestFailuresOfCalls(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		server := program(t, "plain")
		server.Shared = shared
		w := newWorld(t, Options{Servers: []Server{server}, Timeout: 3 * time.Second})
		for tool, want := range map[string]string{"die": "out of cheese", "hang": `did not answer tools/call of "hang" within 3s`} {
			e, _ := open(t, w)
			got, err := act(t, e, tool, "")
			var fault *Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v", tool, got, err)
			}
			must(t, e.Close())
		}
		e, _ := open(t, w)
		if got, err := act(t, e, "echo", "well"); err != nil || got.Text != "well" {
			t.Errorf("the next episode: %+v, %v", got, err)
		}
	}
}

// Tools that are not those that the run began with end it.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Servers: []Server{program(t, "plain")}})
	e, _ := open(t, w)
	_, err := act(t, e, "change", "")
	for n := 0; err == nil && n < 100; n++ { // the notice follows the answer
		_, err = act(t, e, "echo", "")
	}
	var changed *world.ChangedError
	if want := "env.mcp[0] ("; !errors.As(err, &changed) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "added new; gone long: the tools of this server are not those that the run began with") {
		t.Errorf("during an episode: %v", err)
	}
	w.Servers[0] = program(t, "other tools")
	if _, err = w.Open(t.Context(), world.Setting{Dir: t.TempDir()}); !errors.As(err, &changed) || !strings.Contains(err.Error(), "gone fail") {
		t.Errorf("at the next episode: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	list := func(server string, names ...string) List {
		l := List{Server: server}
		for _, n := range names {
			l.Tools = append(l.Tools, Tool{Name: n, Schema: json.RawMessage(`{}`)})
		}
		return l
	}
	servers := []Server{{Key: "env.mcp[0]"}, {Key: "env.mcp[1]"}}
	tools, owners, err := name(servers, []List{list("files", "read", "list.all"), list("a data base", "read", "query")})
	must(t, err)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"files_read", "list_all", "a_data_base_read", "query"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if owners["a_data_base_read"] != (owner{1, "read"}) || owners["list_all"] != (owner{0, "list.all"}) {
		t.Errorf("owners: %v", owners)
	}
	if _, _, err = name(servers, []List{list("files", "read"), list("files", "read")}); err == nil || !strings.Contains(err.Error(), `env.mcp[1]: its tool "read"`) {
		t.Errorf("twice the same: %v", err)
	}
	if _, _, err = name(servers, []List{list("files")}); err == nil {
		t.Error("no tools at all are no error")
	}
}
