package web

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var (
	addResourceSecretForm = formKind{
		purpose: forAddResourceSecret, action: pathAdminResource + "/secrets/add", page: pathAdminResource,
		fields: []field{boundField("resource"), boundField("secret"), boundField("sealed"), boundField("after"), ownPasswordField()},
	}
	revokeResourceSecretForm = formKind{
		purpose: forRevokeResourceSecret, ends: true, action: pathAdminResource + "/secrets/revoke", page: pathAdminResource,
		fields: []field{boundField("resource"), boundField("secret")},
	}
)

// newResourceSecretForm returns the form that adds a secret to a resource server.
func (w *Web) newResourceSecretForm(v *session, s *ledger.ResourceServer) *form {
	return w.withNewSecret(v, v.resourceForm(&addResourceSecretForm, s), s.ID, s.NewestSecret())
}

type newResourceSecretBody struct {
	Secret, Name ui.Copy
	Path         string
}

// addResourceSecret is like addSecret, for a resource server.
func (w *Web) addResourceSecret(c *request, v session, f *form) error {
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	plain, ok := w.newSecretOf(&v, s.ID, f)
	switch {
	case !ok && s.SecretOf(f.get("secret")) != nil:
		return c.redirectNotice(resourcePath(s.Name), resourceNotices, "secret-known")
	case !ok:
		add := w.newResourceSecretForm(&v, s)
		add.alert, add.status = noticeOld, http.StatusConflict
		return w.showResource(c, v, s, add)
	}
	if ok, err := w.reauthenticate(c, &v, f, func(c *request, v session, f *form) error { return w.showResource(c, v, s, f) }); !ok {
		return err
	}
	secret, err := w.config.Secret(plain)
	if err != nil {
		return fmt.Errorf("digest a secret: %w", err)
	}
	secret.ID = f.get("secret")
	refused, err := w.propose(c, &v, "add a secret of a resource server", &ledger.AddResourceSecret{
		Actor: v.actor(), Resource: s.ID, Secret: secret, After: f.get("after"),
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
		return w.showResource(c, v, s, w.newResourceSecretForm(&v, s).refused(refused))
	case added == nil || !added.Active():
		return c.redirectNotice(resourcePath(s.Name), resourceNotices, "secret-revoked")
	}
	return w.showResourceSecret(c, v, s, plain) // the same form was sent twice
}

func (w *Web) showResourceSecret(c *request, v session, s *ledger.ResourceServer, plain string) error {
	return w.showAdmin(c, v, "admin_resource_secret", ui.Page{
		Title: "New secret", Up: resourceUp(s), Body: newResourceSecretBody{
			Secret: ui.Copy{ID: "secret", Label: "secret", Value: plain, Wide: true}, Name: ui.Copy{ID: "name", Label: "name", Value: s.Name, Wide: true},
			Path: resourcePath(s.Name),
		},
	})
}

// revokeResourceSecret is like revokeSecret, for a resource server. The last active secret
// may be revoked too.
func (w *Web) revokeResourceSecret(c *request, v session, f *form) error {
	s, err := w.resourceOf(c, &v, f)
	if err != nil {
		return err
	}
	refused, err := w.propose(c, &v, "revoke a secret of a resource server", &ledger.RevokeResourceSecret{
		Actor: v.actor(), Resource: s.ID, Secret: f.get("secret"),
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showResource(c, v, s, w.newResourceSecretForm(&v, s).refused(refused))
	}
	return c.redirectNotice(resourcePath(s.Name), resourceNotices, "revoked")
}
