package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/server/stream"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// masked is an answer in which no secrets are any more, and that is large.
type masked struct{ v any }

// document returns an answer as JSON. It masks secrets, and escapes characters that steer or hide
// as JSON escapes them, both as the command's --json does. A list is never null.
func document(v any) ([]byte, error) {
	if m, ok := v.(masked); ok {
		v = m.v
	} else {
		v = ask.Shareable(v)
	}
	text, err := json.Marshal(ask.WithLists(v))
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return wording.EscapeBytes(text), nil
}

// answer makes the answer of a request; nil is none.
type answer func(w http.ResponseWriter, r *http.Request) (any, error)

// api answers requests of the API.
func (s *Server) api(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		defer func() {
			if what := recover(); what != nil { // a connection that ends without an answer says nothing to anyone
				refuse(w, fmt.Errorf("this is a fault of skillopt itself; please report it: %v\n%s", what, debug.Stack()))
			}
		}()
		if err := s.admit(w, r, rt); err != nil {
			refuse(w, err)
			return
		}
		if !rt.stream {
			leave, err := s.enter(w, r)
			if err != nil {
				refuse(w, err)
				return
			}
			defer leave()
		}
		if rt.costly && !r.URL.Query().Has("key") { // a call may be an answer to a test task, a look that is noted
			text, err := s.answerOnce(w, r, rt.answer)
			if err != nil {
				refuse(w, err)
				return
			}
			send(w, text)
			return
		}
		v, err := rt.answer(w, r)
		switch {
		case err != nil:
			refuse(w, err)
		case v != nil:
			write(w, v)
		case w.Header().Get("Content-Type") == "":
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// admit checks who asks, and for what.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, rt route) error {
	if rt.Method != http.MethodGet {
		if err := s.door.Changes(r); err != nil {
			return err
		}
	}
	if !rt.open {
		if err := s.door.Authorize(w, r); err != nil {
			return err
		}
	}
	if rt.changes && s.readOnly {
		return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: "this server only shows runs", Help: "start skillopt serve without --read-only to change something"}
	}
	return nil
}

// enter takes a place among the answers that are worked at. The time of the answer counts from
// then.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) (leave func(), err error) {
	wait := time.NewTimer(workPatience)
	defer wait.Stop()
	select {
	case s.work <- struct{}{}:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-wait.C:
		return nil, &door.Refusal{Status: http.StatusTooManyRequests, Kind: door.Busy, Message: "the server is busy with other requests", Help: "wait a little, then ask again"}
	}
	leave = func() { <-s.work }
	if s.large(r) {
		select {
		case s.heavy <- struct{}{}:
			leave = func() { <-s.heavy; <-s.work }
		case <-r.Context().Done():
			leave()
			return nil, r.Context().Err()
		case <-wait.C:
			leave()
			return nil, &door.Refusal{Status: http.StatusTooManyRequests, Kind: door.Busy, Message: "the server is busy with another large run", Help: "wait a little, then ask again"}
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // a writer without deadlines has none to set
	return leave, nil
}

// large reports whether a request is about a run whose documents are large: such are answered one
// at a time, whatever they hold.
func (s *Server) large(r *http.Request) bool {
	for _, id := range append(r.URL.Query()["run"], r.PathValue("run")) {
		if at, err := s.find(id); err == nil && record.DocumentSize(at.dir) > record.Large {
			return true
		}
	}
	return false
}

// write answers with a document.
func write(w http.ResponseWriter, v any) {
	text, err := document(v)
	if err != nil {
		refuse(w, err)
		return
	}
	send(w, text)
}

func send(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // who asked may have gone
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) { refusal(err).Write(w) }

// refusal returns an error as an answer.
func refusal(err error) *door.Refusal {
	var (
		known   *door.Refusal
		asked   *ask.Error
		none    *run.MissingError
		version *record.VersionError
		noRun   *record.NoRunError
		noDir   *run.NoDirError
		locked  *run.LockedError
		broken  *run.DamagedError
		file    *record.FileError
		night   *record.NightError
		tooLong *http.MaxBytesError
		unread  *record.UnreadSkillError
		syntax  *json.SyntaxError // requests with it are refused where they are read
		shape   *json.UnmarshalTypeError
	)
	at := func(status int, kind string) *door.Refusal {
		message, help := ask.CutHelp(redact.Text(err.Error()))
		return &door.Refusal{Status: status, Kind: kind, Message: message, Help: help}
	}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &asked) && !asked.Missing:
		return at(http.StatusBadRequest, door.Input)
	case errors.As(err, &asked), errors.As(err, &none), errors.As(err, &version):
		return at(http.StatusNotFound, door.Missing)
	case errors.As(err, &locked), errors.As(err, &noDir):
		return at(http.StatusConflict, door.Conflict)
	case errors.As(err, &tooLong):
		return door.TooBig(tooLong.Limit)
	case errors.As(err, &broken), errors.As(err, &file), errors.As(err, &night), errors.As(err, &noRun), errors.As(err, &unread), errors.As(err, &syntax), errors.As(err, &shape),
		errors.Is(err, disk.ErrTooLarge), errors.Is(err, disk.ErrNotFile):
		return at(http.StatusInternalServerError, door.Damaged)
	case errors.Is(err, fs.ErrNotExist):
		return at(http.StatusNotFound, door.Missing)
	case errors.Is(err, fs.ErrPermission):
		return at(http.StatusForbidden, door.Forbidden)
	case errors.Is(err, context.Canceled), errors.Is(err, stream.ErrClosed):
		return at(http.StatusServiceUnavailable, door.Busy)
	case fault.Of(err) == fault.BadInput:
		return at(http.StatusBadRequest, door.Input)
	case fault.Of(err) == fault.Locked:
		return at(http.StatusConflict, door.Conflict)
	}
	return at(http.StatusInternalServerError, door.Internal)
}

func wrong(format string, args ...any) error {
	return &door.Refusal{Status: http.StatusBadRequest, Kind: door.Input, Message: fmt.Sprintf(format, args...)}
}

func notFoundError(message string) error {
	return &door.Refusal{Status: http.StatusNotFound, Kind: door.Missing, Message: message, Help: "look it up in the list of runs: it may have been removed or renamed"}
}

func damageError(message string) error {
	return &door.Refusal{Status: http.StatusInternalServerError, Kind: door.Damaged, Message: message}
}

func conflict(message, help string) error {
	return &door.Refusal{Status: http.StatusConflict, Kind: door.Conflict, Message: message, Help: help}
}

// quoteText returns a part of a request as a message shows it.
func quoteText(text string) string { return strconv.Quote(text[:min(len(text), 200)]) }
