// Package importer reads the YAML configurations of SkillOpt, the Python
// library, and says what they are in a configuration of ours.
//
// Load reads a file and what it builds on, Override lays settings over it,
// Flatten brings its two forms (sections, and the older flat one) to one, and
// Convert writes our YAML with a report that names every key of the source. The
// rules of SkillOpt are kept to the letter, as the recorded cases in
// internal/testing/conformance show, but for one: a section env that says its name is
// not lost.
//
// It knows nothing about files or the environment: what it reads is passed in,
// and so is the schema of our configuration. Values are nil, bool, int64,
// *big.Int, float64, string, []any and map[string]any. No function changes what
// it is given, and all may be called concurrently.
package importer
