// Package transcript reads what coding agents have written down of their sessions: who said
// what, which tools ran and whether they succeeded, which files were touched, which skill was
// at work, and whether the model failed.
//
// A Source knows the stores of one agent, one file of this package each. What a source reads
// it passes to a Builder, which alone makes transcripts: it takes secrets and characters that
// steer out of every text, cuts what is longer than a transcript keeps, and only then keeps
// it. No raw text leaves the package.
//
// Stores are only read. A file is read up to the size that it had when it was opened; a last
// line that is not whole waits for the next reading. A database is read from a private copy,
// so that no one who writes it waits and none of its files is touched.
//
// It knows nothing about models, tasks, consent, or where transcripts are kept.
package transcript
