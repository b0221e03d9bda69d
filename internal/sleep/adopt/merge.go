package adopt

import (
	"errors"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Item is a text for a document.
type Item struct {
	Target   string // the document's id
	Base     string // what the document held when the text was made
	New      bool   // there was no file then
	Proposed string // the text
	Whole    bool   // all of it may differ, and not the learned region alone
	Claim    string // what the user learned that the text is
	Reason   string
	Rules    []Rule
}

// merge returns what a document that is now live is to hold: the proposed text, with what changed outside of the learned
// region since the text was made. merged reports whether anything did.
func (it Item) merge(p Place, live content) (out string, merged bool, err error) {
	refuse := func(reason string) (string, bool, error) {
		return "", false, &Refused{File: p.File(), Reason: reason}
	}
	if strings.TrimSpace(it.Proposed) == "" {
		return refuse("what is proposed is empty")
	}
	switch {
	case it.New && live.there:
		return refuse("it has come since the proposal was made; discard the proposal: the next night begins with the file")
	case !it.New && !live.there:
		return refuse("it was deleted since the proposal was made; discard the proposal")
	}
	if !it.Whole {
		if err := it.checkRegion(p); err != nil {
			return "", false, err
		}
	}
	if live.text == it.Base {
		return it.Proposed, false, nil
	}
	if it.Whole {
		return refuse("it has changed since the proposal was made, which is of the whole document; discard the proposal: the next night begins with what it is now")
	}
	was, err := readRegion(it.Base)
	if err != nil {
		return refuse("the text that the proposal was made from: " + err.Error())
	}
	is, err := readRegion(live.text)
	if err != nil {
		return refuse(err.Error())
	}
	if is != was {
		return refuse("its learned region was edited since the proposal was made; discard the proposal: the next night begins with what it is now")
	}
	content, err := skill.LearnedText(it.Proposed)
	if err != nil {
		return refuse("what is proposed: " + err.Error())
	}
	out, err = withLearned(live.text, content)
	if err != nil {
		return refuse(err.Error())
	}
	return out, true, nil
}

// checkRegion fails where a proposed text differs from its base outside of the learned region.
func (it Item) checkRegion(p Place) error {
	content, err := skill.LearnedText(it.Proposed)
	if err != nil {
		return &Refused{File: p.File(), Reason: "what is proposed: " + err.Error()}
	}
	same, err := withLearned(it.Base, content)
	if err != nil {
		return &Refused{File: p.File(), Reason: "what is proposed: " + err.Error()}
	}
	if same != it.Proposed {
		return &Refused{File: p.File(), Reason: "what is proposed changes bytes outside of the learned region, and sleep.whole does not name the document"}
	}
	return nil
}

// readRegion returns what the learned region of a text holds, with one kind of line ends; "" where it has none.
func readRegion(text string) (string, error) {
	content, err := skill.LearnedText(text)
	if errors.Is(err, skill.ErrNoRegion) {
		return "", nil
	}
	return strings.ReplaceAll(content, "\r\n", "\n"), err
}

// withLearned returns a text whose learned region holds content. If the text has no such region, it gets one.
func withLearned(text, content string) (string, error) {
	text, err := skill.InjectLearned(text)
	if err != nil {
		return "", err
	}
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if end := skill.LineEnd(text); end != "\n" {
		content = strings.ReplaceAll(content, "\n", end)
	}
	return skill.ReplaceLearned(text, content)
}

// lines returns the lines of a learned region that are not blank, without the space around them.
func lines(content string) []string {
	var out []string
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
