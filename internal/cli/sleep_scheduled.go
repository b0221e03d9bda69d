package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/timer"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// timerLockedError says that a timer's night is at work already.
type timerLockedError struct{ text string }

func (e *timerLockedError) Error() string { return e.text }

// ErrorKind says whose business the error is.
func (*timerLockedError) ErrorKind() string { return string(fault.Locked) }

// Bounds of the log of a timer.
const (
	mostLog = 1 << 20
	keepLog = 128 << 10
)

// How long a night that a timer starts waits for another process, such as the night of another project, and how often it looks.
const (
	lockPatience = 6 * time.Hour
	lockLook     = 2 * time.Second
)

// start is one start by a timer.
type start struct {
	app     *app
	profile string // of the timer
	path    string // of the state
	state   timer.State
	night   *sleepRunOptions
}

// runScheduled carries out a night if one is due: each day once, as soon as the machine is awake, not on battery. Its result
// is noted next to the profile of the timer.
func runScheduled(ctx context.Context, a *app, at sleepFlags, o *sleepRunOptions) (err error) {
	t, err := timedBy(a, at.profile)
	if err != nil {
		return err
	}
	if t == nil {
		return usagef("--scheduled takes --profile FILE of `skillopt sleep schedule`")
	}
	base := filepath.Join(filepath.Dir(t.path), t.profile.ID)
	s := &start{app: a, profile: t.path, path: base + timerState, night: o}
	if err := timer.Shorten(base+timerLog, mostLog, keepLog); err != nil {
		return err
	}
	lock := flock.New(base+timerLock, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock a timer: %w", err)
	}
	if s.state, err = timer.ReadState(ctx, s.path); err != nil {
		return errors.Join(err, lock.Unlock())
	}
	if !locked {
		return &timerLockedError{fmt.Sprintf("%s: a night of this timer is at work, or waits to be (process %d); nothing was started", t.path, s.state.Process)}
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	due := t.profile.At.Due(time.Now(), t.profile.Written, s.state.Day)
	if due == "" {
		return s.skip("no night is due before "+t.profile.At.Next(time.Now()).Format("2006-01-02 15:04"), false)
	}
	err = s.carryOut(ctx, at, due)
	if !errors.Is(err, errSkipped) {
		return s.note(err)
	}
	return nil
}

// errSkipped says that a start did nothing, and has said why.
var errSkipped = errors.New("skipped")

// skip says why a start did nothing.
func (s *start) skip(why string, keep bool) error {
	if keep {
		s.state.Skipped = time.Now().Format("2006-01-02 15:04") + ": " + why
		if err := s.state.Write(s.path); err != nil {
			return err
		}
	}
	if s.app.json {
		return printJSON(s.app.Out, nightsDone{Nights: []*night.Report{}, Skipped: why})
	}
	s.app.printer(s.app.Err).line("skipped: " + why)
	return nil
}

// carryOut carries out the night of a day.
func (s *start) carryOut(ctx context.Context, at sleepFlags, due string) error {
	setup, err := s.app.sleepSetup(at, s.night.sets...)
	if err != nil {
		return err
	}
	s.night.with(setup.timer)
	if !setup.loaded.Config.Sleep.OnBattery && s.onBattery(ctx, setup) {
		return errors.Join(s.skip("the machine runs on battery; sleep.on_battery: true in "+setup.profile+" has nights carried out all the same", true), errSkipped)
	}
	s.state.Process = os.Getpid()
	if err := s.state.Write(s.path); err != nil {
		return err
	}
	w, err := s.open(ctx, setup)
	if err != nil {
		return keyNamed(err, setup)
	}
	if _, gone := os.Stat(s.profile); gone != nil {
		return errors.Join(w.close(), s.skip("the timer was taken back while the night waited", false), errSkipped)
	}
	// Noted before anything is done: a night that ends the machine is not begun again each hour.
	s.state.Day, s.state.Started, s.state.Ended, s.state.Failed, s.state.Skipped = due, time.Now().UTC(), time.Time{}, "", ""
	if err := s.state.Write(s.path); err != nil {
		return errors.Join(err, w.close())
	}
	err = s.night.work(ctx, s.app, setup, w)
	s.state.Ended = time.Now().UTC()
	return err
}

// note notes the result of a start.
func (s *start) note(err error) error {
	s.state.Process, s.state.Failed = 0, ""
	if err != nil {
		s.state.Failed = time.Now().Format("2006-01-02 15:04") + ": " + shortenText(oneLine(shareable(err.Error())), 500)
	}
	if _, gone := os.Stat(s.profile); gone != nil {
		return err // it was unscheduled meanwhile, and nothing of it is to be left
	}
	return errors.Join(err, s.state.Write(s.path))
}

// onBattery asks the system.
func (s *start) onBattery(ctx context.Context, setup sleepSetup) bool {
	if s.app.Battery != nil {
		return s.app.Battery(ctx)
	}
	return setup.host().Power(ctx) == timer.Battery
}

// open opens what nights work with. While another process has it, such as the night of another project, it says which one, and waits.
func (s *start) open(ctx context.Context, setup sleepSetup) (*nightWork, error) {
	return interruptible(ctx, s.app.Signals, func(ctx context.Context) (*nightWork, error) {
		until := time.Now().Add(lockPatience)
		for said := false; ; said = true {
			w, err := openNightWork(ctx, s.app, setup)
			var locked *bank.LockedError
			if !errors.As(err, &locked) || time.Now().After(until) {
				return w, err
			}
			if !said {
				s.app.printer(s.app.Err).line("waiting: " + oneLine(locked.Error()))
			}
			look := time.NewTimer(lockLook)
			select {
			case <-look.C:
			case <-ctx.Done():
				look.Stop()
				return nil, context.Cause(ctx)
			}
		}
	})
}

// keyNamed adds to a key that is missing how a night that a timer starts is given it.
func keyNamed(err error, setup sleepSetup) error {
	var missing *wiring.MissingKeyError
	if !errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("%w\na timer has no variables of your shell: %s", err, keyHelp(filepath.Join(filepath.Dir(setup.profile), ".env"), missing.Var))
}
