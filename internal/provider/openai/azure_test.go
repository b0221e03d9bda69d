package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

const resource = "https://res.openai.azure.com"

// tokens is a source of numbered tokens that last for life.
type tokens struct {
	life time.Duration
	fail func(n int) error

	mu sync.Mutex
	n  int
}

func (s *tokens) token(ctx context.Context) (string, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if err := ctx.Err(); err != nil {
		return "", time.Time{}, err
	}
	if s.fail != nil {
		if err := s.fail(s.n); err != nil {
			return "", time.Time{}, err
		}
	}
	return fmt.Sprintf("token-%04d-secret", s.n), time.Now().Add(s.life), nil
}

func (s *tokens) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func TestAzureURL(t *testing.T) {
	t.Parallel()
	dated := resource + "/openai/deployments/my%2Fdep/chat/completions?api-version="
	tests := []struct {
		name  string
		base  string
		azure Azure
		api   string
		want  string
	}{
		{"bare", resource, Azure{}, "", resource + "/openai/v1/chat/completions"},
		{"bare, responses", resource + "/", Azure{}, APIResponses, resource + "/openai/v1/responses"},
		{"preview", resource + "?api-version=preview", Azure{}, "", resource + "/openai/v1/chat/completions?api-version=preview"},
		{"dated", resource + "/?api-version=2024-10-21", Azure{}, "", dated + "2024-10-21"},
		{"dated, with another value", resource + "?api-version=2024-10-21&zone=a", Azure{}, "", dated + "2024-10-21&zone=a"},
		{"dated, responses", resource + "?api-version=2025-03-01-preview", Azure{}, APIResponses, resource + "/openai/responses?api-version=2025-03-01-preview"},
		{"path of the older form", resource + "/openai/", Azure{}, "", dated + azureVersion},
		{"a deployment", resource + "/openai/deployments/other/?api-version=2024-10-21", Azure{}, "", dated + "2024-10-21"},
		{
			"a copied address", resource + "/openai/deployments/other/chat/completions?api-version=2024-06-01",
			Azure{},
			"",
			dated + "2024-06-01",
		},
		{"v1", resource + "/openai/v1", Azure{}, "", resource + "/openai/v1/chat/completions"},
		{"v1 with a date", resource + "/openai/v1/?api-version=2025-04-01-preview", Azure{}, "", resource + "/openai/v1/chat/completions?api-version=2025-04-01-preview"},
		{"behind a gateway", "https://gw.example/team/openai?api-version=2024-10-21", Azure{}, "", "https://gw.example/team/openai/deployments/my%2Fdep/chat/completions?api-version=2024-10-21"},
		{"compatible", "https://gw.example/v1", Azure{Auth: AzureCompatible}, "", "https://gw.example/v1/chat/completions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got *http.Request
			c := newClient(t, Options{BaseURL: tt.base, APIKey: "key-12345", API: tt.api, Azure: &tt.azure, Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				got = r
				_, body := both(tt.api)
				return modeltest.Canned(200, body)(r)
			})})
			req := hello()
			req.Model = "my/dep"
			if _, err := c.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if got.URL.String() != tt.want {
				t.Errorf("called %s, want %s", got.URL, tt.want)
			}
			key, bearer := got.Header.Get("Api-Key"), got.Header.Get("Authorization")
			if tt.azure.Auth == AzureCompatible && (key != "" || bearer != "Bearer key-12345") || tt.azure.Auth == "" && (key != "key-12345" || bearer != "") {
				t.Errorf("key %q and bearer %q", key, bearer)
			}
		})
	}
}

func TestAzureModelIsNoPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", ".."} {
		c := newClient(t, Options{BaseURL: resource + "?api-version=2024-10-21", Azure: &Azure{}, Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			t.Errorf("a request was sent to %s", r.URL)
			return nil, io.EOF
		})})
		req := hello()
		req.Model = name
		if _, err := c.Generate(t.Context(), req); model.CodeOf(err) != model.BadRequest {
			t.Errorf("model %q: error %v, want %s", name, err, model.BadRequest)
		}
	}
}

