package ledger

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names that look alike have the same skeleton (Unicode Technical Standard 39 §4). Unlike that of
// the standard this one ignores letter case, accents and compatible forms of a character, and
// knows what looks like ASCII letters and digits only, in all scripts: the names to protect are
// mostly in ASCII. The tables are written out, like those of text_visible.go.

// readings maps each character of lookalikeTable to what it looks like.
var readings = func() map[rune]string {
	all := make(map[rune]string, 4096)
	for _, e := range lookalikeTable {
		for _, r := range e.like {
			all[r] = e.text
		}
	}
	return all
}()

// reading returns a text as it looks in ASCII and in lower case. What does not look like ASCII
// stays, and accents and characters that aren't drawn are left out.
func reading(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteByte(lower(byte(r)))
			continue
		}
		like, known := readings[r]
		if !known {
			r = unicode.ToLower(r)
			like, known = readings[r]
		}
		switch {
		case known:
			b.WriteString(like)
		case !mark(r) && !ignorable(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// mark reports whether r is an accent or a variation selector.
func mark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff ||
		r >= 0x20d0 && r <= 0x20ff || r >= 0xfe00 && r <= 0xfe0f || r >= 0xfe20 && r <= 0xfe2f
}

// ignorable reports whether r is a character of no width.
func ignorable(r rune) bool { return len(visible([]rune{r})) == 0 }

// alike makes equal what looks alike within ASCII: a capital i like a small l and a one, rn like m.
var alike = strings.NewReplacer("m", "rn", "i", "l", "1", "l", "|", "l", "0", "o")

// Skeleton returns what names that look alike have in common: those that differ only in letter
// case, in accents, in spaces and punctuation, or in characters that look like others. It is "" if
// nothing is left.
func Skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if wordOf(r, "") || r >= utf8.RuneSelf {
			return r
		}
		return -1
	}, alike.Replace(reading(name)))
}

// wordOf reports whether r is an ASCII letter or digit in lower case, or one of more.
func wordOf(r rune, more string) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(more, r)
}

// words returns the words of a skeleton in ASCII; more has what belongs to words beside letters and
// digits.
func words(text, more string) []string {
	return strings.FieldsFunc(alike.Replace(reading(text)), func(r rune) bool { return !wordOf(r, more) })
}

// LikeService reports whether a name could be taken for one of this service: a part of it looks
// like DefaultServiceName, also with spaces or punctuation between its letters, or like one of the
// hosts, or some words of it look like the service's name. Part of a word is not enough for the
// latter: a service may be called Cal.
func (v View) LikeService(name string) bool {
	if spells(words(name, ""), Skeleton(DefaultServiceName), true) || v.likeServiceName(name) {
		return true
	}
	parts := words(name, ".-")
	return slices.ContainsFunc(v.Settings().Hosts(), func(host string) bool {
		own := strings.Join(words(host, ".-"), "")
		return len(own) > 2 && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, own) })
	})
}

// likeServiceName is LikeService for the name that was given to this service.
func (v View) likeServiceName(name string) bool {
	own := Skeleton(v.Settings().ServiceName())
	return own != "" && (Skeleton(name) == own || spells(words(name, ""), own, false))
}

// spells reports whether some consecutive words are a text or, if within is set, whether a word
// contains it. "Peppermint Markets" doesn't spell "mintmark".
func spells(words []string, text string, within bool) bool {
	for i := range words {
		if within && strings.Contains(words[i], text) {
			return true
		}
		rest := text
		for _, word := range words[i:] {
			after, found := strings.CutPrefix(rest, word)
			if !found {
				break
			}
			if rest = after; rest == "" {
				return true
			}
		}
	}
	return false
}

// looks returns what other names are compared with to find out whether they look like p's.
func (p *Publisher) looks() []string {
	if p.State != PublisherApproved {
		return nil
	}
	return slices.DeleteFunc([]string{Skeleton(p.Name), Skeleton(p.Host)}, func(s string) bool { return s == "" })
}

// looks is like Publisher.looks. Names of clients with a document are not protected: nobody has
// reviewed most of them.
func (c *Client) looks() string {
	if c.State != Approved || c.Document != nil {
		return ""
	}
	return Skeleton(c.Name)
}

// likeAnother returns why the name of a client of a publisher could be taken for another
// publisher's, or for the name of a client that was approved here, or "".
func (v View) likeAnother(name, publisher string) string {
	look := Skeleton(name) // no row is indexed by an empty one
	for p := range rows[Publisher](v, TablePublishers, indexLooks, look) {
		if p.Host != publisher {
			return "is like that of the publisher " + p.Host
		}
	}
	if first[Client](v, TableClients, indexLooks, look) != nil {
		return "is like that of another application"
	}
	return ""
}

// Names returns the name of c and, if it differs, the proposed one. A deleted client has none.
func (c *Client) Names() []string {
	switch {
	case c.State == Deleted:
		return nil
	case c.Proposed != nil && c.Proposed.Name != c.Name:
		return []string{c.Name, c.Proposed.Name}
	}
	return []string{c.Name}
}

func (c *Client) namesakeKeys() []string {
	var keys []string
	for _, name := range c.Names() {
		keys = append(keys, namesakeKey(name))
	}
	return slices.Compact(keys)
}

// namesakeKey is the Skeleton of a name in which ß is ss, as it is in capitals. A name of signs
// alone has itself.
func namesakeKey(name string) string {
	return cmp.Or(Skeleton(sharpS.Replace(name)), fold(name))
}

var sharpS = strings.NewReplacer("ß", "ss", "ẞ", "ss")

// Namesakes returns the clients, in order of id, that have or propose a name which looks like
// name.
func (v View) Namesakes(name string) iter.Seq[*Client] {
	return rows[Client](v, TableClients, indexNamesakes, namesakeKey(name))
}

// foreign reports whether r looks like ASCII letters or digits but is neither one of them nor a
// letter of Latin with an accent.
func foreign(r rune) bool {
	_, known := readings[r]
	return known && (r < 0xaa || r > 0x24f) && (r < 0x1e00 || r > 0x1eff)
}

// unclearName returns why readers could take a user name for another one, or "": it can be read as
// ASCII although it is of another script or of several, and a user has that name or it has letters
// of ASCII too.
func (v View) unclearName(name, id string) string {
	read := reading(name)
	if !strings.ContainsFunc(name, foreign) || strings.ContainsFunc(read, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return ""
	}
	if strings.ContainsFunc(strings.ToLower(name), func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return "mixes letters of several scripts that look alike"
	}
	if other := v.UserByName(read); other != nil && other.ID != id {
		return "looks like the name of another user"
	}
	return ""
}
