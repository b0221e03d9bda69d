package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// plan lists the files of all sources, and what is known of them.
func (c *client) plan(ctx context.Context, sources []Source, pins lockFile) ([]File, error) {
	for _, s := range sources {
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	var all []File
	for i, s := range sources {
		files, err := c.list(ctx, s)
		if err != nil {
			return nil, err
		}
		total := int64(0)
		for j := range files {
			files[j].Source = i
			if err := applyPin(&files[j], pins); err != nil {
				return nil, err
			}
			if files[j].Size < 0 {
				total = -1
			} else if total >= 0 {
				total += files[j].Size
			}
		}
		c.tell(Event{Kind: Listed, Files: len(files), Total: total})
		all = append(all, files...)
	}
	slices.SortFunc(all, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return all, c.fits(all)
}

// applyPin sets what the lock file knows of a file.
func applyPin(f *File, pins lockFile) error {
	p, there := pins[f.Origin]
	if !there {
		return nil
	}
	if f.SHA256 != "" && f.SHA256 != p.SHA256 || f.Size >= 0 && f.Size != p.Size {
		return &Error{Origin: f.Origin, Path: f.Path, Err: ErrHash, Msg: fmt.Sprintf("it has changed: its source says SHA-256 %s and %d bytes, the lock file %s and %d bytes", cmp.Or(f.SHA256, "(unknown)"), f.Size, p.SHA256, p.Size)}
	}
	if f.SHA256 == "" {
		f.Known = "lock"
	}
	f.SHA256, f.Size = p.SHA256, p.Size
	return nil
}

// fits refuses files that take the place of others, and too much of them.
func (c *client) fits(files []File) error {
	seen, total := map[string]string{}, int64(0)
	for _, f := range files {
		if f.Size > c.o.Bounds.FileBytes {
			return &Error{Origin: f.Origin, Path: f.Path, Err: ErrBound, Msg: fmt.Sprintf("it has %d bytes, at most %d are fetched of one file", f.Size, c.o.Bounds.FileBytes)}
		}
		if total += max(f.Size, 0); total > c.o.Bounds.TotalBytes {
			return &Error{Origin: f.Origin, Path: f.Path, Err: ErrBound, Msg: fmt.Sprintf("more than %d bytes in all", c.o.Bounds.TotalBytes)}
		}
		low := strings.ToLower(f.Path)
		if other, twice := seen[low]; twice {
			return &Error{Origin: f.Origin, Path: f.Path, Err: ErrSource, Msg: fmt.Sprintf("%s would take the place of %s: give one of them another folder with to", f.Origin, other)}
		}
		seen[low] = f.Origin
	}
	if len(files) > c.o.Bounds.Files {
		return &Error{Err: ErrBound, Msg: fmt.Sprintf("%d files, at most %d are fetched", len(files), c.o.Bounds.Files)}
	}
	return nil
}

func (c *client) list(ctx context.Context, s Source) ([]File, error) {
	switch {
	case s.HF != "":
		return c.listHF(ctx, s)
	case s.GitHub != "":
		return c.listGitHub(ctx, s)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, s.bad("url: %v", err)
	}
	at, err := s.place(path.Base(u.Path))
	if err != nil {
		return nil, err
	}
	f := File{Origin: s.String(), URL: s.URL, Path: at, Size: -1, SHA256: s.SHA256}
	if s.SHA256 != "" {
		f.Known = "given"
	}
	return []File{f}, nil
}

// mostPages bounds the pages of a list of files.
const mostPages = 10_000

// entry is a file or folder as Hugging Face lists it.
type entry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	OID  string `json:"oid"` // of its blob in git
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
}

func (c *client) listHF(ctx context.Context, s Source) ([]File, error) {
	base := c.hf
	dir, _ := disk.FixedPart(s.pattern())
	next := base.JoinPath("api", "datasets", s.HF, "tree", s.Revision, escapePath(dir))
	next.RawQuery = "recursive=true"
	var files []File
	seen := map[string]bool{}
	for range mostPages {
		var page []entry
		header, err := c.json(ctx, request{url: next, token: c.o.HFToken, base: base, source: s}, &page)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Type != "file" || !disk.Match(s.pattern(), e.Path) {
				continue
			}
			f, err := c.fileHF(s, dir, e)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		if len(files) > c.o.Bounds.Files {
			return nil, &Error{Origin: s.String(), Err: ErrBound, Msg: fmt.Sprintf("more than %d files", c.o.Bounds.Files)}
		}
		link := nextPage(header.Values("Link"))
		if link == "" {
			if len(files) == 0 {
				return nil, &Error{Origin: s.String(), Err: ErrNotFound, Msg: fmt.Sprintf("no file there is covered by files: %s", s.pattern())}
			}
			return files, nil
		}
		if next, err = next.Parse(link); err != nil || next.Scheme != base.Scheme || next.Host != base.Host || seen[link] {
			return nil, &Error{Origin: s.String(), Err: ErrAnswer, Msg: "the next page of the list of its files is elsewhere, or one that was there already"}
		}
		seen[link] = true
	}
	return nil, &Error{Origin: s.String(), Err: ErrBound, Msg: fmt.Sprintf("the list of its files has more than %d pages", mostPages)}
}

func (c *client) fileHF(s Source, dir string, e entry) (File, error) {
	if !fs.ValidPath(e.Path) {
		return File{}, &Error{Origin: s.String(), Err: ErrAnswer, Msg: fmt.Sprintf("the list of its files has one with the path %q, which leads elsewhere", e.Path)}
	}
	at, err := s.place(strings.TrimPrefix(strings.TrimPrefix(e.Path, dir), "/"))
	if err != nil {
		return File{}, err
	}
	u := c.hf.JoinPath("datasets", s.HF, "resolve", s.Revision, escapePath(e.Path))
	f := File{Origin: s.String() + "/" + e.Path, URL: u.String(), Path: at, Size: e.Size}
	switch {
	case e.LFS != nil && isHex(e.LFS.OID, 64):
		f.SHA256, f.Size, f.Known = e.LFS.OID, e.LFS.Size, "source"
	case e.LFS == nil && isHex(e.OID, 40):
		f.Git, f.Known = e.OID, "git"
	default:
		return File{}, &Error{Origin: f.Origin, Err: ErrAnswer, Msg: "the list of files gives no hash of it that is known"}
	}
	if f.Size < 0 {
		return File{}, &Error{Origin: f.Origin, Err: ErrAnswer, Msg: "the list of files gives a size below 0"}
	}
	return f, nil
}

// escapePath returns a path for an address, where its names may have any sign.
func escapePath(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		names[i] = url.PathEscape(name)
	}
	return strings.Join(names, "/")
}

