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
	return c.RedirectNoticeOf(page, n, word, "")
}

// RedirectNoticeOf redirects to a page with a notice about something that is not the page's own:
// of is its id, which NoticeOf returns there.
func (c *Request) RedirectNoticeOf(page string, n Notices, word, of string) error {
	if n[word] == "" {
		panic("web: no notice says " + word)
	}
	page, anchor, anchored := strings.Cut(page, "#")
	path, err := url.PathUnescape(page)
	if err != nil {
		panic("web: not a path: " + page)
	}
	query := "?done=" + SignNotice(c.SessionID, c.User, noticeAt(path, of), word)
	if of != "" {
		query += "&of=" + url.QueryEscape(of)
	}
	if anchored {
		query += "#" + anchor
	}
	return c.Redirect(page + query)
}

// Notice returns the verified word of the request. It stays in the address, so that a
// reload shows it again.
func (c *Request) Notice() string {
	return VerifyNotice(c.R.URL.Query().Get("done"), c.SessionID, c.User, noticeAt(c.R.URL.Path, c.R.URL.Query().Get("of")))
}

// NoticeOf returns the verified id of what the notice is about, or "" for none.
func (c *Request) NoticeOf() string {
	if c.Notice() == "" {
		return ""
	}
	return c.R.URL.Query().Get("of")
}

// noticeAt returns what the token of a notice is bound to: the page, and what it is about.
func noticeAt(path, of string) string {
	if of == "" {
		return path
	}
	return path + "\x00" + of
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
