package door

import (
	"encoding/json"
	"net/http"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Kinds of refusals.
const (
	Input     = "input"
	Auth      = "auth"
	Forbidden = "forbidden"
	Missing   = "missing"
	Conflict  = "conflict"
	Damaged   = "damaged"
	TooLarge  = "too_large"
	Busy      = "busy"
	Internal  = "internal"
)

// A Refusal is an answer that says why there is none.
type Refusal struct {
	Status  int    `json:"-"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Help    string `json:"help,omitempty"`
}

// Refused is a Refusal as a document.
type Refused struct {
	Error Refusal `json:"error"`
}

func (r *Refusal) Error() string { return r.Message }

// Write answers with the refusal, and ends the connection.
func (r *Refusal) Write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	h.Del("Content-Disposition")
	if r.Status == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	if r.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(r.Status)
	text, err := json.Marshal(Refused{Error: *r})
	if err != nil {
		return // it holds texts alone
	}
	_, _ = w.Write([]byte(wording.Escape(string(text)))) // who was refused may have gone
}

func tooOften() *Refusal {
	return &Refusal{Status: http.StatusTooManyRequests, Kind: Busy, Message: "too many requests at once", Help: "wait a second, then ask again"}
}

// TooBig refuses a body that is larger than a bound, in bytes.
func TooBig(bound int64) *Refusal {
	return &Refusal{Status: http.StatusRequestEntityTooLarge, Kind: TooLarge, Message: "the body of the request is larger than " + disk.Size(bound)}
}
