package developer

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const pathSecrets = pathClient + "/secrets"

var (
	addSecretForm = site.FormKind{
		Purpose: "add secret", Action: pathSecrets + "/add", Page: pathSecrets,
		Fields: []site.Field{site.BoundField("secret"), site.BoundField("sealed"), site.BoundField("after")},
	}
	revokeSecretForm = site.FormKind{
		Purpose: "revoke secret", Ends: true, Action: pathSecrets + "/revoke", Page: pathSecrets, Fields: []site.Field{site.BoundField("secret")},
	}
)

type secretsBody struct {
	Path    string
	Public  bool
	Active  []parts.SecretRow
	Revoked []parts.SecretRow
	Add     *site.Form // nil if there are two active secrets
	Max     int
}

// secretsPage lists the secrets. Its purpose is rotation (service document, section 5.4):
// generate, switch, revoke.
func (w *Area) secretsPage(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showSecrets(c, v, client, w.newSecretForm(&v, client))
}

// showSecrets shows the page with the form to add a secret, or with the problems of a sent form.
func (w *Area) showSecrets(c *site.Request, v site.Session, client *ledger.Client, add *site.Form) error {
	body := secretsBody{Path: parts.ClientPath(client.ID), Public: client.Public(), Max: ledger.MaxActiveSecrets, Add: add}
	active := client.ActiveSecrets()
	if active >= ledger.MaxActiveSecrets || client.Public() {
		body.Add = nil
	}
	body.Active, body.Revoked = parts.SecretRows(&v, w.Ledger.Now(), client.Secrets, func(id string) *site.Form {
		return parts.ClientForm(&v, &revokeSecretForm, client, "secret", id)
	})
	if active == 1 {
		body.Active[0].Only = true
	}
	p := w.pageOfClient(&v, client, "Credentials", "secrets")
	p.Notice, p.Form, p.Body = clientNotices.Text(c), add, body
	return w.Show(c, v, "secrets", p)
}

type newSecretBody struct {
	Secret, ID ui.Copy
	Path       string
	First      bool // there is no other active secret
}

// addSecret adds a secret to a client and shows it once; no address shows it again.
// Sending the same form again, as by a double click or a reload, shows the same secret
// for newSecretLifetime: the form contains it sealed, since the ledger has its digest
// only.
func (w *Area) addSecret(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	plain, ok := w.secrets.NewSecretOf(&v, client.ID, f)
	if !ok {
		return w.addSecretExpired(c, v, f, client)
	}
	secret, err := w.secrets.Secret(plain)
	if err != nil {
		return fmt.Errorf("digest a secret: %w", err)
	}
	secret.ID = f.Get("secret")
	refused, err := w.Propose(c, &v, "add a secret", &ledger.AddSecret{
		Actor: v.Actor(), Client: client.ID, Secret: secret, After: f.Get("after"),
	})
	switch {
	case err != nil:
		return err
	case refused != nil && refused.Cause == ledger.AlreadyExists:
		return w.showSecretAgain(c, v, secret.ID, plain)
	case refused != nil:
		now, err := w.ownedFresh(c, &v)
		if err != nil {
			return err
		}
		return w.showSecrets(c, v, now, w.newSecretForm(&v, now).Refused(refused))
	}
	return w.showSecret(c, v, client, plain, client.ActiveSecrets() == 0)
}

// addSecretExpired handles a form whose sealed secret can't be used any more: the page
// reports that the secret was added before, or offers a new form.
func (w *Area) addSecretExpired(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	if client.SecretOf(f.Get("secret")) != nil {
		return c.RedirectNotice(parts.ClientPath(client.ID, "secrets"), clientNotices, "secret-known")
	}
	add := w.newSecretForm(&v, client)
	add.SetAlert(site.NoticeOld, http.StatusConflict)
	return w.showSecrets(c, v, client, add)
}

// showSecretAgain shows a secret that the same form has already added. It verifies on a
// fresh view that the secret is still active and that the user still owns the client.
func (w *Area) showSecretAgain(c *site.Request, v site.Session, id, plain string) error {
	client, err := w.ownedFresh(c, &v)
	if err != nil {
		return err
	}
	switch s := client.SecretOf(id); {
	case s == nil, !s.Active():
		return c.RedirectNotice(parts.ClientPath(client.ID, "secrets"), clientNotices, "secret-revoked")
	}
	return w.showSecret(c, v, client, plain, client.ActiveSecrets() == 1)
}

func (w *Area) showSecret(c *site.Request, v site.Session, client *ledger.Client, plain string, first bool) error {
	return w.Show(c, v, "secret", ui.Page{
		Title: "New secret", Name: client.Name, Up: site.Up("Credentials", parts.ClientPath(client.ID, "secrets")),
		Body: newSecretBody{
			Secret: ui.Copy{ID: "secret", Label: "secret", Value: plain, Wide: true}, ID: ui.Copy{ID: "id", Label: "client ID", Value: client.ID, Wide: true},
			Path: parts.ClientPath(client.ID), First: first,
		},
	})
}

// revokeSecret responds once the command is in the log of a majority. From then on no
// node accepts the secret, not even one that has not applied the command yet: every
// request with a secret is decided by the leader, after it in the log.
func (w *Area) revokeSecret(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	refused, err := w.Propose(c, &v, "revoke a secret", &ledger.RevokeSecret{Actor: v.Actor(), Client: client.ID, Secret: f.Get("secret")})
	switch {
	case err != nil:
		return err
	case refused != nil:
		add := w.newSecretForm(&v, client)
		return w.showSecrets(c, v, client, add.Refused(refused))
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "secrets"), clientNotices, "revoked")
}

// newSecretForm returns the form that adds a secret to a client.
func (w *Area) newSecretForm(v *site.Session, client *ledger.Client) *site.Form {
	return w.secrets.WithNewSecret(v, parts.ClientForm(v, &addSecretForm, client), client.ID, client.NewestSecret())
}
