// Package telemetry sends what a run does as OpenTelemetry traces and metrics
// over OTLP/HTTP, with the names of the GenAI semantic conventions. It listens to
// the events of a run and to the caller, and decides nothing: a receiver that is
// away or slow costs telemetry and a warning, never the run.
//
// Spans: the run, its epochs, their steps, their stages, and below the stage that
// is under way each request and each episode. What the record answers is no
// span. Texts are sent only with Options.Content, and never known secrets.
//
// It knows nothing about configuration, the environment or the record. The SDK
// that it uses reads variables of its own (OTEL_*); whatever one of them
// could change is set here or put right before it is sent.
package telemetry