// TestAzureTokenHosts: a token of Entra ID opens more than models, and goes to
// hosts of Azure only.
func TestAzureTokenHosts(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"https://res.openai.azure.com":                true,
		"https://RES.OpenAI.Azure.com/openai/v1":      true,
		"https://res.cognitiveservices.azure.com":     true,
		"https://res.services.ai.azure.com/openai/v1": true,
		"https://res.openai.azure.com:8443":           true,
		"https://res.openai.azure.us":                 true,
		"https://res.cognitiveservices.azure.cn":      true,
		"http://res.openai.azure.com":                 false,
		"https://openai.azure.com.evil.example":       false,
		"https://evil.example/res.openai.azure.com":   false,
		"https://evilopenai.azure.com":                false,
		"https://res.openai.azure.de":                 false,
		"https://res.openaiXazure.com":                false,
		"http://127.0.0.1:8080":                       false,
		"https://api.openai.com/v1":                   false,
		"":                                            false,
	}
	for baseURL, ok := range tests {
		for _, auth := range []string{AzureCLI, AzureManagedIdentity} {
			_, err := New(Options{BaseURL: baseURL, Azure: &Azure{Auth: auth, Tokens: (&tokens{}).token}})
			if (err == nil) != ok {
				t.Errorf("%s with %s: error %v, want it to work: %v", baseURL, auth, err, ok)
			}
		}
		if _, err := New(Options{BaseURL: baseURL, APIKey: "k", Azure: &Azure{}}); err != nil {
			t.Errorf("%s with a key: %v", baseURL, err)
		}
	}
}

func TestAzureFaults(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{BaseURL: resource, Azure: &Azure{Auth: "cli"}}); err == nil || !strings.Contains(err.Error(), "azure auth") {
		t.Errorf("error %v", err)
	}
}

// TestAzureScope: a token is asked for in the cloud that the server is in.
func TestAzureScope(t *testing.T) {
	t.Parallel()
	for base, cloud := range map[string]string{
		resource: "com", "https://res.services.ai.azure.com/openai/v1": "com", "https://RES.OpenAI.Azure.US:8443/?api-version=2024-10-21": "us",
		"https://res.cognitiveservices.azure.cn": "cn", "https://gw.example/openai.azure.us": "com", "": "com",
	} {
		if got, want := AzureScope(base), "https://cognitiveservices.azure."+cloud+"/.default"; got != want {
			t.Errorf("%s: scope %s, want %s", base, got, want)
		}
	}
}

// rewire leads requests for any host to a server of the test.
func rewire(server *httptest.Server) modeltest.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		to := r.Clone(r.Context())
		to.URL.Scheme, to.URL.Host = "http", server.Listener.Addr().String()
		return server.Client().Transport.RoundTrip(to)
	}
}

func TestAzureToken(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Header.Get("Authorization")]++
		mu.Unlock()
		if r.Header.Get("Api-Key") != "" {
			t.Error("a key was sent beside the token")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(plainReply())
	}))
	t.Cleanup(server.Close)
	source := &tokens{life: time.Hour}
	c := newClient(t, Options{BaseURL: resource, APIKey: "unused-key", Azure: &Azure{Auth: AzureCLI, Tokens: source.token}, Transport: rewire(server)})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.Generate(t.Context(), hello()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[string]int{"Bearer token-0001-secret": 20}, seen); diff != "" {
		t.Errorf("credentials (-want +seen):\n%s", diff)
	}
}

