package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/steer"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// steering is what others than this process want of the run: which ceilings hold, and what
// becomes of requests. But for limits it belongs to the goroutine of Listen.
type steering struct {
	desk    *steer.Desk
	before  map[string]bool // requests that were there before this session; nil: no one has looked yet
	notes   []string        // sent once there is somebody to take them
	refused int             // files that were no requests
	failing bool            // that answers cannot be recorded was reported
	acted   map[string]bool // requests that were carried out and could not be recorded

	mu     sync.Mutex
	limits config.Limits // as they hold now
}

// InForce returns the ceilings that hold now: those of the configuration, except for what somebody
// has changed of them from outside. It may be called concurrently.
func InForce(s *Session) config.Limits {
	if s.steering == nil {
		return s.Config.Limits
	}
	s.steering.mu.Lock()
	defer s.steering.mu.Unlock()
	return s.steering.limits
}

// takeUp begins to listen for the open run. Ceilings that were set in earlier sessions continue
// to hold, unless the configuration says otherwise by now. What was asked before this
// session is distinguished from what will be: it is what is there now, whatever clocks say.
func takeUp(s *Session) error {
	st := &steering{desk: steer.NewDesk(s.Run.Dir, s.Now), limits: s.Config.Limits, acted: map[string]bool{}}
	s.steering = st
	defer func() { st.limits = s.Loaded.Guard.Cap(st.limits) }()
	look, err := st.desk.Look()
	if err == nil {
		st.noteFirstLook(look)
	}
	kept := s.Run.Steering()
	held := maps.Clone(kept.Held)
	for _, name := range steer.Names() {
		h, ok := kept.Held[limitKey(name)]
		if !ok {
			continue
		}
		note, holds := stillHolds(s, name, h)
		v, err := steer.Read(name, h.Value)
		if err != nil {
			note, holds = fmt.Sprintf("the ceiling %s that was set from outside cannot be read: %v", limitKey(name), err), false
		}
		if holds {
			steer.Set(&st.limits, name, v)
		} else {
			delete(held, limitKey(name))
		}
		st.notes = append(st.notes, note)
	}
	if len(held) == len(kept.Held) {
		return nil
	}
	kept.Held = held
	return s.Run.Steer(kept)
}

// noteFirstLook notes the first look at the folder: what is there is from before the session.
func (st *steering) noteFirstLook(look steer.Look) {
	if st.before != nil {
		return
	}
	st.before = map[string]bool{}
	for _, f := range look.Found {
		st.before[f.ID] = true
	}
	if look.Problem != "" {
		st.notes = append(st.notes, look.Problem)
	}
	st.noteRemoval(look.Removed)
}

// noteRemoval notes, once, that there was something else than requests.
func (st *steering) noteRemoval(n int) {
	if n > 0 && st.refused == 0 {
		st.refused++
		st.notes = append(st.notes, wording.Plural(n, "file was", "files were")+" removed from "+steer.Folder+" that held no request to this run")
	}
}

// tell sends what is noted.
func (st *steering) tell(s *Session) {
	for _, text := range st.notes {
		s.Emit(event.Warning{Text: text})
	}
	st.notes = nil
}

func limitKey(name string) string { return "limits." + name }

// configuredLimit returns what the configuration says of a ceiling, as JSON.
func configuredLimit(s *Session, name string) json.RawMessage {
	if text := s.Run.Manifest.Operational[limitKey(name)]; json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("null")
}

// onCommandLine reports whether this command gives a ceiling, and by which flag.
func onCommandLine(s *Session, name string) (flag string, ok bool) {
	flag = s.Loaded.Origins[limitKey(name)]
	return flag, len(flag) > 2 && flag[:2] == "--"
}

