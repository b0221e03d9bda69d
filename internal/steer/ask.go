package steer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Asking is what is asked of a run, by whom, and how long an answer is waited for.
type Asking struct {
	What   string // Stop, StopNow, Limit
	Limits Limits // of Limit
	From   string // command, browser
	Name   string // of the run in errors; "": its directory
	Now    func() time.Time
	Wait   time.Duration // for the answer; 0: DefaultWait
}

func (a Asking) name(dir string) string { return cmp.Or(a.Name, dir) }

// DefaultWait is how long an answer is waited for: a process that listens looks more than
// twice a second.
const DefaultWait = 5 * time.Second

// AskedBefore is why a run refuses to stop for what was there when its session began to listen.
const AskedBefore = "it was asked before this session of the run began"

// lookEvery is how often it is looked whether there is an answer.
const lookEvery = 50 * time.Millisecond

// Ask asks a run for something and waits for what happens to it. A run that no process
// works on is not asked to stop, and keeps other ceilings for its next session; one that has
// ended takes none. The errors are *run.MissingError, those of run.ReadManifest, an
// error of kind BadInput for what cannot be asked, and one of the file system where the
// directory may not be written. A request that no one answers is taken back. It may be
// called concurrently.
func Ask(ctx context.Context, dir string, a Asking) (result.Steered, error) {
	out, err := ask(ctx, dir, a)
	if err == nil && out.Reason == AskedBefore { // the run was open, and did not listen yet
		out, err = ask(ctx, dir, a)
	}
	if err == nil {
		out.Text = words(out)
	}
	return out, err
}

func ask(ctx context.Context, dir string, a Asking) (result.Steered, error) {
	out := result.Steered{RunDir: dir, What: a.What}
	r, err := newRequest(a.What, a.Limits, a.From, a.Now())
	if err != nil {
		return out, fault.Input(err)
	}
	if a.What == Limit {
		out.Limits = a.Limits.Values()
	}
	m, works, err := look(dir)
	if err != nil {
		return out, err
	}
	out.Status = m.Status
	switch {
	case !works && a.What != Limit:
		out.State = result.SteerIdle
		return out, nil
	case !works && m.Status == result.Completed:
		return out, fault.Input(fmt.Errorf("run %s has ended: no ceiling holds for it any more; train --again begins another run, --fork continues from what this one has paid for", a.name(dir)))
	}
	if err := puts(dir, a.name(dir), r); err != nil {
		return out, err
	}
	out.Request = r.ID
	if !works {
		out.State = result.SteerKept
		return out, nil
	}
	return await(ctx, dir, a, out)
}

// Put puts a request to a run and waits for nothing. What happens to it is reported by Answered.
// The errors are those of Ask.
func Put(dir, what string, l Limits, from string, at time.Time) (id string, err error) {
	r, err := newRequest(what, l, from, at)
	if err != nil {
		return "", fault.Input(err)
	}
	return r.ID, puts(dir, dir, r)
}

// look says what a run is, and whether a process works on it.
func look(dir string) (m run.Manifest, works bool, err error) {
	m, found, err := run.ReadManifest(dir)
	switch {
	case err != nil:
		return m, false, run.Unreadable(dir, err)
	case !found:
		return m, false, fault.Input(&run.MissingError{Dir: dir})
	}
	works, err = run.InUse(dir)
	return m, works, err
}

// puts puts a request, unless too many wait already.
func puts(dir, name string, r Request) error {
	if n := countRequests(dir); n >= MaxPending {
		return fault.Input(fmt.Errorf("%d requests to run %s wait already: see the folder %s in it", n, name, Folder))
	}
	err := put(dir, r)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("run %s cannot be asked for anything: its directory may not be written here, as that of a copy or of another user: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("ask run %s: %w", name, err)
	}
	return nil
}

// countRequests counts what is named as a request. What cannot be read is reported when one is put.
func countRequests(dir string) (n int) {
	f, err := os.Open(filepath.Join(dir, Folder))
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // it was read only
	entries, _ := f.ReadDir(mostEntries)
	for _, e := range entries {
		if _, ok := parseID(e.Name()); ok {
			n++
		}
	}
	return n
}

// await waits until a request is answered, no one works on the run any more, or it was long
// enough.
func await(ctx context.Context, dir string, a Asking, out result.Steered) (result.Steered, error) {
	wait := a.Wait
	if wait == 0 {
		wait = DefaultWait
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for n, over := 0, false; ; n++ {
		answer, found, err := Answered(dir, out.Request)
		if err != nil {
			return out, err
		}
		if found {
			_ = Withdraw(dir, out.Request) // where the run could not remove it
			return applyAnswer(out, answer), nil
		}
		if over {
			return withdrawn(dir, out)
		}
		if n%10 == 9 { // the lock is looked at less often: who opens the run needs it
			if works, err := run.InUse(dir); err == nil && !works {
				over = true
				continue // it may have answered just before
			}
		}
		select {
		case <-tick.C:
		case <-late.C:
			over = true
		case <-ctx.Done():
			over = true
		}
	}
}

// withdrawn ends what no one has answered.
func withdrawn(dir string, out result.Steered) (result.Steered, error) {
	m, works, err := look(dir)
	if err != nil {
		return out, err
	}
	out.Status = m.Status
	if !works && out.What == Limit && m.Status != result.Completed {
		out.State = result.SteerKept
		return out, nil
	}
	if err := Withdraw(dir, out.Request); err != nil {
		return out, fmt.Errorf("take a request back: %w", err)
	}
	if a, found := m.Steering.Answered(out.Request); found { // it was answered in the meantime
		return applyAnswer(out, a), nil
	}
	if out.State = result.SteerIdle; works {
		out.State = result.SteerUnanswered
	}
	return out, nil
}

func applyAnswer(out result.Steered, a run.Answer) result.Steered {
	out.State, out.Reason, out.Note = result.SteerDone, a.Refused, a.Note
	if a.Refused != "" {
		out.State = result.SteerRefused
	}
	return out
}

// Answered finds what happened to a request.
func Answered(dir, id string) (a run.Answer, found bool, err error) {
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		return a, false, run.Unreadable(dir, err)
	}
	a, found = m.Steering.Answered(id)
	return a, found, nil
}

// Withdraw takes a request back that no one has answered. One that is not there is none.
func Withdraw(dir, id string) (err error) {
	if _, ok := parseID(id + suffix); !ok {
		return fault.Input(fmt.Errorf("%q is the id of no request", strings.ToValidUTF8(id, "?")))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(withdraw(root, id), root.Close())
}
