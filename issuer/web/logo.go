package web

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/jpeg" // the two formats that a logo may have
	_ "image/png"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	pathLogos = "/logos/"

	// A picture of few bytes can have very many points, which cost whoever
	// decodes it.
	minLogoSide = 16
	maxLogoSide = 1024

	// A progressive JPEG comes in scans, each of which goes over all points
	// however few bytes it has. Encoders make ten.
	maxScans = 32
)

var startOfScan = []byte{0xff, 0xda} // ITU-T T.81, table B.1; in the data of a scan 0xff has a zero after it

// A picture stands for an application: its logo, or a letter.
type picture struct{ Logo, Initial string }

func pictureOf(p *ledger.Profile) picture {
	return picture{Logo: logoPath(p.Logo), Initial: initial(p.Name)}
}

// logoPath is "" for none.
func logoPath(digest []byte) string {
	if len(digest) == 0 {
		return ""
	}
	return pathLogos + hex.EncodeToString(digest)
}

// logo serves a picture from our own origin, so that no application learns who
// looks at a page that shows it. What it was uploaded as is not believed: the
// type is that of its first bytes, and a browser may not guess another.
func (w *Web) logo(c *call) error {
	var id [32]byte
	digest := c.param("digest")
	if n, err := hex.Decode(id[:], []byte(digest[:min(len(digest), 64)])); err != nil || n != len(id) || len(digest) != 64 {
		return errNotFound
	}
	_, index := w.sessionCookie(c.r)
	l := w.viewAt(c.r.Context(), index).Logo(id)
	if l == nil {
		return errNotFound
	}
	h := c.Header()
	h.Set("Content-Type", l.Type())
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	c.WriteHeader(http.StatusOK)
	if !c.head() {
		_, _ = c.Write(l.Bytes) // the browser went away
	}
	return nil
}

// checkLogo says why a file can't be a logo, or "". It is decoded to its end.
func checkLogo(file []byte) string {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil:
		return "is not a PNG or JPEG picture"
	case bytes.Count(file, startOfScan) > maxScans:
		return "has more layers than a picture needs: save it as a plain JPEG"
	case min(config.Width, config.Height) < minLogoSide:
		return fmt.Sprintf("is too small: each side needs at least %d pixels", minLogoSide)
	case max(config.Width, config.Height) > maxLogoSide:
		return fmt.Sprintf("is too large: a side may have %d pixels", maxLogoSide)
	}
	if _, decoded, err := image.Decode(bytes.NewReader(file)); err != nil || decoded != format {
		return "is damaged: it can not be read to its end"
	}
	return ""
}
