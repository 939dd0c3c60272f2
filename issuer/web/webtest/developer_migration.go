package webtest

import (
	"html"
)

// unescaped returns the text that a user copies from a page.
func unescaped(page Answer) string { return html.UnescapeString(page.Text) }
