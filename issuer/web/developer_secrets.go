package web

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const pathSecrets = pathClient + "/secrets"

var (
	addSecretForm = formKind{
		purpose: "add secret", action: pathSecrets + "/add", page: pathSecrets,
		fields: []field{boundField("secret"), boundField("sealed"), boundField("after")},
	}
	revokeSecretForm = formKind{
		purpose: "revoke secret", ends: true, action: pathSecrets + "/revoke", page: pathSecrets, fields: []field{boundField("secret")},
	}
)

type secretsBody struct {
	Path    string
	Public  bool
	Active  []secretRow
	Revoked []secretRow
	Add     *form // nil if there are two active secrets
	Max     int
}

type secretRow struct {
	Tail    string
	Created ledger.Time
	Used    ledger.Time // 0 if never
	Revoked ledger.Time
	Ago     string // time since the last use; "" if that is long ago
	Only    bool   // the last active secret
	Form    *form
}

// secretsPage lists the secrets. Its purpose is rotation (service document, section 5.4):
// generate, switch, revoke.
func (w *Web) secretsPage(c *request, v session, client *ledger.Client) error {
	return w.showSecrets(c, v, client, w.newSecretForm(&v, client))
}

func (w *Web) newSecretID() string {
	var id [8]byte
	if _, err := io.ReadFull(w.config.Rand, id[:]); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return "s_" + hex.EncodeToString(id[:])
}

// showSecrets shows the page with the form to add a secret, or with the problems of a sent form.
func (w *Web) showSecrets(c *request, v session, client *ledger.Client, add *form) error {
	body := secretsBody{Path: clientPath(client.ID), Public: client.Public(), Max: ledger.MaxActiveSecrets, Add: add}
	active := client.ActiveSecrets()
	if active >= ledger.MaxActiveSecrets || client.Public() {
		body.Add = nil
	}
	body.Active, body.Revoked = w.secretRows(client.Secrets, func(id string) *form {
		return v.clientForm(&revokeSecretForm, client, "secret", id)
	})
	if active == 1 {
		body.Active[0].Only = true
	}
	p := w.pageOfClient(&v, client, "Credentials", "secrets")
	p.Notice, p.Form, p.Body = clientNotices.text(c), add, body
	return w.show(c, v, "developer_secrets", p)
}

// secretRows returns secrets, the newest first. revoke returns the form that revokes one.
func (w *Web) secretRows(secrets ledger.Secrets, revoke func(id string) *form) (active, revoked []secretRow) {
	now := w.config.Ledger.Now()
	for i := range slices.Backward(secrets) {
		s := &secrets[i]
		row := secretRow{Tail: s.Tail, Created: s.Created, Used: s.Used, Revoked: s.Revoked}
		if !s.Active() {
			revoked = append(revoked, row)
			continue
		}
		row.Ago, row.Form = recently(now, s.Used), revoke(s.ID)
		active = append(active, row)
	}
	return active, revoked
}

// recently returns how long ago a secret was used if that is less than a week, since
// something still uses it. Uses are known to the minute.
func recently(now, used ledger.Time) string {
	ago := now.Std().Sub(used.Std())
	switch {
	case used == 0 || ago >= 7*24*time.Hour:
		return ""
	case ago < 2*time.Minute:
		return "a moment ago"
	case ago < time.Hour:
		return ui.Plural(int(ago/time.Minute), "minute") + " ago"
	case ago < 24*time.Hour:
		return ui.Plural(int(ago/time.Hour), "hour") + " ago"
	}
	return ui.Plural(int(ago/(24*time.Hour)), "day") + " ago"
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
func (w *Web) addSecret(c *request, v session, f *form, client *ledger.Client) error {
	plain, ok := w.newSecretOf(&v, client.ID, f)
	if !ok {
		return w.addSecretExpired(c, v, f, client)
	}
	secret, err := w.config.Secret(plain)
	if err != nil {
		return fmt.Errorf("digest a secret: %w", err)
	}
	secret.ID = f.get("secret")
	refused, err := w.propose(c, &v, "add a secret", &ledger.AddSecret{
		Actor: v.actor(), Client: client.ID, Secret: secret, After: f.get("after"),
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
		return w.showSecrets(c, v, now, w.newSecretForm(&v, now).refused(refused))
	}
	return w.showSecret(c, v, client, plain, client.ActiveSecrets() == 0)
}

// addSecretExpired handles a form whose sealed secret can't be used any more: the page
// reports that the secret was added before, or offers a new form.
func (w *Web) addSecretExpired(c *request, v session, f *form, client *ledger.Client) error {
	if client.SecretOf(f.get("secret")) != nil {
		return c.redirectNotice(clientPath(client.ID, "secrets"), clientNotices, "secret-known")
	}
	add := w.newSecretForm(&v, client)
	add.alert, add.status = noticeOld, http.StatusConflict
	return w.showSecrets(c, v, client, add)
}

// showSecretAgain shows a secret that the same form has already added. It verifies on a
// fresh view that the secret is still active and that the user still owns the client.
func (w *Web) showSecretAgain(c *request, v session, id, plain string) error {
	client, err := w.ownedFresh(c, &v)
	if err != nil {
		return err
	}
	switch s := client.SecretOf(id); {
	case s == nil, !s.Active():
		return c.redirectNotice(clientPath(client.ID, "secrets"), clientNotices, "secret-revoked")
	}
	return w.showSecret(c, v, client, plain, client.ActiveSecrets() == 1)
}

func (w *Web) showSecret(c *request, v session, client *ledger.Client, plain string, first bool) error {
	return w.show(c, v, "developer_secret", ui.Page{
		Title: "New secret", Name: client.Name, Up: up("Credentials", clientPath(client.ID, "secrets")),
		Body: newSecretBody{
			Secret: ui.Copy{ID: "secret", Label: "secret", Value: plain, Wide: true}, ID: ui.Copy{ID: "id", Label: "client ID", Value: client.ID, Wide: true},
			Path: clientPath(client.ID), First: first,
		},
	})
}

// revokeSecret responds once the command is in the log of a majority. From then on no
// node accepts the secret, not even one that has not applied the command yet: every
// request with a secret is decided by the leader, after it in the log.
func (w *Web) revokeSecret(c *request, v session, f *form, client *ledger.Client) error {
	refused, err := w.propose(c, &v, "revoke a secret", &ledger.RevokeSecret{Actor: v.actor(), Client: client.ID, Secret: f.get("secret")})
	switch {
	case err != nil:
		return err
	case refused != nil:
		add := w.newSecretForm(&v, client)
		return w.showSecrets(c, v, client, add.refused(refused))
	}
	return c.redirectNotice(clientPath(client.ID, "secrets"), clientNotices, "revoked")
}
