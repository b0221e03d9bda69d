package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// provider is a row of docs/models.md, or one of the ways to use it.
type provider struct {
	name   string // of the preset, and words where there are several
	wire   string // what is spoken there
	key    string // the variable of the key; "" = it has none of its own
	home   string // its own address
	calls  string // path of a call there, and of a streamed one if that differs
	auth   string // the header with the key, up to the key; "" = Authorization: Bearer
	model  string // of the config, where another protocol depends on it
	set    func(m *config.Model, environ map[string]string, key string)
	refuse string // the key of the config that a build without clouds refuses
}

const (
	chat      = "chat"
	responses = "responses"
	messages  = "messages"
	google    = "google"
	local     = "ollama"
)

func providers(t *testing.T, grants string) []provider {
	azure := func(auth, api string) func(*config.Model, map[string]string, string) {
		return func(m *config.Model, _ map[string]string, _ string) {
			m.API, m.AzureAuth = api, auth
		}
	}
	region := func(m *config.Model, _ map[string]string, _ string) { m.Region = "us-east5" }
	signed := func(m *config.Model, environ map[string]string, key string) {
		m.Region, m.APIKeyEnv = "us-east5", new(string)
		environ["AWS_ACCESS_KEY_ID"], environ["AWS_SECRET_ACCESS_KEY"] = key, "unseen"
	}
	account := serviceAccount(t)
	vertex := func(m *config.Model, environ map[string]string, key string) {
		m.Region, m.APIKeyEnv = "us-east5", nil
		environ["GOOGLE_CLOUD_PROJECT"], environ["GOOGLE_APPLICATION_CREDENTIALS"] = "p", account(grants+"/google/"+key)
	}
	there := "/projects/p/locations/us-east5/publishers/"
	return []provider{
		{name: "anthropic", wire: messages, key: "ANTHROPIC_API_KEY", home: "https://api.anthropic.com", calls: "/v1/messages", auth: "X-Api-Key: "},
		{name: "azure", wire: responses, key: "AZURE_OPENAI_API_KEY", home: "https://r.openai.azure.com", calls: "/openai/v1/responses", auth: "Api-Key: ", set: azure("", "responses")},
		{name: "azure azure_cli", wire: chat, home: "https://r.openai.azure.com", calls: "/openai/v1/chat/completions", set: azure("azure_cli", "chat"), refuse: "azure_auth"},
		{name: "azure managed_identity", wire: responses, home: "https://r.openai.azure.com", calls: "/openai/v1/responses", set: azure("managed_identity", "responses"), refuse: "azure_auth"},
		{name: "bedrock", wire: messages, key: "AWS_BEARER_TOKEN_BEDROCK", home: "https://bedrock-runtime.us-east5.amazonaws.com", calls: "/model/m-1/invoke /model/m-1/invoke-with-response-stream", set: region, refuse: "provider"},
		{name: "bedrock signed", wire: messages, home: "https://bedrock-runtime.us-east5.amazonaws.com", calls: "/model/m-1/invoke /model/m-1/invoke-with-response-stream", auth: "Authorization: AWS4-HMAC-SHA256 Credential=", set: signed, refuse: "provider"},
		{name: "compatible", wire: chat, home: "http://localhost:8080/v1"},
		{name: "deepseek", wire: chat, key: "DEEPSEEK_API_KEY", home: "https://api.deepseek.com/v1", set: func(m *config.Model, _ map[string]string, _ string) { m.Thinking = "disabled" }},
		{name: "fireworks", wire: chat, key: "FIREWORKS_API_KEY", home: "https://api.fireworks.ai/inference/v1"},
		{name: "gemini", wire: google, key: "GEMINI_API_KEY", home: "https://generativelanguage.googleapis.com", calls: "/v1beta/models/m-1:generateContent /v1beta/models/m-1:streamGenerateContent", auth: "X-Goog-Api-Key: "},
		{name: "groq", wire: chat, key: "GROQ_API_KEY", home: "https://api.groq.com/openai/v1"},
		{name: "litellm", wire: chat, key: "LITELLM_API_KEY", home: "http://localhost:4000/v1"},
		{name: "minimax", wire: chat, key: "MINIMAX_API_KEY", home: "https://api.minimax.io/v1"},
		{name: "mistral", wire: chat, key: "MISTRAL_API_KEY", home: "https://api.mistral.ai/v1"},
		{name: "moonshot", wire: chat, key: "MOONSHOT_API_KEY", home: "https://api.moonshot.ai/v1"},
		{name: "ollama", wire: local, home: "http://localhost:11434", calls: "/api/chat"},
		{name: "openai", wire: responses, key: "OPENAI_API_KEY", home: "https://api.openai.com/v1", calls: "/v1/responses", set: func(m *config.Model, _ map[string]string, _ string) { m.API = "responses" }},
		{name: "openai chat", wire: chat, key: "OPENAI_API_KEY", home: "https://api.openai.com/v1"},
		{name: "openrouter", wire: chat, key: "OPENROUTER_API_KEY", home: "https://openrouter.ai/api/v1"},
		{name: "qwen", wire: chat, key: "DASHSCOPE_API_KEY", home: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"},
		{name: "sglang", wire: chat, home: "http://localhost:30000/v1"},
		{name: "together", wire: chat, key: "TOGETHER_API_KEY", home: "https://api.together.xyz/v1"},
		{name: "vertex", wire: google, home: "https://us-east5-aiplatform.googleapis.com", calls: "/v1beta1" + there + "google/models/m-1:generateContent /v1beta1" + there + "google/models/m-1:streamGenerateContent", set: vertex, refuse: "provider"},
		{name: "vertex claude", wire: messages, model: "claude-m", home: "https://us-east5-aiplatform.googleapis.com", calls: "/v1" + there + "anthropic/models/m-1:rawPredict /v1" + there + "anthropic/models/m-1:streamRawPredict", set: vertex, refuse: "provider"},
		{name: "vllm", wire: chat, home: "http://localhost:8000/v1"},
		{name: "xai", wire: chat, key: "XAI_API_KEY", home: "https://api.x.ai/v1"},
		{name: "zai", wire: chat, key: "ZAI_API_KEY", home: "https://api.z.ai/api/paas/v4"},
	}
}

// TestProviders runs the suite of adapters against every row of docs/models.md, each built
// from a config as runs build it, by the clouds of this build. A row that needs a cloud
// which the build has not is refused by a sentence that names the build that has it. What
// a wire can express besides texts, the tests of its adapter try.
func TestProviders(t *testing.T) {
	grants := grantTokens(t)
	all := providers(t, grants)
	for _, name := range preset.Names() {
		if !slices.ContainsFunc(all, func(p provider) bool { return p.preset() == name }) {
			t.Errorf("the provider %s has no case", name)
		}
	}
	left := clouds().LeftOut()
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			if p.refuse != "" && slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, p.preset()) }) {
				p.checkRefused(t)
				return
			}
			p.checkHome(t)
			modeltest.Run(t, p.harness(t))
		})
	}
}

