package feed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Type is the typ of the document's header, so that no token is taken for it and
// it for no token (RFC 8725 §3.11).
const Type = "mintmark-revocations+jwt"

// A document is what is signed.
type document struct {
	fresh          int64
	version, after version
	delta          bool // else it has all that is kept
	since          ledger.Time
	revoked        []ledger.Revocation
}

type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

type claims struct {
	Issuer        string    `json:"iss"`
	IssuedAt      int64     `json:"iat"`
	Version       string    `json:"version"`
	After         string    `json:"after"`
	CompleteSince int64     `json:"complete_since"`
	Window        int64     `json:"window"`
	Revoked       []revoked `json:"revoked"`
}

type revoked struct {
	Grant   string `json:"grant_id,omitempty"`
	Subject string `json:"sub,omitempty"`
	Client  string `json:"client_id,omitempty"`
	At      int64  `json:"at"`
	Lifted  bool   `json:"lifted,omitempty"`
}

func (d *document) sign(c Config) ([]byte, error) {
	said := claims{
		Issuer: c.Issuer(), IssuedAt: d.fresh, Version: d.version.String(), Window: int64(Window / time.Second),
		Revoked: make([]revoked, len(d.revoked)),
	}
	if d.delta {
		said.After = d.after.String()
	}
	if d.since > 0 {
		said.CompleteSince = d.since.Unix() + 1 // what is left of that second may be missing
	}
	for i := range d.revoked {
		said.Revoked[i] = entryOf(&d.revoked[i])
	}
	signer, err := c.Signer()
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	head, err := json.Marshal(header{signer.Alg(), signer.KeyID(), Type})
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	body, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	encoding := base64.RawURLEncoding
	text := make([]byte, 0, encoding.EncodedLen(len(head))+encoding.EncodedLen(len(body))+512)
	text = append(encoding.AppendEncode(text, head), '.')
	text = encoding.AppendEncode(text, body)
	signature, err := signer.Sign(text)
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	return encoding.AppendEncode(append(text, '.'), signature), nil
}

func entryOf(r *ledger.Revocation) revoked {
	e := revoked{At: r.At.Unix(), Lifted: r.Lifted}
	if r.OfGrant() {
		e.Grant = r.Grant.String()
		return e
	}
	e.Subject, e.Client = r.User, r.Client
	return e
}

// bodies are the documents that were asked for since the last change. Readers who
// wait together have the same version and get the same document, signed once.
type bodies struct {
	fresh   int64
	version version
	since   ledger.Time
	by      map[version]*body // by the version that the reader has; the zero one for all
}

// of is the body of d, made or not. The feed's mu is held.
func (b *bodies) of(d *document) *body {
	if b.by == nil || b.fresh != d.fresh || b.version != d.version || b.since != d.since {
		b.fresh, b.version, b.since, b.by = d.fresh, d.version, d.since, map[version]*body{}
	}
	one := b.by[d.after]
	if one == nil {
		one = new(body)
		if len(b.by) < maxBodies {
			b.by[d.after] = one
		}
	}
	return one
}

// maxBodies bounds what is kept for readers of made-up versions.
const maxBodies = 256

type body struct {
	once sync.Once
	text []byte
	err  error
}

func (b *body) get(sign func() ([]byte, error)) ([]byte, error) {
	b.once.Do(func() { b.text, b.err = sign() })
	return b.text, b.err
}
