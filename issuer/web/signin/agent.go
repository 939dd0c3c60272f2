package signin

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Documents fetches the metadata documents of clients, like clientdoc.Fetcher.
type Documents interface {
	Fetch(ctx context.Context, user, clientID string, known bool) (clientdoc.Document, time.Duration, error)
	Refuse(clientID, note string) *clientdoc.Error
}

// isAgent reports whether agents are accepted and the client_id is a document's URL or that of a
// registered client.
func (w *Area) isAgent(v *site.Session, r oauth.AuthorizationRequest) bool {
	return oauth.IsAgentID(r.ClientID) && v.View.Settings().AcceptsAgents()
}

// openRegistration sets r.Registration from the client_id of a registered client, unless it is
// set.
func (w *Area) openRegistration(c *site.Request, v *site.Session, r *oauth.AuthorizationRequest) {
	if w.isAgent(v, *r) && w.config.Registration != nil && r.Registration == nil {
		ctx, cancel := context.WithTimeout(c.R.Context(), site.WaitFresh)
		defer cancel()
		r.Registration = w.config.Registration(ctx, r.ClientID)
	}
}

// lookUp fetches the document of a client for a signed-in user, unless the stored one is fresh,
// and records it in the ledger. Afterwards v may have no user. If a known document can't be
// fetched again, or the new one is refused, the stored one is used; the ledger decides for how long.
func (w *Area) lookUp(c *site.Request, v *site.Session, r oauth.AuthorizationRequest) error {
	lookup, cause := v.View.Lookup(r.ClientID, w.Ledger.Now())
	if cause != ledger.NoCause { // this node may lag
		fresh, err := w.FreshFor(c.R.Context(), c)
		if err != nil {
			return err
		}
		v.View = fresh
		if w.LookupSession(c, v); v.User == nil {
			return nil
		}
		lookup, cause = v.View.Lookup(r.ClientID, w.Ledger.Now())
	}
	var d clientdoc.Document
	var age time.Duration
	var err error
	switch {
	case cause != ledger.NoCause:
		return w.explainAgent(cause, r.ClientID, "")
	case lookup == ledger.LookupNone:
		return nil
	case c.IsHead(): // a HEAD request must not fetch or record a document
		return site.MethodNotAllowed(http.MethodGet)
	case w.config.Documents == nil:
		err = &clientdoc.Error{Reason: clientdoc.Unreachable}
	default:
		d, age, err = w.config.Documents.Fetch(c.R.Context(), v.User.ID, r.ClientID, lookup == ledger.LookupAgain)
	}
	if err == nil {
		err = w.recordDocument(c, v, d, age)
	} else {
		err = fmt.Errorf("fetch a metadata document: %w", err)
	}
	failed, ok := errors.AsType[*clientdoc.Error](err)
	switch {
	case ok && lookup == ledger.LookupAgain:
		return nil
	case ok:
		return w.unfetched(r.ClientID, failed)
	}
	return err
}

// recordDocument proposes what was fetched, and continues on a view that includes it. Afterwards
// v may have no user. The error is a *clientdoc.Error for a document that the ledger does not
// accept.
func (w *Area) recordDocument(c *site.Request, v *site.Session, d clientdoc.Document, age time.Duration) error {
	out, index, err := w.Ledger.Propose(c.R.Context(), &ledger.NoteDocument{
		Actor: v.Actor(), URL: d.ClientID, Name: d.Name, Website: d.Website, RedirectURIs: d.RedirectURIs, Digest: d.Digest, Age: age,
	})
	switch {
	case err != nil:
		return fmt.Errorf("record a metadata document: %w", err)
	case out.Unknown:
		return fmt.Errorf("record a metadata document: %w", oauth.ErrUnavailable)
	case out.Refusal != nil && out.Refusal.Cause == ledger.BadField:
		return w.config.Documents.Refuse(d.ClientID, "in the metadata document, "+out.Refusal.Field+" "+out.Refusal.Note)
	case out.Refusal != nil && out.Refusal.Cause == ledger.NotSignedIn: // since the session was looked up
		c.User, v.User, v.Stored = "", nil, nil
		return nil
	case out.Refusal != nil:
		if f := w.explainAgent(out.Refusal.Cause, d.ClientID, ""); f != nil {
			return f
		}
		return fmt.Errorf("record a metadata document: %s", out.Refusal.Cause)
	}
	w.SetSession(c, v.ID, index)
	view, err := w.Ledger.ViewAt(c.R.Context(), index)
	if err != nil {
		return fmt.Errorf("look at a metadata document: %w", err)
	}
	v.View = view
	w.LookupSession(c, v)
	return nil
}

// unfetched is the failure for a document that could not be fetched or is not valid.
func (w *Area) unfetched(clientID string, e *clientdoc.Error) *site.Failure {
	cause := ledger.DocumentUnusable
	switch e.Reason {
	case clientdoc.TooManyURLs, clientdoc.Busy:
		cause = ledger.TooManyLookups
	case clientdoc.MethodNotOffered:
		cause = ledger.DocumentMethod
	}
	return w.explainAgent(cause, clientID, ui.Sentence(e.Error()))
}

