package web

import (
	"context"
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
)

// How long a page waits before it continues without the result.
const (
	waitApplied = 100 * time.Millisecond // until the node has applied this browser's last command; then it asks for a fresh view
	waitFresh   = 2 * time.Second        // until a fresh view arrives; then the page is unavailable
	waitTouch   = time.Second            // until a session's idle time is updated; then it stays
)

// A session is the user of a request, by a view of the ledger. User and session are nil
// if nobody is signed in.
type session struct {
	view        ledger.View
	id          string // the session id in the browser's cookie; the session may have ended
	user        *ledger.User
	stored      *ledger.Session
	web         *Web
	unavailable bool // this node can't determine whether somebody is signed in, and no fresh view is available
}

func (v *session) actor() ledger.Actor { return ledger.Actor{Session: credential.SessionDigest(v.id)} }

// loadSession reads the session cookie and looks the session up, in a view that includes
// the browser's own last command: only such a view proves that nobody is signed in. A
// node without contact to the leader may have missed the end of a session, so it needs a
// fresh view too.
func (w *Web) loadSession(c *request) session {
	v := session{web: w}
	id, index, err := w.sessionCookie(c.r)
	if err != nil {
		v.view, v.unavailable = w.config.Ledger.View(), true
		return v
	}
	var holds bool
	v.id = id
	v.view, holds = w.viewAt(c.r.Context(), index)
	if v.id == "" {
		return v
	}
	w.lookupSession(c, &v)
	if v.user == nil && !holds || !w.config.Ledger.InTouch() {
		fresh, err := w.freshFor(c.r.Context(), c)
		if err != nil {
			v.unavailable, v.user, v.stored, c.user = true, nil, nil, ""
			return v
		}
		v.view = fresh
		w.lookupSession(c, &v)
	}
	if v.user != nil && !c.isHead() && v.stored.StaleSeen(w.config.Ledger.Now()) {
		w.touch(c, &v)
	}
	return v
}

func (w *Web) lookupSession(c *request, v *session) {
	v.user, v.stored = v.view.SignedIn(credential.SessionDigest(v.id), w.config.Ledger.Now())
	if c.user = ""; v.user != nil {
		c.user = v.user.ID
	}
}

// touch updates Session.Seen. If that is not possible now, the page is shown nevertheless.
func (w *Web) touch(c *request, v *session) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitTouch)
	defer cancel()
	out, index, err := w.config.Ledger.Propose(ctx, &ledger.TouchSession{Session: v.stored.ID})
	if err == nil && out.Refusal == nil && !out.Unknown {
		w.setSession(c, v.id, index)
	}
}

// viewAt returns a view for a browser whose last command has the given index. holds
// reports whether the view includes that command. A node that doesn't apply the command
// within waitApplied requests a fresh view, which counts as including it even if its
// index is lower: a cookie may be older than a restore from a backup.
func (w *Web) viewAt(ctx context.Context, index uint64) (view ledger.View, holds bool) {
	if index == 0 {
		return w.config.Ledger.View(), false
	}
	waiting, cancel := context.WithTimeout(ctx, waitApplied)
	defer cancel()
	view, err := w.config.Ledger.ViewAt(waiting, index)
	if err == nil {
		return view, true
	}
	looking, cancel := context.WithTimeout(ctx, waitFresh)
	defer cancel()
	if view, err = w.config.Ledger.ViewPaced(looking); err == nil {
		return view, true
	}
	return w.config.Ledger.View(), false // sufficient to show a page, since the leader decides commands
}

func (w *Web) fresh(ctx context.Context) (ledger.View, error) {
	ctx, cancel := context.WithTimeout(ctx, waitFresh)
	defer cancel()
	return w.config.Ledger.ViewFresh(ctx)
}

// freshFor is fresh for a request that may have no session. Requests without one share a
// bounded number of fresh views, to bound the load on the leader.
func (w *Web) freshFor(ctx context.Context, c *request) (ledger.View, error) {
	if c.user != "" {
		return w.fresh(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, waitFresh)
	defer cancel()
	return w.config.Ledger.ViewPaced(ctx)
}

// cookieName adds the cookie prefix by which browsers guarantee that this host set the
// cookie over https, for all paths (RFC 6265bis §4.1.3.2).
func (w *Web) cookieName(name string) string {
	if w.config.Secure {
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

// sessionCookie returns the session id and the index of the browser's last command, or
// zero values if the browser sent no cookie that this cluster sealed. A cookie that can't
// be opened is not removed from the browser: it may belong to another server on the same
// host, since cookies don't distinguish ports. The only error is oauth.ErrUnavailable.
func (w *Web) sessionCookie(r *http.Request) (id string, index uint64, err error) {
	cookie, err := r.Cookie(w.cookieName(sessionCookie))
	if err != nil || len(cookie.Value) > maxCookie {
		return "", 0, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitFresh)
	defer cancel()
	plain, err := w.config.Sessions.OpenSession(ctx, cookie.Value)
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

// setSession sets the browser's session cookie. It has no Max-Age: it ends with the
// browser, or earlier with the session.
func (w *Web) setSession(c *request, id string, index uint64) {
	plain := append(binary.BigEndian.AppendUint64(nil, index), id...)
	w.setCookie(c, sessionCookie, w.config.Sessions.SealSession(plain), 0)
}

func (w *Web) dropSession(c *request) {
	w.setCookie(c, sessionCookie, "", -1)
	clearBackCache(c.Header())
}

func (w *Web) setCookie(c *request, name, value string, maxAge int) {
	w.putCookie(c, &http.Cookie{Name: w.cookieName(name), Value: value, Path: "/", MaxAge: maxAge})
}

// putCookie sets a cookie for this host that scripts can't read.
func (w *Web) putCookie(c *request, cookie *http.Cookie) {
	cookie.HttpOnly, cookie.Secure, cookie.SameSite = true, w.config.Secure, http.SameSiteLaxMode
	// A later cookie replaces an earlier one with the same name: a response must not set
	// a cookie twice (RFC 6265 §4.1.1).
	h := c.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool {
		return strings.HasPrefix(line, cookie.Name+"=")
	})
	http.SetCookie(c, cookie)
}
