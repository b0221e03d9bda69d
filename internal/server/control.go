package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/queue"
)

// This file is the queue of the folder with configs: what is put into it, and who begins it.

// startEvery is how often the starter looks whether an entry can be begun.
const startEvery = time.Second

func (s *Server) runsDir() string  { return filepath.Join(s.options.Configs, "runs") }
func (s *Server) queueDir() string { return filepath.Join(s.runsDir(), ".queue") }

// canStart reports why nothing can be started here; nil: it can.
func (s *Server) canStart() error {
	if s.queue == nil || s.options.Program == nil {
		return noStart()
	}
	return nil
}

// enqueue puts a command into the queue: words as of a command line, run the folder of its run (absolute), title for
// people. The config is the one that --config names, else the first argument; the entry is begun with its text as it
// is now, or not at all.
func (s *Server) enqueue(words []string, run, title string) (queue.Entry, error) {
	if err := s.canStart(); err != nil {
		return queue.Entry{}, err
	}
	e := queue.Entry{Words: words, Run: run, Title: title, Config: s.findConfigFile(words)}
	text, err := disk.Read(context.Background(), e.Config, maxConfig)
	if err != nil {
		return e, fmt.Errorf("read the config: %w", err)
	}
	e.SHA256 = hashText(text)
	if e, err = s.queue.Add(e); err != nil {
		return e, refuseEntry(err)
	}
	select {
	case s.queued <- struct{}{}:
	default: // it is awake
	}
	return e, nil
}

// refuseEntry returns an error of the queue as an answer.
func refuseEntry(err error) error {
	var (
		taken *queue.TakenError
		state *queue.StateError
	)
	switch {
	case errors.As(err, &state) && state.State == "":
		return notFoundError(err.Error())
	case errors.As(err, &taken), errors.As(err, &state):
		return conflict(err.Error(), "")
	}
	return err
}

func hashText(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// findConfigFile returns the file of the config that a command line names.
func (s *Server) findConfigFile(words []string) string {
	path := words[1]
	if i := slices.Index(words, "--config"); i >= 0 {
		path = words[i+1]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.options.Configs, path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "config.yaml")
	}
	return path
}

// freeRun returns a folder for a new run below Configs/runs, such as .../my-skill-3, that is neither there nor in the
// queue.
func (s *Server) freeRun(name string) (string, error) {
	if err := s.canStart(); err != nil {
		return "", err
	}
	list, err := s.queue.List()
	if err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		dir := filepath.Join(s.runsDir(), name+"-"+strconv.Itoa(i))
		if slices.ContainsFunc(list, func(e queue.Entry) bool { return e.Run == dir }) {
			continue
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return dir, nil
		} else if err != nil {
			return "", fmt.Errorf("find a folder for the run: %w", err)
		}
	}
}

// starter begins what waits in the queue, an entry at a time, until the context ends, or the function that it
// returns is called, which waits for that.
func (s *Server) starter(ctx context.Context) (end func()) {
	if s.queue == nil || s.readOnly || s.options.Launch == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(startEvery)
		defer look.Stop()
		for ctx.Err() == nil {
			s.startNext(ctx)
			select {
			case <-ctx.Done():
			case <-look.C:
			case <-s.queued:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// startNext begins the next entry, if it is time, and waits for its end. An entry that cannot be begun has failed.
func (s *Server) startNext(ctx context.Context) {
	e, ok, err := s.queue.Next()
	if err != nil || !ok {
		return // what is wrong with the folder is answered to those who look at the queue
	}
	if err := s.options.Launch(ctx, s.queueDir(), e); err != nil {
		_ = s.queue.Fail(e.ID, err.Error()) // it was begun by another server, or removed
	}
}