func (p provider) preset() string { name, _, _ := strings.Cut(p.name, " "); return name }

// build builds the client from a config; address is "" for the provider's own.
func (p provider) build(address, key string, s modeltest.Settings, environ map[string]string) (wiring.Built, error) {
	m := config.Model{Provider: p.preset(), Model: cmp.Or(p.model, "m-1"), BaseURL: address, Headers: s.Headers, Stream: s.Stream, Structured: "off"}
	if s.Structured {
		m.Structured = "on"
	}
	name := cmp.Or(p.key, "A_KEY")
	environ[name] = key
	if p.key == "" || key == "" {
		m.APIKeyEnv = new(map[bool]string{true: name}[key != ""])
	}
	if p.set != nil {
		p.set(&m, environ, key)
	}
	return wiring.Client(model.Target, m, func(name string) (string, bool) { v, ok := environ[name]; return v, ok }, clouds())
}

func (p provider) checkRefused(t *testing.T) {
	_, err := p.build("", "k", modeltest.Settings{}, map[string]string{})
	if p.refuse == "azure_auth" {
		_, err = p.build(p.home, "k", modeltest.Settings{}, map[string]string{})
	}
	var left *wiring.LeftOutError
	if !errors.As(err, &left) || left.Key != "models.target."+p.refuse || !strings.Contains(err.Error(), wiring.CloudBuild) {
		t.Errorf("error %v, want one that names the key and the build that has it", err)
	}
}

