package developer

import (
	"encoding/hex"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// logo serves a logo from the server's own origin, so that no application learns which
// users view a page with it. Shared caches may store public logos only.
func (w *Area) logo(c *site.Request) error {
	var id [32]byte
	digest := c.Param("digest")
	if n, err := hex.Decode(id[:], []byte(digest[:min(len(digest), 64)])); err != nil || n != len(id) || len(digest) != 64 {
		return site.ErrNotFound
	}
	_, index, err := w.SessionCookie(c.R)
	if err != nil {
		return err
	}
	view, _ := w.ViewAt(c.R.Context(), index)
	l, public := view.LogoFor(nil, id)
	if !public {
		v := w.LoadSession(c)
		if v.Unavailable {
			return site.ErrSessionUnavailable
		}
		l, _ = v.View.LogoFor(v.User, id) // not public: the answer may set the session cookie
	}
	if l == nil {
		return site.ErrNotFound
	}
	h := c.Header()
	h.Set("Content-Type", l.Type())
	if public {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	c.WriteHeader(http.StatusOK)
	if !c.IsHead() {
		_, _ = c.Write(l.Bytes) // the browser may have disconnected
	}
	return nil
}
