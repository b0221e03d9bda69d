// Package plural counts things in words, for messages.
//
// It knows nothing about what is counted.
package plural

import "strconv"

// Of returns n with the word for that many: "1 reply", "0 replies".
func Of[N int | int64](n N, one, many string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Word(n, one, many)
}

// Word returns the word for n things, without the number.
func Word[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
