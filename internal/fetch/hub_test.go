package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/fetch"
)

const (
	revision = "0123456789abcdef0123456789abcdef01234567"
	token    = "hf_secret"
)

// hub is a server that speaks as Hugging Face, and another one that keeps its large files.
type hub struct {
	*httptest.Server

	cdn *httptest.Server
	// files are those of owner/name: those of more than 100 bytes are with the CDN.
	files map[string]string
	// before looks at a request before it is answered, and may answer it itself. cdn: it came to
	// the CDN.
	before func(w http.ResponseWriter, r *http.Request, cdn bool) (answered bool)

	mu   sync.Mutex
	seen []string // method, host, path, range of each request
}

func newHub(t testing.TB, files map[string]string) *hub {
	t.Helper()
	h := &hub{files: files}
	h.cdn = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(t, w, r, true) }))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.serve(t, w, r, false) }))
	t.Cleanup(h.cdn.Close)
	t.Cleanup(h.Server.Close)
	return h
}

func (h *hub) serve(t testing.TB, w http.ResponseWriter, r *http.Request, cdn bool) {
	h.mu.Lock()
	name := "hub "
	if cdn {
		name = "cdn "
	}
	h.seen = append(h.seen, strings.TrimSpace(name+r.URL.Path+" "+r.Header.Get("Range")))
	before := h.before
	h.mu.Unlock()
	if cdn && (r.Header.Get("Authorization") != "" || strings.Contains(fmt.Sprint(r.Header), token)) {
		t.Errorf("the token came along with a redirect: %v", r.Header)
	}
	if before != nil && before(w, r, cdn) {
		return
	}
	if cdn {
		h.blob(w, r, strings.TrimPrefix(r.URL.Path, "/cdn/"))
		return
	}
	if at, ok := strings.CutPrefix(r.URL.Path, "/api/datasets/owner/name/tree/"+revision); ok {
		h.tree(w, r, strings.Trim(at, "/"))
		return
	}
	if at, ok := strings.CutPrefix(r.URL.Path, "/datasets/owner/name/resolve/"+revision+"/"); ok {
		if len(h.files[at]) > 100 {
			http.Redirect(w, r, h.cdn.URL+"/cdn/"+at+"?signature=secret", http.StatusFound)
			return
		}
		h.blob(w, r, at)
		return
	}
	http.NotFound(w, r)
}

func (h *hub) blob(w http.ResponseWriter, r *http.Request, at string) {
	text, ok := h.files[at]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Etag", `"`+sha(text)[:20]+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader([]byte(text)))
}

// tree lists two entries a page.
func (h *hub) tree(w http.ResponseWriter, r *http.Request, dir string) {
	var all []map[string]any
	for _, name := range sorted(h.files) {
		if dir != "" && !strings.HasPrefix(name, dir+"/") {
			continue
		}
		text := h.files[name]
		blob := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text)))
		e := map[string]any{"type": "file", "path": name, "size": len(text), "oid": hex.EncodeToString(blob[:])}
		if len(text) > 100 {
			e["lfs"] = map[string]any{"oid": sha(text), "size": len(text), "pointerSize": 130}
		}
		all = append(all, e, map[string]any{"type": "directory", "path": "dir-" + name, "oid": "x", "size": 0})
	}
	if len(all) == 0 {
		http.NotFound(w, r)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	to := min(from+3, len(all))
	if to < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=%d>; rel="next"`, h.URL, r.URL.Path, to))
	}
	_ = json.NewEncoder(w).Encode(all[from:to])
}

func (h *hub) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// options never wait.
func (h *hub) options() fetch.Options {
	return fetch.Options{
		HFBase: h.URL, GitHubBase: h.URL, HFToken: token, Trusted: []string{strings.TrimPrefix(h.cdn.URL, "http://")},
		Wait:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Bounds: fetch.Bounds{Tries: 3, Connect: 10 * time.Second, Silence: 10 * time.Second},
	}
}

func hf(pattern, to string) []fetch.Source {
	return []fetch.Source{{HF: "owner/name", Revision: revision, Files: pattern, To: to}}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func sorted(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// noise is n bytes that look random and are the same each time.
func noise(n int, seed string) string {
	var out []byte
	for at := []byte(sha(seed)); len(out) < n; at = []byte(sha(string(at))) {
		out = append(out, at...)
	}
	return string(out[:n])
}

// read returns the files below a folder but the one that is locked.
func read(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".fetch.lock" {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}
