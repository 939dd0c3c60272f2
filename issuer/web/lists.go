package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// maxSearch is the maximum length of a search, in bytes.
const maxSearch = 200

// searchOf returns the search of the request.
func searchOf(c *request, label string) ui.Search {
	q := c.r.URL.Query().Get("q")
	return ui.Search{Action: c.r.URL.Path, Label: label, Query: q[:min(len(q), maxSearch)]}
}

// pageOf returns the page of a list that a request names by the key of the previous
// page's last entry. An unknown key, as of a removed entry, gives the first page.
func pageOf[E any](c *request, list []E, size int, key func(E) string) ([]E, ui.Pager) {
	from := 0
	if after := c.r.URL.Query().Get("after"); after != "" {
		from = 1 + slices.IndexFunc(list, func(e E) bool { return key(e) == after })
	}
	to := min(from+size, len(list))
	var p ui.Pager
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

// pageBy is pageOf for a list that the ledger returns in pages. read returns the page
// after an entry or, with back, before it, and where to continue in that direction, "" at
// the end. Instead of a short page at the beginning, pageBy returns the first page.
func pageBy[E any](c *request, read func(at string, back bool) (found []E, next string), key func(E) string) ([]E, ui.Pager) {
	query := c.r.URL.Query()
	after := query.Get("after")
	if before := query.Get("before"); before != "" {
		found, earlier := read(before, true)
		if earlier != "" {
			last := earlier
			if len(found) > 0 {
				last = key(found[len(found)-1])
			}
			return found, ui.Pager{First: c.pageAt("after", ""), Back: c.pageAt("before", earlier), Next: c.pageAt("after", last)}
		}
		after = ""
	}
	found, next := read(after, false)
	var p ui.Pager
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

// below makes the links of p lead to the list within the page.
func below(p ui.Pager, id string) ui.Pager {
	for _, address := range []*string{&p.First, &p.Back, &p.Next} {
		if before, _, _ := strings.Cut(*address, "#"); before != "" {
			*address = before + "#" + id
		}
	}
	return p
}

// pageAt returns the address of the request's list "after" or "before" an entry, or of
// its first page for an empty key.
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
