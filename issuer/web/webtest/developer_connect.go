package webtest

import (
	"regexp"
	"strings"
)

var copied = regexp.MustCompile(`(?s)<pre id="[^"]*" tabindex="0" role="region" aria-label="[^"]*">(.*?)</pre>`)

// Blocks returns the code blocks of a page.
func (a Answer) Blocks() []string {
	var all []string
	for _, m := range copied.FindAllStringSubmatch(unescaped(a), -1) {
		all = append(all, strings.ReplaceAll(m[1], "<br>", ""))
	}
	return all
}
