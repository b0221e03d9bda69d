package openai

import (
	"flag"
	"net/http"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

var _ = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// base are the options of a client for the suite.
func base(s modeltest.Settings) Options {
	o := Options{
		BaseURL: s.URL + "/v1", APIKey: s.Key, Headers: s.Headers,
		MaxBody: s.MaxBody, Stream: s.Stream, Idle: s.Idle,
	}
	if s.Structured {
		o.Schema = SchemaNative
	}
	return o
}

// chatHarness is Chat Completions as a server with thinking models has it.
func chatHarness() modeltest.Harness {
	return modeltest.Harness{
		New: func(t *testing.T, s modeltest.Settings) model.Client {
			o := base(s)
			o.ReasoningField = "reasoning_content"
			return newClient(t, o)
		},
		Read: func(r *http.Request, body []byte) (modeltest.Seen, error) {
			return readWire(r, body, "/v1/chat/completions")
		},
		Write:        writeWire,
		Stream:       writeChunks,
		Refuse:       func(message string) []byte { return errorBody(message, "", "") },
		Faults:       vendorFaults(),
		StreamFaults: streamFaults(),
		Lacks:        modeltest.Lacks{Opaque: true},
	}
}

func respondHarness() modeltest.Harness {
	return modeltest.Harness{
		New: func(t *testing.T, s modeltest.Settings) model.Client {
			o := base(s)
			o.API = APIResponses
			return newClient(t, o)
		},
		Read:         readRespondWire,
		Write:        writeRespondWire,
		Stream:       writeRespondEvents,
		Refuse:       func(message string) []byte { return errorBody(message, "", "") },
		Faults:       vendorFaults(),
		StreamFaults: respondStreamFaults(),
		Lacks:        modeltest.Lacks{Seed: true, Fingerprint: true},
	}
}

// azureHarness is the older form of Azure's addresses, with the key in a header
// of its own.
func azureHarness() modeltest.Harness {
	h := chatHarness()
	h.New = func(t *testing.T, s modeltest.Settings) model.Client {
		o := base(s)
		o.BaseURL, o.Azure = s.URL+"?api-version=2024-10-21", &Azure{}
		o.ReasoningField = "reasoning_content"
		return newClient(t, o)
	}
	h.Read = func(r *http.Request, body []byte) (modeltest.Seen, error) {
		s, err := readWire(r, body, "/openai/deployments/m-1/chat/completions")
		s.Key = r.Header.Get("Api-Key")
		if v := r.URL.Query().Get("api-version"); err == nil && v != "2024-10-21" {
			return s, errVersion(v)
		}
		return s, err
	}
	return h
}

type errVersion string

func (e errVersion) Error() string { return "api-version " + string(e) }

func TestSuite(t *testing.T)          { modeltest.Run(t, chatHarness()) }
func TestSuiteResponses(t *testing.T) { modeltest.Run(t, respondHarness()) }
func TestSuiteAzure(t *testing.T)     { modeltest.Run(t, azureHarness()) }

func TestAbilities(t *testing.T) {
	t.Parallel()
	modeltest.Golden(t, filepath.Join("testdata", "abilities.json"), chatHarness())
	modeltest.Golden(t, filepath.Join("testdata", "abilities_responses.json"), respondHarness())
}

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}
