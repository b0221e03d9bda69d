package session

import (
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/telemetry"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/result"
)

// telemetryOf is the telemetry of a run, nil when none is configured.
type telemetryOf struct{ *telemetry.Telemetry }

// newTelemetry begins the telemetry of the configuration, about the open run.
func (s *Session) newTelemetry() (telemetryOf, error) {
	c := s.Config.Telemetry
	if c.Endpoint == "" {
		return telemetryOf{}, nil
	}
	providers := map[string]string{}
	for _, role := range s.Models.Roles() {
		if s.Clients[role] == nil {
			providers[role] = s.Config.Models.Of(role).Provider
		}
	}
	t, err := telemetry.New(telemetry.Options{
		Endpoint: c.Endpoint, Headers: c.Headers, Service: c.Service, Version: s.ProgramVersion(),
		Command: string(s.Kind), RunID: s.Run.Manifest.RunID, Resumed: s.Run.Resumed, Recorded: s.Run.Journal.Counts().Results, Providers: providers, Agent: s.Config.Agent.Name, Simulated: s.Simulated(),
		Content: c.Content, Hide: masker(wiring.Hidden(s.Config, s.Loaded.Lookup), s.Loaded.Redactor()),
		Proxy: wiring.Proxy(s.Loaded.Lookup), Now: s.Now,
	})
	return telemetryOf{t}, err
}

// observe returns the observer for caller.Options, nil without telemetry.
func (f telemetryOf) observe() func(caller.Activity) caller.Observation {
	if f.Telemetry == nil {
		return nil
	}
	return f.Observe
}

// sink hands events to telemetry and to next. Before the last one it sends what is
// left, so that a warning of what did not arrive still has its place.
func (f telemetryOf) sink(next event.Sink) event.Sink {
	if f.Telemetry == nil {
		return next
	}
	return func(e event.Event) {
		f.Event(e)
		if _, last := e.(event.RunDone); last {
			f.close(next, "")
		}
		if next != nil {
			next(e)
		}
	}
}

// close ends telemetry. status is that of the run, which counts if no event has
// reported of its end. Only the first call warns.
func (f telemetryOf) close(next event.Sink, status string) {
	if f.Telemetry == nil {
		return
	}
	for _, text := range f.Close(status) {
		if next != nil {
			next(event.Warning{Text: text})
		}
	}
}

// closeTelemetry reports the end of the run as its manifest has it: a caller that leaves it running has
// met an error before the end was written.
func (s *Session) closeTelemetry() {
	if s.Run == nil {
		return
	}
	status := s.Run.Manifest.Status
	if status == result.Running {
		status = result.Failed
	}
	s.telemetry.close(s.Emit, string(status))
	s.telemetry = telemetryOf{}
}
