// Package header knows what adapters of model providers share of HTTP: the
// user's own headers, which are templates over the tags of a request, the ways
// in which a server says how long to wait, connections that neither follow
// redirects nor look at the environment, streams that fall silent, where the reason
// is in the body of a refusal, and the classes of failures below any protocol,
// reported without credentials.
//
// It knows nothing about any vendor's protocol, about answers or about retries.
package header

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/model"
)

// Set is the user's headers, ready to be put on requests. It is immutable and
// safe for concurrent use. The zero value and nil hold no headers.
type Set struct {
	fixed  []field
	tagged []tagged
}

// field is a header whose value is the same on every request.
type field struct{ name, value string }

// tagged is a header whose value depends on the tags of a request.
type tagged struct {
	name  string
	value *template.Template
}

// Parse reads headers: names to templates over {{stage}}, {{role}} and {{run}}.
// The error joins all faults, sorted by name: a name that HTTP does not allow or
// that belongs to the transport, a name given twice in different case, a broken
// template, an unknown tag.
func Parse(headers map[string]string) (*Set, error) {
	s := &Set{}
	var faults []error
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		canonical := http.CanonicalHeaderKey(name)
		if other, twice := seen[canonical]; twice {
			faults = append(faults, fmt.Errorf("header %q and header %q are the same: keep one", other, name))
			continue
		}
		seen[canonical] = name
		if err := s.add(canonical, headers[name]); err != nil {
			faults = append(faults, fmt.Errorf("header %q: %w", name, err))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

func (s *Set) add(name, text string) error {
	if err := checkName(name); err != nil {
		return err
	}
	t, err := template.Parse(name, text)
	if err != nil {
		return err
	}
	if err := t.Check("stage", "role", "run"); err != nil {
		return err
	}
	if len(t.Names()) > 0 {
		s.tagged = append(s.tagged, tagged{name: name, value: t})
		return nil
	}
	value, err := t.Render(nil)
	if err != nil {
		return err
	}
	if err := checkValue(value); err != nil {
		return err
	}
	s.fixed = append(s.fixed, field{name: name, value: value})
	return nil
}

func checkName(name string) error {
	if name == "" || strings.ContainsFunc(name, notToken) {
		return errors.New("not a header name: letters, digits and - are allowed")
	}
	switch name {
	case "Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Upgrade", "Trailer", "Te":
		return errors.New("set by the transport itself: remove it")
	}
	return nil
}

func notToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// checkValue refuses what would end the header line or be refused by servers.
// The value is not quoted: it may be a secret.
func checkValue(value string) error {
	for i := 0; i < len(value); i++ {
		if c := value[i]; (c < ' ' && c != '\t') || c == 0x7f {
			return fmt.Errorf("the value has a control character (byte %#02x at %d): line breaks and the like are not allowed", c, i)
		}
	}
	return nil
}

// Apply puts the headers onto h, replacing what is there. It fails when the
// tags give a value that HTTP does not allow, and names the header.
func (s *Set) Apply(h http.Header, tags model.Tags) error {
	if s == nil {
		return nil
	}
	for _, f := range s.fixed {
		h[f.name] = []string{f.value}
	}
	if len(s.tagged) == 0 {
		return nil
	}
	values := map[string]any{"stage": tags.Stage, "role": tags.Role, "run": tags.Run}
	for _, t := range s.tagged {
		value, err := t.value.Render(values)
		if err == nil {
			err = checkValue(value)
		}
		if err != nil {
			return fmt.Errorf("header %q: %w", t.name, err)
		}
		h[t.name] = []string{value}
	}
	return nil
}

// Secrets returns the fixed values, which may be credentials and must not be
// in messages. Values shorter than 8 bytes are left out: they are no
// credentials, and blanking them would spoil messages.
func (s *Set) Secrets() []string {
	if s == nil {
		return nil
	}
	var secrets []string
	for _, f := range s.fixed {
		for word := range strings.FieldsSeq(f.value) {
			if len(word) >= 8 {
				secrets = append(secrets, word)
			}
		}
	}
	return secrets
}

// Carry puts those headers onto h that go along with a request in the words of
// the one who asks. What is there already stays; that of a list is joined. The nil
// Passage has none.
func Carry(h http.Header, p *model.Passage) {
	if p == nil {
		return
	}
	for name, values := range p.Header {
		switch {
		case h[name] == nil:
			h[name] = values
		case strings.HasSuffix(name, "-Beta"):
			h[name] = []string{strings.Join(append(slices.Clone(h[name]), values...), ",")}
		}
	}
}
