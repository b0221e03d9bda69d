package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/run"
)

// Bounds of the answers that are kept, in bytes.
const (
	keptBytes = 24 << 20 // together
	keptMost  = 6 << 20  // each
)

// kept are answers that took a while, of runs whose files have not changed since. Equal questions
// at the same time are answered once.
type kept struct {
	mu    sync.Mutex
	list  []*keptAnswer // the one used last is the last
	bytes int
}

// keptAnswer is an answer, or one that is worked at.
type keptAnswer struct {
	question, stamp string
	ready           chan struct{} // closed when it is settled
	text            []byte        // nil: it failed
}

// take finds an answer, or begins one: then mine is true, and settle has to be called.
func (k *kept) take(question, stamp string) (a *keptAnswer, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.list, func(a *keptAnswer) bool { return a.question == question })
	if i >= 0 && k.list[i].stamp == stamp {
		a = k.list[i]
		k.list = append(slices.Delete(k.list, i, i+1), a)
		return a, false
	}
	if i >= 0 {
		k.drop(i)
	}
	a = &keptAnswer{question: question, stamp: stamp, ready: make(chan struct{})}
	k.list = append(k.list, a)
	return a, true
}

func (k *kept) drop(i int) {
	k.bytes -= len(k.list[i].text)
	k.list = slices.Delete(k.list, i, i+1)
}

// settle ends an answer that was begun; nil: it failed, and is not kept.
func (k *kept) settle(a *keptAnswer, text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.text = text
	close(a.ready)
	i := slices.Index(k.list, a)
	switch {
	case i < 0: // the run has changed meanwhile
	case text == nil || len(text) > keptMost:
		k.list = slices.Delete(k.list, i, i+1)
	default:
		k.bytes += len(text)
	}
	for i := 0; k.bytes > keptBytes && i < len(k.list); {
		if k.list[i] == a || k.list[i].text == nil { // it is worked at
			i++
			continue
		}
		k.drop(i)
	}
}

// answerOnce answers a question about a run, or returns the answer that is kept.
func (s *Server) answerOnce(w http.ResponseWriter, r *http.Request, next answer) (text []byte, err error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	for {
		a, mine := s.kept.take(r.URL.RequestURI(), readStamp(at.dir))
		if mine {
			defer func() { s.kept.settle(a, text) }() // after a panic, too
			v, err := next(w, r)
			if err != nil {
				return nil, err
			}
			return document(v)
		}
		select {
		case <-a.ready:
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
		if a.text != nil {
			return a.text, nil
		} // who began it has gone, or failed: it is asked again
	}
}

// readStamp returns a text that changes when a run has made progress.
func readStamp(dir string) string {
	var b strings.Builder
	for _, name := range []string{"", run.ManifestFile, run.HistoryFile, run.SummaryFile, "candidates.json", run.DBFile, run.DBFile + "-wal", run.DBFile + "-mark"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		switch {
		case err != nil:
			b.WriteString("-;")
		case name == "":
			fmt.Fprintf(&b, "%s;", run.FileIdentity(info))
		default:
			fmt.Fprintf(&b, "%d %d;", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
