package admin

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// lettersOf returns links to the first names with each letter of a list in the order of its names, none
// if it is not. several reports that the list has more than one page. initials returns the letters.
func lettersOf(c *site.Request, several bool, initials func() string) (links []ui.Link) {
	query := c.R.URL.Query()
	if query.Get("q") != "" || query.Get("sort") != "" || !several {
		return nil
	}
	for _, letter := range initials() {
		links = append(links, ui.Link{Title: strings.ToUpper(string(letter)), Path: c.PageAt("jump", string(letter))})
	}
	return links
}

// jumpOf returns the letter to which a request jumps, or "".
func jumpOf(c *site.Request) string {
	jump := c.R.URL.Query().Get("jump")
	return jump[:min(len(jump), 1)]
}
