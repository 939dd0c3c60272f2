package web

import (
	"crypto/hmac"
	"net/url"
	"strings"
)

// notices are the sentences at the top of a page after an action, by the word in the
// query: done=word.token. Without the token, anybody could make a link to a page that
// reports something that was never done.
type notices map[string]string

// text returns the notice of the request, or "" for none and for an unknown word.
func (n notices) text(c *request) string { return n[c.notice()] }

// redirectNotice redirects to a page with a notice.
func (c *request) redirectNotice(page string, n notices, word string) error {
	if n[word] == "" {
		panic("web: no notice says " + word)
	}
	path, err := url.PathUnescape(page)
	if err != nil {
		panic("web: not a path: " + page)
	}
	return c.redirect(page + "?done=" + signNotice(c.sessionID, c.user, path, word))
}

// notice returns the verified word of the request. It stays in the address, so that a
// reload shows it again.
func (c *request) notice() string {
	return verifyNotice(c.r.URL.Query().Get("done"), c.sessionID, c.user, c.r.URL.Path)
}

// signNotice returns a word with a token that proves that it was made for a browser with
// that key and for that page.
func signNotice(key, user, path, word string) string {
	return word + "." + noticeToken(key, user, path, word)
}

// verifyNotice returns the word in the result of signNotice, or "" for any other text.
func verifyNotice(text, key, user, path string) string {
	word, token, _ := strings.Cut(text, ".")
	if key == "" || !hmac.Equal([]byte(token), []byte(noticeToken(key, user, path, word))) {
		return ""
	}
	return word
}

// noticeToken returns a token of 96 bits, to keep the address short.
func noticeToken(key, user, path, word string) string {
	return formToken(key, forNotice, user, path+"\x00"+word)[:16]
}
