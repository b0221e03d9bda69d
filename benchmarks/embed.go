// Package benchmarks holds the folders of the benchmarks that the program brings: what a row of
// each becomes, how answers are scored, the ids of published splits, and rows of our own in the
// form of each. It knows nothing of what is in the files, and holds no row of any benchmark.
package benchmarks

import "embed"

//go:generate go run ./testdata/generate

// Folders has one folder a benchmark.
//
//go:embed */*.yaml */*.md */ids/*.txt */fixture
var Folders embed.FS
