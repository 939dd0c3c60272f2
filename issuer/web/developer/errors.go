package developer

import (
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type errorsBody struct {
	Card    ui.Card // of the recent refusals
	Path    string
	ErrorID string
	Problem string // with the error_id that was entered
	Answer  *explained
	Recent  []explained
	Foot    string
}

// An explained is a refusal in words.
type explained struct {
	advice
	// ErrorID is that of the last refusal, in the list of recent refusals; "" if none can be
	// opened.
	ErrorID string
	Scope   string     // the scope concerned, in the list of recent refusals
	Near    *nearest   // the redirect URI concerned, in the list of recent refusals
	Code    oauth.Code // of the response, in the list of recent refusals; "" if the application got none
	Place   string     // where the request was refused, in the list of recent refusals
	At      ui.Stamp
	Times   int
	When    ui.Stamp // when the cause occurred
	// Earlier is set if When is known, and not the minute of the refusal.
	Earlier bool
	// The following fields are set if the client authenticated and owns the grant.
	Named          bool
	Grant          string
	Presented, Due uint32
}

// maxRecent is how many recent refusals are shown.
const maxRecent = 16

// maxErrorID is how much of an entered error_id is shown again, in bytes.
const maxErrorID = 300

// errorsPage explains why a request was refused. The query changes nothing, so the
// error_id is in the address.
func (w *Area) errorsPage(c *site.Request, v site.Session) error {
	client, err := w.ownedOrAdmin(c, &v)
	if err != nil {
		return err
	}
	asked := strings.TrimSpace(c.R.URL.Query().Get("error_id"))
	body := errorsBody{Path: parts.ClientPath(client.ID, "errors"), ErrorID: asked[:min(len(asked), maxErrorID)]}
	if asked != "" {
		if body.Answer = w.explainErrorID(&v, client, asked); body.Answer == nil {
			body.Problem = "No refused request of this application has this error_id. Copy it whole."
		}
	}
	body.Card = ui.Card{ID: "recent", Title: "Refused requests"}
	now := w.Ledger.Now()
	all := refusedLastDay(v.View.Usage(client.ID), now)
	if all > 0 {
		body.Card.Side = ui.Comma(all) + " refused in the last 24 hours"
	}
	shown, since, opens := 0, now, false
	for _, r := range w.config.Refusals.List(client.ID) {
		if len(body.Recent) == maxRecent {
			break
		}
		one := explained{Code: r.Code, Place: placeOf(r), At: v.At(r.At), Times: r.Times}
		if last := w.explainErrorID(&v, client, r.ErrorID); last != nil {
			one.advice, one.ErrorID = last.advice, r.ErrorID
		} else {
			one.advice = w.adviceFor(&v, client, r.Cause)
		}
		if r.Cause == ledger.RedirectURIUnregistered {
			one.Near = nearestTo(client, r.Word)
		} else {
			one.Scope = r.Word
		}
		body.Recent = append(body.Recent, one)
		shown, since, opens = shown+r.Times, min(since, r.Since), opens || one.ErrorID != ""
	}
	if opens {
		body.Foot = "Select an error to see its last request. "
	}
	if shown < all && since > now.Add(-24*time.Hour) { // the rows are among those of the last day
		body.Foot += ui.Comma(shown) + " of " + ui.Plural(all, "request") + " are listed; look up the others by their error_id."
	}
	p := w.pageOfClient(&v, client, "Errors", "errors")
	p.Body = body
	return w.Show(c, v, "errors", p)
}

// explainErrorID returns nil for an error_id of another client as well as for an invalid
// one, so that it doesn't reveal which error ids exist.
func (w *Area) explainErrorID(v *site.Session, client *ledger.Client, id string) *explained {
	e, err := w.config.Explain(id)
	if err != nil || e.Client != credential.ClientDigest(client.ClientID()) {
		return nil
	}
	is := &explained{advice: w.adviceFor(v, client, e.Cause), At: v.At(e.At), Times: 1, When: v.At(e.When), Named: e.Named}
	is.Detail = detailOf(e.Text())
	is.Earlier = !is.When.Zero && is.When.Exact != is.At.Exact
	if e.Named {
		is.Grant, is.Presented, is.Due = e.Grant.String(), e.Presented, e.Due
	}
	return is
}

// placeOf returns where a request was refused.
func placeOf(r parts.Refusal) string {
	if r.Program {
		return "Token request"
	}
	return "Authorization request"
}
