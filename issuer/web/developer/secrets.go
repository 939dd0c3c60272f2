package developer

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const pathSecrets = pathClient + "/secrets"

var (
	// The secret in the form is bound to the session, so the form can't be sent again from another.
	addSecretForm = site.FormKind{
		Purpose: "add secret", Action: pathSecrets + "/add", Page: pathSecrets,
		Fields: []site.Field{site.BoundField("secret"), site.BoundField("sealed"), site.BoundField("after"), site.TextField("name", "Name").Confidential(), site.TextField("old_ends", "The old secret ends").Chosen()},
	}
	setSecretForm = site.FormKind{
		Purpose: "set secret", Action: pathSecrets + "/set", Page: pathSecrets,
		Fields: []site.Field{site.BoundField("secret"), site.TextField("name", "Name"), site.TextField("ends", "The end").Chosen()},
	}
	revokeSecretForm = site.FormKind{
		Purpose: "revoke secret", Ends: true, Action: pathSecrets + "/revoke", Page: pathSecrets, Fields: []site.Field{site.BoundField("secret")},
	}
)

// oldEnds are the choices of when the other secret ends once there is a new one.
var oldEnds = []struct {
	value, text string
	after       time.Duration // 0 for never
}{
	{"", "When I revoke it", 0},
	{"24h", "In 24 hours", 24 * time.Hour},
	{"7d", "In 7 days", 7 * 24 * time.Hour},
	{"30d", "In 30 days", 30 * 24 * time.Hour},
}

type secretsBody struct {
	Path    string
	Public  bool
	Card    ui.Card // of the active ones
	Active  []parts.SecretRow
	Revoked []parts.SecretRow
	AddCard ui.Card
	Add     *site.Form // nil if there are two active secrets
	Name    ui.Input
	OldEnds []ui.Option // none if there is no old secret
}

// secretsPage lists the secrets. Its purpose is rotation (service document, section 5.4):
// generate, switch, revoke.
func (w *Area) secretsPage(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showSecrets(c, v, client, w.newSecretForm(&v, client))
}

// showSecrets shows the page with the form to add a secret, or with the problems of a sent form.
func (w *Area) showSecrets(c *site.Request, v site.Session, client *ledger.Client, add *site.Form) error {
	body := secretsBody{Path: parts.ClientPath(client.ID), Public: client.Public(), AddCard: ui.Card{ID: "add", Title: "Generate a secret"}, Add: add}
	body.Card = ui.Card{ID: "secrets", Title: "Secrets", Action: &ui.Action{Title: "Connect your code", Path: body.Path + "/connect", Small: true}}
	active := client.ActiveSecrets()
	if active >= ledger.MaxActiveSecrets || client.Public() {
		body.Add = nil
	}
	body.Active, body.Revoked = parts.SecretRows(&v, w.Ledger.Now(), client.Secrets, func(id string) *site.Form {
		return parts.ClientForm(&v, &revokeSecretForm, client, "secret", id)
	})
	for i := range body.Active {
		row := &body.Active[i]
		row.Set, row.Only = parts.ClientForm(&v, &setSecretForm, client, "secret", row.ID), active == 1
	}
	if body.Add != nil {
		body.Name = add.Input("name", "").AtMost(ledger.MaxSecretName).As("off").Optional()
	}
	if active == 1 {
		body.AddCard.Title = "Generate another secret"
		for _, o := range oldEnds {
			body.OldEnds = append(body.OldEnds, ui.Option{Value: o.value, Text: o.text, Chosen: add.Get("old_ends") == o.value})
		}
	}
	p := w.pageOfClient(&v, client, "Credentials", "secrets")
	p.Notice, p.Form, p.Body = clientNotices.Text(c), add, body
	if s := client.SecretOf(c.NoticeOf()); s != nil {
		p.Notice = strings.Replace(p.Notice, "The secret", calledSecret(s), 1)
	}
	return w.Show(c, v, "secrets", p)
}

