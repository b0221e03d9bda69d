// Package train is the loop: epochs of steps, each of them rollout, reflect,
// aggregate, rank, update and gate; slow update and meta skill at epoch ends;
// the final evaluation.
//
// It is a plain deterministic function over model calls that something else
// records: to resume a run is to call it again. It knows nothing about records,
// retries, limits, configuration files or terminals.
//
// # Stages
//
// The trainer (train.go) is the order of things. It has stages carried out one after
// the other and keeps what they return: the history, the counts, the results. A stage
// is a type that names all it reads, and its result is a value:
//
//	baseliner    seed skill                      -> baseline: its scores, the noise of the split
//	stepper      step number, planned tasks      -> stepResult: batch, proposal, record, files
//	  batcher      planned tasks                 -> batch: outcomes, what analysts said
//	    optimizer    patches, current skill      -> a candidate: aggregate, rank, update
//	    judge        candidate                   -> verdict, and the candidate with its outcomes
//	epochEnder   skill of the epoch before       -> epochEnd: comparison, guidance, record, files
//	finisher     -                               -> finish: promotion, fresh pass
//	testSplit    seed, best and final skill      -> tested: scores and the certificate
//
// # State
//
// What stages share is state with one owner each, all of it changed only by the
// goroutine that called Run:
//
//	skills       the current and the best skill; every candidate and what was measured of it.
//	             Changed by the judge (measurements) and by the parts that promote: stepper,
//	             epochEnder, finisher.
//	memory       what the optimizer learns of earlier steps, and the meta skill. Steps are
//	             added by the trainer when they are closed, the meta skill by the epochEnder.
//	sampler      what the curriculum has seen. Changed when a batch is recorded.
//	judge        whether answers are deterministic, where another model began to answer, and
//	             which fold judges now.
//	rollouts     sets that were prefetched; safe for concurrent use.
//	prefetcher   which unit of the loop comes next. Set before each unit; read by the
//	             goroutines of the gate, which are waited for.
//	fruitless    the row of steps whose analysts said nothing that can be used.
//
// Options and Data never change. pacer, output and optimizer hold no state of their own:
// they ask whether there is room, write files and send requests.
package train
