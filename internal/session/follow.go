package session

import (
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// openLog returns the sink of the events of the open run: its log, and the sink of the options.
// Both get them without secrets. A run whose log cannot be written continues without it.
func openLog(s *Session) event.Sink {
	if s.borrowed || s.log != nil {
		return s.Options.Events
	}
	log, err := eventlog.Open(s.Run.Dir, eventlog.Options{
		Run: s.Run.Manifest.RunID, Gone: s.Run.Journal.HighWater() + 1, Failed: func(err error) { reportLogFailure(s, err) },
	})
	if err != nil {
		if s.Options.Events != nil {
			s.Options.Events(notLogged(err))
		}
		return s.Options.Events
	}
	s.log = log
	s.logging = &logging{session: s, log: log, began: s.Kind == result.Train}
	return s.maskSink(s.logging.take)
}

// logging has the events of a session logged. The log of every kind of run begins and ends
// a session.
type logging struct {
	session *Session
	log     *eventlog.Writer
	began   bool
	ended   bool
}

// take logs an event, as a sink of events without secrets.
func (l *logging) take(e event.Event) {
	s := l.session
	switch e.(type) {
	case event.RunStarted:
		l.began = true
	case event.RunDone:
		l.ended = true
	}
	l.begin()
	l.log.Add(e, s.Now())
	if s.bare != nil {
		s.bare(e)
	}
}

// begin begins the session in the log, unless the operation has done so.
func (l *logging) begin() {
	if l.began {
		return
	}
	l.began = true
	s := l.session
	l.log.Add(event.RunStarted{
		RunDir: s.Run.Dir, RunID: s.Run.Manifest.RunID, Resumed: s.Run.Resumed, Recorded: s.Recorded,
		Train: len(s.Data.Train), Selection: len(s.Data.Selection), Test: len(s.Data.Test), Folds: s.Data.NumFolds(),
	}, s.Now())
}

// untilDone stops the reports of what is in flight once the run is done.
func untilDone(s *Session, emit event.Sink) event.Sink {
	return func(e event.Event) {
		if _, done := e.(event.RunDone); done && s.landed != nil {
			s.landed()
		}
		emit(e)
	}
}

// watchRequests has requests watched for events. The returned function begins to report them, when
// the caller of the models is there.
func watchRequests(s *Session, o *caller.Options) (follow func()) {
	if s.borrowed {
		return func() {}
	}
	s.waits = newWaits(s)
	o.Observe = s.waits.observe(o.Observe)
	return func() {
		s.landed = s.waits.follow(s.Emit, s.Now)
		if s.log != nil && s.Run.Lost != nil { // receivers of events were notified when the run was opened
			s.log.Add(event.Warning{Text: s.Run.Lost.String()}, s.Now())
		}
	}
}

// reportLogFailure reports that the log is not written any more.
func reportLogFailure(s *Session, err error) { s.Emit(notLogged(err)) }

func notLogged(err error) event.Warning {
	return event.Warning{Text: "the run continues, but readers from outside do not see its events: " + err.Error()}
}

// closeLog ends and closes the log.
func closeLog(s *Session) {
	if s.log == nil {
		return
	}
	if !s.logging.ended {
		status := s.Run.Manifest.Status
		if status == result.Running {
			status = result.Failed // before the end could be written
		}
		s.logging.begin()
		s.log.Add(event.RunDone{Status: string(status), WallS: s.Now().Sub(s.began).Seconds()}, s.Now())
	}
	s.log.Close()
	s.log, s.logging = nil, nil
}

// heard returns the function that emits outcomes, nil where none are emitted. A score of a test
// task is not emitted: following a run is no reading of the test set.
func heard(s *Session) func(rollout.Place, *task.Task, *trajectory.Outcome) {
	if s.borrowed {
		return nil
	}
	sealed := map[string]bool{}
	for _, t := range s.Data.Test {
		sealed[t.ID] = true
	}
	return func(p rollout.Place, t *task.Task, out *trajectory.Outcome) {
		if sealed[t.ID] && out.Status.Measured() {
			return
		}
		key, at := p.Key(*t), record.ParsePlace(p.Prefix)
		stage, arm := at.Stage()
		row, reply := caller.FindReply(s.Caller, key)
		e := event.OutcomeDone{
			Row: row, Key: key, Seconds: s.waits.seconds(reply), Epoch: at.Epoch, Step: at.Step, Stage: stage, Arm: arm,
			Task: t.ID, Sample: p.Sample, Status: string(out.Status), Reason: wording.Cut(out.FailReason, maxReason),
		}
		if out.Status.Measured() {
			hard, soft := out.Hard, out.Soft
			e.Hard, e.Soft = &hard, &soft
		}
		s.Emit(e)
	}
}

// maxReason bounds, in bytes, why a task failed in an event. The files of the run have it
// whole.
const maxReason = 500
