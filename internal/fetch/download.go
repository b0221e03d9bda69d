package fetch

import (
	"cmp"
	"context"
	"crypto/sha1" // what git names blobs by
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// fetcher brings files into a folder.
type fetcher struct {
	client  *client
	root    *os.Root
	dir     string
	sources []Source
	lock    string // path of the lock file
	pins    lockFile
	// unwritten: there are hashes in pins that the lock file does not have, of files that are
	// known without it.
	unwritten bool
	progress  func(Event)
}

func (f *fetcher) all(ctx context.Context, files []File) (Report, error) {
	report := Report{Lock: f.lock}
	var err error
	for _, file := range files {
		var got outcome
		got, err = f.one(ctx, file)
		report.Bytes += got.bytes
		if err != nil {
			break
		}
		report.Files = append(report.Files, got.file)
		if got.fetched {
			report.Fetched++
		}
		if got.pinned {
			report.Pinned = append(report.Pinned, got.file)
		}
	}
	if f.unwritten {
		err = errors.Join(err, f.pins.write(f.lock))
	}
	return report, err
}

// outcome is what happened to one file.
type outcome struct {
	file    File
	fetched bool
	pinned  bool // no one knew its hash
	bytes   int64
}

func (f *fetcher) one(ctx context.Context, file File) (outcome, error) {
	if err := f.root.MkdirAll(path.Dir(file.Path), 0o755); err != nil {
		return outcome{}, f.fault(file, err)
	}
	there, err := f.present(ctx, file)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{file: file}
	if there != nil {
		out.file.SHA256, out.file.Size = there.sha256(), there.size
		f.progress(Event{Kind: Present, File: out.file, Done: there.size, Total: there.size})
		return out, f.pin(&out)
	}
	d := &download{fetcher: f, file: file}
	sums, err := d.run(ctx)
	out.bytes = d.bytes
	if err != nil && (errors.Is(err, ErrHash) || d.sums == nil || d.sums.size == 0) { // nothing of it is of use
		err = errors.Join(err, remove(f.root, d.part()), remove(f.root, d.tag()))
	}
	if err != nil {
		return out, err
	}
	out.file.SHA256, out.file.Size, out.fetched = sums.sha256(), sums.size, true
	// First the lock file: killed in between, the next fetch finds the part whole, by its hash.
	if err := f.pin(&out); err != nil {
		return out, err
	}
	if err := f.root.Rename(d.part(), file.Path); err != nil {
		return out, f.fault(file, err)
	}
	_ = f.root.Remove(d.tag()) // a tag without its part is of no use, and does no harm
	f.progress(Event{Kind: Finished, File: out.file, Done: sums.size, Total: sums.size})
	return out, nil
}

func remove(root *os.Root, name string) error {
	err := root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// pin takes down what a file is.
func (f *fetcher) pin(o *outcome) error {
	p := Pin{Origin: o.file.Origin, SHA256: o.file.SHA256, Size: o.file.Size}
	if f.pins[p.Origin] == p {
		return nil
	}
	f.pins[p.Origin] = p
	if f.unwritten = true; o.file.Known != "" {
		return nil
	}
	if err := f.pins.write(f.lock); err != nil {
		return err
	}
	f.unwritten, o.pinned = false, true
	f.progress(Event{Kind: Pinned, File: o.file, Done: p.Size, Total: p.Size})
	return nil
}

// fault returns an error of the file system, or of the context.
func (f *fetcher) fault(file File, err error) error {
	return &Error{Origin: file.Origin, Path: file.Path, Msg: fmt.Sprintf("%s: %s", filepath.Join(f.dir, file.Path), disk.Reason(err)), Err: err}
}

// present returns the sums of a file that is there, nil if none is. One that is there and
// cannot be recognized as the right one is an error: it may be somebody's own.
func (f *fetcher) present(ctx context.Context, file File) (*sums, error) {
	info, err := f.root.Lstat(file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.fault(file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, f.other(file, "it is no regular file")
	}
	if file.Known == "" {
		return nil, f.other(file, "its hash is unknown, so it could be anything")
	}
	s, err := f.sum(ctx, file, file.Path)
	if err != nil {
		return nil, f.fault(file, err)
	}
	if why := s.differs(file); why != "" {
		return nil, f.other(file, why)
	}
	return s, nil
}

func (f *fetcher) other(file File, why string) error {
	return &Error{Origin: file.Origin, Path: file.Path, Err: ErrHash, Msg: fmt.Sprintf("%s is there, and %s: remove it to fetch it again", filepath.Join(f.dir, file.Path), why)}
}

// sum goes over a file that is there.
func (f *fetcher) sum(ctx context.Context, file File, name string) (*sums, error) {
	in, err := disk.OpenIn(ctx, f.root, name, f.client.o.Bounds.FileBytes)
	if err != nil {
		return nil, err
	}
	s := newSums(file)
	_, err = io.Copy(s, in)
	return s, errors.Join(err, in.Close())
}

// sums are the hashes of what has been written to them.
type sums struct {
	size int64
	sha  hash.Hash
	git  hash.Hash // nil: not asked for
}

func newSums(file File) *sums {
	s := &sums{sha: sha256.New()}
	if file.Git != "" {
		s.git = sha1.New() // what git names blobs by
		fmt.Fprintf(s.git, "blob %d\x00", file.Size)
	}
	return s
}

// Write implements io.Writer. It does not fail.
func (s *sums) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	_, _ = s.sha.Write(p) // a hash does not fail
	if s.git != nil {
		_, _ = s.git.Write(p)
	}
	return len(p), nil
}

func (s *sums) sha256() string { return hex.EncodeToString(s.sha.Sum(nil)) }

// differs says how it is another file than file, "" if it is the same as far as that is
// known.
func (s *sums) differs(file File) string {
	switch {
	case file.SHA256 != "" && s.sha256() != file.SHA256:
		return fmt.Sprintf("its SHA-256 is %s, it should be %s", s.sha256(), file.SHA256)
	case file.Size >= 0 && s.size != file.Size:
		return fmt.Sprintf("it has %d bytes, it should have %d", s.size, file.Size)
	case s.git != nil && hex.EncodeToString(s.git.Sum(nil)) != file.Git:
		return fmt.Sprintf("its SHA-1 as a blob of git is %s, it should be %s", hex.EncodeToString(s.git.Sum(nil)), file.Git)
	}
	return ""
}

// tagSuffix ends the name of the file that has what the server called the version of a part.
const tagSuffix = ".part.etag"

// download is one file on its way.
type download struct {
	*fetcher

	file  File
	bytes int64 // that have come
	out   *os.File
	sums  *sums  // of what is in out
	etag  string // of it, "" unknown
	best  int64  // how far it ever came
	idle  int    // tries in a row that brought nothing
}

func (d *download) part() string { return d.file.Path + partSuffix }
func (d *download) tag() string  { return d.file.Path + tagSuffix }

// run makes the part whole, and returns its sums.
func (d *download) run(ctx context.Context) (_ *sums, err error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.out.Close()) }()
	resumed := d.sums.size > 0
	d.progress(Event{Kind: Begun, File: d.file, Done: d.sums.size, Total: d.file.Size})
	for {
		if err := d.fill(ctx); err != nil {
			return nil, err
		}
		why := d.sums.differs(d.file)
		if why == "" {
			if err := d.out.Sync(); err != nil {
				return nil, d.fault(d.file, err)
			}
			return d.sums, nil
		}
		// What is wrong may be the beginning that was here before.
		if err := d.restart(""); err != nil {
			return nil, err
		}
		if !resumed {
			return nil, &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrHash, Msg: why + "; nothing of it is kept" + d.changeHelp()}
		}
		resumed = false
	}
}

