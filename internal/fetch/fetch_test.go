package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/fetch"
)

func TestMain(m *testing.M) {
	if os.Getenv(childBase) != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// TestFetch: files of a pattern, on pages, behind redirects that get no token; a second fetch
// brings nothing over the network but the list.
func TestFetch(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"data/a/1.parquet": noise(3<<20, "1"), "data/a/2.parquet": noise(500, "2"), "data/b/3%41 ?#.parquet": "small", "data/README.md": "no", "other.parquet": "no"})
	dir := t.TempDir()
	var kinds []fetch.EventKind
	report, err := fetch.Fetch(t.Context(), h.options(), hf("data/**/*.parquet", "rows"), dir, func(e fetch.Event) {
		if e.Kind != fetch.Progress {
			kinds = append(kinds, e.Kind)
		}
		if e.Kind == fetch.Listed && (e.Files != 3 || e.Total != 3<<20+505) {
			t.Errorf("%+v", e)
		}
	})
	if err != nil || report.Fetched != 3 || report.Bytes != 3<<20+505 || len(report.Pinned) > 0 || report.Lock != filepath.Join(dir, "bench.lock") {
		t.Fatalf("%+v, %v", report, err)
	}
	got := read(t, dir)
	lock := got["bench.lock"]
	delete(got, "bench.lock")
	want := map[string]string{"rows/a/1.parquet": h.files["data/a/1.parquet"], "rows/a/2.parquet": h.files["data/a/2.parquet"], "rows/b/3%41 ?#.parquet": "small"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%.500s", diff)
	}
	prefix := "hf:owner/name@" + revision + "/"
	if want := fmt.Sprintf(`{
  "schema": 1,
  "files": [
    {
      "origin": "%[1]sdata/a/1.parquet",
      "sha256": "%[2]s",
      "size": 3145728
    },
    {
      "origin": "%[1]sdata/a/2.parquet",
      "sha256": "%[3]s",
      "size": 500
    },
    {
      "origin": "%[1]sdata/b/3%%41 ?#.parquet",
      "sha256": "%[4]s",
      "size": 5
    }
  ]
}
`, prefix, sha(h.files["data/a/1.parquet"]), sha(h.files["data/a/2.parquet"]), sha("small")); lock != want {
		t.Error(cmp.Diff(want, lock))
	}
	if diff := cmp.Diff([]fetch.EventKind{"listed", "begun", "finished", "begun", "finished", "begun", "finished"}, kinds); diff != "" {
		t.Error(diff)
	}
	before := len(h.requests())
	report, err = fetch.Fetch(t.Context(), h.options(), hf("data/**/*.parquet", "rows"), dir, nil)
	if err != nil || report.Fetched != 0 || report.Bytes != 0 || len(report.Files) != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, r := range h.requests()[before:] {
		if !strings.HasPrefix(r, "hub /api/") {
			t.Errorf("fetched again: %s", r)
		}
	}
	files, err := fetch.Plan(t.Context(), h.options(), hf("data/a/1.parquet", ""))
	if err != nil || len(files) != 1 || files[0].Path != "1.parquet" || files[0].Known != "source" || files[0].Size != 3<<20 {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestCutStreamsGoOn: what was there when a stream was cut is not asked for again, unless it is
// of another version.
func TestCutStreamsGoOn(t *testing.T) {
	t.Parallel()
	text := noise(1<<20, "x")
	h := newHub(t, map[string]string{"x.bin": text})
	cuts := 0
	h.before = func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn || cuts == 5 {
			return false
		}
		cuts++
		h.blob(&cutWriter{ResponseWriter: w, left: 100_000}, r, "x.bin")
		return true
	}
	dir := t.TempDir()
	report, err := fetch.Fetch(t.Context(), h.options(), hf("x.bin", ""), dir, nil)
	if err != nil || report.Bytes != 1<<20 || read(t, dir)["x.bin"] != text {
		t.Errorf("%+v, %v", report, err)
	}
	if last := h.requests()[len(h.requests())-1]; last != "cdn /cdn/x.bin bytes=500000-" {
		t.Errorf("the last request: %s", last)
	}
	if left := read(t, dir); len(left) != 2 {
		t.Errorf("left: %d files", len(left))
	}
}

