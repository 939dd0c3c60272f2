package web

import (
	"net/url"
	"slices"
)

// A pager leads through a list. An empty address is none. First is for lists
// that are only read forwards.
type pager struct{ First, Back, Next string }

// A search is the form above a list, and what was searched for.
type search struct{ Action, Label, Query string }

// maxSearch bounds what is searched for, in bytes.
const maxSearch = 200

// searchOf reads what the call searches for.
func searchOf(c *call, label string) search {
	q := c.r.URL.Query().Get("q")
	return search{Action: c.r.URL.Path, Label: label, Query: q[:min(len(q), maxSearch)]}
}

// pageOf is the part of a list that a call asks for, with the key of the entry
// before it in its query. A key that is not there, of an entry that is gone,
// means the beginning.
func pageOf[E any](c *call, list []E, size int, key func(E) string) ([]E, pager) {
	from := 0
	if after := c.r.URL.Query().Get("after"); after != "" {
		from = 1 + slices.IndexFunc(list, func(e E) bool { return key(e) == after })
	}
	to := min(from+size, len(list))
	var p pager
	switch back := from - size; {
	case from == 0:
	case back <= 0:
		p.Back = c.pageAfter("")
	default:
		p.Back = c.pageAfter(key(list[back-1]))
	}
	if to < len(list) {
		p.Next = c.pageAfter(key(list[to-1]))
	}
	return list[from:to], p
}

// pageAfter is the address of the call's list from another entry on.
func (c *call) pageAfter(key string) string {
	query := c.r.URL.Query()
	query.Del("done")
	query.Del("after")
	if key != "" {
		query.Set("after", key)
	}
	return (&url.URL{Path: c.r.URL.Path, RawQuery: query.Encode()}).String()
}
