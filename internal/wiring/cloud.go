//go:build !lite

package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/provider/anthropic"
	"github.com/seed-f4525e22/skillopt/internal/provider/gemini"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// Lite says whether this is a build without the SDKs of clouds (go build -tags lite):
// what LeftOut names cannot be asked then.
const Lite = false

func (s server) anthropic(base string) (model.Client, error) {
	m := s.config
	o := anthropic.Options{
		Headers: m.Headers, AlwaysThinks: s.AlwaysThink, Stream: m.Stream, Idle: m.IdleTimeout.Std(), Proxy: Proxy(s.lookup),
		Structured: anthropic.StructuredTool, Sampling: anthropic.SamplingOne, Thinking: anthropic.ThinkEffort,
	}
	switch {
	case m.Structured == "off":
		o.Structured = anthropic.StructuredNone
	case s.Schema == preset.SchemaNative:
		o.Structured = anthropic.StructuredNative
	}
	if s.Temperature == preset.TemperatureRefused {
		o.Sampling = anthropic.SamplingNone
	}
	if s.Budget {
		o.Thinking = anthropic.ThinkBudget
	}
	switch s.Cloud {
	case preset.Bedrock:
		o.Bedrock = s.bedrock()
		if m.BaseURL != "" {
			o.BaseURL = base
		}
	case preset.Vertex:
		token, err := s.googleToken()
		if err != nil {
			return nil, err
		}
		o.Vertex = &anthropic.Vertex{Project: m.Google.Project, Region: s.Region, Token: token}
		if m.BaseURL != "" {
			o.BaseURL = base
		}
	default:
		o.BaseURL, o.APIKey = base, s.key
	}
	return anthropic.New(o)
}

func (s server) bedrock() *anthropic.Bedrock {
	read := func(name string) string {
		v, _ := s.lookup(name)
		return v
	}
	b := &anthropic.Bedrock{Region: s.Region, BearerToken: s.key}
	if b.BearerToken == "" {
		b.AccessKey, b.SecretKey, b.SessionToken = read(awsKeyID), read(awsSecretKey), read(awsSession)
	}
	return b
}

// googleToken returns where tokens for Vertex come from.
func (s server) googleToken() (func(context.Context) (string, error), error) {
	if s.config.Google.Credentials == "" {
		return nil, errors.New("google.credentials: found nothing, allowed: a file with credentials, such as the one that gcloud auth application-default login writes")
	}
	data, err := disk.Read(context.Background(), s.config.Google.Credentials, maxCredentials)
	if err != nil {
		return nil, fmt.Errorf("google.credentials: %w", err)
	}
	token, err := gemini.Credentials(data, header.NewTransport(Proxy(s.lookup)))
	if err != nil {
		return nil, fmt.Errorf("google.credentials: %w", err)
	}
	return token, nil
}

func (s server) gemini(base string) (model.Client, error) {
	m := s.config
	o := gemini.Options{
		BaseURL: base, APIKey: s.key, Headers: m.Headers, Stream: m.Stream, Idle: m.IdleTimeout.Std(), Proxy: Proxy(s.lookup),
		Structured: m.Structured != "off", AlwaysThinks: s.AlwaysThink,
	}
	if s.Budget {
		o.Thinking = gemini.ThinkBudget
	}
	if s.Cloud == preset.Vertex {
		token, err := s.googleToken()
		if err != nil {
			return nil, err
		}
		o.Vertex = &gemini.Vertex{Project: m.Google.Project, Region: s.Region, Token: token}
		if m.BaseURL == "" {
			o.BaseURL = ""
		}
	}
	return gemini.New(o)
}