// changeHelp says what helps where a file has changed.
func (d *download) changeHelp() string {
	if d.file.Known == "lock" {
		return fmt.Sprintf(". If it was changed on purpose, take it out of %s", d.lock)
	}
	return ""
}

// open opens the part, and takes the sums of what is in it.
func (d *download) open(ctx context.Context) error {
	if info, err := d.root.Lstat(d.part()); err == nil && !info.Mode().IsRegular() {
		return d.other(d.file, partSuffix+" of it is no regular file")
	}
	out, err := d.root.OpenFile(d.part(), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return d.fault(d.file, err)
	}
	d.out = out
	if tag, err := disk.ReadIn(ctx, d.root, d.tag(), 4<<10); err == nil {
		d.etag = strings.TrimSpace(string(tag))
	}
	if d.sums, err = d.sum(ctx, d.file, d.part()); err != nil {
		return errors.Join(d.fault(d.file, err), out.Close())
	}
	// What is more than the file, and what is not known to be of the same version, is
	// fetched again.
	if d.sums.size > 0 && (d.file.Size >= 0 && d.sums.size > d.file.Size || d.etag == "" && d.file.Known == "") {
		err = d.restart("")
	}
	if err == nil {
		_, err = out.Seek(d.sums.size, io.SeekStart)
	}
	if err != nil {
		return errors.Join(d.fault(d.file, err), out.Close())
	}
	d.best = d.sums.size
	return nil
}

