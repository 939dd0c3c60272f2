package feed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/bits"
	"sort"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Type is the typ in the document's header. It prevents the document from being mistaken
// for a token, and the reverse (RFC 8725 §3.11).
const Type = "mintmark-revocations+jwt"

// A document is the content to sign.
type document struct {
	confirmedAt    int64
	version, after version
	delta          bool // revoked begins after the version after; otherwise it has everything
	since          ledger.Time
	revoked        []ledger.Revocation
}

// trimBefore removes the revocations that a reader with a Seq has, except that it rounds
// the number of the remaining ones up to a power of two. Readers may receive what they know
// already. So there are at most logarithmically many documents of one state, whatever
// versions readers claim to have, and all of them together are less than twice as long as
// the longest. Revocations that are no longer kept are not needed: no token is that old.
func (d *document) trimBefore(seq uint64) {
	if seq >= d.version.seq {
		d.after, d.delta, d.revoked = d.version, true, nil
		return
	}
	n := len(d.revoked)
	behind := n - sort.Search(n, func(i int) bool { return d.revoked[i].Seq > seq })
	if behind > 0 {
		behind = 1 << bits.Len(uint(behind-1))
	}
	if behind >= n {
		return // everything is sent
	}
	d.after = version{d.version.timeline, d.revoked[n-behind-1].Seq}
	d.delta, d.revoked = true, d.revoked[n-behind:]
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
	payload := claims{
		Issuer: c.Issuer(), IssuedAt: d.confirmedAt, Version: d.version.String(), Window: int64(Window / time.Second),
		Revoked: make([]revoked, len(d.revoked)),
	}
	if d.delta {
		payload.After = d.after.String()
	}
	if d.since > 0 {
		payload.CompleteSince = d.since.Unix() + 1 // rounded up, since revocations of that second may be missing
	}
	for i := range d.revoked {
		payload.Revoked[i] = entryOf(&d.revoked[i])
	}
	signer, err := c.Signer()
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	head, err := json.Marshal(header{signer.Alg(), signer.KeyID(), Type})
	if err != nil {
		return nil, fmt.Errorf("sign revocations: %w", err)
	}
	body, err := json.Marshal(payload)
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

// documentCache has the documents that were requested since the last change. Readers who
// wait concurrently have the same version and get the same document, signed once.
type documentCache struct {
	confirmedAt int64
	version     version
	since       ledger.Time
	byAfter     map[version]*cachedDocument // by after, which has few values: see trimBefore; the zero version for all
}

// get returns the signed document for d, from the cache if possible. The feed's mu must be
// held.
func (b *documentCache) get(d *document) *cachedDocument {
	if b.byAfter == nil || b.confirmedAt != d.confirmedAt || b.version != d.version || b.since != d.since {
		b.confirmedAt, b.version, b.since, b.byAfter = d.confirmedAt, d.version, d.since, map[version]*cachedDocument{}
	}
	one := b.byAfter[d.after]
	if one == nil {
		one = new(cachedDocument)
		b.byAfter[d.after] = one
	}
	return one
}

type cachedDocument struct {
	once sync.Once
	text []byte
	err  error
}

func (b *cachedDocument) get(sign func() ([]byte, error)) ([]byte, error) {
	b.once.Do(func() { b.text, b.err = sign() })
	return b.text, b.err
}
