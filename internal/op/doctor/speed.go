package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/model"
)

// The requests that measure a model: a reply that is longer than its prompt, and a prompt
// that is longer than its reply.
const (
	writtenTokens = 48
	readWords     = 500
	bytesPerToken = 4 // where the server does not count
)

// measureSpeed measures how fast the model of a role on this machine is, keeps it for plans, and
// says it.
func (e *examiner) measureSpeed(ctx context.Context, role string, c model.Client) (string, error) {
	// No server has the beginning of these prompts in its cache.
	mark := fmt.Sprintf("%x", time.Now().UnixNano())
	_, written, err := e.measure(ctx, role, c, mark+": Write the numbers from one to ninety in words.", writtenTokens)
	if err != nil {
		return "", err
	}
	read, _, err := e.measure(ctx, role, c, mark+" again: "+strings.Repeat("more ", readWords)+"\nReply with the word yes.", 1)
	if err != nil {
		return "", err
	}
	v := session.Speed{Input: read, Output: written}
	return fmt.Sprintf("reads %.1f and writes %.1f tokens a second", v.Input, v.Output), e.session.KeepSpeed(ctx, role, v)
}

// measure returns how many tokens a second of a prompt and of its reply a request took, each as
// if it were all of it.
func (e *examiner) measure(ctx context.Context, role string, c model.Client, prompt string, most int) (read, written float64, err error) {
	m := e.session.Config.Models.Of(role)
	ctx, cancel := limitTime(ctx, m)
	defer cancel()
	began := time.Now()
	resp, err := c.Generate(ctx, model.Request{
		Model: m.Model, Messages: []model.Message{{Role: model.User, Content: prompt}},
		Sampling: model.Sampling{MaxTokens: most}, Tags: model.Tags{Stage: "doctor", Role: role, Run: "doctor"},
	})
	if err != nil {
		return 0, 0, err
	}
	took, in, out := time.Since(began).Seconds(), float64(resp.Usage.Input), float64(resp.Usage.Output)
	if in == 0 {
		in = float64(len(prompt)) / bytesPerToken
	}
	if out == 0 {
		out = max(1, float64(len(resp.Text))/bytesPerToken)
	}
	return in / took, out / took, nil
}
