package mine

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// evidence is what a session shows of the expected results of its tasks.
type evidence struct {
	t         *transcript.Transcript
	corrected map[int]correction.Mark // by turn
	flips     []flip
	detail    string
}

// flip is a command that failed, and later passed, after something was written.
type flip struct {
	text       string
	from, to   int // turns in which it failed first, and passed last
	unsuitable string
}

// clean takes secrets out of what tasks are made of.
func (e *evidence) clean(c transcript.Cleaner) {
	t := *e.t
	t.Turns = slices.Clone(t.Turns)
	for i := range t.Turns {
		t.Turns[i].User, t.Turns[i].Agent = c.Text(wording.Plain(t.Turns[i].User)), c.Text(wording.Plain(t.Turns[i].Agent))
	}
	for i := range e.flips {
		if f := &e.flips[i]; f.unsuitable == "" && c.Text(wording.Plain(f.text)) != f.text {
			f.unsuitable = "it holds a secret"
		}
	}
	e.t = &t
}

// look returns what a session shows, and why nothing if it shows none.
func look(t *transcript.Transcript) (*evidence, draft.Reason) {
	e := &evidence{t: t, corrected: map[int]correction.Mark{}}
	if t.Origin != transcript.Interactive {
		e.detail = string(t.Origin)
		return e, NotInteractive
	}
	if !slices.ContainsFunc(t.Turns, hasAnswer) {
		return e, NoAnswer
	}
	for _, mark := range correction.Marks(t.Turns) {
		if e.believable(mark) {
			e.corrected[mark.Turn] = mark
		}
	}
	e.flips = findFlips(t.Turns, e.corrected)
	if slices.ContainsFunc(e.flips, func(f flip) bool { return f.unsuitable == "" }) {
		return e, ""
	}
	if len(e.corrected) == 0 {
		if len(e.flips) > 0 {
			e.detail = e.flips[0].text + ": " + e.flips[0].unsuitable
		}
		return e, NothingShown
	}
	for turn := range e.corrected {
		if e.acceptedAfter(turn) >= 0 {
			return e, ""
		}
	}
	return e, NeverAccepted
}

// hasAnswer reports whether a turn ended with an answer.
func hasAnswer(t transcript.Turn) bool {
	return t.Failed == "" && !t.Interrupted && strings.TrimSpace(t.Agent) != ""
}

// believable reports whether a mark is a correction of what was done: neither thanks that begin
// with a no, nor a change of mind.
func (e *evidence) believable(m correction.Mark) bool {
	next := correction.Next(e.t.Turns, m.Turn)
	if next >= len(e.t.Turns) {
		return false // nothing followed
	}
	said := ownText(e.t.Turns[next].User)
	if abandons().MatchString(truncateText(said, 200)) {
		return false
	}
	stopped := slices.Contains(m.Signs, correction.Stopped)
	if stopped && continues().MatchString(strings.TrimSpace(said)) {
		return false // it was stopped by mistake, or to look
	}
	if declines().MatchString(strings.TrimSpace(said)) && len(strings.Fields(said)) <= 12 {
		return stopped && !slices.Contains(m.Signs, correction.Said)
	}
	// What is rejected in a quotation is rejected by somebody else.
	return stopped || correction.Rejects(e.t.Turns[m.Turn].Agent, said)
}

func truncateText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// declines are messages that say no to an offer, and nothing of the answer.
var declines = newPattern(`(?is)^(no|nope|nein|non|não|nee)\W+(i'?m |we'?re |it'?s |that'?s |that is |that was |das ist |das war |c'est )?(it |all |just )?(thanks?|thank you|need|worries|problem|all|it|fine|good|great|perfect|okay?|done|set|nothing|more|danke|merci|gracias|obrigad\w|grazie|alles|gut)\b.*$`)

// continues are messages that want what was stopped to continue as it was.
var continues = newPattern(`(?i)^(please |ok(ay)?,? |yes,? |sorry,? )*(continue|go on|go ahead|carry on|proceed|resume|keep going|weiter|mach weiter|continue[rz]|contin[uú]a|sigue)( please| bitte)?[.!]*$`)

// abandons are messages by which a user wants something else from now on.
var abandons = newPattern(`(?i)\b(never ?mind|forget (it|that|this|about)|leave (it|that)( |,|\.|$)|skip (it|that|this)\b|let'?s (do|move|talk|switch|try) (on|something|about|another)|something (else|different)|(another|different) (question|topic|thing|task)|change of plan|drop (it|that|this)( |,|\.|$)|vergiss (es|das)|egal\b|laisse tomber|olv[ií]dalo)`)

// acceptedAfter returns the turn whose answer was taken after a corrected one: the first that
// was answered and not corrected. -1: there is none.
func (e *evidence) acceptedAfter(turn int) int {
	for i := turn + 1; i < len(e.t.Turns); i++ {
		if _, again := e.corrected[i]; again || !hasAnswer(e.t.Turns[i]) {
			continue
		}
		if refuses(e.t.Turns[i].Agent) {
			return -1
		}
		return i
	}
	return -1
}

