// Package server shows runs to browsers and programs: an HTTP API whose answers are the
// documents that commands print with --json, events of runs as they come, and the embedded
// page that draws both.
//
// Everything that it says of a run or a night comes from internal/record and internal/ask. It looks them
// up in the listing of the folders it was given, and reads nothing outside of them. It reads no
// credentials and knows nothing of models or of how training works: what is started from a page is a
// command of the program, which Options.Program carries out within the bounds of the user who serves.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/seed-f4525e22/skillopt/internal/queue"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/server/stream"
	"github.com/seed-f4525e22/skillopt/result"
)

// Options say what a server shows, and to whom.
type Options struct {
	Folders  []string // with runs or nights, or run directories; absolute
	ReadOnly bool     // nothing may be changed
	Build    result.Build
	Addr     string   // host and port that it listens on, as the link has them
	Hosts    []string // further names that it is reached by
	Secure   bool     // by TLS
	Token    string   // of this start
	Key      []byte   // that signs sessions
	Now      func() time.Time

	Configs string    // the folder whose configs can be started: its own, and those of the folders in it; "": none can
	Program Program   // carries out commands for pages; nil: nothing can be started
	Editor  Editor    // reads configs for pages
	Launch  Launch    // starts the commands of the queue; nil: they wait for another server
	Benches []Example // benchmarks whose fixture can be begun with
	Trusted []string  // SHA-256, in hex, of configs that may say anything
	Models  []string  // PROVIDER/MODEL that a config of a page may name, in addition to those that configs named when the server began
	Adopt   bool      // pages may write into the documents that agents read

	Sleep    Program // carries out sleep commands of the profile whose nights are shown; nil: there is none
	SleepDir string  // of the profile
}

// Program carries out commands of this program as its user would type them in the folder with configs. What they
// may read, write, ask and open is bounded by config.Guard.
type Program interface {
	// Do carries out a command line, such as tasks lint NAME, and returns its document, that of --json. When the
	// context ends, the command is stopped softly.
	Do(ctx context.Context, words ...string) ([]byte, error)
}

// Editor reads and changes the text of configs, for a caller who is bounded as those of Program are.
type Editor interface {
	// Edit returns what the config of a folder would say with a text in which keys have other values; nil takes a key
	// out. dir is in the folder with configs. Nothing is written.
	Edit(ctx context.Context, dir, text string, set map[string]any) (result.ConfigFile, error)
}

// Launch has a process of its own carry out an entry of the queue in a folder, and waits for its end, or that of the
// context: the process continues then. The error is that of an entry that no process could begin.
type Launch func(ctx context.Context, dir string, e queue.Entry) error

// Server answers requests. It may be used concurrently.
type Server struct {
	folders  []folder
	readOnly bool
	build    result.Build
	now      func() time.Time
	options  Options

	door    *door.Door
	hub     *stream.Hub
	index   record.Index
	nights  record.NightIndex
	lookers lookers
	models  []ServedModel // that pages may name, apart from simulated ones
	schema  schema
	seen    sync.Map   // of configs, by id: keptRow
	writes  sync.Mutex // of configs, one at a time
	asking  sync.Mutex // by commands that ask models
	kept    kept
	page    *page
	handler http.Handler
	work    chan struct{} // answers that are worked at
	heavy   chan struct{} // the one of them that is about a large run
	streams chan struct{} // that are open
	queue   *queue.Queue  // of the folder with configs; nil: there is none
	queued  chan struct{} // wakes the starter

	starting sync.Mutex // of who chooses the folder of a new run, until it is in the queue
}

const (
	mostStreams     = 256
	mostWork        = 8 // answers at once: each may take tens of MB
	mostConnections = 1024
	workPatience    = 15 * time.Second // of a request that waits for others
	answerTime      = time.Minute      // for an answer, until it has been taken
	endTime         = 3 * time.Second  // for answers that are open when the server ends
)

// New returns a server. It listens nowhere yet.
func New(o Options) (*Server, error) {
	d, err := door.New(door.Options{Token: o.Token, Key: o.Key, Addr: o.Addr, Hosts: o.Hosts, Secure: o.Secure, Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", o.Addr, err)
	}
	s := &Server{
		folders: newFolders(o.Folders), readOnly: o.ReadOnly, build: o.Build, now: o.Now, options: o, door: d,
		work: make(chan struct{}, min(mostWork, 2*runtime.GOMAXPROCS(0))), heavy: make(chan struct{}, 1), streams: make(chan struct{}, mostStreams),
	}
	if o.Configs != "" {
		s.queue, s.queued = queue.New(s.queueDir(), o.Now), make(chan struct{}, 1)
	}
	if s.page, err = loadPage(); err != nil {
		return nil, err
	}
	s.hub = stream.NewHub(func(dir string) (stream.Log, stream.Looker) { return newEventReader(dir), s.lookers.of(dir, o.Now) }, document)
	s.models = s.listModels(context.Background())
	mux := s.mux()
	s.handler = d.Guard(mux, mux.most)
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers what comes in on a listener until the context ends. What is being answered
// then has a few seconds more.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.hub.Close()
	defer s.starter(ctx)()
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: answerTime, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ConnContext: door.Remember,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // each client learns what it does wrong
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(door.Guests(netutil.LimitListener(l, mostConnections))) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.hub.Close() // which ends the streams
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := web.Shutdown(ctx); err != nil {
		_ = web.Close() // what has not been taken by now is not waited for
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
