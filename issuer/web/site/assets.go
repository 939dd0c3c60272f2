package site

import (
	"net/http"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// asset serves the files that pages refer to. While a cluster is upgraded, a page of one
// version may request the asset from a node of another version: that node responds with
// its own, which must not be cached.
func (w *Site) asset(c *Request) error {
	path := c.R.URL.Path
	served := ui.Served()
	assets := []ui.Asset{served.Style, served.Script, served.Icons, served.Icon}
	if style := w.brandStyle(w.Ledger.View().Settings().Brand.Accent); style != nil {
		assets = append(assets, *style)
	}
	for _, a := range assets {
		cache := "no-cache"
		switch {
		case path == a.Path:
			cache = "public, max-age=31536000, immutable"
		case !sameKind(path, a.Path):
			continue
		}
		c.Header().Set("Cache-Control", cache)
		c.Header().Set("Content-Type", a.ContentType)
		c.WriteHeader(http.StatusOK)
		if !c.IsHead() {
			_, _ = c.Write(a.Text)
		}
		return nil
	}
	return ErrNotFound
}

// sameKind reports whether two paths differ in their digests only.
func sameKind(a, b string) bool {
	cut := strings.IndexByte(b, '-') + 1
	return len(a) == len(b) && a[:cut] == b[:cut] && a[cut+16:] == b[cut+16:]
}
