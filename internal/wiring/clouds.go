package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provider/anthropic"
	"github.com/seed-f4525e22/skillopt/internal/provider/gemini"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
	"github.com/seed-f4525e22/skillopt/model"
)

// Clouds are what the SDKs of clouds are needed for, as package cloud has it. Nil fields
// are clouds that this program cannot ask.
type Clouds struct {
	Amazon anthropic.Amazon
	// Azure returns a source of tokens of Entra ID.
	Azure func(auth, scope, clientID string) (func(context.Context) (string, time.Time, error), error)
	// Google returns a source of tokens by a file of credentials.
	Google func(file []byte, transport http.RoundTripper) (func(context.Context) (string, error), error)
}

// A LeftOutError names a provider, or a way to prove oneself to it, that needs the SDK of
// a cloud, which this program has not.
type LeftOutError struct {
	Key, Value string // of the config
	Provider   string
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("%s: %s needs the SDK of a cloud, which this program was built without\n%s", e.Key, e.Value, CloudBuild)
}

// ErrorKind says whose business the error is.
func (*LeftOutError) ErrorKind() string { return string(fault.BadInput) }

// CloudBuild says how to get a program with the SDKs of clouds.
const CloudBuild = "get one that has it: a release archive, or go install -tags cloud github.com/seed-f4525e22/skillopt/cmd/skillopt@latest; in a program of your own pass skillopt.WithClouds"

// LeftOut lists what a config can name and needs a cloud that is missing, sorted.
func (c Clouds) LeftOut() []string {
	var all []string
	for name, missing := range map[string]bool{
		"azure by " + strings.Join(tokenAuth(), " or "): c.Azure == nil, "bedrock": c.Amazon == nil, "vertex": c.Google == nil,
	} {
		if missing {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// tokenAuth lists the values of azure_auth with tokens that an SDK fetches.
func tokenAuth() []string { return []string{openai.AzureCLI, openai.AzureManagedIdentity} }

// check refuses a model whose cloud is missing, before any key or file is looked for.
func (c Clouds) check(role string, p preset.Preset) error {
	if p.Cloud == preset.Bedrock && c.Amazon == nil || p.Cloud == preset.Vertex && c.Google == nil {
		return &LeftOutError{Key: "models." + role + ".provider", Value: p.Name, Provider: p.Name}
	}
	return nil
}

func (s server) anthropic(base string) (model.Client, error) {
	m := s.config
	o := anthropic.Options{
		Headers: m.Headers, AlwaysThinks: s.AlwaysThink, Stream: m.Stream, Proxy: Proxy(s.lookup),
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
		project, token, err := s.google()
		if err != nil {
			return nil, err
		}
		o.Vertex = &anthropic.Vertex{Project: project, Region: s.Region, Token: token}
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
	b := &anthropic.Bedrock{Region: s.Region, BearerToken: s.key, Amazon: s.clouds.Amazon}
	if b.BearerToken == "" {
		b.AccessKey, b.SecretKey, b.SessionToken = read(awsKeyID), read(awsSecretKey), read(awsSession)
	}
	return b
}

// The variables of Google's own tools, by which Vertex is asked.
const (
	googleProject     = "GOOGLE_CLOUD_PROJECT"
	googleCredentials = "GOOGLE_APPLICATION_CREDENTIALS"
)

// azureClient is the variable with the identity that asks Azure, where the machine has several.
const azureClient = "AZURE_CLIENT_ID"

// GoogleCredentials returns the file with Google's credentials for a model, "" if it needs
// none or no variable names one.
func GoogleCredentials(m config.Model, lookup func(string) (string, bool)) string {
	if m.Provider != "vertex" {
		return ""
	}
	file, _ := lookup(googleCredentials)
	return file
}

// google returns the project that pays for Vertex, and where its tokens come from.
func (s server) google() (project string, token func(context.Context) (string, error), err error) {
	project, _ = s.lookup(googleProject)
	file := GoogleCredentials(s.config, s.lookup)
	switch {
	case project == "":
		return "", nil, errors.New("the variable " + googleProject + ", which should hold the id of the project, is not set")
	case file == "":
		return "", nil, errors.New("the variable " + googleCredentials + ", which should name a file with credentials, such as the one that gcloud auth application-default login writes, is not set")
	}
	data, err := disk.Read(context.Background(), file, maxCredentials)
	if err == nil {
		token, err = s.clouds.Google(data, header.NewTransport(Proxy(s.lookup)))
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", googleCredentials, err)
	}
	return project, token, nil
}

func (s server) gemini(base string) (model.Client, error) {
	m := s.config
	o := gemini.Options{
		BaseURL: base, APIKey: s.key, Headers: m.Headers, Stream: m.Stream, Proxy: Proxy(s.lookup),
		Structured: m.Structured != "off", AlwaysThinks: s.AlwaysThink,
	}
	if s.Budget {
		o.Thinking = gemini.ThinkBudget
	}
	if s.Cloud == preset.Vertex {
		project, token, err := s.google()
		if err != nil {
			return nil, err
		}
		o.Vertex = &gemini.Vertex{Project: project, Region: s.Region, Token: token}
		if m.BaseURL == "" {
			o.BaseURL = ""
		}
	}
	return gemini.New(o)
}