// cutWriter breaks the connection after some bytes.
type cutWriter struct {
	http.ResponseWriter

	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	_, err := c.ResponseWriter.Write(p[:n])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// TestPartsOfBefore: what a fetch before has left is gone on with where it can be, and is not
// trusted.
func TestPartsOfBefore(t *testing.T) {
	t.Parallel()
	text := noise(10_000, "x")
	etag := `"` + sha(text)[:20] + `"`
	for name, c := range map[string]struct {
		part, tag string
		bytes     int64
	}{
		"a beginning":                 {text[:4_000], etag, 6_000},
		"without its tag":             {text[:4_000], "", 6_000},
		"of another version":          {text[:4_000], `"other"`, 10_000},
		"wrong bytes":                 {noise(4_000, "y"), etag, 16_000},
		"all of it":                   {text, etag, 0},
		"more than that":              {text + "more", etag, 10_000},
		"as much, and something else": {noise(10_000, "y"), etag, 10_000},
	} {
		h := newHub(t, map[string]string{"x.bin": text})
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, "x.bin.part"), []byte(c.part), 0o600)
		if err == nil && c.tag != "" {
			err = os.WriteFile(filepath.Join(dir, "x.bin.part.etag"), []byte(c.tag), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		report, err := fetch.Fetch(t.Context(), h.options(), hf("x.bin", ""), dir, nil)
		if got := read(t, dir); err != nil || report.Bytes != c.bytes || got["x.bin"] != text || len(got) != 2 {
			t.Errorf("%s: %d bytes, want %d; %d files, %v", name, report.Bytes, c.bytes, len(got), err)
		}
	}
}

// TestUnknownHashesArePinned: the first fetch takes them down and says so; from then on they
// hold.
func TestUnknownHashesArePinned(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"plain.csv": "a,b\n"})
	h.before = func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		switch r.URL.Path {
		case "/plain.csv":
			h.blob(w, r, "plain.csv")
		case "/repos/o/r/releases/tags/v1":
			fmt.Fprintf(w, `{"assets": [{"name": "a.zip", "size": 4, "digest": "sha256:%s", "browser_download_url": "%s/plain.csv"}, {"name": "b.zip", "size": 4, "digest": null, "browser_download_url": "%[2]s/plain.csv"}]}`, sha("a,b\n"), h.URL)
		default:
			return false
		}
		return true
	}
	dir := t.TempDir()
	sources := []fetch.Source{{URL: h.URL + "/plain.csv", To: "u"}, {GitHub: "o/r", Tag: "v1", Asset: "*.zip"}}
	report, err := fetch.Fetch(t.Context(), h.options(), sources, dir, nil)
	if err != nil || len(report.Pinned) != 2 || report.Pinned[0].Path != "b.zip" || report.Pinned[1].Path != "u/plain.csv" || report.Pinned[1].SHA256 != sha("a,b\n") {
		t.Fatalf("%+v, %v", report, err)
	}
	if report, err := fetch.Fetch(t.Context(), h.options(), sources, dir, nil); err != nil || len(report.Pinned) != 0 || report.Fetched != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := os.Remove(filepath.Join(dir, "u", "plain.csv")); err != nil {
		t.Fatal(err)
	}
	h.files["plain.csv"] = "c,d\n"
	_, err = fetch.Fetch(t.Context(), h.options(), sources[:1], dir, nil)
	if !errors.Is(err, fetch.ErrHash) || !strings.Contains(err.Error(), "its SHA-256 is "+sha("c,d\n")+", it should be "+sha("a,b\n")) || !strings.Contains(err.Error(), "bench.lock") {
		t.Errorf("got %v", err)
	}
	if got := read(t, dir); len(got) != 3 {
		t.Errorf("left: %v", got)
	}
	o := h.options()
	o.Lock = filepath.Join(t.TempDir(), "own.lock")
	o.Known = []fetch.Pin{{Origin: h.URL + "/plain.csv", SHA256: sha("a,b\n"), Size: 4}}
	if _, err := fetch.Fetch(t.Context(), o, sources[:1], t.TempDir(), nil); !errors.Is(err, fetch.ErrHash) {
		t.Errorf("what is known besides: %v", err)
	}
}

