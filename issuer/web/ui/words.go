package ui

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Duration formats a duration in its largest unit without a remainder.
func Duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if d >= unit.size && d%unit.size == 0 {
			return Plural(int(d/unit.size), unit.name)
		}
	}
	return Plural(int(d/time.Second), "second")
}

// Plural formats a number of things.
func Plural(n int, thing string) string {
	switch {
	case n == 1:
	case thing == "person":
		thing = "people"
	default:
		thing += "s"
	}
	return Comma(max(n, 0)) + " " + thing
}

// Comma formats a number that isn't negative with separators of thousands.
func Comma[N int | uint32 | uint64](n N) string {
	digits := strconv.FormatUint(uint64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Thousands formats a number in at most five characters: "9,999", "15.3k", "1.2M". It
// rounds down.
func Thousands(n uint64) string {
	for _, unit := range []struct {
		size uint64
		name string
	}{{1_000_000_000, "G"}, {1_000_000, "M"}, {1000, "k"}} {
		if n < unit.size || n < 10_000 {
			continue
		}
		whole, tenth := n/unit.size, n%unit.size/(unit.size/10)
		if whole >= 100 || tenth == 0 {
			return Comma(whole) + unit.name
		}
		return strconv.FormatUint(whole, 10) + "." + strconv.FormatUint(tenth, 10) + unit.name
	}
	return Comma(n)
}

// Sentence returns s with a capital letter and a full stop. If s begins with the name of
// a parameter, it keeps its spelling.
func Sentence(s string) string {
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

// Initial returns the letter that replaces a picture.
func Initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return "?"
}

// Pieces splits a text after each "@" and ".", where a page may break the line, so that an
// address is not broken within a word.
func Pieces(s string) []string {
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
