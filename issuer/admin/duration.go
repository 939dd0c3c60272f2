package admin

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// ParseDuration is time.ParseDuration with a leading number of days of 24 hours: 90d, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n > math.MaxInt64/uint64(24*time.Hour) {
		return 0, errors.New("days must be a whole number before the letter d")
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || d > math.MaxInt64-more {
		return 0, errors.New("the part after the days must be a duration")
	}
	return d + more, nil
}

// FormatDuration formats a duration as ParseDuration reads it, with days and without units
// that are zero: 30d, 1d12h, 1m30s.
func FormatDuration(d time.Duration) string { return ledger.FormatDuration(d) }
