package skillopt

import (
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/telemetry"
	"github.com/seed-f4525e22/skillopt/internal/wire"
)

// followed is the telemetry of a run, nil when none is configured.
type followed struct{ *telemetry.Telemetry }

// follow begins the telemetry of the configuration, about a run.
func (s *setup) follow(r *run.Run) (followed, error) {
	c := s.cfg.Telemetry
	if c.Endpoint == "" {
		return followed{}, nil
	}
	providers := map[string]string{}
	for role := range s.models {
		if s.clients[role] == nil {
			providers[role] = s.model(role).Provider
		}
	}
	known, hidden := s.loaded.Redactor(), wire.Hidden(s.cfg, s.loaded.Lookup)
	t, err := telemetry.New(telemetry.Options{
		Endpoint: c.Endpoint, Headers: c.Headers, Service: c.Service, Version: s.programVersion(),
		Command: s.commandName(), RunID: r.Manifest.RunID, Resumed: r.Resumed, Recorded: r.Journal.Counts().Results, Providers: providers, Agent: s.cfg.Agent.Name, Simulated: s.simulated(),
		Content: c.Content, Hide: func(text string) string { return known.Text(hidden.Text(text)) },
		Proxy: wire.Proxy(s.loaded.Lookup), Now: s.now,
	})
	return followed{t}, err
}

// observe is for caller.Options.
func (f followed) observe() func(caller.Activity) caller.Observation {
	if f.Telemetry == nil {
		return nil
	}
	return f.Observe
}

// sink hands events to telemetry and to next. Before the last one it sends what is
// left, so that a warning of what did not arrive still has its place.
func (f followed) sink(next event.Sink) event.Sink {
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
// told of its end. Only the first call warns.
func (f followed) close(next event.Sink, status string) {
	if f.Telemetry == nil {
		return
	}
	for _, text := range f.Close(status) {
		if next != nil {
			next(event.Warning{Text: text})
		}
	}
}

// endedAs is how a run ended by its manifest: whoever leaves it running has met an
// error before the end was written.
func endedAs(r *run.Run) string {
	if s := r.Manifest.Status; s != "running" {
		return s
	}
	return "failed"
}
