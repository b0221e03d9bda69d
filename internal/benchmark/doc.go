// Package benchmark makes an ordinary folder of tasks out of the rows of a benchmark: tasks by
// split, their pictures, a config, a skill to begin with, and where all of it came from.
//
// A row is what somebody else has published, and is believed nothing: names become names of files
// only after they were looked at, pictures are pictures by their first bytes, and what is wrong is
// said with file, row and key. Nothing half made is ever at the place of the result: it is made
// next to it and renamed.
//
// It knows nothing about models, scores, training, downloads or what commands print.
package benchmark
