package openenvtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// Fake is a server whose episodes end with the first action. Its metadata hold a secret.
type Fake struct {
	Text   string // of the observation after a reset
	Reward string // for the first action, as JSON
}

// Secret is in all metadata of a Fake.
const Secret = "gold-4c1f9a"

// ServeHTTP implements http.Handler.
func (f Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/schema" {
		_, _ = w.Write([]byte(`{"action":{"type":"object","required":["word"],"properties":{"word":{"type":"string"}}}}`))
		return
	}
	if r.URL.Path != "/ws" {
		http.NotFound(w, r)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = c.CloseNow() }()
	answers := map[string]string{
		"state": `{"type":"state","data":{"step_count":0}}`,
		"reset": fmt.Sprintf(`{"type":"observation","data":{"observation":{"text":%q,"metadata":{"gold":%q}},"reward":null,"done":false}}`, f.Text, Secret),
		"step":  fmt.Sprintf(`{"type":"observation","data":{"observation":{"text":"Done."},"reward":%s,"done":true,"metadata":{"gold":%q}}}`, f.Reward, Secret),
	}
	for {
		_, data, err := c.Read(r.Context())
		var m struct{ Type string }
		if err != nil || json.Unmarshal(data, &m) != nil || answers[m.Type] == "" {
			return
		}
		if c.Write(r.Context(), websocket.MessageText, []byte(answers[m.Type])) != nil {
			return
		}
	}
}
