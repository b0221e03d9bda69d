package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/result"
)

// enter trades the token for a session, as a page does.
func (s *site) enter() *http.Cookie {
	s.t.Helper()
	r := s.send(s.request(http.MethodPost, prefix+"/session", `{"token":"`+s.token+`"}`, "Origin", s.url, "Sec-Fetch-Site", "same-origin"))
	if r.status != http.StatusNoContent {
		s.t.Fatalf("%d %s", r.status, r.text)
	}
	c, err := http.ParseSetCookie(r.header.Get("Set-Cookie"))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Who may not ask is refused; who may is answered.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, copied(t))
	other := serve(t, nil, t.TempDir())
	stranger := serve(t, func(o *Options) { o.Key = []byte("another key") }, t.TempDir())
	mine, theirs := s.enter(), other.enter()
	port := s.host[strings.LastIndexByte(s.host, ':')+1:]
	forged := stranger.enter()
	forged.Name = mine.Name
	bent := *theirs
	bent.Name = mine.Name
	bearer, cookie := "Bearer "+s.token, mine.Name+"="+mine.Value
	const list, notes = prefix + "/runs", prefix + "/runs/runs:small-1/notes"
	for _, tt := range []struct {
		name         string
		method, path string
		header       []string
		want         int
	}{
		{"a program", "GET", list, []string{"Authorization", bearer}, 200},
		{"a page", "GET", list, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, 200},
		{"a page of an older browser", "GET", list, []string{"Cookie", cookie}, 200},
		{"nobody", "GET", list, nil, 401},
		{"nobody asks for nothing", "GET", prefix + "/nothing", nil, 401},
		{"another token", "GET", list, []string{"Authorization", "Bearer " + strings.ToUpper(s.token)}, 401},
		{"no token", "GET", list, []string{"Authorization", "Bearer "}, 401},
		{"a bad token and a good cookie", "GET", list, []string{"Authorization", "Bearer x", "Cookie", cookie}, 401},
		{"the cookie of another port", "GET", list, []string{"Cookie", theirs.Name + "=" + theirs.Value}, 401},
		{"the cookie of another port under our name", "GET", list, []string{"Cookie", bent.Name + "=" + bent.Value}, 401},
		{"a cookie of another key", "GET", list, []string{"Cookie", forged.Name + "=" + forged.Value}, 401},
		{"a longer cookie", "GET", list, []string{"Cookie", cookie + "x"}, 401},
		{"a cookie of dots", "GET", list, []string{"Cookie", mine.Name + "=...."}, 401},
		{"the loopback name", "GET", list, []string{"Authorization", bearer, "Host", "localhost:" + port}, 200},
		{"the loopback of IPv6", "GET", list, []string{"Authorization", bearer, "Host", "[::1]:" + port}, 200},
		{"a rebound name", "GET", list, []string{"Authorization", bearer, "Host", "evil.example:" + port}, 403},
		{"a rebound name for the page", "GET", "/", []string{"Host", "evil.example:" + port}, 403},
		{"another port", "GET", list, []string{"Authorization", bearer, "Host", "127.0.0.1:1"}, 403},
		{"a name that begins as ours", "GET", list, []string{"Authorization", bearer, "Host", "localhost:" + port + ".evil.example"}, 403},
		{"another address", "GET", list, []string{"Authorization", bearer, "Host", "10.0.0.1:" + port}, 403},
		{"a page elsewhere", "GET", list, []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403},
		{"a page of another port", "GET", list, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, 403},
		{"a change by a program", "PUT", notes, []string{"Authorization", bearer}, 200},
		{"a change by a page", "PUT", notes, []string{"Cookie", cookie, "Origin", s.url}, 200},
		{"a change from elsewhere", "PUT", notes, []string{"Cookie", cookie, "Origin", "https://evil.example"}, 403},
		{"a change from another port", "PUT", notes, []string{"Cookie", cookie, "Origin", other.url}, 403},
		{"a change from a file", "PUT", notes, []string{"Cookie", cookie, "Origin", "null"}, 403},
		{"a change from nowhere", "PUT", notes, []string{"Cookie", cookie}, 403},
		{"a change from elsewhere with the token", "PUT", notes, []string{"Authorization", bearer, "Origin", "https://evil.example"}, 403},
		{"a change as a form", "PUT", notes, []string{"Authorization", bearer, "Content-Type", "text/plain"}, 400},
		{"the page", "GET", "/", nil, 200},
		{"a login from elsewhere", "POST", prefix + "/session", []string{"Origin", "https://evil.example"}, 403},
		{"a login without a token", "POST", prefix + "/session", []string{"Origin", s.url}, 401},
		{"a method for another route", "POST", list, []string{"Authorization", bearer}, 405},
		{"a method of nobody", "BREW", list, []string{"Authorization", bearer}, 405},
		{"no route", "GET", prefix + "/x", []string{"Authorization", bearer}, 404},
		{"no file", "GET", "/etc/passwd", nil, 404},
		{"a change of the page", "POST", "/", nil, 405},
	} {
		body := ""
		if tt.method != "GET" {
			body = "{}"
		}
		r := s.send(s.request(tt.method, tt.path, body, tt.header...))
		if r.status != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.name, r.status, tt.want, r.text)
		}
		if policy := r.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", tt.name, r.header)
		}
		if r.status >= 400 && strings.HasPrefix(tt.path, prefix) && r.refusedAs() == "" {
			t.Errorf("%s: no document: %s", tt.name, r.text)
		}
	}
	if !mine.HttpOnly || mine.SameSite != http.SameSiteStrictMode || mine.Path != "/" || mine.Name != "skillopt_"+port || mine.Secure {
		t.Errorf("cookie %+v", mine)
	}
}

