package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed all:ui/dist
var dist embed.FS

// page are the files of the page, by path.
type page struct{ files map[string]file }

// file is a file of the page.
type file struct {
	kind    string // of content
	cache   string
	tag     string
	plain   []byte
	zipped  []byte // nil: it is no smaller
	brotled []byte // nil: the build has made none
}

// loadPage reads the page that was built in.
func loadPage() (*page, error) {
	root, err := fs.Sub(dist, "ui/dist")
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return readPage(root)
}

func readPage(root fs.FS) (*page, error) {
	p := &page{files: map[string]file{}}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".br") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f := newFile(name, text)
		if zipped, err := fs.ReadFile(root, name+".gz"); err == nil {
			f.zipped = zipped
		}
		if brotled, err := fs.ReadFile(root, name+".br"); err == nil {
			f.brotled = brotled
		}
		p.files["/"+name] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if index, ok := p.files["/index.html"]; ok {
		p.files["/"] = index
	}
	return p, nil
}

// contentType returns the kind of content of a file, whatever the system's own table says.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json", ".map":
		return "application/json"
	case ".woff2":
		return "font/woff2"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

func newFile(name string, text []byte) file {
	sum := sha256.Sum256(text)
	f := file{kind: contentType(name), plain: text, cache: "no-cache", tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	if strings.HasPrefix(name, "assets/") { // their names have a hash of what they hold
		f.cache = "public, max-age=31536000, immutable"
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return f
	}
	if _, err := z.Write(text); err == nil && z.Close() == nil && b.Len() < len(text) {
		f.zipped = b.Bytes()
	}
	return f
}

// ServeHTTP answers with a file.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this is only shown", http.StatusMethodNotAllowed)
		return
	}
	f, ok := p.files[r.URL.Path]
	if !ok {
		http.Error(w, "there is nothing here; the page is at /", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	h.Set("Vary", "Accept-Encoding")
	text, tag := f.in(r.Header.Get("Accept-Encoding"), h)
	h.Set("ETag", strconv.Quote(f.tag+tag))
	if r.Header.Get("If-None-Match") == strconv.Quote(f.tag+tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // who asked may have gone
	}
}

// in returns the file in the best encoding that is accepted.
func (f file) in(accepted string, h http.Header) (text []byte, tag string) {
	for _, e := range []struct {
		name string
		text []byte
	}{{"br", f.brotled}, {"gzip", f.zipped}} {
		if e.text != nil && accepts(accepted, e.name) {
			h.Set("Content-Encoding", e.name)
			return e.text, "-" + e.name
		}
	}
	return f.plain, ""
}

func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, encoding) {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
