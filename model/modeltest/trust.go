package modeltest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// testTrust has a server with a certificate that no one has signed. No request
// reaches it, and the error says what helps.
func testTrust(t *testing.T, h Harness) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request went to a server that is not trusted")
	}))
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	_, err := h.New(t, Settings{URL: srv.URL, Key: testKey}).Generate(t.Context(), question("q"))
	if code := model.CodeOf(err); code != model.Certificate {
		t.Fatalf("error %v, want one of the class %s", err, model.Certificate)
	}
	for _, part := range []string{strings.TrimPrefix(srv.URL, "https://"), "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %s", err, part)
		}
	}
}

// testMoved has a server send the same request to another path of its own, which
// is followed with body and key.
func testMoved(t *testing.T, h Harness) {
	want := Reply{Text: "arrived", Finish: model.FinishStop}
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, h, func(w http.ResponseWriter, r *http.Request, s Seen) {
				switch {
				case r.URL.Query().Get("moved") == "":
					http.Redirect(w, r, r.URL.EscapedPath()+"?"+strings.TrimPrefix(r.URL.RawQuery+"&moved=yes", "&"), status)
				case s.Key != testKey || len(s.Messages) == 0:
					http.Error(w, "the key or the body is lost", http.StatusBadRequest)
				default:
					writeJSON(w, http.StatusOK, h.Write(want))
				}
			})
			if res, err := srv.client(t).Generate(t.Context(), question("q")); err != nil || res.Text != want.Text {
				t.Errorf("got %q, %v", res.Text, err)
			}
		})
	}
}
