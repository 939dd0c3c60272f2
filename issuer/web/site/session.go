package site

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// SessionText returns a text that identifies a session and reveals nothing of its id.
func SessionText(v *Session) string {
	digest := credential.SessionDigest(v.ID)
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// How long a page waits before it continues without the result.
const (
	waitApplied = 100 * time.Millisecond // until the node has applied this browser's last command; then it asks for a fresh view
	WaitFresh   = 2 * time.Second        // until a fresh view arrives; then the page is unavailable
	waitTouch   = time.Second            // until a session's idle time is updated; then it stays
)

// A Session is the user of a request, by a view of the ledger. User and session are nil
// if nobody is signed in.
type Session struct {
	View        ledger.View
	ID          string // the session id in the browser's cookie; the session may have ended
	User        *ledger.User
	Stored      *ledger.Session
	site        *Site
	clock       *ui.Clock // of Clock, once it was asked for: a text in the profile that is no zone takes long to look up
	Unavailable bool      // this node can't determine whether somebody is signed in, and no fresh view is available
}

// Actor returns the session as the actor of a command.
func (v *Session) Actor() ledger.Actor { return ledger.Actor{Session: credential.SessionDigest(v.ID)} }

// LoadSession reads the session cookie and looks the session up, in a view that includes
// the browser's own last command: only such a view proves that nobody is signed in. A
// node without contact to the leader may have missed the end of a session, so it needs a
// fresh view too.
func (w *Site) LoadSession(c *Request) Session {
	v := Session{site: w}
	id, index, err := w.SessionCookie(c.R)
	if err != nil {
		v.View, v.Unavailable = w.Ledger.View(), true
		return v
	}
	var holds bool
	v.ID = id
	v.View, holds = w.ViewAt(c.R.Context(), index)
	if v.ID == "" {
		return v
	}
	w.LookupSession(c, &v)
	if v.User == nil && !holds || !w.Ledger.InTouch() {
		fresh, err := w.FreshFor(c.R.Context(), c)
		if err != nil {
			v.Unavailable, v.User, v.Stored, c.User = true, nil, nil, ""
			return v
		}
		v.View = fresh
		w.LookupSession(c, &v)
	}
	if v.User != nil && !c.IsHead() && v.Stored.StaleSeen(w.Ledger.Now()) {
		w.touch(c, &v)
	}
	return v
}

// LookupSession sets the user and the session of v from its view.
func (w *Site) LookupSession(c *Request, v *Session) {
	v.User, v.Stored = v.View.SignedIn(credential.SessionDigest(v.ID), w.Ledger.Now())
	if c.User = ""; v.User != nil {
		c.User = v.User.ID
	}
}

// touch updates Session.Seen. If that is not possible now, the page is shown nevertheless.
func (w *Site) touch(c *Request, v *Session) {
	ctx, cancel := context.WithTimeout(c.R.Context(), waitTouch)
	defer cancel()
	out, index, err := w.Ledger.Propose(ctx, &ledger.TouchSession{Session: v.Stored.ID})
	if err == nil && out.Refusal == nil && !out.Unknown {
		w.SetSession(c, v.ID, index)
	}
}

// ViewAt returns a view for a browser whose last command has the given index. holds
// reports whether the view includes that command. A node that doesn't apply the command
// within waitApplied requests a fresh view, which counts as including it even if its
// index is lower: a cookie may be older than a restore from a backup.
func (w *Site) ViewAt(ctx context.Context, index uint64) (view ledger.View, holds bool) {
	if index == 0 {
		return w.Ledger.View(), false
	}
	waiting, cancel := context.WithTimeout(ctx, waitApplied)
	defer cancel()
	view, err := w.Ledger.ViewAt(waiting, index)
	if err == nil {
		return view, true
	}
	looking, cancel := context.WithTimeout(ctx, WaitFresh)
	defer cancel()
	if view, err = w.Ledger.ViewPaced(looking); err == nil {
		return view, true
	}
	return w.Ledger.View(), false // sufficient to show a page, since the leader decides commands
}

// Fresh returns a view that includes every command that was answered before.
func (w *Site) Fresh(ctx context.Context) (ledger.View, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitFresh)
	defer cancel()
	return w.Ledger.ViewFresh(ctx)
}

