package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/offer"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// stairs is a world: each "up" is a third of the score, and "jump" breaks it.
type stairs struct {
	scene world.Scene
	none  bool // it gives no scores
}

func (stairs) Pure() bool { return true }

func (s stairs) Open(context.Context, world.Setting) (world.Episode, error) {
	return &climb{stairs: s}, nil
}

type climb struct {
	stairs
	steps int
}

func (c *climb) Start(context.Context) (world.Scene, error) { return c.scene, nil }

func (c *climb) Act(_ context.Context, a world.Action) (world.Observation, error) {
	switch a.Text {
	case "jump":
		return world.Observation{}, errors.New("the stairs are broken")
	case "fall":
		return world.Observation{Text: "You fell.", Failure: "death: it fell"}, nil
	case "up":
		c.steps++
	}
	seen := world.Observation{Text: fmt.Sprintf("step %d of turn %d, last %v", c.steps, a.Turn, a.Last), Done: c.steps == 3, Choices: []string{"up", "down"}}
	if score := float64(c.steps) / 3; !c.none {
		seen.Score = &score
	}
	return seen, nil
}

func (c *climb) Close() error { return nil }

// client is an agent that is a client of MCP: it gives commands, and keeps what it saw.
type client struct {
	commands []string
	seen     *[]string
	deaf     bool // it does not look at its tools
}

func (c client) Work(ctx context.Context, job rollout.AgentJob) (rollout.AgentReport, error) {
	if c.deaf {
		return rollout.AgentReport{Answer: "done"}, nil
	}
	s, err := connect(ctx, job.Tools.URL, job.Tools.Key)
	if err != nil {
		return rollout.AgentReport{}, err
	}
	defer func() { _ = s.Close() }()
	if l, err := s.ListTools(ctx, nil); err != nil || len(l.Tools) != 1 || l.Tools[0].Name != "act" {
		return rollout.AgentReport{}, fmt.Errorf("tools: %+v, %w", l, err)
	}
	for _, command := range c.commands {
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "act", Arguments: map[string]string{"command": command}})
		if err != nil {
			return rollout.AgentReport{}, err
		}
		*c.seen = append(*c.seen, r.Content[0].(*mcp.TextContent).Text)
	}
	return rollout.AgentReport{Answer: "done"}, nil
}

// bearer sends requests with a key.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func connect(ctx context.Context, url, key string) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer(key)}, DisableStandaloneSSE: true,
	}, nil)
}

func TestActing(t *testing.T) {
	t.Parallel()
	door, err := offer.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if err := door.Close(); err != nil {
			t.Error(err)
		}
	})
	acts := world.Scene{Text: "Stairs.", Acts: true, Scores: true, Choices: []string{"up"}}
	third := 1. / 3
	one := 1.
	for name, tt := range map[string]struct {
		agent client
		world stairs
		want  rollout.AgentReport
		seen  []string
		err   string
	}{
		"to the end": {
			agent: client{commands: []string{"up", "up", " up ", "up"}}, world: stairs{scene: acts},
			want: rollout.AgentReport{Answer: "up; up; up", Score: &one},
			seen: []string{
				"step 1 of turn 1, last false\n\nPossible commands:\n- up\n- down", "step 2 of turn 2, last false\n\nPossible commands:\n- up\n- down",
				"step 3 of turn 3, last false\n\nThe episode has ended.", "The episode has ended.",
			},
		},
		"too many": {
			agent: client{commands: []string{"up", "down", "down", "down", "up"}}, world: stairs{scene: world.Scene{Acts: true, Scores: true}},
			want: rollout.AgentReport{Answer: "up; down; down; down", Score: &third, Failure: "turns: no end after 4 commands"},
		},
		"no command": {agent: client{commands: []string{" "}}, world: stairs{scene: acts}, want: rollout.AgentReport{Answer: "done", Failure: "action: the target gave no command"}},
		"failed":     {agent: client{commands: []string{"up", "fall"}}, world: stairs{scene: acts}, want: rollout.AgentReport{Answer: "up; fall", Failure: "death: it fell"}},
		"no score":   {agent: client{commands: []string{"up"}}, world: stairs{scene: acts, none: true}, err: "the episode ended without a score"},
		"broken":     {agent: client{commands: []string{"jump", "up"}}, world: stairs{scene: acts}, err: "world: the stairs are broken"},
		"deaf":       {agent: client{deaf: true}, world: stairs{scene: acts}, err: "has not asked for the tool act"},
		"of tools":   {agent: client{}, world: stairs{scene: world.Scene{Tools: []model.Tool{{Name: "grep"}}}}, err: "it has tools of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var saw []string
			tt.agent.seen = &saw
			var given []string
			r, err := rollout.Acting{CodingAgent: tt.agent, World: tt.world, Turns: 4, Door: door}.Work(t.Context(), rollout.AgentJob{
				Prompt: "Climb.", Given: func(key string) { given = append(given, key) },
			})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := "Climb.\n\n"; !strings.HasPrefix(r.Question, want) || !strings.Contains(r.Question, "the tool act") {
				t.Errorf("asked %q", r.Question)
			}
			r.Question = ""
			if diff := cmp.Diff(tt.want, r); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.seen, saw); tt.seen != nil && diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
			for _, key := range append(given, "", "another") { // which counts for nothing any more
				if s, err := connect(t.Context(), address(door), key); err == nil {
					t.Errorf("the key %q still counts: %v", key, s.Close())
				}
			}
		})
	}
}

// address is where a door is.
func address(d *offer.Door) string {
	o := d.Offer(model.Tool{Name: "act", Parameters: []byte(`{"type":"object"}`)}, nil)
	defer o.Withdraw()
	return o.URL
}