// checkHome looks where a client without an address goes: a proxy is asked for a tunnel there.
func (p provider) checkHome(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	address := ""
	if preset, _ := preset.Lookup(p.preset()); preset.BaseURL == "" && preset.Regions == nil {
		address = p.home
	}
	b, err := p.build(address, "k", modeltest.Settings{}, map[string]string{"HTTPS_PROXY": proxy.URL, "NO_PROXY": ""})
	if err != nil {
		t.Fatal(err)
	}
	if at, _, _ := strings.Cut(b.Endpoint, " "); at != p.home {
		t.Errorf("the address is %s, want %s", at, p.home)
	}
	host, remote := strings.CutPrefix(p.home, "https://")
	if !remote {
		return
	}
	host, _, _ = strings.Cut(host, "/")
	_, err = b.Client.Generate(t.Context(), model.Request{Model: "m-1", Messages: []model.Message{{Role: model.User, Content: "q"}}})
	if err == nil || asked != host+":443" && !strings.HasPrefix(p.name, "vertex") {
		t.Errorf("the proxy was asked for %q: %v", asked, err)
	}
}

func (p provider) harness(t *testing.T) modeltest.Harness {
	row, _ := preset.Lookup(p.preset())
	h := modeltest.Harness{
		Read: p.read, Write: func(r modeltest.Reply) []byte { return encode(p.document(r)) }, Stream: p.stream, New: p.client,
		Refuse: func(message string) []byte {
			return encode(map[string]any{"error": map[string]any{"message": message}})
		},
		Lacks: modeltest.Lacks{
			Seed:   row.SeedField == preset.NoField || p.wire == responses || p.wire == messages,
			Effort: row.EffortField == preset.NoField, TokenDefault: true,
			Refusal: true, Cached: true, Reasoning: true, Fingerprint: true, TopP: p.wire == messages, Vision: true, Tools: true, Traces: true, CacheWrite: true,
		},
	}
	if p.refuse == "azure_auth" {
		h.Endpoint = strings.TrimPrefix(p.home, "https://")
	}
	if row.Cloud == preset.Bedrock {
		h.StreamType = "application/vnd.amazon.eventstream"
	}
	if p.wire == local {
		h.Aside = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/api/show" {
				_, _ = w.Write([]byte(`{"capabilities":["completion","thinking"],"model_info":{"m.context_length":131072}}`))
			}
			return r.URL.Path == "/api/show"
		}
	}
	return h
}

// unasked is the credential of a client that cannot do without one.
const unasked = "token-that-no-one-asked-for"

