// Package cassette takes what a run recorded out of its journal, into a file
// that may be given away, and answers the same run from it: no model is called,
// no environment or check is started.
//
// A cassette holds results, not questions: each under the key of its step, with
// the digest of the input that it belongs to. Secrets are taken out of results.
//
// It knows nothing about skills, scores or vendors.
package cassette

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// Format is that of the files this package writes and reads.
const Format = "skillopt.cassette/1"

// MaxFile is the size, in bytes, above which a file is refused.
const MaxFile = 8 << 30

// maxLine is the size of a line, in bytes, above which a file is refused.
const maxLine = 64 << 20

// MissingError says that a cassette has no answer to a step: the run that is
// replayed is not the one that was recorded, or that one ended before it.
type MissingError struct {
	Key      string // of the step; "" when a model was called past the record
	Digest   string // of its input now, beginning
	Recorded string // of the input that the step is recorded with, "" if the key is not there
}

// ComesLater marks it as an error that does not stop what runs at the same time (taskgroup.Later): a gate that
// stops early asks for more than it reads, and what the recorded run did not read it need
// not have. If it is read after all, the error ends the replay.
func (e *MissingError) ComesLater() {}

func (e *MissingError) Error() string {
	switch {
	case e.Key == "":
		return "a model is called in a replay, which has no network: the step is not answered from the cassette"
	case e.Recorded != "":
		return fmt.Sprintf("the cassette has the step %s with another input (%s, now %s): replay it with the configuration, files and version that it was recorded with", e.Key, e.Recorded, e.Digest)
	}
	return fmt.Sprintf("the cassette has no answer for the step %s (input %s): the recorded run ended before it, or took another way", e.Key, e.Digest)
}

// Cassette answers the steps of a run. It is safe for concurrent use.
type Cassette struct {
	steps        map[string]journal.Record
	firstByEqual map[equalKey]string // keys of first attempts
	givenUp      []string

	mu   sync.Mutex
	used map[string]bool
}

// equalKey is what makes two calls equal: the role, no matter who plays it, and the input.
type equalKey struct {
	role   string
	digest journal.Digest
}

// Load reads the file at path.
func Load(path string) (c *Cassette, err error) {
	f, err := disk.Open(context.Background(), path, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("load cassette: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if c, err = Parse(f); err != nil {
		return nil, fmt.Errorf("load cassette %s: %w", path, err)
	}
	return c, nil
}

// Parse reads a cassette. Its errors name the line. A file that was cut or
// changed is refused.
func Parse(r io.Reader) (*Cassette, error) {
	in := &lines{r: bufio.NewReader(r), sum: sha256.New()}
	first, err := in.next()
	if err != nil {
		return nil, err
	}
	var head header
	if json.Unmarshal(first, &head) != nil || head.Format == "" {
		return nil, errors.New("line 1: not a cassette")
	}
	if head.Format != Format {
		return nil, fmt.Errorf("line 1: found format %q, this version reads %s", head.Format, Format)
	}
	c := &Cassette{steps: make(map[string]journal.Record), firstByEqual: make(map[equalKey]string), used: make(map[string]bool)}
	for {
		sum := hex.EncodeToString(in.sum.Sum(nil))
		line, err := in.next()
		if err != nil {
			return nil, err
		}
		var w wireLine
		if err := decodeStrict(line, &w); err != nil {
			return nil, fmt.Errorf("line %d: %w", in.n, err)
		}
		if w.End != nil {
			return c, in.end(w.End, sum, len(c.steps))
		}
		if err := c.add(w); err != nil {
			return nil, fmt.Errorf("line %d: %w", in.n, err)
		}
	}
}

// lines reads a file line by line and adds them up.
type lines struct {
	r   *bufio.Reader
	n   int
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
}

// next returns a line; the last one has an end of line like all others.
func (l *lines) next() ([]byte, error) {
	l.n++
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			_, err = l.sum.Write(line)
			return line, err
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("line %d: the file ends early: it was cut", l.n)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("line %d: %w", l.n, err)
		case len(line) > maxLine:
			return nil, fmt.Errorf("line %d is longer than %d bytes", l.n, maxLine)
		}
	}
}

// end checks the last line against all before it.
func (l *lines) end(end *wireEnd, sum string, steps int) error {
	switch rest, err := l.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("line %d: %q after the end", l.n+1, rest)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: %w", l.n+1, err)
	case end.Steps != steps || end.SHA256 != sum:
		return fmt.Errorf("line %d: the file is not what was written: its lines do not add up", l.n)
	}
	return nil
}

func decodeStrict(line []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return fmt.Errorf("not a step: %w", err)
	}
	return nil
}

// add takes a step.
func (c *Cassette) add(w wireLine) error {
	r, err := w.record()
	if err != nil {
		return err
	}
	if _, twice := c.steps[r.Key]; twice {
		return fmt.Errorf("the step %q is there twice", r.Key)
	}
	c.steps[r.Key] = r
	switch {
	case r.Kind == journal.Unmeasured:
		c.givenUp = append(c.givenUp, r.Key)
	case r.Kind == journal.Call && firstAttempt(r.Key):
		if t := (equalKey{r.Role, r.Digest}); c.firstByEqual[t] == "" {
			c.firstByEqual[t] = r.Key
		}
	}
	return nil
}

// firstAttempt reports whether key is that of a first attempt of a call. Only
// those answer equal calls: a re-ask wants another answer to the same request.
func firstAttempt(key string) bool {
	slash := strings.LastIndexByte(key, '/')
	return slash >= 0 && strings.HasPrefix(key[slash:], "/turn") && strings.HasSuffix(key[:slash], "/attempt0")
}

// Find returns the recorded result of a step, whose Record holds kind, result,
// stage, role, model and usage. digest is that of the step's input, zero for a
// decision. With allowEqual an equal first attempt of the same role answers as well:
// of equal deterministic calls the journal holds one. Any other step is a
// *MissingError.
func (c *Cassette) Find(key string, digest journal.Digest, role string, allowEqual bool) (journal.Record, error) {
	r, ok := c.steps[key]
	missing := &MissingError{Key: key, Digest: digest.String()}
	if ok && r.Digest != digest {
		missing.Recorded, ok = r.Digest.String(), false
	}
	if other := c.firstByEqual[equalKey{role, digest}]; !ok && allowEqual && other != "" {
		r, ok = c.steps[other], true
	}
	if !ok {
		return journal.Record{}, missing
	}
	c.mu.Lock()
	c.used[r.Key] = true
	c.mu.Unlock()
	return r, nil
}

// GivenUp returns the keys of the items that decisions of the recorded run went
// on without, sorted.
func (c *Cassette) GivenUp() []string {
	keys := slices.Clone(c.givenUp)
	slices.Sort(keys)
	return keys
}

// UnusedKeys returns the keys of steps that Find has not returned, sorted: a replay
// that leaves some took another way. Items that were given up are left out.
func (c *Cassette) UnusedKeys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keys []string
	for key, r := range c.steps {
		if !c.used[key] && r.Kind != journal.Unmeasured {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Len returns the number of steps.
func (c *Cassette) Len() int { return len(c.steps) }

// Client returns a client for the roles of a replay. Nothing should reach it: a
// request fails for good with a *MissingError.
func (c *Cassette) Client() model.Client { return replayClient{} }

type replayClient struct{}

func (replayClient) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	const name = "the cassette"
	if over := model.Interrupted(ctx, name); over != nil {
		return model.Response{}, over
	}
	return model.Response{}, &model.Error{Code: model.BadRequest, Endpoint: name, Err: &MissingError{}}
}
