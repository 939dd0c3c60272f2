package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// newSecretTime is for how long a form makes its secret, and shows it.
const newSecretTime = 10 * time.Minute

// NewSecrets hides a client secret in the form that will make it. What one node
// sealed another must open.
type NewSecrets interface {
	SealNewSecret(plain []byte) string
	OpenNewSecret(text string) ([]byte, error)
}

// A newSecret is drawn when the form is shown, and travels in it, sealed. So the
// same form sent twice, as by a double click, shows the same secret twice, and no
// node has to remember it. It is for one secret of one client, for one person, in
// one session: whoever else gets hold of the form sees nothing.
type newSecret struct {
	Plain   string      `json:"plain"`
	ID      string      `json:"id"`
	Client  string      `json:"client"`
	User    string      `json:"user"`
	Session string      `json:"session"` // a digest
	Expires ledger.Time `json:"expires"`
}

// newSecretForm is a form that makes a secret of a client.
func (w *Web) newSecretForm(v *visit, client *ledger.Client) *form {
	n := newSecret{
		Plain: credential.NewSecret(w.config.Rand).Reveal(), ID: w.newSecretID(), Client: client.ID,
		User: v.user.ID, Session: sessionText(v), Expires: w.config.Ledger.Now().Add(newSecretTime),
	}
	plain, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Errorf("encode a new secret: %w", err)) // texts and numbers
	}
	return v.clientForm(&addSecretForm, client,
		"secret", n.ID, "sealed", w.config.NewSecrets.SealNewSecret(plain), "after", client.NewestSecret())
}

// newSecretOf is the secret that a form carries, and false for none that this
// visit may make of the client now.
func (w *Web) newSecretOf(v *visit, client *ledger.Client, f *form) (plain string, ok bool) {
	text, err := w.config.NewSecrets.OpenNewSecret(f.get("sealed"))
	if err != nil {
		return "", false
	}
	var n newSecret
	if json.Unmarshal(text, &n) != nil {
		return "", false
	}
	return n.Plain, n.ID == f.get("secret") && n.Client == client.ID && n.User == v.user.ID &&
		n.Session == sessionText(v) && w.config.Ledger.Now() < n.Expires
}

func sessionText(v *visit) string {
	digest := credential.SessionDigest(v.id)
	return base64.RawURLEncoding.EncodeToString(digest[:])
}
