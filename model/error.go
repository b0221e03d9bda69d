package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code classifies a failed call.
type Code string

const (
	Auth          Code = "auth"           // key missing, wrong or without rights
	Credit        Code = "credit"         // the account has no credit left, or its plan grants no more
	Certificate   Code = "certificate"    // the server's TLS certificate is not trusted
	NotFound      Code = "not_found"      // model or path unknown
	BadRequest    Code = "bad_request"    // the server refuses the request as it is
	ContextLength Code = "context_length" // the prompt is too long for the model
	ContentFilter Code = "content_filter" // the provider refused the prompt
	RateLimit     Code = "rate_limit"     // too many requests or tokens
	Overloaded    Code = "overloaded"     // the server asks to come back later
	Server        Code = "server"         // 5xx
	Network       Code = "network"        // no connection, reset
	Redirect      Code = "redirect"       // the server sends to another address, which is not followed
	Timeout       Code = "timeout"        // the request's own deadline
	Truncated     Code = "truncated"      // the HTTP body ended early
	Empty         Code = "empty"          // an answer without text
	Malformed     Code = "malformed"      // a body that is not the protocol's
	Budget        Code = "budget"         // a hard ceiling of the user is reached
	Waiting       Code = "waiting"        // somebody else writes the answer, and has not yet
)

// Transient reports whether the same request may succeed later.
func (c Code) Transient() bool {
	switch c {
	case RateLimit, Overloaded, Server, Network, Redirect, Timeout, Truncated, Malformed:
		return true
	}
	return false
}

// Error is a failed call.
type Error struct {
	Code       Code
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // the server's hint, 0 if it gave none
	Endpoint   string        // host that failed, for messages
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d) from %s: %v", e.Code, e.Status, e.Endpoint, e.Err)
	}
	return fmt.Sprintf("%s from %s: %v", e.Code, e.Endpoint, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the class of err, or "" when err is no *Error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Interrupted returns what a Client owes its caller once ctx is done: ctx's own
// error if it was cancelled, a Timeout that wraps context.DeadlineExceeded if
// its deadline has passed, and nil as long as ctx is not done.
func Interrupted(ctx context.Context, endpoint string) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Timeout, Endpoint: endpoint, Err: fmt.Errorf("no complete answer before the deadline: %w", err)}
	}
	return err
}