// calledSecret returns a secret in words, such as "Secret production (ends in KKT8)".
func calledSecret(s *ledger.Secret) string {
	switch {
	case s.Name != "" && s.Tail != "":
		return "Secret " + s.Name + " (ends in " + s.Tail + ")"
	case s.Tail != "":
		return "Secret ••••" + s.Tail
	case s.Name != "":
		return "Secret " + s.Name
	}
	return "The imported secret"
}

type newSecretBody struct {
	Secret ui.Copy
	Env    ui.Code
	Next   string // the page after this one
	First  bool   // there is no other active secret
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
	secret.ID, secret.Name = f.Get("secret"), f.Trimmed("name")
	add := &ledger.AddSecret{Actor: v.Actor(), Client: client.ID, Secret: secret, After: f.Get("after")}
	for _, o := range oldEnds {
		if o.value == f.Get("old_ends") {
			add.EndOld = o.after
		}
	}
	refused, err := w.Propose(c, &v, "add a secret", add)
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
		again := w.newSecretForm(&v, now)
		again.Values["name"], again.Values["old_ends"] = f.Values["name"], f.Values["old_ends"]
		return w.showSecrets(c, v, now, again.Refused(refused))
	}
	if fresh, err := w.Fresh(c.R.Context()); err == nil {
		v.View = fresh // otherwise the navigation still counts what the secret was missing for
	}
	return w.showSecret(c, v, client, plain, secret.Name, client.ActiveSecrets() == 0)
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
	s := client.SecretOf(id)
	if s == nil || !s.Active() {
		return c.RedirectNotice(parts.ClientPath(client.ID, "secrets"), clientNotices, "secret-revoked")
	}
	return w.showSecret(c, v, client, plain, s.Name, client.ActiveSecrets() == 1)
}

// showSecret leads back to the overview from the first secret, since the steps to the first
// token go on there.
func (w *Area) showSecret(c *site.Request, v site.Session, client *ledger.Client, plain, name string, first bool) error {
	next := parts.ClientPath(client.ID)
	if !first {
		next += "/secrets"
	}
	title := "New secret"
	if name != "" {
		title += ": " + name
	}
	return w.Show(c, v, "secret", ui.Page{
		Title: title, Name: client.Name, Lead: client.Name, Up: site.Up("Credentials", parts.ClientPath(client.ID, "secrets")),
		Body: newSecretBody{
			Secret: ui.Copy{ID: "secret", Label: "secret", Value: plain, Wide: true},
			Env:    ui.NewCode("env", "Environment", ui.Block{Text: connecting{ClientID: client.ClientID(), Secret: plain}.snippet("env")}),
			Next:   next, First: first,
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
	return c.RedirectNoticeOf(parts.ClientPath(client.ID, "secrets"), clientNotices, "revoked", f.Get("secret"))
}

// setSecret renames a secret, or cancels its end.
func (w *Area) setSecret(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	set, done := &ledger.SetSecret{Actor: v.Actor(), Client: client.ID, Secret: f.Get("secret")}, "secret-renamed"
	if f.Get("ends") == "never" {
		set.EndsIn, done = new(time.Duration), "secret-kept"
	} else {
		name := f.Trimmed("name")
		set.Name = &name
	}
	refused, err := w.Propose(c, &v, "change a secret", set)
	switch {
	case err != nil:
		return err
	case refused != nil:
		now, err := w.ownedFresh(c, &v)
		if err != nil {
			return err
		}
		// The page has an input of this name for each secret.
		add := w.newSecretForm(&v, now)
		if refused.Field != "" {
			add.SetAlert(ui.Sentence("Name "+refused.Note), http.StatusUnprocessableEntity)
			return w.showSecrets(c, v, now, add)
		}
		return w.showSecrets(c, v, now, add.Refused(refused))
	}
	return c.RedirectNoticeOf(parts.ClientPath(client.ID, "secrets"), clientNotices, done, f.Get("secret"))
}

// newSecretForm returns the form that adds a secret to a client.
func (w *Area) newSecretForm(v *site.Session, client *ledger.Client) *site.Form {
	return w.secrets.WithNewSecret(v, parts.ClientForm(v, &addSecretForm, client), client.ID, client.NewestSecret())
}
