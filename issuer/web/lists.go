package web

import (
	"net/url"
	"slices"
	"strings"
)

// A pager leads through a list. An empty address is none. First is for lists of
// which nobody knows how long they are.
type pager struct{ First, Back, Next string }

// A search is the form above a list, and what was searched for.
type search struct{ Action, Label, Query string }

// maxSearch bounds what is searched for, in bytes.
const maxSearch = 200

// searchOf reads what the call searches for.
func searchOf(c *request, label string) search {
	q := c.r.URL.Query().Get("q")
	return search{Action: c.r.URL.Path, Label: label, Query: q[:min(len(q), maxSearch)]}
}

// pageOf is the part of a list that a call asks for, with the key of the entry
// before it in its query. A key that is not there, of an entry that is gone,
// means the beginning.
func pageOf[E any](c *request, list []E, size int, key func(E) string) ([]E, pager) {
	from := 0
	if after := c.r.URL.Query().Get("after"); after != "" {
		from = 1 + slices.IndexFunc(list, func(e E) bool { return key(e) == after })
	}
	to := min(from+size, len(list))
	var p pager
	switch back := from - size; {
	case from == 0:
	case back <= 0:
		p.Back = c.pageAt("after", "")
	default:
		p.Back = c.pageAt("after", key(list[back-1]))
	}
	if to < len(list) {
		p.Next = c.pageAt("after", key(list[to-1]))
	}
	return list[from:to], p
}

// pageBy is pageOf for a list that the ledger has in pages. read is the page that
// comes after an entry, or with back the one before it, and where that way goes
// on, "" at the end. A page that would begin the list, and may be short, is the
// first one instead.
func pageBy[E any](c *request, read func(at string, back bool) (found []E, next string), key func(E) string) ([]E, pager) {
	query := c.r.URL.Query()
	after := query.Get("after")
	if before := query.Get("before"); before != "" {
		found, earlier := read(before, true)
		if earlier != "" {
			last := earlier
			if len(found) > 0 {
				last = key(found[len(found)-1])
			}
			return found, pager{First: c.pageAt("after", ""), Back: c.pageAt("before", earlier), Next: c.pageAt("after", last)}
		}
		after = ""
	}
	found, next := read(after, false)
	var p pager
	if after != "" {
		p.First = c.pageAt("after", "")
		if len(found) > 0 {
			p.Back = c.pageAt("before", key(found[0]))
		}
	}
	if next != "" {
		p.Next = c.pageAt("after", next)
	}
	return found, p
}

// below leads to the part of the page in which the list is.
func (p pager) below(id string) pager {
	for _, address := range []*string{&p.First, &p.Back, &p.Next} {
		if before, _, _ := strings.Cut(*address, "#"); before != "" {
			*address = before + "#" + id
		}
	}
	return p
}

// pageAt is the address of the call's list "after" or "before" an entry; of its
// beginning where the key is empty.
func (c *request) pageAt(side, key string) string {
	query := c.r.URL.Query()
	for _, name := range []string{"done", "after", "before"} {
		query.Del(name)
	}
	if key != "" {
		query.Set(side, key)
	}
	return (&url.URL{Path: c.r.URL.Path, RawQuery: query.Encode()}).String()
}