// explainAgent explains why a client with a metadata document can't be shown for consent, or
// returns nil if the cause isn't about documents. Of the publisher it repeats the host alone.
func (w *Area) explainAgent(cause ledger.Cause, clientID, detail string) *site.Failure {
	service, app, whose := w.Brand().Name, "This app", "the app’s developer"
	if host := oauth.DocumentHost(clientID); oauth.CheckPublisher(host) == "" {
		app, whose = host, "the developer of "+host
	}
	f := &site.Failure{Status: http.StatusForbidden, Cause: cause, Detail: cmp.Or(detail, ui.Sentence(cause.String()))}
	switch cause {
	case ledger.AgentsAreOff, ledger.PublisherUnlisted:
		f.Title = "This app is not accepted here"
		f.Text = "The app’s publisher is not one that " + service + " accepts. Nothing was looked up, and nothing was shared. If you need the app, ask an administrator of " + service + "."
	case ledger.PublisherIsPending:
		f.Title = "This app has not been reviewed yet"
		f.Text = "An administrator of " + service + " has to review the app’s publisher before anybody can use it. Nothing was shared. Try again later."
	case ledger.PublisherIsRejected:
		f.Title = "This app was not approved"
		f.Text = "An administrator of " + service + " reviewed the app’s publisher and did not approve it. Nothing was shared."
	case ledger.TooManyDocuments:
		f.Status = http.StatusTooManyRequests
		f.Title = "There are too many apps of this publisher"
		f.Text = service + " accepts no more apps of this publisher, so this one was not added. Nothing was shared. Ask an administrator of " + service + "."
	case ledger.TooManyPublishers:
		f.Status = http.StatusTooManyRequests
		f.Title = "This app can’t be reviewed now"
		f.Text = "Too many new apps are waiting for review, from you or from everybody. Nothing was shared. Try again tomorrow, or ask an administrator of " + service + "."
	case ledger.TooManyLookups:
		f.Status, f.After, f.Again = http.StatusTooManyRequests, time.Minute, site.TryAgain
		f.Title = "Too many new apps"
		f.Text = "Too many new apps were tried in a short time, so this one was not looked up. Nothing was shared. Wait 1 minute and try again."
	case ledger.DocumentURLRefused, ledger.DocumentUnusable, ledger.DocumentMethod, ledger.RegistrationRefused:
		f.Status, f.Again = http.StatusBadRequest, site.TryAgain
		f.Title = app + " can’t be recognized"
		f.Text = service + " couldn’t read the app’s description of itself. Nothing was shared. Try again; if it fails again, tell " + whose + "."
	case ledger.DocumentStale:
		f.Status, f.Again = http.StatusServiceUnavailable, site.TryAgain
		f.Title = app + " can’t be recognized now"
		f.Text = service + " hasn’t been able to read the app’s description of itself for more than a day. Programs that you allowed before keep their access. Try again later."
	default:
		return nil
	}
	return f
}

const (
	waitFor      = 10 * time.Minute // how long a request waits for the review of its publisher
	waitInterval = 5 * time.Second
)

// waitingPrefix begins what is sealed in the address of a waiting request.
const waitingPrefix = "waiting\x00"

// wait sends the browser to a page that goes on by itself once the publisher is approved. The
// request is sealed in its address with the user and the end of the wait.
func (w *Area) wait(c *site.Request, v *site.Session, r oauth.AuthorizationRequest) error {
	plain := binary.BigEndian.AppendUint64([]byte(waitingPrefix), uint64(w.Ledger.Now().Add(waitFor)))
	plain = append(plain, v.User.ID+"\x00"+r.Query()...)
	return c.Redirect(site.PathWaiting + "?request=" + url.QueryEscape(w.Forms.SealForm(plain)))
}

var errWaitOver = &site.Failure{
	Status: http.StatusGone, Title: "This page is no longer valid",
	Text: "The app’s publisher was waiting for review, or the page was made for another user. Start again from the app.",
}

type waitingBody struct {
	Service string
	Host    string // of the publisher
	Name    string // of the client, as it calls itself
	Since   ui.Stamp
	Wait    string // how long the page stays valid
	Account account
	// Cancel is the client's redirect URI with the refusal; "" if the request has no registered one.
	Cancel template.URL
	Target target
}

// waitingPage shows that a publisher awaits a review. It loads itself again, without a
// script, until it is approved or the time is over.
func (w *Area) waitingPage(c *site.Request, v site.Session) error {
	plain, err := w.Forms.OpenForm(c.R.URL.Query().Get("request"))
	sealed, ok := strings.CutPrefix(string(plain), waitingPrefix)
	if err != nil || !ok || len(sealed) < 8 {
		return errWaitOver
	}
	until := ledger.Time(binary.BigEndian.Uint64([]byte(sealed)))
	user, query, _ := strings.Cut(sealed[8:], "\x00")
	r, bad := oauth.ParseAuthorizationRequest(query)
	if bad != nil || user != v.User.ID || w.Ledger.Now() >= until {
		return errWaitOver
	}
	client := v.View.ClientNamed(r.ClientID)
	var publisher *ledger.Publisher
	if client != nil {
		publisher = v.View.PublisherOf(client)
	}
	if publisher == nil || publisher.State != ledger.PublisherPending {
		return c.Redirect(continueURL(query, ""))
	}
	c.Header().Set("Refresh", strconv.Itoa(int(waitInterval/time.Second)))
	body := waitingBody{
		Service: w.Brand().Name, Host: client.Document.Host(), Name: client.Name, Since: v.At(publisher.Requested), Wait: site.WaitText(until.Std().Sub(w.Ledger.Now().Std())), Account: accountOf(&v, query),
	}
	if client.Registered(r.RedirectURI) {
		body.Target = targetOf(r.RedirectURI)
		body.Cancel = template.URL(w.errorLocation(r, &userRefused))
	}
	w.Render(c, http.StatusOK, "waiting", ui.Page{Title: "Waiting for review", Body: body})
	return nil
}