// A session ends, is made anew while it is used, and outlives the server but not its key.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, t.TempDir())
	cookie := s.enter()
	ask := func(s *site) reply {
		return s.send(s.request(http.MethodGet, prefix+"/runs", "", "Cookie", cookie.Name+"="+cookie.Value))
	}
	if r := ask(s); r.status != 200 || r.header.Get("Set-Cookie") != "" {
		t.Fatalf("%d %v", r.status, r.header)
	}
	s.clock.pass(8 * 24 * time.Hour)
	r := ask(s)
	renewed, err := http.ParseSetCookie(r.header.Get("Set-Cookie"))
	if r.status != 200 || err != nil || renewed.Value == cookie.Value {
		t.Fatalf("half of it is over: %d %v", r.status, r.header)
	}
	s.clock.pass(7 * 24 * time.Hour)
	if r := ask(s); r.status != 401 || r.refusedAs() != "auth" {
		t.Errorf("an expired cookie: %d %s", r.status, r.text)
	}
	cookie = renewed
	if r := ask(s); r.status != 200 {
		t.Errorf("the new one: %d %s", r.status, r.text)
	}
}

// Nothing outside of the folders is read: not by addresses, not by links in a run.
func TestNothingElseIsRead(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	const secret = "nobody may read this"
	outside := filepath.Join(filepath.Dir(dir), "outside")
	if err := os.CopyFS(outside, os.DirFS(filepath.Join(dir, "small-1"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.yaml", "best_skill.md"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, links := range map[string]map[string]string{
		"linked":  {"config.yaml": "../../outside/config.yaml"},
		"history": {"history.json": filepath.Join(outside, "history.json")},
		"record":  {"run.db": filepath.Join(outside, "run.db")},
		"folder":  {"skills": filepath.Join(outside, "skills"), "best_skill.md": filepath.Join(outside, "best_skill.md")},
		"events":  {"events": filepath.Join(outside, "events")},
	} {
		to := filepath.Join(dir, name)
		if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, "small-1"))); err != nil {
			t.Fatal(err)
		}
		for link, target := range links {
			if err := os.RemoveAll(filepath.Join(to, link)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, filepath.Join(to, link)); err != nil {
				t.Skipf("no links here: %v", err)
			}
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, dir)
	for _, run := range []string{
		"runs:../outside", "runs:..%2foutside", "runs:..%2Foutside", "runs:%2e%2e%2foutside", "runs:elsewhere", "runs:.", "runs:..", "runs:", ":small-1", "runs",
		"runs:small-1%2f..%2f..%2foutside", `runs:..%5coutside`, "runs:small-1%00", "runs:%2fetc", "outside:small-1", "runs:SMALL-1%2f", "runs:small-1%2f.",
		"runs:linked", "runs:history", "runs:record", "runs:folder", "runs:events",
	} {
		for _, route := range []string{"", "/progress", "/config", "/skill", "/skill/file?path=best_skill.md", "/skill/file", "/blame", "/grid", "/failures", "/calls", "/versions", "/candidates"} {
			r := s.ask(http.MethodGet, "/runs/"+run+route, "")
			if r.status == 200 || strings.Contains(r.text, secret) {
				t.Errorf("%s%s: %d %.200s", run, route, r.status, r.text)
			}
		}
	}
	for _, file := range []string{"../config.yaml", "..%2f..%2foutside%2fconfig.yaml", "%2fetc%2fpasswd", "C:%5cwindows", "SKILL.md%00", "./SKILL.md"} {
		if r := s.ask(http.MethodGet, "/runs/runs:small-1/skill/file?path="+file, ""); r.status != 404 {
			t.Errorf("file %s: %d %.200s", file, r.status, r.text)
		}
	}
	for _, path := range []string{"/../outside/config.yaml", "/%2e%2e/%2e%2e/etc/passwd", "/ui/dist/index.html", "/assets/", "/assets/..%2findex.html", "/.git/config", "//etc/passwd"} {
		if r := s.send(s.request(http.MethodGet, path, "")); r.status == 200 {
			t.Errorf("%s: %d %.200s", path, r.status, r.text)
		}
	}
}

