package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// How long a page waits before it makes do with less.
const (
	waitApplied = time.Second     // for this browser's last command; then the node's own state
	waitFresh   = 2 * time.Second // for a fresh view; then the page is not available
	waitTouch   = time.Second     // for a session's idle time to move on; then it stays
)

// A visit is who is in front of the page, by a view of the ledger. User and
// session are nil where nobody is signed in.
type visit struct {
	view    ledger.View
	id      string // the session id the browser sent; it may be nobody's
	user    *ledger.User
	session *ledger.Session
	unsure  bool // this node can't tell whether somebody is signed in, and no fresh view could be had
}

func (v *visit) actor() ledger.Actor { return ledger.Actor{Session: credential.SessionDigest(v.id)} }

// visit reads the session cookie. It looks at a view that has the browser's
// own last command applied, and before it says that nobody is signed in, at a
// fresh one. A node that is cut off may not know that a session has ended, so it
// needs a fresh view too.
func (w *Web) visit(c *call) visit {
	v := visit{}
	var index uint64
	v.id, index = w.sessionCookie(c.r)
	v.view = w.viewAt(c.r.Context(), index)
	if v.id == "" {
		return v
	}
	w.look(c, &v)
	if v.user == nil || !w.config.Ledger.InTouch() {
		fresh, err := w.fresh(c.r.Context())
		if err != nil {
			v.unsure, v.user, v.session, c.user = true, nil, nil, ""
			return v
		}
		v.view = fresh
		w.look(c, &v)
	}
	if v.user != nil && !c.head() && v.session.StaleSeen(w.config.Ledger.Now()) {
		w.touch(c, &v)
	}
	return v
}

func (w *Web) look(c *call, v *visit) {
	v.user, v.session = v.view.SignedIn(credential.SessionDigest(v.id), w.config.Ledger.Now())
	if c.user = ""; v.user != nil {
		c.user = v.user.ID
	}
}

// touch moves the session's idle time on. A page does not fail because that
// could not be done now.
func (w *Web) touch(c *call, v *visit) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitTouch)
	defer cancel()
	out, index, err := w.config.Ledger.Propose(ctx, &ledger.TouchSession{Session: v.session.ID})
	if err == nil && out.Refusal == nil && !out.Unknown {
		w.setSession(c, v.id, index)
	}
}

func (w *Web) viewAt(ctx context.Context, index uint64) ledger.View {
	if index == 0 {
		return w.config.Ledger.View()
	}
	ctx, cancel := context.WithTimeout(ctx, waitApplied)
	defer cancel()
	view, err := w.config.Ledger.ViewAt(ctx, index)
	if err != nil {
		// The index is the browser's word: it may be of another cluster, or
		// invented. Commands are decided elsewhere in any case.
		return w.config.Ledger.View()
	}
	return view
}

func (w *Web) fresh(ctx context.Context) (ledger.View, error) {
	ctx, cancel := context.WithTimeout(ctx, waitFresh)
	defer cancel()
	return w.config.Ledger.ViewFresh(ctx)
}

// cookieName has the prefix by which a browser promises that this host set the
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
	maxCookie     = 128
)

// sessionCookie is the session id and the index of the browser's last command.
func (w *Web) sessionCookie(r *http.Request) (id string, index uint64) {
	cookie, err := r.Cookie(w.cookieName(sessionCookie))
	if err != nil || len(cookie.Value) > maxCookie {
		return "", 0
	}
	id, text, _ := strings.Cut(cookie.Value, ".")
	index, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		index = 0
	}
	return id, index
}

// setSession gives the browser its session. The cookie has no Max-Age: it ends
// with the browser, and earlier as the settings say.
func (w *Web) setSession(c *call, id string, index uint64) {
	w.setCookie(c, sessionCookie, id+"."+strconv.FormatUint(index, 10), 0)
}

func (w *Web) dropSession(c *call) {
	w.setCookie(c, sessionCookie, "", -1)
	forgetKept(c.Header())
}

func (w *Web) setCookie(c *call, name, value string, maxAge int) {
	cookie := &http.Cookie{
		Name: w.cookieName(name), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: w.config.Secure, SameSite: http.SameSiteLaxMode,
	}
	// The last word counts: a cookie is not set twice in one answer (RFC 6265
	// §4.1.1).
	h := c.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool {
		return strings.HasPrefix(line, cookie.Name+"=")
	})
	http.SetCookie(c, cookie)
}