func (p provider) client(t *testing.T, s modeltest.Settings) model.Client {
	if s.MaxBody > 0 || s.Idle > 0 {
		t.Skip("no config sets it")
	}
	key := s.Key
	if p.refuse != "" && key == "" {
		if strings.HasSuffix(t.Name(), "/key/none") {
			t.Skip("there is no way to ask it without a credential")
		}
		key = unasked
	}
	if p.refuse == "azure_auth" && strings.HasPrefix(s.URL, "https") {
		t.Skip("its own address alone is asked, see checkHome")
	}
	if p.refuse == "azure_auth" {
		return p.identified(t, key, s)
	}
	b, err := p.build(s.URL+path(p.home), key, s, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	return b.Client
}

// identified is the adapter with the tokens of the SDK, which go to hosts of Azure alone:
// the transport leads from there to the server. checkHome has tried what wiring builds.
func (p provider) identified(t *testing.T, key string, s modeltest.Settings) model.Client {
	var m config.Model
	p.set(&m, nil, key)
	tokens, err := clouds().Azure(m.AzureAuth, key, "") // both give the scope back as the token
	if err != nil {
		t.Fatal(err)
	}
	o := openai.Options{BaseURL: p.home, API: m.API, Headers: s.Headers, Stream: s.Stream, Azure: &openai.Azure{Auth: m.AzureAuth, Tokens: tokens}}
	if s.Structured {
		o.Schema = openai.SchemaNative
	}
	below := &http.Transport{}
	t.Cleanup(below.CloseIdleConnections)
	o.Transport = modeltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		there := r.Clone(r.Context())
		there.URL.Scheme, there.URL.Host = "http", strings.TrimPrefix(s.URL, "http://")
		res, err := below.RoundTrip(there)
		if res != nil {
			res.Request = r
		}
		return res, err
	})
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// path returns what is behind the host of an address.
func path(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// spoken is a request in any of the wires, as far as it is text.
type spoken struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []turn `json:"messages"`

	Instructions string  `json:"instructions"`
	Input        []turn  `json:"input"`
	System       []block `json:"system"`
	Of           turn    `json:"systemInstruction"`
	Contents     []turn  `json:"contents"`

	sampling
	Generation sampling `json:"generationConfig"`
	Options    sampling `json:"options"`

	Effort       string                  `json:"reasoning_effort"`
	Reasoning    struct{ Effort string } `json:"reasoning"`
	Think        json.RawMessage         `json:"think"`
	OutputConfig struct {
		Effort string
		Format struct{ Schema json.RawMessage }
	} `json:"output_config"`
	ResponseFormat struct {
		JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
	} `json:"response_format"`
	Text struct {
		Format struct{ Schema json.RawMessage }
	} `json:"text"`
	Format json.RawMessage `json:"format"`
}

type (
	block struct{ Text string }
	turn  struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Parts   []block         `json:"parts"`
	}
	sampling struct {
		Temperature   *float64                       `json:"temperature"`
		TopP          *float64                       `json:"top_p"`
		TopPGoogle    *float64                       `json:"topP"`
		MaxTokens     int                            `json:"max_tokens"`
		MaxCompletion int                            `json:"max_completion_tokens"`
		MaxOutput     int                            `json:"max_output_tokens"`
		MaxGoogle     int                            `json:"maxOutputTokens"`
		NumPredict    int                            `json:"num_predict"`
		Seed          *int64                         `json:"seed"`
		RandomSeed    *int64                         `json:"random_seed"`
		Schema        json.RawMessage                `json:"responseJsonSchema"`
		Thinking      struct{ ThinkingLevel string } `json:"thinkingConfig"`
	}
)

// read reads a request as the row's own server would, at the path and with the header of the row.
func (p provider) read(r *http.Request, body []byte) (modeltest.Seen, error) {
	var w spoken
	if err := json.Unmarshal(body, &w); err != nil {
		return modeltest.Seen{}, fmt.Errorf("decode %s: %w", body, err)
	}
	plain, streamed, apart := strings.Cut(cmp.Or(p.calls, path(p.home)+"/chat/completions"), " ")
	if apart && r.URL.Path == streamed {
		w.Stream = true
	} else if r.Method != http.MethodPost || r.URL.Path != plain {
		return modeltest.Seen{}, fmt.Errorf("%s %s, want POST %s", r.Method, r.URL.Path, plain)
	}
	by := w.sampling
	for _, other := range []sampling{w.Generation, w.Options} {
		by.Temperature, by.TopP, by.Seed = cmp.Or(by.Temperature, other.Temperature), cmp.Or(by.TopP, other.TopP), cmp.Or(by.Seed, other.Seed)
	}
	s := modeltest.Seen{
		Model: cmp.Or(w.Model, "m-1"), Stream: w.Stream, Temperature: by.Temperature, TopP: cmp.Or(by.TopP, w.Generation.TopPGoogle),
		MaxTokens: cmp.Or(by.MaxTokens, by.MaxCompletion, by.MaxOutput, w.Generation.MaxGoogle, w.Options.NumPredict),
		Seed:      cmp.Or(by.Seed, by.RandomSeed),
		Effort:    strings.ToLower(cmp.Or(w.Effort, w.Reasoning.Effort, w.OutputConfig.Effort, w.Generation.Thinking.ThinkingLevel, strings.Trim(string(w.Think), `"`))),
	}
	for _, schema := range []json.RawMessage{w.ResponseFormat.JSONSchema.Schema, w.Text.Format.Schema, w.OutputConfig.Format.Schema, w.Generation.Schema, w.Format} {
		if schema != nil {
			s.Schema = schema
		}
	}
	name, before, _ := strings.Cut(cmp.Or(p.auth, "Authorization: Bearer "), ": ")
	key, _ := strings.CutPrefix(r.Header.Get(name), before)
	if s.Key, _, _ = strings.Cut(key, "/"); s.Key == unasked {
		s.Key = ""
	}
	s.Messages = w.conversation()
	return s, nil
}

