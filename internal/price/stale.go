package price

import "time"

// Fresh is how long a price is taken to hold after it was compared with its source.
const Fresh = 90 * 24 * time.Hour

// Stale reports whether an entry was compared with its source longer ago than Fresh.
// A month counts to its end. A price that the user set never is.
func (e Entry) Stale(now time.Time) bool {
	if e.AsOf == "" {
		return false
	}
	day, err := time.Parse(time.DateOnly, e.AsOf)
	if err != nil {
		month, err := time.Parse("2006-01", e.AsOf)
		if err != nil {
			return true
		}
		day = month.AddDate(0, 1, -1)
	}
	return now.Sub(day) > Fresh
}
