package webtest

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// Noticed returns the address of a page with a notice, as a redirect to it has it.
func (b *Browser) Noticed(path, word string) string {
	return path + "?" + url.Values{"done": {site.SignNotice(b.Session(), b.UserID, path, word)}}.Encode()
}

var noticeToken = regexp.MustCompile(`(\?done=[a-z-]+)\.[A-Za-z0-9_-]{16}$`)

// LeadsTo returns the target of a redirect, without the token of a notice.
func LeadsTo(res Answer) string {
	return noticeToken.ReplaceAllString(res.Header.Get("Location"), "$1")
}

// ShowsNotice reports whether a page begins with a notice.
func (b *Browser) ShowsNotice(address string) bool {
	b.Env.T.Helper()
	page := b.Get(address)
	require.Equal(b.Env.T, http.StatusOK, page.StatusCode)
	return strings.Contains(page.Text, `class="callout good notice" role="status"`)
}