// stillHolds reports whether a ceiling of an earlier session holds in this one, and says so.
func stillHolds(s *Session, name string, h run.Held) (note string, holds bool) {
	now, key, when := configuredLimit(s, name), limitKey(name), h.Asked.Local().Format("2006-01-02 15:04")
	if flag, ok := onCommandLine(s, name); ok {
		return fmt.Sprintf("%s is %s, as %s gives it: %s, set from outside on %s, holds no longer", key, steer.Words(now), flag, steer.Words(h.Value), when), false
	}
	if string(now) != string(h.Was) {
		return fmt.Sprintf("%s is %s: the configuration has changed since %s was set from outside on %s, and holds", key, steer.Words(now), steer.Words(h.Value), when), false
	}
	return fmt.Sprintf("%s is %s, set from outside on %s; the configuration says %s, and --set %s=%s brings that back", key, steer.Words(h.Value), when, steer.Words(now), key, now), true
}

// steerLimits returns the ceilings that can be changed from outside, by name.
func steerLimits(l config.Limits) steer.Limits {
	count := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		v := float64(*n)
		return &v
	}
	out := steer.Limits{steer.USD: l.USD, steer.Tokens: count(l.Tokens), steer.Calls: count(l.Calls), steer.Time: nil}
	if l.Time != nil {
		v := l.Time.Std().Seconds()
		out[steer.Time] = &v
	}
	return out
}

// mostRefused is how many files that are no requests are answered and reported in a session.
// More are removed without a word.
const mostRefused = 100

// look reads what is pending, records what happens to it, carries it out and reports it, in
// this order: what is recorded is never carried out twice.
func (st *steering) look(s *Session, l Listener) {
	look, err := st.desk.Look()
	if err != nil {
		return // the folder cannot be read now; it is looked at again
	}
	st.noteFirstLook(look)
	st.noteRemoval(look.Removed)
	if look.Problem != "" {
		st.notes = append(st.notes, look.Problem)
	}
	st.tell(s)
	kept, next := s.Run.Steering(), InForce(s)
	kept.Held = maps.Clone(kept.Held)
	var list []run.Answer
	for _, f := range look.Found {
		if _, known := kept.Answered(f.ID); known {
			st.desk.Done(f.ID)
			continue
		}
		if f.Refused != "" {
			if st.refused++; st.refused > mostRefused {
				st.desk.Done(f.ID)
				continue
			}
		}
		d := st.decide(s, f, &next, &kept)
		kept.Answers = append(kept.Answers[:len(kept.Answers):len(kept.Answers)], d)
		list = append(list, d)
	}
	if len(list) > 0 {
		st.carryOut(s, l, list, next, kept)
	}
}

// decide says what is to become of a request, and puts a change of ceilings into next and
// kept.
func (st *steering) decide(s *Session, f steer.Found, next *config.Limits, kept *run.Steering) run.Answer {
	r := f.Request
	a := run.Answer{Request: f.ID, What: r.What, From: r.From, Asked: r.Asked, At: s.Now().UTC(), Refused: f.Refused}
	if f.Refused != "" {
		a.What, a.From, a.Asked = "", "", time.Time{} // what it says is not known to be so
		return a
	}
	if r.What != steer.Limit {
		if st.before[f.ID] {
			a.Refused = steer.AskedBefore
		}
		return a
	}
	a.Limits = r.Limits.Values()
	changed, err := st.change(s, r, next)
	if err != nil {
		a.Refused = err.Error()
		return a
	}
	a.Note = pastWords(s, *next, changed)
	for name, v := range changed {
		keep(s, kept, name, run.Held{Value: steer.Value(name, v), Was: configuredLimit(s, name), Asked: r.Asked, From: r.From})
	}
	return a
}

// keep notes a ceiling that takes the place of the configuration's, or that it is back.
func keep(s *Session, kept *run.Steering, name string, h run.Held) {
	if kept.Held == nil {
		kept.Held = map[string]run.Held{}
	}
	if string(h.Value) == string(h.Was) {
		delete(kept.Held, limitKey(name))
		return
	}
	kept.Held[limitKey(name)] = h
}

