package schedule

// fewTasks is the smallest batch that a ceiling leads to: from fewer analysts learn
// little.
const fewTasks = 20

// Ceiling is how many calls a run may make, and what of them is spoken for.
type Ceiling struct {
	Calls     int
	Selection int // tasks that a gate judges by
	Test      int // rollouts that the test takes
	Rollouts  int // of each task of a batch; below 2: one
}

// What a run takes, in passes over the selection split and calls of the optimizer. The
// shares are those of runs in bench/gain.py.
const (
	before     = 1.1 // passes: the seed skill, and some of it again
	after      = 1.0 // a fresh pass of what is shipped
	otherCalls = 8   // of the optimizer in a step
	onePass    = 1.0 // of a step's candidate
)

// forSteps returns how many calls are left for steps.
func (c Ceiling) forSteps() float64 {
	return float64(c.Calls-c.Test) - (before+after)*float64(c.Selection)
}

// Batch returns the size of a batch, of at most wide tasks, with which the ceiling allows for two
// steps next to what is measured before and after them: one may be rejected. It returns the batch
// of one step where that of two would be small.
func (c Ceiling) Batch(wide int) int {
	fits := 0.0
	for steps := 2.0; steps > 0 && fits < fewTasks; steps-- {
		fits = (c.forSteps()/steps - onePass*float64(c.Selection) - otherCalls) / float64(max(1, c.Rollouts))
	}
	return min(wide, max(int(fits), min(wide, fewTasks)))
}

// A run has as many epochs as make autoSteps steps, where no one says how many: later ones
// find little that earlier ones have not. One that trains on many tasks has seen each of them
// LeastEpochs times.
const (
	autoSteps   = 12
	LeastEpochs = 4
)

// Epochs returns how many epochs a run has if each has that many steps.
func Epochs(steps int) int { return max(LeastEpochs, (autoSteps+steps-1)/max(1, steps)) }

// mostWarm is the most tasks of a warm start for which no one set a ceiling: what more of
// them would show has been seen by then.
const mostWarm = 400

// MostEpisodes is the most tasks of a warm start where a task is carried out by an agent or an
// environment, of which no one knows what it takes.
const MostEpisodes = 120

// WarmBatch returns how many of n train tasks a warm start rolls out.
func WarmBatch(n int) int { return min(n, mostWarm) }

// twiceShare is the share of the calls that finding out how far answers vary may take.
const twiceShare = 0.02

// Twice returns how many tasks may be asked twice, 0 if that would be fewer than least.
func (c Ceiling) Twice(least int) int {
	if n := int(twiceShare * float64(c.Calls)); n >= least {
		return n
	}
	return 0
}
