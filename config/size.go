package config

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes, written as 4GiB, 512MiB or 1.5GB, or as a plain number.
type Size int64

// sizeWant is what messages say is allowed.
const sizeWant = "a size such as 512MiB or 4GiB"

// MarshalText writes the largest unit that divides the size, so that it reads back
// the same.
func (s Size) MarshalText() ([]byte, error) {
	n, unit := int64(s), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, next
	}
	return append(strconv.AppendInt(nil, n, 10), unit...), nil
}

// UnmarshalText reads a number with a unit, binary or decimal.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("want %s, got %q", sizeWant, text)
	}
	*s = Size(n)
	return nil
}

func (s Size) String() string {
	text, _ := s.MarshalText() // never fails
	return string(text)
}

// Bytes returns s as a number.
func (s Size) Bytes() int64 { return int64(s) }