// restart drops what is in the part, and takes down what the server calls the version that
// comes now.
func (d *download) restart(etag string) error {
	d.sums = newSums(d.file)
	if _, err := d.out.Seek(0, io.SeekStart); err != nil {
		return d.fault(d.file, err)
	}
	if err := d.out.Truncate(0); err != nil {
		return d.fault(d.file, err)
	}
	return d.setTag(etag)
}

func (d *download) setTag(etag string) error {
	if etag == d.etag {
		return nil
	}
	d.etag = etag
	err := remove(d.root, d.tag())
	if err == nil && etag != "" {
		err = d.root.WriteFile(d.tag(), []byte(etag), 0o644)
	}
	if err != nil {
		return d.fault(d.file, err)
	}
	return nil
}

// fill asks for what is missing, until all of it is there.
func (d *download) fill(ctx context.Context) error {
	if d.file.Size >= 0 && d.sums.size == d.file.Size {
		return nil
	}
	urls, err := d.urls()
	if err != nil {
		return err
	}
	for {
		done, err := d.request(ctx, urls[0])
		switch {
		case errors.Is(err, ErrGated) && len(urls) > 1:
			urls = urls[1:]
		case err != nil || done:
			return err
		default: // it was cut, and continues after a moment
			if err := d.client.o.Wait(ctx, backoff(1+d.idle)); err != nil {
				return fmt.Errorf("fetch %s: %w", d.file.Origin, err)
			}
		}
	}
}

// urls returns the addresses where the file may be. Hugging Face redirects even for files that it
// keeps itself, where a token is not sent along; below raw it does not.
func (d *download) urls() ([]*url.URL, error) {
	u, err := url.Parse(d.file.URL)
	if err != nil {
		return nil, &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrAnswer, Msg: "its address is none"}
	}
	urls := []*url.URL{u}
	if source := d.sources[d.file.Source]; source.HF != "" && d.file.Git != "" && d.client.o.HFToken != "" {
		prefix := d.client.hf.JoinPath("datasets", source.HF, "resolve").EscapedPath()
		if rest, ok := strings.CutPrefix(u.EscapedPath(), prefix); ok {
			urls = append(urls, d.client.hf.JoinPath("datasets", source.HF, "raw", rest))
		}
	}
	return urls, nil
}

// request asks once for what is missing; done: that was all.
func (d *download) request(ctx context.Context, u *url.URL) (done bool, err error) {
	source := d.sources[d.file.Source]
	r := request{url: u, source: source, origin: d.file.Origin, header: http.Header{"Accept-Encoding": {"identity"}}}
	if source.HF != "" {
		r.token, r.base = d.client.o.HFToken, d.client.hf
	}
	if d.sums.size > 0 {
		r.header.Set("Range", fmt.Sprintf("bytes=%d-", d.sums.size))
		if d.etag != "" {
			r.header.Set("If-Range", d.etag)
		}
	}
	from := d.sums.size
	err = d.client.ask(ctx, r, func(res *http.Response) (err error) {
		done, err = d.take(ctx, res)
		if err == nil || !errors.Is(err, errTry) {
			return err
		}
		// What has come stays: the next request asks for the rest, as long as there is more
		// each time.
		if d.sums.size > d.best {
			d.best, d.idle = d.sums.size, 0
			return nil
		}
		if d.idle++; d.idle >= d.client.o.Bounds.Tries {
			return d.cut(err)
		}
		if d.sums.size != from {
			return nil
		}
		return err
	})
	return done, err
}

func (d *download) cut(err error) error {
	return &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrCut, Msg: fmt.Sprintf("the stream ends after %d bytes of %s, again and again (%s): fetch again later; what is here stays", d.best, total(d.file.Size), reason(err))}
}

