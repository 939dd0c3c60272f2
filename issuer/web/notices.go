package web

import (
	"crypto/hmac"
	"net/url"
	"strings"
)

// notices are the sentences that a page can begin with after something was
// done, by the word for it in the query: done=word.token. Without the token anybody
// could make a link to a page that says what was never done.
type notices map[string]string

// text is what the call asks for; "" for none and for an unknown word.
func (n notices) text(c *request) string { return n[c.notice()] }

// redirectNotice goes on to a page that says so.
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

// notice is the word of what this session has done. It stays in the address, so that
// the page says it again when it is reloaded.
func (c *request) notice() string {
	return verifyNotice(c.r.URL.Query().Get("done"), c.sessionID, c.user, c.r.URL.Path)
}

// signNotice is a word with proof that it was said to a browser with that key, on
// the way to a page.
func signNotice(key, user, path, word string) string {
	return word + "." + noticeToken(key, user, path, word)
}

// verifyNotice is the word of what signNotice made, and "" for anything else.
func verifyNotice(text, key, user, path string) string {
	word, token, _ := strings.Cut(text, ".")
	if key == "" || !hmac.Equal([]byte(token), []byte(noticeToken(key, user, path, word))) {
		return ""
	}
	return word
}

// noticeToken is of 96 bits: the address shall be short.
func noticeToken(key, user, path, word string) string {
	return formToken(key, forNotice, user, path+"\x00"+word)[:16]
}
