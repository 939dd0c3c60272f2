package site

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Matches reports whether a text contains the search, ignoring case.
func Matches(s ui.Search, text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(s.Query))
}

// MaxSearch is the maximum length of a search, in bytes.
const MaxSearch = 200

// SearchOf returns the search of the request.
func SearchOf(c *Request, label string) ui.Search {
	q := c.R.URL.Query().Get("q")
	return ui.Search{Action: c.R.URL.Path, Label: label, Query: q[:min(len(q), MaxSearch)]}
}

// CountOf returns which rows of its list a page has, such as "1–25 of 207", or "13 users" if it has all
// of them; "" if that is unknown.
func CountOf(at ledger.Position, rows int, thing string) string {
	switch {
	case at.First == 0 || rows == 0:
		return ""
	case at.Exact && rows == at.Total:
		return ui.Plural(rows, thing)
	case at.Exact:
		return ui.Range(at.First, at.First+rows-1, at.Total)
	}
	return ui.Comma(at.First) + "–" + ui.Comma(at.First+rows-1) + " of more than " + ui.Comma(at.Total)
}

// SortColumn returns the head of a column by which the request's list can be ordered: order is what
// "sort" has in the address, and direction that order. If not all of the list can be read, the head
// has no link.
func SortColumn(c *Request, title, order, direction string, at ledger.Position) ui.Column {
	query := c.R.URL.Query()
	column := ui.Column{Title: title}
	if query.Get("sort") == order {
		column.Order = direction
	}
	for _, name := range []string{"done", "of", "after", "before", "jump", "sort"} {
		query.Del(name)
	}
	if order != "" {
		query.Set("sort", order)
	}
	if at.Exact {
		column.Sort = (&url.URL{Path: c.R.URL.Path, RawQuery: query.Encode()}).String()
	}
	return column
}

// PageOf returns the page of a list that a request names by the key of the previous
// page's last entry. An unknown key, as of a removed entry, gives the first page.
func PageOf[E any](c *Request, list []E, size int, key func(E) string) ([]E, ui.Pager) {
	from := 0
	if after := c.R.URL.Query().Get("after"); after != "" {
		from = 1 + slices.IndexFunc(list, func(e E) bool { return key(e) == after })
	}
	to := min(from+size, len(list))
	var p ui.Pager
	switch back := from - size; {
	case from == 0:
	case back <= 0:
		p.Back = c.PageAt("after", "")
	default:
		p.Back = c.PageAt("after", key(list[back-1]))
	}
	if to < len(list) {
		p.Next = c.PageAt("after", key(list[to-1]))
	}
	return list[from:to], p
}

// PositionIn returns the position of a page of PageOf in its list.
func PositionIn[E comparable](all, page []E) ledger.Position {
	at := ledger.Position{Total: len(all), Exact: true}
	if len(page) > 0 {
		at.First = slices.Index(all, page[0]) + 1
	}
	return at
}

// PageBy is PageOf for a list that the ledger returns in pages. read returns the page
// after an entry or, with back, before it, and where to continue in that direction, "" at
// the end. Instead of a short page at the beginning, PageBy returns the first page. With "jump" in the
// address, read("", false) returns a page that may have others before it.
func PageBy[E any](c *Request, read func(at string, back bool) (found []E, next string), key func(E) string) ([]E, ui.Pager) {
	query := c.R.URL.Query()
	after := query.Get("after")
	if before := query.Get("before"); before != "" {
		found, earlier := read(before, true)
		if earlier != "" {
			last := earlier
			if len(found) > 0 {
				last = key(found[len(found)-1])
			}
			return found, ui.Pager{First: c.PageAt("after", ""), Back: c.PageAt("before", earlier), Next: c.PageAt("after", last)}
		}
		after = ""
	}
	found, next := read(after, false)
	var p ui.Pager
	if after != "" || query.Get("jump") != "" {
		p.First = c.PageAt("after", "")
		if len(found) > 0 {
			p.Back = c.PageAt("before", key(found[0]))
		}
	}
	if next != "" {
		p.Next = c.PageAt("after", next)
	}
	return found, p
}

// Below makes the links of p lead to the list within the page.
func Below(p ui.Pager, id string) ui.Pager {
	for _, address := range []*string{&p.First, &p.Back, &p.Next} {
		if before, _, _ := strings.Cut(*address, "#"); before != "" {
			*address = before + "#" + id
		}
	}
	return p
}

// PageAt returns the address of the request's list "after" or "before" an entry, or of
// its first page for an empty key.
func (c *Request) PageAt(side, key string) string {
	query := c.R.URL.Query()
	for _, name := range []string{"done", "of", "after", "before", "jump"} {
		query.Del(name)
	}
	if key != "" {
		query.Set(side, key)
	}
	return (&url.URL{Path: c.R.URL.Path, RawQuery: query.Encode()}).String()
}
