package policy

import "net/url"

// path is a request's path, split into decoded segments. It has no pointers into itself,
// so that matching allocates nothing.
type path struct {
	text string
	n    int              // segments, also those beyond end
	end  [maxSegments]int // index in text of the end of each of the first segments
}

func (p *path) segment(i int) string {
	start := 1
	if i > 0 {
		start = p.end[i-1] + 1
	}
	return p.text[start:p.end[i]]
}

// split splits the path of u into segments, and reports whether it has one reading only.
func (p *path) split(u *url.URL) bool {
	p.text = u.Path
	if p.text == "" || p.text[0] != '/' {
		return false
	}
	if u.RawPath != "" && !faithful(u.RawPath, u.Path) {
		return false
	}
	start := 1
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		if plain[c] {
			continue
		}
		switch {
		case c == '/':
			if !p.addSegment(start, i) {
				return false
			}
			start = i + 1
		case c != '%' || encodedTwice(p.text[i:]):
			return false
		}
	}
	return p.text == "/" || p.addSegment(start, len(p.text))
}

// plain has the octets of a decoded path that split can skip: all but slashes,
// backslashes, control characters and percent signs.
var plain = func() (list [256]bool) {
	for c := range list {
		list[c] = c >= ' ' && c != 0x7f && c != '/' && c != '\\' && c != '%'
	}
	return list
}()

// addSegment adds a segment that is neither empty nor made of dots.
func (p *path) addSegment(start, end int) bool {
	switch s := p.text[start:end]; s {
	case "", ".", "..":
		return false
	}
	if p.n < maxSegments {
		p.end[p.n] = end
	}
	p.n++
	return true
}

// faithful reports whether raw is path in a spelling that every router reads in the same
// way. net/url keeps a raw path if the spelling isn't its own; then some routers match
// the raw path, and some the decoded one. An encoded slash makes two segments in only one
// of them; an encoded letter hides a literal in only one of them.
func faithful(raw, path string) bool {
	n := 0
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '%' {
			var ok bool
			if c, ok = octet(raw[i:]); !ok || c == '/' || inLiterals(c) {
				return false
			}
			i += 2
		}
		if n >= len(path) || path[n] != c {
			return false
		}
		n++
	}
	return n == len(path)
}

// encodedTwice reports whether a second decoding of a path would give a slash, a dot or a
// letter.
func encodedTwice(s string) bool {
	c, ok := octet(s)
	return ok && (c == '/' || c == '\\' || c < ' ' || inLiterals(c))
}

// octet reads a percent-encoded octet (RFC 3986 §2.1).
func octet(s string) (byte, bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, ok := hex(s[1])
	low, also := hex(s[2])
	return high<<4 | low, ok && also
}

func hex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