// A look at an answer to a test task is noted, but not through a link.
func TestLooksAreNoted(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	s := serve(t, nil, dir)
	ledger := filepath.Join(dir, testset.File)
	look := func() reply {
		return s.ask(http.MethodGet, "/runs/runs:small-1/failures?test=1", "")
	}
	if r := look(); r.status != 200 || r.header.Get("Skillopt-Warning") != "" {
		t.Fatalf("%d %v", r.status, r.header)
	}
	text, err := os.ReadFile(ledger)
	if err != nil || !strings.Contains(string(text), "small-1 (looked at)") || !strings.Contains(string(text), "serve: failures") {
		t.Errorf("it is not noted: %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), "db")
	if err := errors.Join(os.Remove(ledger), os.Symlink(elsewhere, ledger)); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if r := look(); r.status != 200 || r.header.Get("Skillopt-Warning") == "" {
		t.Errorf("through a link: %d %v", r.status, r.header)
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("a file was made elsewhere")
	}
}

// A server that only shows changes nothing, and nobody steers a copy.
func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	shows := serve(t, func(o *Options) { o.ReadOnly = true }, dir)
	for method, routes := range map[string][]string{"PUT": {"notes"}, "POST": {"stop", "limits", "remove"}} {
		for _, route := range routes {
			if r := shows.ask(method, "/runs/runs:small-1/"+route, "{}"); r.status != 403 || r.refusedAs() != "forbidden" {
				t.Errorf("%s: %d %s", route, r.status, r.text)
			}
		}
	}
	own(t, filepath.Join(dir, "small-1"), func(m map[string]any) { m["directory"] = "1:1" })
	s := serve(t, nil, dir)
	for _, route := range []string{"stop", "limits"} {
		if r := s.ask("POST", "/runs/runs:small-1/"+route, `{}`); route == "stop" && (r.status != 409 || r.refusedAs() != "conflict") {
			t.Errorf("%s of a copy: %d %s", route, r.status, r.text)
		}
	}
	if r := s.ask("POST", "/runs/runs:small-1/limits", `{"usd":1}`); r.status != 409 {
		t.Errorf("limits of a copy: %d %s", r.status, r.text)
	}
}

// Bodies that are none, or too much, are refused, and not kept.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, copied(t))
	for body, want := range map[string]int{
		`{"text":"kept","tags":["a"]}`: 200, `{"text":"kept","tags":[]}`: 200, `{`: 400, `[]`: 400, `{"text":1}`: 400, `{"txt":"a"}`: 400, `{"text":"a"} {}`: 400, "\xff": 400, `"`: 400,
		`{"tags":["a,b"]}`: 400, strings.Repeat("[", 60_000): 400, `{"text":"` + strings.Repeat("a", 70_000) + `"}`: 413,
	} {
		if r := s.ask("PUT", "/runs/runs:small-1/notes", body); r.status != want {
			t.Errorf("%.40q: %d, want %d: %.300s", body, r.status, want, r.text)
		}
	}
	for body, want := range map[string]int{`{"usd":-1}`: 400, `{"euro":1}`: 400, `{}`: 400, `{"time":5}`: 400, `{"time":"soon"}`: 400, `{"calls":1.5}`: 400, `null`: 400} {
		if r := s.ask("POST", "/runs/runs:small-1/limits", body); r.status != want {
			t.Errorf("limits %s: %d, want %d: %.300s", body, r.status, want, r.text)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, chunked := range []bool{false, true} {
		status, err := s.flood(1<<30, chunked)
		if err == nil && status != 413 && status != 400 {
			t.Errorf("a body of 1 GB (chunked %v): %d", chunked, status)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > 64<<20 {
		t.Errorf("%d MB were allocated", grown>>20)
	}
}

// flood sends a large body, as far as it is taken.
func (s *site) flood(size int64, chunked bool) (status int, err error) {
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	length := fmt.Sprintf("Content-Length: %d", size)
	if chunked {
		length = "Transfer-Encoding: chunked"
	}
	fmt.Fprintf(c, "PUT %s/runs/runs:small-1/notes HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", prefix, s.host, s.token, length)
	go func() {
		block := []byte(strings.Repeat("x", 1<<16))
		if chunked {
			block = append([]byte("10000\r\n"), append(block, "\r\n"...)...)
		}
		for sent := int64(0); sent < size; sent += 1 << 16 {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// say sends bytes and returns the first line of what comes back.
func (s *site) say(text string) string {
	s.t.Helper()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestOddRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, copied(t))
	auth := "Authorization: Bearer " + s.token + "\r\n"
	for text, want := range map[string]string{
		"GET / HTTP/1.0\r\n\r\n":                                                                                     "HTTP/1.0 403",
		"GET / HTTP/1.1\r\n\r\n":                                                                                     "HTTP/1.1 400",
		"GET / HTTP/1.1\r\nHost: " + s.host + "\r\nHost: x\r\n\r\n":                                                  "HTTP/1.1 400",
		"GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n\r\n":                                                       "HTTP/1.1 403",
		"CONNECT " + s.host + " HTTP/1.1\r\nHost: " + s.host + "\r\n\r\n":                                            "HTTP/1.1 404",
		"GET " + prefix + "/runs HTTP/1.0\r\nHost: " + s.host + "\r\n" + auth + "\r\n":                               "HTTP/1.0 200",
		"HEAD " + prefix + "/runs HTTP/1.1\r\nHost: " + s.host + "\r\n" + auth + "\r\n":                              "HTTP/1.1 200",
		"GET " + prefix + "/runs HTTP/1.1\r\nHost: " + s.host + "\r\nX: " + strings.Repeat("x", 40_000) + "\r\n\r\n": "HTTP/1.1 431",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n":                                                       "HTTP/1.1 400",
	} {
		if got := s.say(text); !strings.HasPrefix(got, want) {
			t.Errorf("%.60q: %q, want %s", text, got, want)
		}
	}
}

// Many who are slow hold up nobody, and ten thousand requests in a row are served or refused.
func TestMany(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, copied(t))
	for range 100 { // half a request each
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET %s/runs HTTP/1.1\r\nHost: %s\r\nX-A: ", prefix, s.host)
	}
	if r := s.ask(http.MethodGet, "/runs", ""); r.status != 200 {
		t.Fatalf("beside slow ones: %d", r.status)
	}
	counted := map[int]int{}
	for i := range 10_000 {
		path := []string{"/", prefix + "/server", prefix + "/runs/runs:small-1/config"}[i%3]
		r := s.send(s.request(http.MethodGet, path, "", "Authorization", "Bearer "+s.token))
		counted[r.status]++
		if r.status == 429 && (r.refusedAs() != "busy" || r.header.Get("Retry-After") == "") {
			t.Fatalf("%s %v", r.text, r.header)
		}
	}
	if counted[200] < 500 || counted[200]+counted[429] != 10_000 {
		t.Errorf("%v", counted)
	}
	strangers := map[int]int{}
	for range 200 {
		strangers[s.send(s.request(http.MethodGet, prefix+"/runs", "", "Authorization", "Bearer guess")).status]++
	}
	if strangers[401] > 100 || strangers[401]+strangers[429] != 200 {
		t.Errorf("guesses: %v", strangers)
	}
	cookie := s.enterLater()
	if r := s.send(s.request(http.MethodGet, prefix+"/runs", "", "Cookie", cookie.Name+"="+cookie.Value)); r.status != 200 {
		t.Errorf("a session beside those: %d %s", r.status, r.text)
	}
}

// enterLater enters once strangers have been refused often enough.
func (s *site) enterLater() *http.Cookie {
	s.clock.pass(time.Minute)
	return s.enter()
}

// What a run holds is data, whatever it looks like.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	const evil = "</script><script>alert(1)</script>\x1b]0;t\x07\u202e\u009b31m\x00"
	name := "<img src=x onerror=alert(1)>\u202e'\"&"
	if err := os.Rename(filepath.Join(dir, "small-1"), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, name)
	own(t, at, func(m map[string]any) { m["name"] = evil })
	if err := os.WriteFile(filepath.Join(at, "best_skill.md"), []byte("# "+evil), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "config.yaml"), []byte("name: "+evil), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, dir)
	var list result.Listing
	s.get("/runs", &list)
	if len(list.Runs) != 1 || list.Runs[0].Name != name {
		t.Fatalf("%+v", list)
	}
	run := "/runs/runs:" + escape(name)
	for _, route := range []string{"", "/progress", "/skill", "/config", "/versions", "/diff", "/grid"} {
		r := s.ask(http.MethodGet, run+route, "")
		if r.status != 200 || r.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(r.text)) {
			t.Errorf("%s: %d %s %.100s", route, r.status, r.header.Get("Content-Type"), r.text)
		}
		if strings.ContainsAny(r.text, "<>\u202e\u009b\x1b\x00\x07") {
			t.Errorf("%s: markup, or characters that steer, stand in it as they are", route)
		}
	}
	r := s.ask(http.MethodGet, run+"/skill/file", "")
	if r.status != 200 || r.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(r.header.Get("Content-Disposition"), "attachment;") || !strings.Contains(r.text, evil) {
		t.Errorf("the file: %d %v %.100q", r.status, r.header, r.text)
	}
	if err := os.WriteFile(filepath.Join(at, "best_skill.md"), []byte("<b>\xff\xfe\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{run + "/skill/file", run + "x", "/<script>", "/runs?" + "<script>=1"} {
		if r := s.ask(http.MethodGet, path, ""); strings.Contains(r.text, "<") || r.status < 400 {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
}

func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}