// TestPartsOfFilesThatNobodyKnows: a part counts where the server says that it is of the same
// version, a file that is there is nobody's to take down.
func TestPartsOfFilesThatNobodyKnows(t *testing.T) {
	t.Parallel()
	text := noise(10_000, "x")
	etag := `"` + sha(text)[:20] + `"`
	for name, c := range map[string]struct {
		files map[string]string
		bytes int64
		want  error
	}{
		"all of it":           {map[string]string{"x.csv.part": text, "x.csv.part.etag": etag}, 0, nil},
		"a beginning":         {map[string]string{"x.csv.part": text[:10], "x.csv.part.etag": etag}, 9_990, nil},
		"of another version":  {map[string]string{"x.csv.part": noise(10, "y"), "x.csv.part.etag": `"y"`}, 10_000, nil},
		"without its tag":     {map[string]string{"x.csv.part": text[:10]}, 10_000, nil},
		"the file is there":   {map[string]string{"x.csv": text}, 0, fetch.ErrHash},
		"a folder in its way": {map[string]string{"x.csv.part/y": ""}, 0, fetch.ErrHash},
	} {
		h := newHub(t, map[string]string{"x.csv": text})
		dir := t.TempDir()
		for file, data := range c.files {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		source := fetch.Source{URL: h.URL + "/datasets/owner/name/resolve/" + revision + "/x.csv"}
		report, err := fetch.Fetch(t.Context(), h.options(), []fetch.Source{source}, dir, nil)
		if !errors.Is(err, c.want) || report.Bytes != c.bytes || err == nil && (read(t, dir)["x.csv"] != text || len(read(t, dir)) != 2 || len(report.Pinned) != 1) {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}

// TestServersThatAreBusy are waited for, as long as they say.
func TestServersThatAreBusy(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"x.bin": "small"})
	answers := []struct {
		status int
		after  string
	}{{429, "7"}, {503, ""}, {403, "5"}, {200, ""}, {500, ""}, {502, ""}, {200, ""}}
	h.before = func(w http.ResponseWriter, _ *http.Request, _ bool) bool {
		a := answers[0]
		answers = answers[1:]
		if a.status == 200 {
			return false
		}
		w.Header().Set("Retry-After", a.after)
		w.WriteHeader(a.status)
		return true
	}
	o := h.options()
	o.Bounds.Tries = 4
	var waits []time.Duration
	o.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	if _, err := fetch.Fetch(t.Context(), o, hf("x.bin", ""), t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{7 * time.Second, 2 * time.Second, 5 * time.Second, time.Second, 2 * time.Second}, waits); diff != "" {
		t.Error(diff)
	}
}

// TestFailuresAreNamed: each says what happened, where, and what helps; nothing is left under
// the name of the file.
func TestFailuresAreNamed(t *testing.T) {
	t.Parallel()
	text := noise(200_000, "x")
	status := func(code int, header ...string) func(*hub, http.ResponseWriter, *http.Request, bool) bool {
		return func(_ *hub, w http.ResponseWriter, _ *http.Request, _ bool) bool {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			return true
		}
	}
	atCDN := func(answer func(*hub, http.ResponseWriter, *http.Request, bool) bool) func(*hub, http.ResponseWriter, *http.Request, bool) bool {
		return func(h *hub, w http.ResponseWriter, r *http.Request, cdn bool) bool {
			return cdn && answer(h, w, r, cdn)
		}
	}
	body := func(text string) func(*hub, http.ResponseWriter, *http.Request, bool) bool {
		return func(_ *hub, w http.ResponseWriter, _ *http.Request, _ bool) bool {
			_, _ = w.Write([]byte(text))
			return true
		}
	}
	noToken := func(o *fetch.Options) { o.HFToken = "" }
	for _, c := range []struct {
		name   string
		answer func(*hub, http.ResponseWriter, *http.Request, bool) bool
		change func(*fetch.Options)
		kind   error
		want   string
		kept   bool // the part
	}{
		{"wrong hash", atCDN(body(noise(200_000, "other"))), nil, fetch.ErrHash, "its SHA-256 is " + sha(noise(200_000, "other")) + ", it should be " + sha(text), false},
		{"shorter", atCDN(body("short")), nil, fetch.ErrHash, "it has 5 bytes there, it should have 200000", false},
		{"longer", atCDN(func(_ *hub, w http.ResponseWriter, _ *http.Request, _ bool) bool {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write([]byte(text + "more"))
			return true
		}), nil, fetch.ErrHash, "more than the 200000 bytes come that it has", false},
		{"cut", atCDN(func(h *hub, w http.ResponseWriter, r *http.Request, _ bool) bool {
			r.Header.Del("Range")
			h.blob(&cutWriter{ResponseWriter: w, left: 50_000}, r, "x.bin")
			return true
		}), nil, fetch.ErrCut, "the stream ends after 50000 bytes of 200000, again and again (unexpected EOF)", true},
		{"silent", atCDN(func(_ *hub, w http.ResponseWriter, r *http.Request, _ bool) bool {
			w.WriteHeader(200)
			_, _ = w.Write([]byte(text[:1000]))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}), func(o *fetch.Options) { o.Bounds.Silence = 30 * time.Millisecond; o.Bounds.Tries = 2 }, fetch.ErrCut, "the stream fell silent for 30ms", true},
		{"gated", status(401), noToken, fetch.ErrGated, "agree to its licence at https://huggingface.co/datasets/owner/name, make a token that may read at https://huggingface.co/settings/tokens, and set HF_TOKEN", false},
		{"gated with a token", status(403), nil, fetch.ErrGated, "the token in HF_TOKEN may not read it (status 403): agree to its licence", false},
		{"not there", status(404), nil, fetch.ErrNotFound, "does not have it (status 404)", false},
		{"busy", status(429), nil, fetch.ErrBusy, "(status 429), in 3 tries: fetch again later", false},
		{"busy for long", status(429, "Retry-After", "7200"), nil, fetch.ErrBusy, "asks to wait 2h0m0s: fetch again then", false},
		{"broken", status(500), nil, fetch.ErrBusy, "(status 500)", false},
		{"teapot", status(418), nil, fetch.ErrAnswer, "answers with status 418", false},
		{"no list", body("<html>"), nil, fetch.ErrAnswer, "answers with something else than a list of files", false},
		{"no files", body("[]"), nil, fetch.ErrNotFound, "no file there is covered by files: x.bin", false},
		{"no hash", body(`[{"type": "file", "path": "x.bin", "size": 4, "oid": ""}]`), nil, fetch.ErrAnswer, "gives no hash of it", false},
		{"pages elsewhere", func(_ *hub, w http.ResponseWriter, _ *http.Request, _ bool) bool {
			w.Header().Set("Link", `<https://evil.example/next>; rel="next"`)
			_, _ = w.Write([]byte("[]"))
			return true
		}, nil, fetch.ErrAnswer, "the next page of the list of its files is elsewhere", false},
		{"pages in a circle", func(h *hub, w http.ResponseWriter, r *http.Request, _ bool) bool {
			w.Header().Set("Link", `<`+h.URL+r.URL.Path+`?again>; rel="next"`)
			_, _ = w.Write([]byte("[]"))
			return true
		}, nil, fetch.ErrAnswer, "or one that was there already", false},
		{"circle", atCDN(func(h *hub, w http.ResponseWriter, r *http.Request, _ bool) bool {
			http.Redirect(w, r, h.cdn.URL+r.URL.Path+"?signature=secret", http.StatusFound)
			return true
		}), nil, fetch.ErrRedirect, "it is sent round in a circle", false},
		{"on and on", atCDN(func(_ *hub, w http.ResponseWriter, r *http.Request, _ bool) bool {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
			return true
		}), nil, fetch.ErrRedirect, "it is sent on more than 8 times", false},
		{"nowhere", status(302), nil, fetch.ErrRedirect, "does not say where", false},
		{"plain HTTP", status(302, "Location", "http://cdn.example/x?secret"), nil, fetch.ErrRedirect, "it is sent on to an address that is plain HTTP, by which anybody on the way can change what comes: http://cdn.example/x", false},
		{"private", status(302, "Location", "https://169.254.169.254/latest"), nil, fetch.ErrRedirect, "it is sent on to an address that is private: https://169.254.169.254/latest", false},
		{"this machine", status(302, "Location", "https://[::1]/x"), nil, fetch.ErrRedirect, "is private", false},
		{"a name of this machine", status(302, "Location", "https://localhost/x"), nil, fetch.ErrRedirect, "is private", false},
		{"another scheme", status(302, "Location", "file:///etc/passwd"), nil, fetch.ErrRedirect, "is neither https nor http", false},
		{"too large", nil, func(o *fetch.Options) { o.Bounds.FileBytes = 1000 }, fetch.ErrBound, "it has 200000 bytes, at most 1000 are fetched of one file", false},
		{"too much", nil, func(o *fetch.Options) { o.Bounds.TotalBytes = 1000 }, fetch.ErrBound, "more than 1000 bytes in all", false},
		{"no server", nil, func(o *fetch.Options) { o.HFBase = "http://127.0.0.1:1" }, fetch.ErrTransport, "127.0.0.1:1 is not reached, in 3 tries: dial tcp", false},
		{"base", nil, func(o *fetch.Options) { o.HFBase = "huggingface.co" }, fetch.ErrSource, "is no address of a server", false},
		{"not trusted", nil, func(o *fetch.Options) { o.Trusted = nil }, fetch.ErrRedirect, "is plain HTTP", false},
	} {
		h := newHub(t, map[string]string{"x.bin": text})
		if c.answer != nil {
			h.before = func(w http.ResponseWriter, r *http.Request, cdn bool) bool { return c.answer(h, w, r, cdn) }
		}
		o := h.options()
		if c.change != nil {
			c.change(&o)
		}
		dir := t.TempDir()
		_, err := fetch.Fetch(t.Context(), o, hf("x.bin", ""), dir, nil)
		var own *fetch.Error
		if !errors.As(err, &own) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v\nwant %v: %s", c.name, err, c.kind, c.want)
		}
		got := read(t, dir)
		if _, there := got["x.bin"]; there {
			t.Errorf("%s: the file is there", c.name)
		}
		if _, kept := got["x.bin.part"]; kept != c.kept && c.kind != fetch.ErrRedirect {
			t.Errorf("%s: the part is kept: %v", c.name, kept)
		}
	}
}

