package rollout

import (
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Recorded is what the record of an episode says of it.
type Recorded struct {
	Question string
	Reply    string
	Turns    []trajectory.Turn
	Failure  string // of the task's own limits
	Answered bool   // Reply is an answer already, as environments give it
	Scored   bool   // the environment or the world has scored it
}

// ReadEpisode reads the record of an episode, of an agent or of an environment.
func ReadEpisode(raw []byte) (Recorded, error) {
	var kind struct {
		Status *score.Status `json:"status"` // an agent's has none
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return Recorded{}, err
	}
	if kind.Status == nil {
		var did episodeRecord
		if err := json.Unmarshal(raw, &did); err != nil {
			return Recorded{}, err
		}
		return Recorded{Question: did.Question, Reply: did.Answer, Turns: did.Turns, Failure: did.Failure, Scored: did.Score != nil}, nil
	}
	var did answered
	if err := json.Unmarshal(raw, &did); err != nil {
		return Recorded{}, err
	}
	return Recorded{Question: did.Question, Reply: did.Answer, Turns: did.Trajectory, Answered: true, Scored: !did.Unscored}, nil
}

// Question returns the text that a chat target is asked for a task, as outcomes have it.
func (q *ChatPrompt) Question(t task.Task, s skill.Skill) (string, error) {
	text, err := prompt(q.User, t, promptFields(t, s, q.Extras))
	if err != nil {
		return "", fmt.Errorf("word the question: %w", err)
	}
	return text, nil
}

// NameImages returns a question as outcomes have it: with the pictures of its task named.
func NameImages(question string, t task.Task) string { return addImageNames(question, t) }
