package wording

import "strconv"

// This file counts things in words, for messages.

// Plural returns n with the word for that many: "1 reply", "0 replies".
func Plural[N int | int64](n N, one, many string) string {
	return strconv.FormatInt(int64(n), 10) + " " + PluralWord(n, one, many)
}

// PluralWord returns the word for n things, without the number.
func PluralWord[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