// findFlips returns the commands that failed and later passed, and passed the last time that they
// ran. Between the two something was written, else it was chance or the machine.
func findFlips(turns []transcript.Turn, corrected map[int]correction.Mark) []flip {
	type history struct {
		first, last int
		ok          bool // the last time
		failed      bool
		broken      bool // a run of which nothing is known, or that was altered
	}
	of := map[string]*history{}
	var order []string
	for i := range turns {
		for _, c := range turns[i].Commands {
			h := of[c.Text]
			if h == nil {
				h = &history{}
				of[c.Text] = h
				order = append(order, c.Text)
			}
			switch {
			case c.Altered || c.Exit == nil:
				h.broken = h.broken || c.Altered
				h.ok = false
			case *c.Exit == 0:
				h.last, h.ok = i, true
			default:
				if !h.failed {
					h.first, h.failed = i, true
				}
				h.ok = false
			}
		}
	}
	var out []flip
	for _, text := range order {
		h := of[text]
		if !h.failed || !h.ok || h.broken {
			continue
		}
		f := flip{text: text, from: h.first, to: h.last, unsuitable: noVerdict(text)}
		_, rejected := corrected[h.last]
		switch {
		case rejected || turns[h.last].Failed != "" || turns[h.last].Interrupted:
			f.unsuitable = "what it passed on was not accepted"
		case f.unsuitable == "" && len(collectFiles(turns[f.from:f.to+1])) == 0:
			f.unsuitable = "nothing was written before it passed"
		}
		out = append(out, f)
	}
	return out
}

func collectFiles(turns []transcript.Turn) []string {
	var files []string
	for i := range turns {
		for _, f := range turns[i].Files {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// noVerdict says why a command that passes shows nothing of the work, or must not run again; ""
// if it may be a check.
func noVerdict(command string) string {
	text := strings.TrimSpace(command)
	switch {
	case text == "":
		return "it is empty"
	case len(text) > maxCommand:
		return "it is too long"
	case toldNames().MatchString(text):
		return "it names what a check reads"
	}
	words := strings.Fields(strings.ToLower(text))
	for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "time" || words[0] == "env") {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "cd" && strings.Contains(text, "&&") {
		return "it goes to a folder of its own first"
	}
	if len(words) == 0 || looks[words[0]] {
		return "it says nothing of the work"
	}
	for _, word := range strings.Fields(text) {
		if word = strings.Trim(word, `"'=`); strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || strings.HasPrefix(word, "..") && !strings.HasPrefix(word, "...") {
			return "it names a path outside of the workspace: " + word
		}
	}
	for _, f := range findings(text) {
		switch {
		case f.kind == kindURL || f.kind == kindDanger || f.kind == kindSend || f.kind == kindDisable:
			return "it reaches beyond the workspace, removes or leaves out: " + f.what
		case f.kind == kindPath && (strings.HasPrefix(f.what, "/") || strings.HasPrefix(f.what, "~") || strings.HasPrefix(f.what, "..") || strings.Contains(f.what, `\\`)):
			return "it names a path outside of the workspace: " + f.what
		}
	}
	if beyond().MatchString(text) {
		return "it reaches beyond the workspace: " + beyond().FindString(text)
	}
	return ""
}

const maxCommand = 2 << 10

// toldNames are the names by which a check of the kind command gets what is expected.
var toldNames = newPattern(`\b(GOLD|TASK|CONFIG_DIR|OUTPUT)\b`)

// looks are programs that only look, move around or copy.
var looks = set("ls", "ll", "dir", "cat", "cd", "pwd", "echo", "printf", "true", "false", "which", "type", "mkdir", "rmdir", "cp", "mv", "rm", "touch",
	"head", "tail", "less", "more", "sed", "awk", "grep", "egrep", "rg", "ag", "find", "fd", "wc", "sort", "tree", "file", "stat", "du", "df", "ps", "kill",
	"export", "source", ".", "alias", "set", "history", "date", "whoami", "sleep", "open", "man", "git", "hg", "svn", "gh", "glab")

// beyond are commands that install, publish or talk to machines.
var beyond = newPattern(`(?i)(^|[;&|(]\s*|\s)((npm|pnpm|yarn|bun) (i|install|ci|add|publish|update|login)\b|pip3? install|pipx? |uv (pip|add|sync)|gem install|cargo (install|publish|add)|go (get|install)\b|apt(-get)? |brew |dnf |yum |pacman |apk |docker |podman |kubectl |helm |terraform |ansible|aws |gcloud |az |ssh |scp |rsync |git (push|pull|fetch|clone|reset|checkout|clean|rebase)|(curl|wget|nc|telnet|ftp)\b|sudo |su |rm -|chmod |chown |mkfs|dd if|kill(all)? |shutdown|reboot|twine |deploy\b)`)

func set(list ...string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, s := range list {
		out[s] = true
	}
	return out
}

// findFlip returns the command that judges a task that was asked from turn from on and done in
// the accepted one. What passed before a correction was not enough.
func (e *evidence) findFlip(from, corrected, accepted int) (flip, bool) {
	for _, f := range slices.Backward(e.flips) {
		if f.unsuitable == "" && f.from >= from && f.to > corrected && f.to <= accepted {
			return f, true
		}
	}
	return flip{}, false
}

// findSkill returns the skill at work in the turns up to the accepted one: the one that the
// strongest evidence names in turns of the task, else in those before. Two are none.
func (e *evidence) findSkill(from, accepted int) string {
	for _, turns := range [][]transcript.Turn{e.t.Turns[from : accepted+1], e.t.Turns[:from]} {
		for _, by := range []transcript.Evidence{transcript.ByRecord, transcript.ByTool, transcript.ByRead} {
			named := map[string]bool{}
			last := ""
			for i := range turns {
				if turns[i].Skill != "" && turns[i].SkillBy == by {
					named[turns[i].Skill], last = true, turns[i].Skill
				}
			}
			if len(named) > 1 {
				return ""
			}
			if len(named) == 1 {
				return last
			}
		}
	}
	return ""
}
