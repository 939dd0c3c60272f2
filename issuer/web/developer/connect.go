package developer

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type connectBody struct {
	Path             string
	State            ledger.ClientState
	Public, Legacy   bool
	Native           bool // the redirect URI has a private-use scheme
	More             bool // there are more redirect URIs than the one shown
	Step1            ui.Card
	AuthorizationURL string
	Issuer           string
	Curl, Refresh    string
	Me               string
	Programs         ui.Code
}

// connectPage shows code to copy into a program. State and code verifier are generated
// each time, so that nobody copies known ones.
func (w *Area) connectPage(c *site.Request, v site.Session, client *ledger.Client) error {
	to := w.connecting(&v, client)
	program := "go"
	if to.Native() {
		program = "native"
	}
	body := connectBody{
		Path: parts.ClientPath(client.ID), State: client.State, Public: client.Public(), Legacy: client.Legacy,
		Native: to.Native(), More: len(client.RedirectURIs) > 1, AuthorizationURL: to.authorizationURL(), Issuer: to.Issuer,
		Curl: to.snippet("curl"), Refresh: to.snippet("refresh"), Me: to.snippet("me"),
		Step1: ui.Card{ID: "send", Title: "1. Send people to the authorization step"},
	}
	if client.State == ledger.Approved {
		body.Step1.Action = &ui.Action{Title: "Try it", Path: body.AuthorizationURL, Small: true, NewTab: true}
	}
	node := "Node.js"
	if to.Native() {
		node += " and Electron"
	}
	body.Programs = ui.NewCode("program", "In a program", ui.Block{Name: "Go", Text: to.snippet(program)}, ui.Block{Name: node, Text: to.snippet("node")})
	p := w.pageOfClient(&v, client, "Connect", "connect")
	p.Body = body
	return w.Show(c, v, "connect", p)
}

func (w *Area) connecting(v *site.Session, client *ledger.Client) connecting {
	s := v.View.Settings()
	to := connecting{
		ClientID: client.ID, RedirectURI: client.RedirectURIs[0], Scopes: client.Scopes, Public: client.Public(),
		AuthorizeURL: s.AppURL + oauth.PathAuthorize, TokenURL: s.BaseURL + oauth.PathToken, MeURL: s.BaseURL + oauth.PathMe,
		Issuer: w.config.Issuer(), State: w.Random(), Verifier: w.Random(),
	}
	sum := sha256.Sum256([]byte(to.Verifier))
	to.Challenge = base64.RawURLEncoding.EncodeToString(sum[:])
	return to
}

// authorizationURL returns where to send a user (service document, section 4.1).
func (c connecting) authorizationURL() string {
	query := "client_id=" + url.QueryEscape(c.ClientID) + "&redirect_uri=" + url.QueryEscape(c.RedirectURI) + "&response_type=code"
	if len(c.Scopes) > 0 {
		query += "&scope=" + url.PathEscape(c.Scope())
	}
	query += "&state=" + c.State
	if c.Public {
		query += "&code_challenge=" + c.Challenge + "&code_challenge_method=S256"
	}
	return c.AuthorizeURL + "?" + query
}