func total(size int64) string {
	if size < 0 {
		return "an unknown number"
	}
	return strconv.FormatInt(size, 10)
}

// take reads an answer into the part.
func (d *download) take(ctx context.Context, res *http.Response) (done bool, err error) {
	etag := res.Header.Get("Etag")
	if strings.HasPrefix(etag, "W/") || len(etag) > 1<<10 {
		etag = "" // it does not show that all bytes are the same
	}
	end := int64(-1) // how long all of it is
	switch res.StatusCode {
	case http.StatusPartialContent:
		from, size, err := contentRange(res.Header.Get("Content-Range"))
		if err != nil || from != d.sums.size || d.etag != "" && etag != "" && etag != d.etag {
			return false, d.dropPart()
		}
		end = size
	case http.StatusRequestedRangeNotSatisfiable:
		if _, size, err := contentRange(res.Header.Get("Content-Range")); err == nil && size == d.sums.size {
			return true, nil
		}
		return false, d.dropPart()
	default:
		if err := d.restart(etag); err != nil {
			return false, err
		}
		end = res.ContentLength
	}
	if end >= 0 && d.file.Size >= 0 && end != d.file.Size {
		return false, &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrHash, Msg: fmt.Sprintf("it has %d bytes there, it should have %d: it has changed, or is not the file", end, d.file.Size)}
	}
	if err := d.copy(ctx, res.Body, cmp.Or(max(d.file.Size, 0), max(end, 0), d.client.o.Bounds.FileBytes)); err != nil {
		return false, err
	}
	if end >= 0 && d.sums.size < end {
		return false, errors.Join(errTry, ErrCut, io.ErrUnexpectedEOF)
	}
	return true, nil
}

// dropPart drops the part and fails with errTry, so that all of it is asked for again.
func (d *download) dropPart() error {
	if err := d.restart(""); err != nil {
		return err
	}
	return errors.Join(errTry, ErrCut, errors.New("the server continues with another version of it"))
}

// contentRange reads "bytes 5-9/10" and "bytes */10"; -1: not said.
func contentRange(h string) (from, size int64, err error) {
	rest, ok := strings.CutPrefix(h, "bytes ")
	span, all, found := strings.Cut(rest, "/")
	if !ok || !found {
		return -1, -1, errors.New("no range")
	}
	from, size = -1, -1
	if all != "*" {
		if size, err = strconv.ParseInt(all, 10, 64); err != nil {
			return -1, -1, err
		}
	}
	if first, _, _ := strings.Cut(span, "-"); span != "*" {
		from, err = strconv.ParseInt(first, 10, 64)
	}
	return from, size, err
}

// copy appends a stream to the part, at most up to a size. Errors of the stream wrap errTry.
func (d *download) copy(ctx context.Context, in io.Reader, most int64) error {
	buf, told := make([]byte, 256<<10), d.sums.size
	for {
		n, err := in.Read(buf)
		if over := d.sums.size + int64(n) - most; over > 0 {
			return d.tooMuch(most)
		}
		if n > 0 {
			wrote, werr := d.out.Write(buf[:n])
			_, _ = d.sums.Write(buf[:wrote]) // what is in the file
			d.bytes += int64(wrote)
			if werr != nil {
				return d.full(werr)
			}
		}
		if d.sums.size-told >= 1<<20 {
			told = d.sums.size
			d.progress(Event{Kind: Progress, File: d.file, Done: told, Total: d.file.Size})
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return errors.Join(errTry, ErrCut, err)
		}
	}
}

func (d *download) tooMuch(most int64) error {
	if most == d.client.o.Bounds.FileBytes {
		return &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrBound, Msg: fmt.Sprintf("more than %d bytes come, which is the most that is fetched of one file", most)}
	}
	return &Error{Origin: d.file.Origin, Path: d.file.Path, Err: ErrHash, Msg: fmt.Sprintf("more than the %d bytes come that it has", most)}
}

// full returns the error of a write. What is here is kept.
func (d *download) full(err error) error {
	return &Error{Origin: d.file.Origin, Path: d.file.Path, Err: err, Msg: fmt.Sprintf("%s after %d bytes of %s: make room in %s and fetch again; what is here is kept", disk.Reason(err), d.sums.size, total(d.file.Size), d.dir)}
}
