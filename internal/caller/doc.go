// Package caller connects a stage with a provider: it answers from
// the record what was already paid for, bounds what is in flight, retries what
// may succeed, asks again for replies that cannot be used, meters, and records
// every finished call before its result is used.
//
// A call passes through these layers, one file each: the re-asks of a logical
// call (call.go), the record and the reuse of equal calls (reuse.go), what other runs were
// answered (others.go), the
// retries (send.go) with the judgement of an endpoint (endpoint.go) and its
// limit (limiter.go, slots.go), the ceilings of the user (meter.go), and the
// client itself. Episodes (episode.go) and decisions (decision.go) are recorded
// as a whole.
//
// It knows nothing about skills, tasks or scores, nor about any vendor.
package caller
