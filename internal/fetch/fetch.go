// Package fetch brings the files of data sets from where they are published into a folder:
// Hugging Face at a commit, assets of GitHub releases, single addresses with a hash. What was
// begun continues where it stopped, what is there is not fetched again, and every file is held
// against a hash: the publisher's, the one that is given, or the one that bench.lock took
// down when the file was first fetched.
//
// It knows nothing of what the files hold, of licences, and of who may agree to them.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Source is one place that files come from, of exactly one kind: HF, GitHub or URL.
type Source struct {
	HF       string `json:"hf,omitempty" yaml:"hf"`             // owner/name of a data set on Hugging Face
	Revision string `json:"revision,omitempty" yaml:"revision"` // with HF: its commit, 40 hex digits
	Files    string `json:"files,omitempty" yaml:"files"`       // with HF: which of its files; * and ** as of package glob; empty: all

	GitHub string `json:"github,omitempty" yaml:"github"` // owner/name of a repository
	Tag    string `json:"tag,omitempty" yaml:"tag"`       // with GitHub: of the release
	Asset  string `json:"asset,omitempty" yaml:"asset"`   // with GitHub: name of the asset, * as of package glob

	URL    string `json:"url,omitempty" yaml:"url"`       // of one file, https
	SHA256 string `json:"sha256,omitempty" yaml:"sha256"` // with URL, and with GitHub where one asset is named: 64 hex digits

	// To is the folder below the one that is fetched into, "" for that itself. A file of
	// HF has below it the path that it has below the fixed folders of the pattern:
	// data/*/x.json is */x.json there.
	To string `json:"to,omitempty" yaml:"to"`
}

// File is one file of a source.
type File struct {
	Source int    // its index among the sources
	Origin string // which it is, whatever server it came from: "hf:owner/name@revision/path"
	URL    string // where it is fetched from first
	Path   string // below the folder, with slashes
	Size   int64  // in bytes, -1: not known
	SHA256 string // 64 hex digits, "": not known before it is fetched
	Git    string // SHA-1 of it as a blob of git, 40 hex digits; "": not known
	// Known says how it is known what the file should be: "source" (the publisher states its
	// SHA-256), "given", "lock", "git" (the publisher states its SHA-1 as a blob of git); "" where
	// no one knows.
	Known string
}

// Report is the result of a fetch.
type Report struct {
	Files   []File // all of the sources with their hashes, by Path
	Fetched int    // how many were not there
	Bytes   int64  // that came over the network
	Pinned  []File // whose hash was known to no one and is in the lock file now
	Lock    string // path of the lock file
}

// EventKind is what an Event reports.
type EventKind string

// Kinds of events.
const (
	Listed   EventKind = "listed"   // the files of a source are known: Total is their bytes where all are known
	Present  EventKind = "present"  // a file is there, and is what it should be
	Begun    EventKind = "begun"    // a file is fetched, from Done on
	Progress EventKind = "progress" // Done of Total bytes are here
	Waiting  EventKind = "waiting"  // Wait, since Err
	Finished EventKind = "finished" // a file is here and verified
	Pinned   EventKind = "pinned"   // its hash was not known, and is in the lock file now
)

// Event is what happens in a fetch. Events come one after another, from one goroutine.
type Event struct {
	Kind  EventKind
	File  File // none with Listed
	Files int  // with Listed
	Done  int64
	Total int64         // -1: not known
	Wait  time.Duration // with Waiting
	Err   error         // with Waiting: why
}

// Options are the circumstances of a fetch. The zero value is usable.
type Options struct {
	// HFBase and GitHubBase are https://huggingface.co and https://api.github.com unless
	// given. Their hosts are trusted.
	HFBase, GitHubBase string
	// HFToken and GitHubToken go to the host of their base alone, and never along with a
	// redirect.
	HFToken, GitHubToken string
	// Trusted are hosts, with the port where an address has one, that may be spoken to in
	// plain HTTP and may have private addresses. All others may not.
	Trusted []string
	// Proxy says by which proxy a request goes; nil: by none. Whether an address is private
	// is the proxy's to know then.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the network; nil: the real one. A caller that gives another looks
	// after private addresses itself.
	Transport http.RoundTripper

	// Lock is the path of the lock file; "": bench.lock in the folder.
	Lock string
	// Known are hashes that are known in addition, as those that come with a benchmark.
	Known  []Pin
	Bounds Bounds

	// Now and Wait are the clock; nil: the real one. Wait returns early with the context's
	// error.
	Now  func() time.Time
	Wait func(context.Context, time.Duration) error
}

