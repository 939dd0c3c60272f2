package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// newSecretLifetime is how long after its page was shown a form can add its secret and
// show it again.
const newSecretLifetime = 10 * time.Minute

// NewSecrets seals the secret in a form before it is added. Every node must be
// able to open what another one sealed.
type NewSecrets interface {
	SealNewSecret(plain []byte) string
	OpenNewSecret(text string) ([]byte, error)
}

// A newSecret is generated when the form is shown, and the form contains it sealed.
// Sending the same form twice, as by a double click, therefore shows the same secret, and
// no node has to store the plain secret. It is bound to one secret id of one client or
// resource server, to one user and to one session, so that others can't use the form.
type newSecret struct {
	Plain   string      `json:"plain"`
	ID      string      `json:"id"`
	Of      string      `json:"of"` // a client's id, or a resource server's identifier URI, which has a colon
	User    string      `json:"user"`
	Session string      `json:"session"` // sessionText
	Expires ledger.Time `json:"expires"`
}

// newSecretForm returns the form that adds a secret to a client.
func (w *Web) newSecretForm(v *session, client *ledger.Client) *form {
	return w.withNewSecret(v, v.clientForm(&addSecretForm, client), client.ID, client.NewestSecret())
}

// withNewSecret adds a new secret to a form. newest is the newest secret that there is.
func (w *Web) withNewSecret(v *session, f *form, of, newest string) *form {
	n := newSecret{
		Plain: credential.NewSecret(w.config.Rand).Reveal(), ID: w.newSecretID(), Of: of,
		User: v.user.ID, Session: sessionText(v), Expires: w.config.Ledger.Now().Add(newSecretLifetime),
	}
	plain, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Errorf("encode a new secret: %w", err)) // texts and numbers
	}
	f.values.Set("secret", n.ID)
	f.values.Set("sealed", w.config.NewSecrets.SealNewSecret(plain))
	f.values.Set("after", newest)
	return f
}

// newSecretOf returns the secret in a form. ok is false if the form has none that is
// bound to this session and to this client or resource server, or if it has expired.
func (w *Web) newSecretOf(v *session, of string, f *form) (plain string, ok bool) {
	text, err := w.config.NewSecrets.OpenNewSecret(f.get("sealed"))
	if err != nil {
		return "", false
	}
	var n newSecret
	if json.Unmarshal(text, &n) != nil {
		return "", false
	}
	return n.Plain, n.ID == f.get("secret") && n.Of == of && n.User == v.user.ID &&
		n.Session == sessionText(v) && w.config.Ledger.Now() < n.Expires
}

func sessionText(v *session) string {
	digest := credential.SessionDigest(v.id)
	return base64.RawURLEncoding.EncodeToString(digest[:])
}
