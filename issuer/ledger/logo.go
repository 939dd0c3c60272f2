package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxLogo is the maximum size of a logo, in bytes.
const MaxLogo = 16 << 10

// A Logo is the picture of a client or of this service. The sender has decoded it; here it is
// bytes with the signature of a format that browsers display and never execute.
type Logo struct {
	ID    [32]byte `cbor:"1,keyasint"` // SHA-256 of Bytes; Profile.Logo names it
	Bytes []byte   `cbor:"2,keyasint"`
}

// Type returns the media type of l.
func (l *Logo) Type() string { return logoType(l.Bytes) }

// logoType returns the media type that a picture's signature identifies, PNG (RFC 2083
// §3.1) or JPEG, or "" for any other format.
func logoType(picture []byte) string {
	switch {
	case bytes.HasPrefix(picture, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(picture, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	}
	return ""
}

// Logo returns the logo with a digest, or nil.
func (v View) Logo(id [32]byte) *Logo { return first[Logo](v, TableLogos, indexID, id[:]) }

// LogoFor returns the logo with a digest, or nil if the user may not see it; user is nil
// for a request without a session. The logos of this service and of an approved profile are
// public. A logo that awaits a review, or was refused, is visible only to the client's owner and
// to administrators. The logo of a draft of the brand is visible only to administrators.
func (v View) LogoFor(user *User, id [32]byte) (l *Logo, public bool) {
	if v.Settings().Brand.Logo == id {
		return v.Logo(id), true
	}
	may := user != nil && user.Admin
	for c := range rows[Client](v, TableClients, "logo", hex.EncodeToString(id[:])) {
		if c.Reviewed() && bytes.Equal(c.Logo, id[:]) {
			return v.Logo(id), true
		}
		may = may || user != nil && c.Owner == user.ID
	}
	if !may {
		return nil, false
	}
	return v.Logo(id), false
}

// Reviewed reports whether an administrator has approved the profile of c, regardless of
// c.Proposed.
func (c *Client) Reviewed() bool { return c.State == Approved || c.State == Suspended }

// logoInUse reports whether a client has l, would have it after a review, or was refused
// it, or whether it is that of this service or of the draft of its brand.
func (v View) logoInUse(l *Logo) bool {
	s := v.Settings()
	return s.Brand.Logo == l.ID || s.Draft.Logo == l.ID ||
		first[Client](v, TableClients, "logo", hex.EncodeToString(l.ID[:])) != nil
}

// logos is the index key: the logos whose rows c needs.
func (c *Client) logos() []string {
	if c.State == Deleted {
		return nil
	}
	var ids []string
	if len(c.Logo) > 0 {
		ids = append(ids, hex.EncodeToString(c.Logo))
	}
	later := c.Proposed
	if c.Refused != nil {
		later = &c.Refused.Profile
	}
	if later != nil && len(later.Logo) > 0 && !bytes.Equal(later.Logo, c.Logo) {
		ids = append(ids, hex.EncodeToString(later.Logo))
	}
	return ids
}

// putLogo returns the change that stores the picture with a digest, or none if there is no
// digest or the state already has that picture.
func (v View) putLogo(digest, picture []byte) ([]command.Change, *Refusal) {
	bad := func(note string) ([]command.Change, *Refusal) { return nil, outcome(badField("logo", note)).Refusal }
	if len(digest)+len(picture) == 0 {
		return nil, nil
	}
	if len(digest) != sha256.Size {
		return bad("is not named by its digest")
	}
	id := [32]byte(digest)
	kept := v.Logo(id) != nil
	switch {
	case len(picture) == 0 && !kept:
		return bad("is not there any more; choose the picture again")
	case len(picture) == 0:
		return nil, nil
	case len(picture) > MaxLogo:
		return bad("is larger than 16 KiB")
	case logoType(picture) == "":
		return bad("is neither PNG nor JPEG")
	case sha256.Sum256(picture) != id:
		return bad("is not the picture that its digest names")
	case kept:
		return nil, nil
	}
	return []command.Change{put(TableLogos, &Logo{ID: id, Bytes: picture})}, nil
}
