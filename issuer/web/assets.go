package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
)

//go:embed style.css
var styleText []byte

//go:embed icon.svg
var iconText []byte

// An asset is an immutable file: its name contains its digest.
type asset struct {
	path, contentType string
	text              []byte
}

type assets struct{ style, icon asset }

func newAssets() assets {
	return assets{
		style: newAsset("style", "css", "text/css; charset=utf-8", styleText),
		icon:  newAsset("icon", "svg", "image/svg+xml", iconText),
	}
}

func newAsset(name, ext, contentType string, text []byte) asset {
	sum := sha256.Sum256(text)
	return asset{path: pathAssets + name + "-" + hex.EncodeToString(sum[:8]) + "." + ext, contentType: contentType, text: text}
}

// asset serves the stylesheet and the icon. While a cluster is upgraded, a page of one
// version may request the asset from a node of another version: that node responds with
// its own, which must not be cached.
func (w *Web) asset(c *request) error {
	path := c.r.URL.Path
	for _, a := range []asset{w.assets.style, w.assets.icon} {
		cache := "no-cache"
		switch {
		case path == a.path:
			cache = "public, max-age=31536000, immutable"
		case !sameKind(path, a.path):
			continue
		}
		c.Header().Set("Cache-Control", cache)
		c.Header().Set("Content-Type", a.contentType)
		c.WriteHeader(http.StatusOK)
		if !c.isHead() {
			_, _ = c.Write(a.text)
		}
		return nil
	}
	return errNotFound
}

// sameKind reports whether two paths differ in their digests only.
func sameKind(a, b string) bool {
	cut := strings.IndexByte(b, '-') + 1
	return len(a) == len(b) && a[:cut] == b[:cut] && a[cut+16:] == b[cut+16:]
}
