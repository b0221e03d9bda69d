package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
)

// translating hides that a client takes requests in the agent's words.
type translating struct{ client model.Client }

func (c translating) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	return c.client.Generate(ctx, req)
}

// bill is what Anthropic's rules make of the requests of a session: a prompt is
// tools, system and messages, block by block. At a mark the server looks for what
// it has kept up to there or up to 20 blocks before, which costs a tenth; what
// comes after, up to the last mark, is written for a quarter more than its price.
type bill struct {
	kept map[string]bool
	cost float64
}

type cacheBlock struct {
	text   string
	marked bool
}

// lookback is how many blocks before a mark the server looks.
const lookback = 20

func (b *bill) add(blocks []cacheBlock) {
	prefix, last, read := make([]string, len(blocks)+1), 0, 0
	for i, block := range blocks {
		prefix[i+1] = prefix[i] + "\x00" + block.text
	}
	for i, block := range blocks {
		if !block.marked {
			continue
		}
		last = i + 1
		for k := last; k > max(0, last-lookback); k-- {
			if b.kept[prefix[k]] {
				read = max(read, k)
				break
			}
		}
	}
	for i, block := range blocks {
		price := 1.0
		switch {
		case i < read:
			price = 0.1
		case i < last:
			price = 1.25
		}
		b.cost += price * float64(len(block.text))
		if block.marked {
			b.kept[prefix[i+1]] = true
		}
	}
}

// cacheBlocks are the blocks of a request.
func cacheBlocks(t *testing.T, body string) []cacheBlock {
	t.Helper()
	var r struct {
		Tools    []map[string]any
		System   []map[string]any
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	var out []cacheBlock
	add := func(role string, m map[string]any) {
		_, marked := m["cache_control"]
		delete(m, "cache_control")
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, cacheBlock{role + string(text), marked})
	}
	for _, m := range append(r.Tools, r.System...) {
		add("", m)
	}
	for _, m := range r.Messages {
		if s, ok := m.Content.(string); ok {
			add(m.Role, fields{"type": "text", "text": s})
			continue
		}
		for _, block := range m.Content.([]any) {
			add(m.Role, block.(map[string]any))
		}
	}
	return out
}

// loopOf is the n-th request of a loop in the shape in which Claude Code sends it:
// some twenty tools, marks at the system prompt and at the last block of the last
// message, calls that are made at once and their results, now and then many.
func loopOf(t *testing.T, n int) string {
	mark := fields{"type": "ephemeral"}
	say := func(what string, size int) string { return what + strings.Repeat(" and so on", size/10) }
	messages := []fields{{"role": "user", "content": []fields{{"type": "text", "text": say("reminder", 4000)}, {"type": "text", "text": "Mend it."}}}}
	for turn := range n {
		calls, results := []fields{{"type": "text", "text": say(fmt.Sprint("turn ", turn), 200)}}, []fields{}
		for k := range 1 + 11*(turn%5/4)*2 {
			id := fmt.Sprintf("toolu_%d_%d", turn, k)
			calls = append(calls, fields{"type": "tool_use", "id": id, "name": "tool_1", "input": fields{"field_0": id}})
			results = append(results, fields{"type": "tool_result", "tool_use_id": id, "content": say("result of "+id, 1500)})
		}
		messages = append(messages, fields{"role": "assistant", "content": calls}, fields{"role": "user", "content": results})
	}
	last := messages[len(messages)-1]["content"].([]fields)
	last[len(last)-1]["cache_control"] = mark
	b, err := json.Marshal(fields{
		"model": "m", "max_tokens": 32000, "tools": benchTools(Messages, 24), "messages": messages,
		"system": []fields{{"type": "text", "text": say("You are.", 60), "cache_control": mark}, {"type": "text", "text": say("Long.", 14000), "cache_control": mark}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An agent's loop costs no more through the gateway than without it, whether its
// requests pass or are translated.
func TestLoopsCostAsDirectly(t *testing.T) {
	t.Parallel()
	for _, passes := range []bool{true, false} {
		t.Run(fmt.Sprint("passed=", passes), func(t *testing.T) {
			t.Parallel()
			v := newMaker(t, http.StatusOK, "application/json", passages[2].answer, false)
			client := adapterOf(t, Messages, v.URL)
			if !passes {
				client = translating{client}
			}
			g := testGateway(t, Options{})
			h := open(t, g, Session{Client: client, Model: "m"})
			direct, through := bill{kept: map[string]bool{}}, bill{kept: map[string]bool{}}
			for n := range 20 {
				body := loopOf(t, n)
				if status, _, answer, err := sent(t, h, g, "/v1/messages", body); status != http.StatusOK || err != nil {
					t.Fatalf("%d, %v: %s", status, err, answer)
				}
				direct.add(cacheBlocks(t, body))
				through.add(cacheBlocks(t, v.body))
			}
			ratio := through.cost / direct.cost
			t.Logf("through the gateway the loop costs %.3f of what it costs directly", ratio)
			if ratio > 1.02 {
				t.Errorf("it costs %.3f of that", ratio)
			}
		})
	}
}