// Bounds are what a fetch takes at most. What is 0 has a default.
type Bounds struct {
	Files      int           // of all sources; 10,000
	FileBytes  int64         // of one file; 64 GiB
	TotalBytes int64         // of all; 512 GiB
	Tries      int           // of one request before it is given up; 6
	Connect    time.Duration // to a connection, and from a request to the head of its answer; 30 s
	Silence    time.Duration // that a stream may bring nothing; 60 s
	MostWait   time.Duration // that a server may ask to wait at once; 10 min
}

// What can go wrong, for those who act on it. Errors of the file system (syscall.ENOSPC)
// and of the context are wrapped as they are.
var (
	ErrSource    = errors.New("not a source")                    // it is not written as one
	ErrNotFound  = errors.New("not found")                       // 404, or no file that the pattern covers
	ErrGated     = errors.New("the access is gated")             // 401 and 403: agree to its licence and set HF_TOKEN
	ErrHash      = errors.New("the file is another one")         // its hash or size differs
	ErrCut       = errors.New("the stream was cut")              // it ended, or fell silent, before its end, again and again
	ErrBusy      = errors.New("the server has no time")          // 429 and 5xx, again and again
	ErrRedirect  = errors.New("a redirect that is not followed") // to plain HTTP, a private address, in a circle
	ErrBound     = errors.New("too large")                       // a bound is passed
	ErrLocked    = errors.New("another process is at it")        // in this folder
	ErrLockFile  = errors.New("the lock file is not usable")     // broken, or of a newer version
	ErrTransport = errors.New("the server is not reached")       // by network or TLS, again and again
	ErrAnswer    = errors.New("an answer that is not understood")
)

// Error is what is wrong with a source or a file of it.
type Error struct {
	Origin string // of the file, or of the source
	Path   string // below the folder, "" where it is about more than one file
	Msg    string // what is wrong, and what helps
	Err    error  // one of the errors above, or of the system
}

func (e *Error) Error() string {
	if e.Origin == "" {
		return "fetch: " + e.Msg
	}
	return "fetch " + e.Origin + ": " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// Fetch brings the files of the sources into dir, which is made if it is not there. A file is
// there under its name only whole and verified. What is begun ends in .part, stays there on an
// error, and is gone on with by the next fetch. progress may be nil. One process at a time is in
// a folder (ErrLocked).
func Fetch(ctx context.Context, o Options, sources []Source, dir string, progress func(Event)) (report Report, err error) {
	if progress == nil {
		progress = func(Event) {}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Report{}, fmt.Errorf("fetch: %w", err)
	}
	free, err := takeLock(dir)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, free()) }()
	if o.Lock == "" {
		o.Lock = filepath.Join(dir, LockName)
	}
	f := &fetcher{dir: dir, sources: sources, lock: o.Lock, progress: progress}
	if f.pins, err = readLock(ctx, o.Lock); err != nil {
		return Report{}, err
	}
	if err := f.pins.add(o.Known); err != nil {
		return Report{}, err
	}
	if f.client, err = newClient(o); err != nil {
		return Report{}, err
	}
	defer f.client.close()
	f.client.tell = progress
	files, err := f.client.plan(ctx, sources, f.pins)
	if err != nil {
		return Report{}, err
	}
	if f.root, err = os.OpenRoot(dir); err != nil {
		return Report{}, fmt.Errorf("fetch: %w", err)
	}
	defer func() { err = errors.Join(err, f.root.Close()) }()
	return f.all(ctx, files)
}
