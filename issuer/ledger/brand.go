package ledger

import (
	"cmp"
	"encoding/hex"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// DefaultServiceName is the name of a service to which none was given.
const DefaultServiceName = "Mintmark"

// A Brand is how this service shows itself to people. "" stands for a default or for nothing.
type Brand struct {
	Name       string   `cbor:"1,keyasint,omitempty"` // see Settings.ServiceName
	Accent     string   `cbor:"2,keyasint,omitempty"` // a color that is readable on white, such as #0b6b50
	PrivacyURL string   `cbor:"3,keyasint,omitempty"` // op_policy_uri of RFC 8414 §2
	TermsURL   string   `cbor:"4,keyasint,omitempty"` // op_tos_uri of RFC 8414 §2
	HelpURL    string   `cbor:"5,keyasint,omitempty"`
	Forgot     string   `cbor:"6,keyasint,omitempty"` // for people who forgot their passwords
	ForgotURL  string   `cbor:"7,keyasint,omitempty"`
	Logo       [32]byte `cbor:"8,keyasint,omitzero"` // SHA-256 of the picture
}

// Limits of the texts of a Brand, in characters.
const (
	MaxServiceName = 40
	MaxForgot      = 300
)

// Check returns the first field that is not valid, by the key of the setting, and why; "" if
// there is none.
func (b *Brand) Check() (field, note string) {
	for _, one := range []struct{ field, note string }{
		{"service_name", checkText(b.Name, 0, MaxServiceName)},
		{"accent", checkAccent(b.Accent)},
		{"privacy_url", checkWebsite(b.PrivacyURL)},
		{"terms_url", checkWebsite(b.TermsURL)},
		{"help_url", checkWebsite(b.HelpURL)},
		{"forgot_password", checkText(b.Forgot, 0, MaxForgot)},
		{"forgot_password_url", checkWebsite(b.ForgotURL)},
	} {
		if one.note != "" {
			return one.field, one.note
		}
	}
	return "", ""
}

// ServiceName returns the name of this service for people.
func (s *Settings) ServiceName() string { return cmp.Or(s.Brand.Name, DefaultServiceName) }

// A BrandStep is what SetBrand does.
type BrandStep string

// Steps. A draft is kept beside the brand, so that every node can show it to administrators.
const (
	BrandDraft   BrandStep = "draft"
	BrandPublish BrandStep = "publish"
	BrandDiscard BrandStep = "discard"
)

// SetBrand changes the brand or its draft. Administrators send it.
type SetBrand struct {
	Actor Actor     `cbor:"1,keyasint"`
	Step  BrandStep `cbor:"2,keyasint"`
	Brand Brand     `cbor:"3,keyasint,omitzero"` // the draft, or what is published
	// Logo is the picture whose digest is Brand.Logo. It may be nil if the state has that
	// picture.
	Logo []byte `cbor:"4,keyasint,omitempty"`
	// ExpectedLast is the Settings.Last that the sender has read, like that of Configure.
	ExpectedLast command.ID `cbor:"5,keyasint"`
}

// Kind implements command.Command.
func (*SetBrand) Kind() command.Kind { return KindSetBrand }

// Decide requires a recent sign-in for what everybody sees: a link for forgotten passwords could
// lead people to a false page.
func (c *SetBrand) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := *v.Settings()
	switch {
	case old.Last == m.ID:
		return accept(Outcome{ID: old.ID})
	case old.Last != c.ExpectedLast:
		return deny(Conflict)
	case c.Step == BrandPublish && !who.fresh(m):
		return deny(SignInTooOld)
	}
	next := old
	next.Draft, next.HasDraft = Brand{}, false
	var changes []command.Change
	switch c.Step {
	case BrandDiscard:
	case BrandDraft, BrandPublish:
		if field, note := c.Brand.Check(); field != "" {
			return badField(field, note)
		}
		var digest []byte
		if c.Brand.Logo != ([32]byte{}) {
			digest = c.Brand.Logo[:]
		}
		var refused *Refusal
		if changes, refused = v.putLogo(digest, c.Logo); refused != nil {
			return command.Decision{Outcome: Outcome{Refusal: refused}}
		}
		if c.Step == BrandPublish {
			next.Brand = c.Brand
		} else {
			next.Draft, next.HasDraft = c.Brand, true
		}
	default:
		return badField("step", "must be draft, publish or discard")
	}
	if next == old {
		return accept(Outcome{ID: old.ID})
	}
	next.Last = m.ID
	detail := string(c.Step)
	if differs := settingDifferences(&old, &next); differs != "" {
		detail += " " + differs
	}
	return accept(Outcome{ID: old.ID, Count: 1}, append(changes, put(TableSettings, &next),
		event(m, Event{Kind: EventBranded, Actor: who.name(), Detail: detail}))...)
}

// logoText returns the digest of the logo for display, or "".
func (b *Brand) logoText() string {
	if b.Logo == ([32]byte{}) {
		return ""
	}
	return hex.EncodeToString(b.Logo[:])
}
