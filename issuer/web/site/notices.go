package site

import (
	"crypto/hmac"
	"net/url"
	"strings"
)

// HomeNotices are the notices of the home page.
var HomeNotices = Notices{
	"waits": "You are signed in. Go back to the other tab to go on to the application.",
}

// Notices are the sentences at the top of a page after an action, by the word in the
// query: done=word.token. Without the token, anybody could make a link to a page that
// reports something that was never done.
type Notices map[string]string

// Text returns the notice of the request, or "" for none and for an unknown word.
func (n Notices) Text(c *Request) string { return n[c.Notice()] }

// RedirectNotice redirects to a page with a notice.
func (c *Request) RedirectNotice(page string, n Notices, word string) error {
	if n[word] == "" {
		panic("web: no notice says " + word)
	}
	path, err := url.PathUnescape(page)
	if err != nil {
		panic("web: not a path: " + page)
	}
	return c.Redirect(page + "?done=" + SignNotice(c.SessionID, c.User, path, word))
}

// Notice returns the verified word of the request. It stays in the address, so that a
// reload shows it again.
func (c *Request) Notice() string {
	return VerifyNotice(c.R.URL.Query().Get("done"), c.SessionID, c.User, c.R.URL.Path)
}

// SignNotice returns a word with a token that proves that it was made for a browser with
// that key and for that page.
func SignNotice(key, user, path, word string) string {
	return word + "." + noticeToken(key, user, path, word)
}

// VerifyNotice returns the word in the result of SignNotice, or "" for any other text.
func VerifyNotice(text, key, user, path string) string {
	word, token, _ := strings.Cut(text, ".")
	if key == "" || !hmac.Equal([]byte(token), []byte(noticeToken(key, user, path, word))) {
		return ""
	}
	return word
}

// noticeToken returns a token of 96 bits, to keep the address short.
func noticeToken(key, user, path, word string) string {
	return FormToken(key, forNotice, user, path+"\x00"+word)[:16]
}
