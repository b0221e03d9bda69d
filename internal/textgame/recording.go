package textgame

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxMoment bounds a line of a recording.
const maxMoment = 4 << 20

// moment is a line of a recording: what a player sees after a command.
type moment struct {
	Game       string   `json:"game"`
	Run        string   `json:"run"`
	Step       int      `json:"step"` // 0 begins a run
	Action     string   `json:"action"`
	Seen       string   `json:"obs"`
	Admissible []string `json:"admissible"`
	Won        bool     `json:"won"`
	Score      *float64 `json:"score"` // nil at step 0
	Error      string   `json:"error"` // the game was refused
}

// Difference is where a game was played otherwise than it was recorded: the first place in a run.
type Difference struct {
	Game  string `json:"game"`
	Run   string `json:"run"`
	Step  int    `json:"step"`
	Field string `json:"field"` // obs, admissible, won, score
	Want  string `json:"want"`
	Got   string `json:"got"`
}

func (d Difference) String() string {
	return fmt.Sprintf("game %s, run %s, step %d, %s:\n recorded: %s\n played:   %s", d.Game, d.Run, d.Step, d.Field, d.Want, d.Got)
}

// Comparison is what Compare found.
type Comparison struct {
	Games       int          `json:"games"`
	Runs        int          `json:"runs"`
	Moments     int          `json:"moments"`
	Refused     int          `json:"refused"` // games that the recorder could not play, and that are not compared
	Differences []Difference `json:"differences"`
}

// Compare plays the runs of a recording, whose games are below root, and compares all that was recorded: answers, lists of
// commands, wins and scores. An error means that it could not compare.
func Compare(ctx context.Context, root *os.Root, recording io.Reader) (Comparison, error) {
	c := comparer{ctx: ctx, root: root, Comparison: Comparison{Differences: []Difference{}}}
	lines := bufio.NewScanner(recording)
	lines.Buffer(nil, maxMoment)
	for n := 1; lines.Scan(); n++ {
		var m moment
		err := json.Unmarshal(lines.Bytes(), &m)
		if err == nil {
			err = c.compare(m)
		}
		if err != nil {
			return c.Comparison, fmt.Errorf("recording, line %d: %w", n, err)
		}
	}
	return c.Comparison, lines.Err()
}

// comparer compares one moment after the other.
type comparer struct {
	Comparison
	ctx  context.Context
	root *os.Root
	name string
	game *Game
	play *Play // nil: the rest of the run is not compared
}

func (c *comparer) compare(m moment) (err error) {
	if m.Error != "" {
		c.Refused++
		return nil
	}
	var seen string
	switch {
	case m.Step == 0:
		if seen, err = c.begin(m); err != nil {
			return err
		}
	case c.play == nil:
		return context.Cause(c.ctx)
	default:
		if seen, err = c.play.Act(m.Action); err != nil {
			return err
		}
	}
	c.Moments++
	c.check(m, "obs", m.Seen, seen)
	c.check(m, "admissible", strings.Join(m.Admissible, "\n"), strings.Join(c.play.Admissible(), "\n"))
	c.check(m, "won", fmt.Sprint(m.Won), fmt.Sprint(c.play.IsWon()))
	if m.Score != nil {
		c.check(m, "score", fmt.Sprint(*m.Score), fmt.Sprint(c.play.Score()))
	}
	if n := len(c.Differences); n > 0 && c.Differences[n-1].Game == m.Game && c.Differences[n-1].Run == m.Run {
		c.play = nil
	}
	return context.Cause(c.ctx)
}

// begin starts a run.
func (c *comparer) begin(m moment) (intro string, err error) {
	if c.game == nil || c.name != m.Game {
		if c.game, err = load(c.ctx, c.root, m.Game); err != nil {
			return "", err
		}
		c.name = m.Game
		c.Games++
	}
	c.Runs++
	c.play, intro, err = c.game.Start()
	return intro, err
}

func (c *comparer) check(m moment, field, want, got string) {
	if want != got {
		c.Differences = append(c.Differences, Difference{m.Game, m.Run, m.Step, field, want, got})
	}
}
