package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

func user(s string) model.Message { return model.Message{Role: model.User, Content: s} }

// sameJSON compares raw JSON by its meaning: clients write it again.
func sameJSON() cmp.Option {
	return cmp.Transformer("json", func(raw json.RawMessage) any {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return string(raw)
		}
		return v
	})
}

type posted struct {
	*http.Response
	body string
}

// post sends a body with a key and reads the answer.
func post(t testing.TB, url, key, body string) posted {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := agent(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return posted{res, string(b)}
}
