package webtest

import (
	"html"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Read reads the body of a response that may exceed the usual size of a page, since it
// contains a long request.
func (a Answer) Read(t *testing.T) Answer {
	t.Helper()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	a.Text = string(text)
	return a
}

var continueLink = regexp.MustCompile(`<a href="([^"]*)">I’m signed in, continue</a>`)

// Continues returns the link of a page for a user who has signed in in another tab.
func (a Answer) Continues() string {
	m := continueLink.FindStringSubmatch(a.Text)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}
