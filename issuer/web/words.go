package web

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// This file formats values for display.

// date and day format a time for display and for <time datetime>; moment and instant do
// the same to the minute.
func date(t ledger.Time) string    { return t.Std().Format("2 January 2006") }
func day(t ledger.Time) string     { return t.Std().Format(time.DateOnly) }
func moment(t ledger.Time) string  { return t.Std().Format("2 January 2006, 15:04 UTC") }
func instant(t ledger.Time) string { return t.Std().Format("2006-01-02T15:04Z") }

// durationText formats a duration in its largest unit without a remainder.
func durationText(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if d >= unit.size && d%unit.size == 0 {
			return count(int(d/unit.size), unit.name)
		}
	}
	return count(int(d/time.Second), "second")
}

// count formats a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// sentence returns s with a capital letter and a full stop. If s begins with the name of
// a parameter, it keeps its spelling.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if first, _, _ := strings.Cut(s, " "); !strings.Contains(first, "_") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// initial returns the letter that replaces a picture.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return "?"
}

// stateName returns the display name of a client's state.
func stateName(s ledger.ClientState) string {
	switch s {
	case ledger.Pending:
		return "Waiting for review"
	case ledger.Approved:
		return "Approved"
	case ledger.Rejected:
		return "Not approved"
	case ledger.Suspended:
		return "Suspended"
	}
	return "Deleted"
}

// pieces splits a text after each "@" and ".", where a page may break the line, so that
// an address is not broken within a word.
func pieces(s string) []string {
	var list []string
	for s != "" {
		end := strings.IndexAny(s, "@.") + 1
		if end == 0 {
			end = len(s)
		}
		list, s = append(list, s[:end]), s[end:]
	}
	return list
}
