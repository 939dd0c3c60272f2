package developer

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type connectBody struct {
	Path     string
	Try      ui.Card
	Keep     ui.Card
	Get      ui.Card
	Call     ui.Card
	Refresh  ui.Card
	NotYet   *ui.Callout // why it can't be tried; nil if it can
	Legacy   bool
	Limits   ui.Callout // says that a legacy client gets full access
	Native   bool       // the redirect URI has a private-use scheme
	Code     connecting
	URL      ui.Code // of the authorization step
	Env      ui.Code
	Secrets  bool // it has an active secret, or needs none
	Programs ui.Code
	Me       ui.Code
	Again    ui.Code
	Decode   *site.Form

	Metadata string // address of the metadata, which has all endpoints
}

// connectPage shows code to copy into a program. State and code verifier are generated
// each time, so that nobody copies known ones.
func (w *Area) connectPage(c *site.Request, v site.Session, client *ledger.Client) error {
	to := w.connecting(&v, client)
	body := connectBody{
		Path: parts.ClientPath(client.ID), Legacy: client.Legacy, Native: to.Native(), Code: to,
		Try:     ui.Card{ID: "try", Title: "1. Send people to the authorization URL"},
		Keep:    ui.Card{ID: "environment", Title: "2. Keep the credentials in your environment"},
		Get:     ui.Card{ID: "code", Title: "3. Exchange the code for tokens"},
		Call:    ui.Card{ID: "call", Title: "4. Call the API"},
		Refresh: ui.Card{ID: "refresh", Title: "5. Refresh the access token"},
		Me:      ui.NewCode("me", "Call", ui.Block{Text: to.snippet("me")}),
		Again:   ui.NewCode("again", "Refresh", ui.Block{Text: to.snippet("refresh")}),
		URL:     to.code("authorize", "Authorization URL"),
		Env:     ui.NewCode("env", "Environment variables", ui.Block{Text: to.snippet("env")}),
		Secrets: client.Public() || client.ActiveSecrets() > 0,
		Decode:  parts.ClientForm(&v, &decodeForm, client),
	}
	if client.Public() {
		body.Keep.Title = "2. Put the client ID into your application"
	}
	if body.NotYet = notYet(client); body.NotYet == nil {
		body.Try.Action = &ui.Action{Title: "Try it", Path: to.authorizationURL(), Small: true, Primary: true, NewTab: true}
	}
	body.Metadata = v.View.Settings().BaseURL + oauth.PathMetadata
	body.Limits = ui.Callout{
		Tone: ui.Warn, Text: "This URL asks for no scope, so the application gets full access.",
		Action: &ui.Action{Title: "Move to scopes", Path: body.Path + "/migration", Small: true},
	}
	program := "go"
	if to.Native() {
		program = "native"
	}
	body.Programs = ui.NewCode(
		"program", "Code", ui.Block{Name: "curl", Text: to.snippet("curl")}, ui.Block{Name: "Go", Text: to.snippet(program)},
		ui.Block{Name: "Node.js", Text: to.snippet("node")}, ui.Block{Name: "Python", Text: to.snippet("python")},
	)
	p := w.pageOfClient(&v, client, "Connect", "connect")
	p.Body = body
	return w.Show(c, v, "connect", p)
}

// notYet returns why the authorization step refuses the application, or nil if it doesn't.
func notYet(client *ledger.Client) *ui.Callout {
	switch client.State {
	case ledger.Pending:
		return &ui.Callout{Tone: ui.Info, Title: "Not yet.", Text: "An administrator has to approve the application first. You can prepare your code meanwhile."}
	case ledger.Rejected:
		return &ui.Callout{Tone: ui.Warn, Title: "Not yet.", Text: "The application was rejected.", Action: &ui.Action{Title: "Edit and resubmit", Path: parts.ClientPath(client.ID, "edit"), Small: true}}
	case ledger.Suspended:
		return &ui.Callout{Tone: ui.Bad, Title: "Not now.", Text: "An administrator has suspended the application."}
	}
	return nil
}

// connecting returns the values for the code, with the first redirect URI that any browser can follow,
// or else the first one.
func (w *Area) connecting(v *site.Session, client *ledger.Client) connecting {
	s := v.View.Settings()
	to := connecting{
		ClientID: client.ClientID(), RedirectURI: client.RedirectURIs[max(0, slices.IndexFunc(client.RedirectURIs, leadsToServer))], Scopes: client.Scopes, Public: client.Public(),
		AuthorizeURL: s.AppURL + oauth.PathAuthorize, TokenURL: s.BaseURL + oauth.PathToken, MeURL: s.BaseURL + oauth.PathMe,
		Issuer: w.config.Issuer(), Active: activeSecrets(client), State: w.Random(), Verifier: w.Random(),
		CodeLifetime: s.CodeLifetime,
	}
	sum := sha256.Sum256([]byte(to.Verifier))
	to.Challenge = base64.RawURLEncoding.EncodeToString(sum[:])
	return to
}

// importedSecret stands in activeSecrets for secrets that were imported as hashes.
const importedSecret = "an imported one (end unknown)"

// activeSecrets lists the active secrets of a client by their last characters, such as "••••KKT8 and
// ••••-two".
func activeSecrets(client *ledger.Client) string {
	var names []string
	for i := range client.Secrets {
		if s := &client.Secrets[i]; s.Active() && s.Tail != "" {
			names = append(names, "••••"+s.Tail)
		}
	}
	if len(names) < client.ActiveSecrets() {
		names = append(names, importedSecret)
	}
	return strings.Join(names, " and ")
}

// authorizationURL returns where to send a user (service document, section 4.1).
func (c connecting) authorizationURL() string { return strings.Join(c.authorizationLines(), "") }

// code returns the URL as code to copy.
func (c connecting) code(id, label string) ui.Code {
	return ui.NewCode(id, label, ui.Block{Text: c.authorizationURL(), Lines: c.authorizationLines()})
}

// authorizationLines returns the URL with a line for each parameter.
func (c connecting) authorizationLines() []string {
	lines := []string{
		c.AuthorizeURL, "?client_id=" + url.QueryEscape(c.ClientID), "&redirect_uri=" + url.QueryEscape(c.RedirectURI), "&response_type=code",
	}
	if len(c.Scopes) > 0 {
		lines = append(lines, scopeLines(c.Scopes)...)
	}
	lines = append(lines, "&state="+c.State)
	if c.Public {
		lines = append(lines, "&code_challenge="+c.Challenge, "&code_challenge_method=S256")
	}
	return lines
}

// scopeLines returns the parameter scope with a line for a few scopes each, so that all are seen.
func scopeLines(scopes []string) []string {
	const width = 80
	lines := []string{"&scope="}
	for n, name := range scopes {
		if n > 0 {
			lines[len(lines)-1] += "%20"
		}
		if line := &lines[len(lines)-1]; len(*line)+len(name) <= width {
			*line += url.PathEscape(name)
		} else {
			lines = append(lines, url.PathEscape(name))
		}
	}
	return lines
}
