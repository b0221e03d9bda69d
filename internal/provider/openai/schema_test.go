package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

const fineChat = `{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}]}`

// takes is a server that takes only some forms of an answer: others are refused
// in these words. It notes the forms that it is asked for.
type takes struct {
	mu     sync.Mutex
	forms  []string
	words  map[string]string // by the form that is refused
	status int
}

func (s *takes) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var w struct {
		Format struct{ Type string } `json:"response_format"`
		Text   struct {
			Format struct{ Type string }
		}
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, err
	}
	form := w.Format.Type + w.Text.Format.Type
	s.mu.Lock()
	s.forms = append(s.forms, form)
	s.mu.Unlock()
	if words, refused := s.words[form]; refused {
		return modeltest.Canned(s.status, fmt.Sprintf(`{"error":{"message":%q}}`, words))(r)
	}
	return modeltest.Canned(http.StatusOK, fineChat)(r)
}

func schemaRequest() model.Request {
	req := hello()
	req.Schema = &model.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object"}`)}
	return req
}

// A server that refuses a form is asked by the next one, from then on and with a
// word about it; what is no refusal of the form stays what it is.
func TestSchemaFallsBack(t *testing.T) {
	t.Parallel()
	const native, object = SchemaNative, SchemaObject
	tests := []struct {
		name   string
		o      Options
		status int
		words  map[string]string
		asked  []string // by two requests
		told   int
		code   model.Code
	}{
		{"taken", Options{}, 400, nil, []string{native, native}, 0, ""},
		{"no schema", Options{}, 400, map[string]string{native: "response_format.type must be text or json_object"}, []string{native, object, object}, 1, ""},
		{"no JSON", Options{}, 422, map[string]string{native: "unknown field response_format", object: "unknown field response_format"}, []string{native, object, "", ""}, 2, ""},
		{"the word is missing", Options{}, 400, map[string]string{native: "This response_format type is unavailable now", object: "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."}, []string{native, object, "", object, ""}, 1, ""},
		{"demanded", Options{FixedSchema: true}, 400, map[string]string{native: "unknown field response_format"}, []string{native, native}, 0, model.BadRequest},
		{"an invalid schema", Options{}, 400, map[string]string{native: "Invalid schema for response_format 'n'"}, []string{native, native}, 0, model.BadRequest},
		{"another refusal", Options{}, 400, map[string]string{native: "unknown field temperature"}, []string{native, native}, 0, model.BadRequest},
		{"a broken server", Options{}, 500, map[string]string{native: "response_format"}, []string{native, native}, 0, model.Server},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := &takes{words: tc.words, status: tc.status}
			var told []string
			tc.o.Transport, tc.o.BaseURL, tc.o.Schema = s, "http://company.example/v1", native
			tc.o.Warn = func(text string) { told = append(told, text) }
			c := newClient(t, tc.o)
			for range 2 {
				if _, err := c.Generate(t.Context(), schemaRequest()); model.CodeOf(err) != tc.code {
					t.Errorf("got %v", err)
				}
			}
			if !slices.Equal(s.forms, tc.asked) {
				t.Errorf("asked by %q, want %q", s.forms, tc.asked)
			}
			if len(told) != tc.told {
				t.Errorf("told %q", told)
			}
			for _, text := range told {
				if !strings.Contains(text, "company.example refuses response_format") {
					t.Errorf("told %q", text)
				}
			}
		})
	}
}

// Many requests at once lead to one word about it, and none is lost.
func TestSchemaFallsBackOnce(t *testing.T) {
	t.Parallel()
	s := &takes{words: map[string]string{SchemaNative: "no json_schema", SchemaObject: "no json_object"}, status: 400}
	var mu sync.Mutex
	told := 0
	o := Options{Transport: s, BaseURL: "http://company.example/v1", Warn: func(string) {
		mu.Lock()
		defer mu.Unlock()
		told++
	}}
	o.Schema = SchemaNative
	c := newClient(t, o)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := c.Generate(t.Context(), schemaRequest()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if told != 2 {
		t.Errorf("told %d times, want once for each form", told)
	}
}
