package admin

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var (
	addResourceSecretForm = site.FormKind{
		Purpose: forAddResourceSecret, Action: pathAdminResource + "/secrets/add", Page: pathAdminResource,
		Fields: []site.Field{site.BoundField("resource"), site.BoundField("secret"), site.BoundField("sealed"), site.BoundField("after"), site.OwnPasswordField()},
	}
	revokeResourceSecretForm = site.FormKind{
		Purpose: forRevokeResourceSecret, Ends: true, Action: pathAdminResource + "/secrets/revoke", Page: pathAdminResource,
		Fields: []site.Field{site.BoundField("resource"), site.BoundField("secret")},
	}
)

// newResourceSecretForm returns the form that adds a secret to a resource server.
func (w *Area) newResourceSecretForm(v *site.Session, s *ledger.ResourceServer) *site.Form {
	return w.secrets.WithNewSecret(v, resourceForm(v, &addResourceSecretForm, s), s.ID, s.NewestSecret())
}

type newResourceSecretBody struct {
	Secret, Name, Endpoint ui.Copy
	Example                ui.Code
	Path                   string
}

// addResourceSecret is like addSecret, for a resource server.
func (w *Area) addResourceSecret(c *site.Request, v site.Session, f *site.Form) error {
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	plain, ok := w.secrets.NewSecretOf(&v, s.ID, f)
	switch {
	case !ok && s.SecretOf(f.Get("secret")) != nil:
		return c.RedirectNotice(parts.ResourcePath(s.Name), resourceNotices, "secret-known")
	case !ok:
		add := w.newResourceSecretForm(&v, s)
		add.SetAlert(site.NoticeOld, http.StatusConflict)
		return w.showResource(c, v, s, add)
	}
	if ok, err := w.prover.Reauthenticate(c, &v, f, func(c *site.Request, v site.Session, f *site.Form) error { return w.showResource(c, v, s, f) }); !ok {
		return err
	}
	secret, err := w.secrets.Secret(plain)
	if err != nil {
		return fmt.Errorf("digest a secret: %w", err)
	}
	secret.ID = f.Get("secret")
	refused, err := w.Propose(c, &v, "add a secret of a resource server", &ledger.AddResourceSecret{
		Actor: v.Actor(), Resource: s.ID, Secret: secret, After: f.Get("after"),
	})
	switch {
	case err != nil:
		return err
	case refused == nil:
		return w.showResourceSecret(c, v, s, plain)
	}
	if s, err = w.resourceFresh(c, &v, f); err != nil {
		return err
	}
	switch added := s.SecretOf(secret.ID); {
	case refused.Cause != ledger.AlreadyExists:
		return w.showResource(c, v, s, w.newResourceSecretForm(&v, s).Refused(refused))
	case added == nil || !added.Active():
		return c.RedirectNotice(parts.ResourcePath(s.Name), resourceNotices, "secret-revoked")
	}
	return w.showResourceSecret(c, v, s, plain) // the same form was sent twice
}

func (w *Area) showResourceSecret(c *site.Request, v site.Session, s *ledger.ResourceServer, plain string) error {
	endpoint := v.View.Settings().BaseURL + oauth.PathIntrospect
	// The secret is not in the example: what is typed into a shell stays in its history.
	example := "curl -u \"" + s.Name + ":$SECRET\" \\\n  -d token=\"$TOKEN\" \\\n  " + endpoint
	return w.showAdmin(c, v, "resource_secret", ui.Page{
		Title: "New secret", Up: resourceUp(s), Body: newResourceSecretBody{
			Secret: ui.Copy{ID: "secret", Label: "secret", Value: plain, Wide: true}, Name: ui.Copy{ID: "name", Label: "username", Value: s.Name, Wide: true},
			Endpoint: ui.Copy{ID: "endpoint", Label: "introspection endpoint", Value: endpoint, Wide: true}, Example: ui.NewCode("example", "Introspection with curl", ui.Block{Text: example}),
			Path: parts.ResourcePath(s.Name),
		},
	})
}

// revokeResourceSecret is like revokeSecret, for a resource server. The last active secret
// may be revoked too.
func (w *Area) revokeResourceSecret(c *site.Request, v site.Session, f *site.Form) error {
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	refused, err := w.Propose(c, &v, "revoke a secret of a resource server", &ledger.RevokeResourceSecret{
		Actor: v.Actor(), Resource: s.ID, Secret: f.Get("secret"),
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showResource(c, v, s, w.newResourceSecretForm(&v, s).Refused(refused))
	}
	return c.RedirectNotice(parts.ResourcePath(s.Name), resourceNotices, "revoked")
}
