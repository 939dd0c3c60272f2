package parts

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

func (w *SecretForms) newSecretID() string {
	var id [8]byte
	if _, err := io.ReadFull(w.Rand, id[:]); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return "s_" + hex.EncodeToString(id[:])
}

// newSecretLifetime is how long after its page was shown a form can add its secret and
// show it again.
const newSecretLifetime = 10 * time.Minute

// NewSecrets seals the secret in a form before it is added. Every node must be
// able to open what another one sealed.
type NewSecrets interface {
	SealNewSecret(plain []byte) string
	OpenNewSecret(text string) ([]byte, error)
}

// A SecretForms makes the forms that add a secret.
type SecretForms struct {
	*site.Site

	// Secret returns what the ledger records of a secret: its digest, with an id that is
	// replaced by the form's.
	Secret func(plain string) (ledger.NewSecret, error)
	// NewSecrets seals the secret in the form.
	NewSecrets NewSecrets
}

// A newSecret is generated when the form is shown, and the form contains it sealed.
// Sending the same form twice, as by a double click, therefore shows the same secret, and
// no node has to store the plain secret. It is bound to one secret id of one client or
// resource server, to one user and to one session, so that others can't use the form.
type newSecret struct {
	Plain   string      `json:"plain"`
	ID      string      `json:"id"`
	Of      string      `json:"of"` // a client's id, a resource server's identifier URI, which has a colon, or ofFeed
	User    string      `json:"user"`
	Session string      `json:"session"` // SessionText
	Expires ledger.Time `json:"expires"`
}

// WithNewSecret adds a new secret to a form. newest is the newest secret that there is.
func (w *SecretForms) WithNewSecret(v *site.Session, f *site.Form, of, newest string) *site.Form {
	f.Values.Set("after", newest)
	return w.with(v, f, of, credential.NewSecret(w.Rand))
}

// ofFeed is no id of a client or resource server.
const ofFeed = "\x00feed"

// WithNewFeed adds a new address of the user's feed to a form.
func (w *SecretForms) WithNewFeed(v *site.Session, f *site.Form) *site.Form {
	return w.with(v, f, ofFeed, credential.NewFeed(w.Rand))
}

// NewFeedOf is NewSecretOf for the address of the user's feed.
func (w *SecretForms) NewFeedOf(v *site.Session, f *site.Form) (plain string, ok bool) {
	return w.NewSecretOf(v, ofFeed, f)
}

func (w *SecretForms) with(v *site.Session, f *site.Form, of string, plain credential.Secret) *site.Form {
	n := newSecret{
		Plain: plain.Reveal(), ID: w.newSecretID(), Of: of,
		User: v.User.ID, Session: site.SessionText(v), Expires: w.Ledger.Now().Add(newSecretLifetime),
	}
	text, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Errorf("encode a new secret: %w", err)) // texts and numbers
	}
	f.Values.Set("secret", n.ID)
	f.Values.Set("sealed", w.NewSecrets.SealNewSecret(text))
	return f
}

// NewSecretOf returns the secret in a form. ok is false if the form has none that is
// bound to this session and to this client or resource server, or if it has expired.
func (w *SecretForms) NewSecretOf(v *site.Session, of string, f *site.Form) (plain string, ok bool) {
	text, err := w.NewSecrets.OpenNewSecret(f.Get("sealed"))
	if err != nil {
		return "", false
	}
	var n newSecret
	if json.Unmarshal(text, &n) != nil {
		return "", false
	}
	return n.Plain, n.ID == f.Get("secret") && n.Of == of && n.User == v.User.ID &&
		n.Session == site.SessionText(v) && w.Ledger.Now() < n.Expires
}