// FreshFor is Fresh for a request that may have no session. Requests without one share a
// bounded number of fresh views, to bound the load on the leader.
func (w *Site) FreshFor(ctx context.Context, c *Request) (ledger.View, error) {
	if c.User != "" {
		return w.Fresh(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, WaitFresh)
	defer cancel()
	return w.Ledger.ViewPaced(ctx)
}

// CookieName adds the cookie prefix by which browsers guarantee that this host set the
// cookie over https, for all paths (RFC 6265bis §4.1.3.2).
func (w *Site) CookieName(name string) string {
	if w.Secure {
		return "__Host-" + name
	}
	return name
}

const (
	sessionCookie = "mintmark"
	formCookie    = "mintmark-form"
	maxCookie     = 256
)

// Sessions seals the session cookie, so that a node recognizes a forged cookie without
// asking the leader. Every node must be able to open what another one sealed. The error
// of OpenSession is oauth.ErrUnavailable if the node can't determine now whether the text
// was sealed by the cluster.
type Sessions interface {
	SealSession(plain []byte) string
	OpenSession(ctx context.Context, text string) ([]byte, error)
}

// SessionCookie returns the session id and the index of the browser's last command, or
// zero values if the browser sent no cookie that this cluster sealed. A cookie that can't
// be opened is not removed from the browser: it may belong to another server on the same
// host, since cookies don't distinguish ports. The only error is oauth.ErrUnavailable.
func (w *Site) SessionCookie(r *http.Request) (id string, index uint64, err error) {
	cookie, err := r.Cookie(w.CookieName(sessionCookie))
	if err != nil || len(cookie.Value) > maxCookie {
		return "", 0, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), WaitFresh)
	defer cancel()
	plain, err := w.Sessions.OpenSession(ctx, cookie.Value)
	switch {
	case errors.Is(err, oauth.ErrUnavailable):
		return "", 0, fmt.Errorf("open the session cookie: %w", err)
	case err != nil || len(plain) <= indexSize:
		return "", 0, nil
	}
	return string(plain[indexSize:]), binary.BigEndian.Uint64(plain), nil
}

// indexSize is the size in bytes of the index before the session id.
const indexSize = 8

// SetSession sets the browser's session cookie. It has no Max-Age: it ends with the
// browser, or earlier with the session.
func (w *Site) SetSession(c *Request, id string, index uint64) {
	plain := append(binary.BigEndian.AppendUint64(nil, index), id...)
	w.SetCookie(c, sessionCookie, w.Sessions.SealSession(plain), 0)
}

// DropSession removes the session from the browser, and the pages that it may have stored.
func (w *Site) DropSession(c *Request) {
	w.SetCookie(c, sessionCookie, "", -1)
	clearBackCache(c.Header())
}

// SetCookie sets a cookie for all paths. maxAge is in seconds; 0 ends the cookie with the
// browser, and a negative value removes it.
func (w *Site) SetCookie(c *Request, name, value string, maxAge int) {
	w.PutCookie(c, &http.Cookie{Name: w.CookieName(name), Value: value, Path: "/", MaxAge: maxAge})
}

// PutCookie sets a cookie for this host that scripts can't read.
func (w *Site) PutCookie(c *Request, cookie *http.Cookie) {
	cookie.HttpOnly, cookie.Secure, cookie.SameSite = true, w.Secure, http.SameSiteLaxMode
	// A later cookie replaces an earlier one with the same name: a response must not set
	// a cookie twice (RFC 6265 §4.1.1).
	h := c.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool {
		return strings.HasPrefix(line, cookie.Name+"=")
	})
	http.SetCookie(c, cookie)
}