// TestAzureRefusedToken: the token that a server refuses is not used again, and
// stands in no message.
func TestAzureRefusedToken(t *testing.T) {
	t.Parallel()
	source := &tokens{life: time.Hour}
	c := newClient(t, Options{BaseURL: resource, Azure: &Azure{Auth: AzureManagedIdentity, Tokens: source.token}, Transport: modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if sent := r.Header.Get("Authorization"); sent != "Bearer token-0002-secret" {
			return modeltest.Canned(401, string(errorBody("who is "+sent+"?", "", "401")))(r)
		}
		return modeltest.Canned(200, string(plainReply()))(r)
	})})
	_, err := c.Generate(t.Context(), hello())
	if model.CodeOf(err) != model.Auth || strings.Contains(err.Error(), "token-0001") {
		t.Errorf("error %v, want %s without the token", err, model.Auth)
	}
	if _, err := c.Generate(t.Context(), hello()); err != nil {
		t.Errorf("with a new token: %v", err)
	}
}

func TestTokenIsRefreshed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken error
		source := &tokens{life: time.Hour, fail: func(int) error { return broken }}
		cache := newTokenCache(source.token)
		step := func(wait time.Duration, want string, fetched int) {
			t.Helper()
			<-time.After(wait) // by the clock of the bubble
			got, err := cache.get(t.Context())
			if got != want || (err != nil) != (want == "") || source.count() != fetched {
				t.Errorf("got %q, %v after %d fetches, want %q after %d", got, err, source.count(), want, fetched)
			}
		}
		step(0, "token-0001-secret", 1)
		step(54*time.Minute, "token-0001-secret", 1)
		step(2*time.Minute, "token-0002-secret", 2)
		broken = errors.New("az is not there")
		step(56*time.Minute, "token-0002-secret", 3) // good for some minutes still
		step(5*time.Minute, "", 4)
		broken = nil
		step(0, "token-0005-secret", 5)
	})
}

func TestTokenFaults(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		want model.Code
	}{
		{"not logged in", t.Context(), errors.New("please run\naz login"), model.Auth},
		{"no network", t.Context(), &net.OpError{Op: "dial", Err: errors.New("refused")}, model.Network},
		{"slow", t.Context(), context.DeadlineExceeded, model.Timeout},
		{"cancelled", cancelled, errors.New("whatever"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{BaseURL: resource, Azure: &Azure{Auth: AzureCLI, Tokens: (&tokens{fail: func(int) error { return tt.err }}).token}, Transport: modeltest.RoundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, io.EOF
			})})
			_, err := c.Generate(tt.ctx, hello())
			if model.CodeOf(err) != tt.want || err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want code %q", err, tt.want)
			}
		})
	}
}

func TestAzureFilters(t *testing.T) {
	t.Parallel()
	filters := func(filtered bool) string {
		return fmt.Sprintf(`[{"prompt_index":0,"content_filter_results":{"jailbreak":{"detected":false,"filtered":false},"violence":{"filtered":%v,"severity":"high"},"custom_blocklists":[{"id":"x"}]}}]`, filtered)
	}
	tests := []struct {
		name   string
		status int
		body   string
		want   model.Code
		finish model.Finish
	}{
		{"refused", 400, `{"error":{"message":"no","param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, model.ContentFilter, ""},
		{"refused by the inner code", 400, `{"error":{"message":"no","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}`, model.ContentFilter, ""},
		{"prompt filtered in a good answer", 200, `{"choices":[],"prompt_filter_results":` + filters(true) + `}`, model.ContentFilter, ""},
		{"prompt passed and nothing came", 200, `{"choices":[],"prompt_filter_results":` + filters(false) + `}`, model.Malformed, ""},
		{"prompt passed", 200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"prompt_filter_results":` + filters(false) + `}`, "", model.FinishStop},
		{"answer filtered", 200, `{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":true}}}]}`, "", model.FinishFilter},
		{"no such deployment", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, model.NotFound, ""},
		{"wrong key", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, model.Auth, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Options{BaseURL: resource, Azure: &Azure{}, Transport: modeltest.Canned(tt.status, tt.body)})
			res, err := c.Generate(t.Context(), hello())
			if model.CodeOf(err) != tt.want || (err == nil) != (tt.want == "") || res.Finish != tt.finish {
				t.Errorf("got %+v, %v, want %q", res, err, tt.want)
			}
		})
	}
}
