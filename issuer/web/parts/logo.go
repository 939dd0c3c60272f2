package parts

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	// A small file can have very many pixels, which are expensive to decode.
	minLogoSide = 16
	maxLogoSide = 1024

	// A progressive JPEG has scans, each of which covers all pixels, however few bytes it has.
	// Encoders produce ten.
	maxScans = 32
)

var startOfScan = []byte{0xff, 0xda} // ITU-T T.81, table B.1; within a scan, 0xff is followed by a zero

// PictureOf returns the picture that a client's owner and administrators see, reviewed or not.
func PictureOf(p *ledger.Profile) *ui.Picture {
	return &ui.Picture{Logo: site.LogoPath(p.Logo), Initial: ui.Initial(p.Name)}
}

// PublicPicture returns the picture that all other users see. A logo that no
// administrator has reviewed could imitate another application, so it is replaced by a
// letter.
func PublicPicture(c *ledger.Client) *ui.Picture {
	if c.Document != nil { // anybody can choose its name
		return &ui.Picture{Initial: ui.Initial(PublisherName(c.Document))}
	}
	if !c.Reviewed() {
		return &ui.Picture{Initial: ui.Initial(c.Name)}
	}
	return PictureOf(&c.Profile)
}

// SmallPicture is PictureOf for a list.
func SmallPicture(p *ledger.Profile) *ui.Picture {
	picture := PictureOf(p)
	picture.Small = true
	return picture
}

// Remade decodes a picture file and encodes its pixels again as a logo, or returns a note
// on why the file can't be used. This drops everything in the file but the pixels: the
// place where a photo was taken, further pictures, and bytes that another program would
// interpret as a document or a script.
func Remade(file []byte) (logo []byte, note string) {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil:
		return nil, "is not a PNG or JPEG picture"
	case bytes.Count(file, startOfScan) > maxScans:
		return nil, "has more layers than a picture needs: save it as a plain JPEG"
	case min(config.Width, config.Height) < minLogoSide:
		return nil, fmt.Sprintf("is too small: each side needs at least %d pixels", minLogoSide)
	case max(config.Width, config.Height) > maxLogoSide:
		return nil, fmt.Sprintf("is too large: a side may have %d pixels", maxLogoSide)
	}
	points, decoded, err := image.Decode(bytes.NewReader(file))
	if err != nil || decoded != format {
		return nil, "is damaged: it can’t be read to its end"
	}
	if logo = encoded(points, format); logo == nil {
		return nil, "has too much detail for 16 KB: save it with fewer pixels"
	}
	return logo, ""
}

// encoded encodes a picture in the given format. It returns nil if that takes more than
// ledger.MaxLogo bytes at any quality. A JPEG stays a JPEG, since a photo as a PNG is
// several times larger.
func encoded(points image.Image, format string) []byte {
	var b bytes.Buffer
	if format == "png" {
		e := png.Encoder{CompressionLevel: png.BestCompression}
		if e.Encode(&b, points) == nil && b.Len() <= ledger.MaxLogo {
			return b.Bytes()
		}
		return nil
	}
	for _, quality := range []int{90, 75, 60} {
		b.Reset()
		if jpeg.Encode(&b, points, &jpeg.Options{Quality: quality}) == nil && b.Len() <= ledger.MaxLogo {
			return b.Bytes()
		}
	}
	return nil
}
