package answers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// askedKey begins the keys of the record that say who was asked, from which entry on.
const askedKey = "asked/"

// asked is what a session of a run notes in its record before it asks anybody.
type asked struct {
	File  string            `json:"file"`  // in which it records; see fileID
	Roles map[string]string `json:"roles"` // the endpoint that is asked in a role, see EndpointID

	from int64 // the number of its first entry
}

// EndpointID names an endpoint, without telling it.
func EndpointID(endpoint string) string {
	sum := sha256.Sum256([]byte("endpoint\x00" + endpoint))
	return hex.EncodeToString(sum[:])[:24]
}

// Announce notes in the record of an open run which endpoint it asks in which role from now
// on, and in which file it is recorded. Without that nothing of it is an answer to others.
func Announce(ctx context.Context, r *run.Run, endpoints map[string]string) error {
	a := asked{File: fileID(filepath.Join(r.Dir, run.DBFile)), Roles: map[string]string{}}
	if a.File == "" {
		return nil
	}
	for role, endpoint := range endpoints {
		a.Roles[role] = EndpointID(endpoint)
	}
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode who is asked: %w", err)
	}
	if err := r.Journal.SetMeta(ctx, askedKey+strconv.FormatInt(r.Journal.HighWater()+1, 10), string(data)); err != nil {
		return fmt.Errorf("note who is asked: %w", err)
	}
	return nil
}

// sessions are those of a run, by their first entries.
type sessions []asked

// parseSessions reads what the record of a run says of its sessions.
func parseSessions(meta map[string]string) sessions {
	var out sessions
	for key, value := range meta {
		number, ok := strings.CutPrefix(key, askedKey)
		if !ok {
			continue
		}
		from, err := strconv.ParseInt(number, 10, 64)
		var a asked
		if err != nil || json.Unmarshal([]byte(value), &a) != nil {
			continue
		}
		a.from = from
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b asked) int { return cmp.Compare(a.from, b.from) })
	return out
}

// endpoint returns who was asked for an entry in a role, "" if that is not known: the
// session recorded in another file than the one that is there.
func (s sessions) endpoint(seq int64, role, file string) string {
	for _, a := range slices.Backward(s) {
		if a.from <= seq {
			if a.File != file {
				return ""
			}
			return a.Roles[role]
		}
	}
	return ""
}

// here reports whether a session recorded in the file.
func (s sessions) here(file string) bool {
	return file != "" && slices.ContainsFunc(s, func(a asked) bool { return a.File == file })
}

// hashRequest returns what the index knows a request by.
func hashRequest(endpoint string, digest journal.Digest) int64 {
	sum := sha256.Sum256(append([]byte(endpoint+"\x00"), digest[:]...))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}