// change puts the ceilings of a request into next, and returns those that change.
func (st *steering) change(s *Session, r steer.Request, next *config.Limits) (steer.Limits, error) {
	if s.noticed.late.Load() {
		return nil, errors.New("limits.time is reached, and the run is ending; ask again when it has ended: its next session begins with it")
	}
	changed := maps.Clone(r.Limits)
	for name := range r.Limits {
		if flag, ok := onCommandLine(s, name); ok && st.before[r.ID] {
			if delete(changed, name); len(changed) == 0 {
				return nil, fmt.Errorf("the command that continued the run gives %s itself, by %s", limitKey(name), flag)
			}
		}
	}
	to := *next
	for name, v := range changed {
		steer.Set(&to, name, v)
	}
	to = s.Loaded.Guard.Cap(to) // who can write a request may be an untrusted caller
	if err := caller.Holds(s.Caller, Ceilings(to)); err != nil {
		return nil, err
	}
	*next = to
	return changed, nil
}

// pastWords reports which of the changed ceilings the run is past already.
func pastWords(s *Session, l config.Limits, changed steer.Limits) string {
	used := caller.Used(s.Caller)
	for name, v := range changed {
		if v == nil {
			continue
		}
		spent, words := 0.0, ""
		switch name {
		case steer.USD:
			spent = float64(used.Nano) / 1e9
			words = fmt.Sprintf("$%.4f", spent)
		case steer.Tokens:
			spent = float64(used.Tokens)
			words = wording.Plural(int(used.Tokens), "token", "tokens")
		case steer.Calls:
			spent = float64(used.Calls)
			words = wording.Plural(int(used.Calls), "call", "calls")
		case steer.Time:
			took := s.Now().Sub(s.began)
			spent, words = took.Seconds(), took.Round(time.Second).String()
		}
		if spent >= *v {
			return fmt.Sprintf("%s is reached with that: %s used already; the run ends as at any ceiling", limitKey(name), words)
		}
	}
	return ""
}

// carryOut records answers, does what they say and reports it. Without a record ceilings
// stay as they are and it is tried again; a stop needs none.
func (st *steering) carryOut(s *Session, l Listener, list []run.Answer, next config.Limits, kept run.Steering) {
	err := s.Run.Steer(kept)
	if err != nil && !st.failing {
		st.failing = true
		s.Emit(event.Warning{Text: fmt.Sprintf("what is asked of this run cannot be recorded, and its ceilings stay as they are: %v", err)})
	}
	if err == nil {
		st.mu.Lock()
		st.limits = next
		st.mu.Unlock()
		caller.SetLimits(s.Caller, Ceilings(next))
	}
	for _, a := range list {
		acted := st.acted[a.Request]
		switch {
		case err == nil:
			delete(st.acted, a.Request)
			st.desk.Done(a.Request)
		case a.What == steer.Limit || a.Refused != "":
			continue
		default:
			st.acted[a.Request] = true
		}
		if acted {
			continue
		}
		s.Emit(newAnswerEvent(a, next))
		if a.Refused != "" {
			continue
		}
		switch a.What {
		case steer.Stop:
			l.Stop()
		case steer.StopNow:
			l.StopNow()
		}
	}
}

// newAnswerEvent returns an answer as an event.
func newAnswerEvent(a run.Answer, l config.Limits) event.Steered {
	out := event.Steered{Request: a.Request, What: a.What, From: a.From, Refused: a.Refused}
	if !a.Asked.IsZero() {
		out.Asked = a.Asked.Format(time.RFC3339)
	}
	if a.What == steer.Limit && a.Refused == "" {
		out.Limits = map[string]any{}
		for name, v := range steerLimits(l) {
			out.Limits[name] = eventLimit(name, v)
		}
	}
	return out
}

// eventLimit returns a ceiling as an event has it: a number, a text for a time, nil for none.
func eventLimit(name string, v *float64) any {
	switch {
	case v == nil:
		return nil
	case name == steer.Time:
		return steer.Duration(*v).String()
	}
	return *v
}