// nextPage finds the address of the next page in Link headers (RFC 8288).
func nextPage(links []string) string {
	for _, header := range links {
		for part := range strings.SplitSeq(header, ",") {
			target, params, ok := strings.Cut(strings.TrimSpace(part), ">")
			if !ok || !strings.HasPrefix(target, "<") {
				continue
			}
			for param := range strings.SplitSeq(params, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
				if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
					return target[1:]
				}
			}
		}
	}
	return ""
}

func (c *client) listGitHub(ctx context.Context, s Source) ([]File, error) {
	var release struct {
		Assets []struct {
			Name   string `json:"name"`
			Size   int64  `json:"size"`
			Digest string `json:"digest"`
			URL    string `json:"browser_download_url"`
		} `json:"assets"`
	}
	u := c.github.JoinPath("repos", s.GitHub, "releases", "tags", url.PathEscape(s.Tag))
	if _, err := c.json(ctx, request{url: u, token: c.o.GitHubToken, base: c.github, source: s}, &release); err != nil {
		return nil, err
	}
	var files []File
	var names []string
	for _, a := range release.Assets {
		names = append(names, a.Name)
		if !disk.Match(s.Asset, a.Name) {
			continue
		}
		at, err := s.place(a.Name)
		if err != nil {
			return nil, err
		}
		f := File{Origin: s.String() + "/" + a.Name, URL: a.URL, Path: at, Size: a.Size, SHA256: s.SHA256}
		if s.SHA256 != "" {
			f.Known = "given"
		}
		if sum, ok := strings.CutPrefix(a.Digest, "sha256:"); ok && isHex(sum, 64) {
			if s.SHA256 != "" && s.SHA256 != sum {
				return nil, &Error{Origin: f.Origin, Path: at, Err: ErrHash, Msg: fmt.Sprintf("it has changed: its release says SHA-256 %s, the source asks for %s", sum, s.SHA256)}
			}
			f.SHA256, f.Known = sum, "source"
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, &Error{Origin: s.String(), Err: ErrNotFound, Msg: fmt.Sprintf("no asset of the release is called %s; there are: %s", s.Asset, cmp.Or(strings.Join(names, ", "), "none"))}
	}
	return files, nil
}

// mostAnswer bounds a list of files, in bytes.
const mostAnswer = 32 << 20

// json asks for a document.
func (c *client) json(ctx context.Context, r request, into any) (http.Header, error) {
	var got http.Header
	err := c.ask(ctx, r, func(a *http.Response) error {
		data, err := io.ReadAll(io.LimitReader(a.Body, mostAnswer+1))
		switch {
		case err != nil:
			return errors.Join(errTry, err)
		case len(data) > mostAnswer:
			return &Error{Origin: r.source.String(), Err: ErrBound, Msg: fmt.Sprintf("the list of its files has more than %d bytes", mostAnswer)}
		}
		if err := json.Unmarshal(data, into); err != nil {
			return &Error{Origin: r.source.String(), Err: ErrAnswer, Msg: fmt.Sprintf("%s answers with something else than a list of files: %v", r.url.Host, err)}
		}
		got = a.Header
		return nil
	})
	return got, err
}
