package cloud

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Amazon signs requests for Bedrock and reads its streams. It is safe for concurrent use.
type Amazon struct{ signer *v4.Signer }

// NewAmazon returns an Amazon.
func NewAmazon() Amazon { return Amazon{v4.NewSigner()} }

// Sign puts the signature of AWS, version 4, onto a request for Bedrock.
func (a Amazon) Sign(r *http.Request, body []byte, region, accessKey, secretKey, session string) error {
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey, SessionToken: session}
	return a.signer.SignHTTP(r.Context(), keys, r, hex.EncodeToString(sum[:]), "bedrock", region, time.Now())
}

// Events returns a stream in AWS's binary framing as server-sent events.
func (Amazon) Events(body io.Reader) io.Reader { return &events{from: body} }

// events translates one message at a time.
type events struct {
	from    io.Reader
	decoder eventstream.Decoder
	text    bytes.Buffer
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for e.text.Len() == 0 {
		m, err := e.decoder.Decode(e.from, nil)
		if err != nil {
			return 0, err
		}
		if err := e.write(m); err != nil {
			return 0, err
		}
	}
	return e.text.Read(p)
}

// write writes a message as an event; messages of unknown kinds are left out.
func (e *events) write(m eventstream.Message) error {
	field := func(name string) string {
		if v := m.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	switch kind := field(":message-type"); kind {
	case "event":
		if field(":event-type") == "chunk" {
			return e.chunk(m.Payload)
		}
		return nil
	case "exception":
		var said struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(m.Payload, &said) // what is no object says no reason
		return e.fault(field(":exception-type"), said.Message)
	case "error":
		return e.fault(field(":error-code"), field(":error-message"))
	case "":
		return errors.New("a message of the stream has no type")
	}
	return nil
}

// chunk writes the event that a chunk holds.
func (e *events) chunk(payload []byte) error {
	var c struct {
		Bytes []byte `json:"bytes"`
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return fmt.Errorf("a chunk of the stream: %w", err)
	}
	for line := range strings.Lines(string(c.Bytes)) {
		fmt.Fprintf(&e.text, "data: %s\n", strings.TrimRight(line, "\r\n"))
	}
	e.text.WriteByte('\n')
	return nil
}

// fault writes an event of the form that Anthropic itself gives an error.
func (e *events) fault(kind, message string) error {
	if kind == "" {
		kind = "UnknownError"
	}
	if message == "" {
		message = kind
	}
	data, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
	if err != nil {
		return err
	}
	fmt.Fprintf(&e.text, "data: %s\n\n", data)
	return nil
}