// TestNamesOfFilesAreNotBelieved: what a server calls its files leads nowhere else.
func TestNamesOfFilesAreNotBelieved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", `a\b`, "a//b", "C:x", "nul\x00", "x.part", "x.part.etag", "bench.lock", ".fetch.lock", "a/./b"} {
		h := newHub(t, map[string]string{name: "x"})
		dir := t.TempDir()
		if _, err := fetch.Fetch(t.Context(), h.options(), hf("", ""), dir, nil); !errors.Is(err, fetch.ErrAnswer) {
			t.Errorf("%q: %v", name, err)
		}
		if got := read(t, dir); len(got) > 0 {
			t.Errorf("%q: left %v", name, got)
		}
	}
	for what, sources := range map[string][]fetch.Source{
		"case alone":  hf("", ""),
		"one for two": append(hf("a.csv", "x"), hf("d/a.csv", "x")...),
	} {
		h := newHub(t, map[string]string{"a.csv": "1", "A.csv": "2", "d/a.csv": "3"})
		if _, err := fetch.Plan(t.Context(), h.options(), sources); !errors.Is(err, fetch.ErrSource) || !strings.Contains(err.Error(), "would take the place of") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSourcesAreValidated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0", 64)
	for want, s := range map[string]fetch.Source{
		"one of hf, github and url":        {},
		"and no two":                       {HF: "a/b", URL: "https://x/y"},
		"hf: owner/name":                   {HF: "squad", Revision: revision},
		"commits/main lists them":          {HF: "a/b", Revision: "main"},
		"files: \"../x\"":                  {HF: "a/b", Revision: revision, Files: "../x"},
		"none of tag, asset":               {HF: "a/b", Revision: revision, SHA256: long},
		"to: \"../x\"":                     {HF: "a/b", Revision: revision, To: "../x"},
		"github: owner/name":               {GitHub: "a/b/c", Tag: "v1", Asset: "x"},
		"both are needed":                  {GitHub: "a/b", Tag: "v1"},
		"is no name of a file":             {GitHub: "a/b", Tag: "v1", Asset: "a/b"},
		"of one asset that is named":       {GitHub: "a/b", Tag: "v1", Asset: "*.zip", SHA256: long},
		"an address https://host/path":     {URL: "ftp://x/y"},
		"without a user":                   {URL: "https://u:p@x/y"},
		"ends in no name":                  {URL: "https://x/"},
		"64 hex digits are needed":         {URL: "https://x/y", SHA256: "12"},
		"none of tag, asset, revision and": {URL: "https://x/y", Revision: revision},
	} {
		err := s.Validate()
		if !errors.Is(err, fetch.ErrSource) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
		if _, err := fetch.Plan(t.Context(), fetch.Options{}, []fetch.Source{s}); !errors.Is(err, fetch.ErrSource) {
			t.Errorf("planned: %v", err)
		}
	}
	for _, s := range []fetch.Source{{HF: "a/b", Revision: revision}, {GitHub: "a/b", Tag: "v1", Asset: "x.zip", SHA256: long, To: "a/b"}, {URL: "https://x/y.csv?z"}} {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestSmallFilesOfGatedDataSets: Hugging Face sends on within itself, where it wants to know
// who asks once more. The token does not go along; where the file is asked for otherwise, it is
// given without being sent on.
func TestSmallFilesOfGatedDataSets(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"a b/x.csv": "small"})
	h.before = func(w http.ResponseWriter, r *http.Request, _ bool) bool {
		known := r.Header.Get("Authorization") == "Bearer "+token
		switch at := r.URL.Path; {
		case strings.HasPrefix(at, "/datasets/owner/name/resolve/") && known:
			http.Redirect(w, r, "/api/resolve-cache/x", http.StatusTemporaryRedirect)
		case strings.HasPrefix(at, "/api/resolve-cache/") && known:
			t.Error("the token came along with a redirect")
		case at == "/datasets/owner/name/raw/"+revision+"/a b/x.csv" && known:
			h.blob(w, r, "a b/x.csv")
		case strings.HasPrefix(at, "/api/datasets/") && known:
			return false
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
		return true
	}
	dir := t.TempDir()
	if _, err := fetch.Fetch(t.Context(), h.options(), hf("", ""), dir, nil); err != nil || read(t, dir)["a b/x.csv"] != "small" {
		t.Errorf("%v: %v", read(t, dir), err)
	}
}

// TestWhatIsThereStays: a file that is there and is another one is nobody's to overwrite.
func TestWhatIsThereStays(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"x.csv": "right"})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.csv"), []byte("my own"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := fetch.Fetch(t.Context(), h.options(), hf("x.csv", ""), dir, nil)
	if !errors.Is(err, fetch.ErrHash) || !strings.Contains(err.Error(), "x.csv is there, and it has 6 bytes, it should have 5: remove it to fetch it again") || read(t, dir)["x.csv"] != "my own" {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.csv"), []byte("right"), 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := fetch.Fetch(t.Context(), h.options(), hf("x.csv", ""), dir, nil); err != nil || report.Fetched != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestLockFilesAndLocks(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"x.csv": "x"})
	origin := "hf:owner/name@" + revision + "/x.csv"
	for want, text := range map[string]string{
		"is broken":                 "{",
		"was it written by a newer": `{"schema": 2, "new": true}`,
		"unknown field":             `{"schema": 1, "files": [], "new": true}`,
		"after top-level value":     `{"schema": 1, "files": []} {}`,
		"no SHA-256 of 64":          `{"schema": 1, "files": [{"origin": "x", "sha256": "12", "size": 1}]}`,
		"has it with SHA-256":       fmt.Sprintf(`{"schema": 1, "files": [{"origin": "x", "sha256": "%[1]s", "size": 1}, {"origin": "x", "sha256": "%[1]s", "size": 2}]}`, sha("x")),
		"the lock file " + sha("y"): fmt.Sprintf(`{"schema": 1, "files": [{"origin": "%s", "sha256": "%s", "size": 5}]}`, origin, sha("y")),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "bench.lock"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fetch.Fetch(t.Context(), h.options(), hf("", ""), dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if got := read(t, dir)["bench.lock"]; got != text {
			t.Errorf("the lock file is now %s", got)
		}
	}
	dir := t.TempDir()
	lock := flock.New(filepath.Join(dir, ".fetch.lock"))
	if _, err := lock.TryLock(); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Fetch(t.Context(), h.options(), hf("", ""), dir, nil); !errors.Is(err, fetch.ErrLocked) {
		t.Errorf("got %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

// TestStopping: the end of the context ends a wait and a stream, and is the error.
func TestStopping(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"x.bin": noise(1000, "x")})
	stop := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	var busy atomic.Bool
	h.before = func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
		if !cdn {
			return false
		}
		busy.Store(true)
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		cancel(stop)
		<-r.Context().Done()
		return true
	}
	if _, err := fetch.Fetch(ctx, h.options(), hf("", ""), t.TempDir(), nil); !errors.Is(err, stop) || !busy.Load() {
		t.Errorf("got %v", err)
	}
}
