package ui

import (
	"strconv"
	"strings"
	"time"
)

// A Clock formats times for one user. The zero value has UTC and 24 hours.
type Clock struct {
	Zone   *time.Location // nil for UTC
	Hour12 bool
	Now    time.Time
}

// A Stamp is a time for display: the template "time" shows Text, "exact" shows Exact, "time2" shows both, and
// "short" shows Short.
type Stamp struct {
	ISO   string // for <time datetime>
	Text  string // relative within a week, else the date
	Exact string // date, time of day and zone; the date for a day
	Short string // Exact shortened for lists: without the current year and the user's zone; "" for a day
	Date  string // such as "4 March 2026"
	Clock string // the time of day; "" for a day
	Ago   bool   // Text is relative

	Recent bool // Text is relative, to a time of less than a day ago
	Zero   bool // there is no such time
}

// week is how long ago a time is relative.
const week = 7 * 24 * time.Hour

// dateLayout is the layout of a date.
const dateLayout = "2 January 2006"

// At returns the stamp of a time in milliseconds since 1970, to the minute. 0 is no time.
func (c Clock) At(ms int64) Stamp {
	if ms == 0 {
		return Stamp{Zero: true}
	}
	t := time.UnixMilli(ms).In(c.Location())
	hours := "15:04"
	if c.Hour12 {
		hours = "3:04 PM"
	}
	s := Stamp{
		ISO: t.UTC().Format("2006-01-02T15:04:05Z"), Date: t.Format(dateLayout), Clock: t.Format(hours),
	}
	s.Text, s.Exact = s.Date, s.Date+", "+s.Clock+" "+abbreviation(t)
	short := "2 Jan 2006, "
	if t.Year() == c.Now.In(c.Location()).Year() {
		short = "2 Jan, "
	}
	s.Short = t.Format(short + hours)
	if c.Zone == nil {
		s.Short += " UTC"
	}
	past := c.Now.Sub(t)
	if text := relative(past); text != "" {
		s.Text, s.Ago, s.Recent = text, true, past.Abs() < 24*time.Hour
	}
	return s
}

// Day returns the stamp of the day of a time in milliseconds since 1970. 0 is no time.
func (c Clock) Day(ms int64) Stamp {
	if ms == 0 {
		return Stamp{Zero: true}
	}
	t := time.UnixMilli(ms).In(c.Location())
	date := t.Format(dateLayout)
	return Stamp{ISO: t.Format(time.DateOnly), Text: date, Exact: date, Date: date}
}

// Location returns the clock's zone.
func (c Clock) Location() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// abbreviation returns the name of a time's zone, such as CET, or UTC+03 if it has none.
func abbreviation(t time.Time) string {
	name, _ := t.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// relative returns how long ago something was, or how far off it is, or "" beyond a
// week. The script has the same words.
func relative(past time.Duration) string {
	d := past.Abs()
	var text string
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		text = strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		text = Plural(int(d/time.Hour), "hour")
	case d < week:
		text = Plural(int(d/(24*time.Hour)), "day")
	default:
		return ""
	}
	if past < 0 {
		return "in " + text
	}
	return text + " ago"
}
