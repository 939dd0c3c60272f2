package web

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

type homeBody struct {
	Person       person
	Status       string
	Connections  []connection
	SignOutToken string
}

// A connection is an application that the user has allowed: all of its grants
// that live, as one.
type connection struct {
	ClientID    string
	Name        string
	Initial     string
	Legacy      bool
	Permissions []permissions
	First       ledger.Time
	Used        ledger.Time // 0 for never
	Token       string

	scopes scope.Set
}

// disconnected is the query of the page after a Disconnect.
const disconnected = "disconnected"

// home says who is signed in and lists the connected applications.
func (w *Web) home(c *call) error {
	v := w.visit(c)
	if v.user == nil {
		return c.redirect(pathSignIn)
	}
	body := homeBody{
		Person: personOf(v.user), Connections: w.connections(v),
		SignOutToken: formToken(v.id, forSignOut, "", ""),
	}
	if c.r.URL.RawQuery == disconnected {
		body.Status = "The application was disconnected. It gets no new access; the access it holds ends within 30 minutes."
	}
	w.render(c, http.StatusOK, "home", page{Title: "Your account", Body: body})
	return nil
}

func (w *Web) connections(v visit) []connection {
	var list []connection
	position := map[string]int{}
	for _, g := range v.view.GrantsOf(v.user.ID, w.config.Ledger.Now()) { // oldest first
		i, ok := position[g.Client]
		if !ok {
			client := v.view.Client(g.Client)
			i, position[g.Client] = len(list), len(list)
			list = append(list, connection{
				ClientID: client.ID, Name: client.Name, Initial: initial(client.Name), First: g.Created,
				Token: formToken(v.id, forDisconnect, v.user.ID, client.ID),
			})
		}
		one := &list[i]
		one.Legacy = one.Legacy || g.Legacy
		one.scopes = one.scopes.Union(scope.FromClaim(g.Scope))
		one.Used = max(one.Used, g.Used)
	}
	for i := range list {
		list[i].Permissions = permissionsOf(list[i].scopes.String())
	}
	return list
}

// disconnect ends all grants of the user for one application.
func (w *Web) disconnect(c *call, f form) error {
	v := w.visit(c)
	switch {
	case v.user == nil:
		return c.redirect(pathSignIn)
	case !genuine(f.token, v.id, forDisconnect, v.user.ID, f.client):
		return errNotOurForm
	}
	out, index, err := w.config.Ledger.Propose(c.r.Context(), &ledger.Disconnect{
		Actor: v.actor(), User: v.user.ID, Client: f.client,
	})
	switch {
	case err != nil:
		return fmt.Errorf("disconnect: %w", err)
	case out.Unknown:
		return fmt.Errorf("disconnect: %w", oauth.ErrUnavailable)
	case out.Refusal != nil && out.Refusal.Cause == ledger.NotSignedIn:
		return c.redirect(pathSignIn)
	case out.Refusal != nil:
		c.cause = out.Refusal.Cause
		return errNotFound
	}
	c.client = f.client
	w.setSession(c, v.id, index)
	return c.redirect(pathHome + "?" + disconnected)
}