func (w spoken) conversation() []model.Message {
	var all []model.Message
	if text := w.Instructions + join(w.System) + join(w.Of.Parts); text != "" {
		all = append(all, model.Message{Role: model.System, Content: text})
	}
	for _, m := range slices.Concat(w.Messages, w.Input, w.Contents) {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			_ = json.Unmarshal(m.Content, &m.Parts)
			text = join(m.Parts)
		}
		role := map[string]string{"model": model.Assistant, "developer": model.System}[m.Role]
		all = append(all, model.Message{Role: cmp.Or(role, m.Role), Content: text})
	}
	return all
}

func join(all []block) string {
	var b strings.Builder
	for _, one := range all {
		b.WriteString(one.Text)
	}
	return b.String()
}

type object = map[string]any

// document writes a reply as a whole answer of the wire.
func (p provider) document(r modeltest.Reply) object {
	doc := object{"model": r.Model}
	count := func(in, out string) object {
		if r.NoUsage {
			return nil
		}
		return object{in: r.Input, out: r.Output}
	}
	why := func(stop, length, filter string) string {
		return cmp.Or(map[model.Finish]string{model.FinishLength: length, model.FinishFilter: filter}[r.Finish], stop)
	}
	switch p.wire {
	case chat:
		doc["choices"] = []any{object{"message": object{"role": "assistant", "content": r.Text}, "finish_reason": why("stop", "length", "content_filter")}}
		doc["usage"] = count("prompt_tokens", "completion_tokens")
	case responses:
		doc["status"], doc["incomplete_details"] = why("completed", "incomplete", "incomplete"), object{"reason": why("", "max_output_tokens", "content_filter")}
		doc["output"] = []any{object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": r.Text}}}}
		doc["usage"] = count("input_tokens", "output_tokens")
	case messages:
		doc["type"], doc["role"], doc["content"], doc["stop_reason"] = "message", "assistant", []any{}, why("end_turn", "max_tokens", "end_turn")
		if r.Text != "" {
			doc["content"] = []any{object{"type": "text", "text": r.Text}}
		}
		if r.Finish == model.FinishFilter {
			doc["amazon-bedrock-guardrailAction"] = "INTERVENED"
		}
		doc["usage"] = count("input_tokens", "output_tokens")
	case google:
		content := object{"role": "model", "parts": []any{object{"text": r.Text}}}
		doc = object{"modelVersion": r.Model, "candidates": []any{object{"content": content, "finishReason": why("STOP", "MAX_TOKENS", "SAFETY")}}}
		doc["usageMetadata"] = count("promptTokenCount", "candidatesTokenCount")
	case local:
		doc["message"], doc["done"], doc["done_reason"] = object{"role": "assistant", "content": r.Text}, true, why("stop", "length", "content_filter")
		if !r.NoUsage {
			doc["prompt_eval_count"], doc["eval_count"] = r.Input, r.Output
		}
	}
	return doc
}

// stream writes the same as a stream of at least three writes.
func (p provider) stream(r modeltest.Reply) []string {
	last := p.document(r)
	var all []object
	switch p.wire {
	case chat:
		choice := last["choices"].([]any)[0].(object)
		delta := func(text string, reason any) object {
			return object{"model": r.Model, "choices": []any{object{"delta": object{"content": text}, "finish_reason": reason}}}
		}
		all = []object{delta("", nil), delta(r.Text, nil), delta("", choice["finish_reason"]), {"model": r.Model, "choices": []any{}, "usage": last["usage"]}}
	case responses:
		kind := "response." + last["status"].(string)
		all = []object{{"type": "response.created"}, {"type": "response.output_text.delta", "delta": r.Text}, {"type": "response.output_item.done", "item": last["output"].([]any)[0]}, {"type": kind, "response": last}}
	case messages:
		all = []object{{"type": "message_start", "message": object{"type": "message", "model": r.Model, "usage": last["usage"]}}}
		if r.Text != "" {
			all = append(all, object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
				object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": r.Text}}, object{"type": "content_block_stop", "index": 0})
		}
		end := object{"type": "message_delta", "delta": object{"stop_reason": last["stop_reason"]}, "usage": last["usage"]}
		if by := last["amazon-bedrock-guardrailAction"]; by != nil {
			end["amazon-bedrock-guardrailAction"] = by
		}
		all = append(all, end, object{"type": "message_stop"})
	case google:
		part := object{"modelVersion": r.Model, "candidates": []any{object{"content": object{"role": "model", "parts": []any{object{"text": r.Text}}}}}}
		last["candidates"].([]any)[0].(object)["content"] = nil
		all = []object{part, last}
	case local:
		all = []object{{"model": r.Model, "message": last["message"], "done": false}}
		last["message"] = object{"role": "assistant", "content": ""}
		all = append(all, last)
	}
	return p.writes(all)
}

// writes frames the events of a stream.
func (p provider) writes(all []object) []string {
	var out []string
	for _, e := range all {
		switch data := string(encode(e)); {
		case p.preset() == "bedrock":
			out = append(out, amazonFrame(`{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`"}`))
		case p.wire == local:
			out = append(out, data+"\n")
		default:
			out = append(out, "data: "+data+"\n\n")
		}
	}
	if p.wire == chat {
		out[len(out)-1] += "data: [DONE]\n\n"
	}
	return out
}

// amazonFrame is a chunk in the binary framing of AWS: lengths, headers, payload and sums.
func amazonFrame(payload string) string {
	var headers bytes.Buffer
	for _, h := range [][2]string{{":message-type", "event"}, {":event-type", "chunk"}} {
		headers.WriteByte(byte(len(h[0])))
		headers.WriteString(h[0] + "\x07")
		_ = binary.Write(&headers, binary.BigEndian, uint16(len(h[1]))) // a buffer takes all
		headers.WriteString(h[1])
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(16+headers.Len()+len(payload)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(headers.Len()))
	frame = binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame))
	frame = append(append(frame, headers.Bytes()...), payload...)
	return string(binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame)))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// grantTokens starts a server that grants what it is asked for as a token, to Google's SDK
// and as the machine's identity to Azure's, and puts a program az on the path.
func grantTokens(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := cmp.Or(r.URL.Query().Get("resource"), strings.TrimPrefix(r.URL.Path, "/google/"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(encode(object{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "expires_on": "4102444800"}))
	}))
	t.Cleanup(srv.Close)
	t.Setenv("IDENTITY_ENDPOINT", srv.URL)
	t.Setenv("IDENTITY_HEADER", "h")
	bin := t.TempDir()
	script := "#!/bin/sh\nfor last; do :; done\nprintf '{\"accessToken\":\"%s\",\"expires_on\":4102444800}' \"$last\"\n"
	if err := os.WriteFile(filepath.Join(bin, "az"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return srv.URL
}

// serviceAccount returns a function that writes the file of a service account whose tokens are at url.
func serviceAccount(t *testing.T) func(url string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	dir, private := t.TempDir(), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return func(url string) string {
		name := filepath.Join(dir, fmt.Sprint(n.Add(1)))
		file := encode(object{"type": "service_account", "project_id": "p", "client_email": "a@p.example", "private_key_id": "1", "token_uri": url, "private_key": private})
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Error(err)
		}
		return name
	}
}
