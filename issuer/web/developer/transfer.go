package developer

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var (
	offerForm = site.FormKind{
		Purpose: "offer client", Action: pathClient + "/transfer", Page: pathClient + "/transfer", Single: true,
		Fields: []site.Field{site.TextField("username", "Username")},
	}
	withdrawForm = site.FormKind{
		Purpose: "withdraw offer", Ends: true, Action: pathClient + "/transfer/withdraw", Page: pathClient + "/transfer",
		Fields: []site.Field{site.BoundField("offer")},
	}
	acceptForm = site.FormKind{
		Purpose: "accept client", Action: pathOffer + "/accept", Page: pathOffer,
		Fields: []site.Field{site.BoundField("revision"), site.TextField("revoke", "Secrets").Chosen()},
	}
	declineForm = site.FormKind{
		Purpose: "decline client", Ends: true, Action: pathOffer + "/decline", Page: pathOffer,
		Fields: []site.Field{site.BoundField("offer")},
	}
)

// endOfferForm returns a form that ends this offer of a client, and no later one.
func endOfferForm(v *site.Session, kind *site.FormKind, client *ledger.Client, o *ledger.Offer) *site.Form {
	return parts.ClientForm(v, kind, client, "offer", strconv.FormatUint(o.CreatedSeq, 10))
}

func offerPath(id string) string { return pathOffers + "/" + url.PathEscape(id) }

type transferBody struct {
	Path      string
	Public    bool // the client has no secrets
	OfferedTo string
	OfferedAt ui.Stamp
	Form      *site.Form
	Withdraw  *site.Form // nil if there is no offer
}

func (w *Area) transferPage(c *site.Request, v site.Session, client *ledger.Client) error {
	return w.showTransfer(c, v, client, parts.ClientForm(&v, &offerForm, client))
}

func (w *Area) showTransfer(c *site.Request, v site.Session, client *ledger.Client, f *site.Form) error {
	body := transferBody{Path: parts.ClientPath(client.ID), Public: client.Public(), Form: f}
	if offer := v.View.OfferOf(client); offer != nil {
		body.OfferedTo, body.OfferedAt = recipientOf(v.View, offer), v.At(offer.At)
		body.Withdraw = endOfferForm(&v, &withdrawForm, client, offer)
	}
	return w.Show(c, v, "transfer", ui.Page{Title: "Transfer " + client.Name, Up: upToSettings(client), Notice: clientNotices.Text(c), Form: f, Body: body})
}

// recipientOf returns the name of an offer's recipient for display: the user name that
// the owner entered, and not the real name, which the owner may not know.
func recipientOf(view ledger.View, o *ledger.Offer) string { return parts.UsernameOf(view.User(o.To)) }

// offer offers a client to another user, who has to accept. The response reveals whether
// a user name exists, since the owner must learn of a mistyped name; so the number of
// offers is limited.
func (w *Area) offer(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	name := f.Trimmed("username")
	if name == "" {
		f.AddSentence("username", "Enter a username.")
		return w.showTransfer(c, v, client, f)
	}
	if wait := w.offers.Take(v.User.ID, w.Ledger.Now().Std()); wait > 0 {
		site.RetryAfter(c, wait)
		f.SetAlert("You have made many offers. Try again in "+site.WaitText(wait)+".", http.StatusTooManyRequests)
		return w.showTransfer(c, v, client, f)
	}
	refused, err := w.Propose(c, &v, "offer a client", &ledger.OfferClient{Actor: v.Actor(), ID: client.ID, Username: name})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showTransfer(c, v, client, f.Refused(refused))
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "transfer"), clientNotices, "offered")
}

// withdraw also succeeds if the offer was declined meanwhile.
func (w *Area) withdraw(c *site.Request, v site.Session, f *site.Form, client *ledger.Client) error {
	offer, err := strconv.ParseUint(f.Get("offer"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	refused, err := w.Propose(c, &v, "withdraw an offer", &ledger.DeclineClient{Actor: v.Actor(), ID: client.ID, Offer: offer})
	switch {
	case err != nil:
		return err
	case refused != nil: // another offer stands
		if client, err = w.ownedFresh(c, &v); err != nil {
			return err
		}
		return w.showTransfer(c, v, client, parts.ClientForm(&v, &offerForm, client).Refused(refused))
	}
	return c.RedirectNotice(parts.ClientPath(client.ID, "transfer"), clientNotices, "withdrawn")
}

type offeredBody struct {
	Name        string
	Owner       string
	ID          string
	Type        string
	Public      bool
	State       ledger.ClientState
	Purpose     string
	Website     string
	WebsiteHost string
	URIs        []string
	Groups      []parts.ScopeGroup
	Legacy      bool
	People      string // how many have connected it; "" if they were not counted in time
	Registered  ui.Stamp
	Offered     ui.Stamp
	Proposed    []ui.Difference
	Form        *site.Form // for accepting
	Decline     *site.Form
}

// offerPage is visible to the recipient of the offer only.
func (w *Area) offerPage(c *site.Request, v site.Session) error {
	client, err := w.offered(c, &v)
	if err != nil {
		return err
	}
	return w.showOffer(c, v, client, v.Form(&acceptForm, acceptValues(client)))
}

func acceptValues(client *ledger.Client) url.Values {
	return url.Values{"id": {client.ID}, "revision": {strconv.FormatUint(client.Revision, 10)}}
}

// offered returns the client that the path names, if it is offered to the session's user.
func (w *Area) offered(c *site.Request, v *site.Session) (*ledger.Client, error) {
	var client *ledger.Client
	there, err := w.ConfirmFresh(c, v, func() bool {
		client = v.View.Client(c.Param("id"))
		if client == nil || client.State == ledger.Deleted {
			return false
		}
		offer := v.View.OfferOf(client)
		return offer != nil && offer.To == v.User.ID
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the offer: %w", err)
	case !there:
		return nil, site.ErrNotFound
	}
	c.Client = client.ID
	return client, nil
}

func (w *Area) showOffer(c *site.Request, v site.Session, client *ledger.Client, f *site.Form) error {
	body := offeredBody{
		Name: client.Name, Owner: parts.NameOf(v.View.User(client.Owner)), ID: client.ID, Type: parts.TypeName(client.Type),
		Public: client.Public(), State: client.State, Purpose: client.Purpose,
		Website: client.Website, WebsiteHost: parts.HostOf(client.Website), URIs: client.RedirectURIs,
		Groups: parts.ScopeGroups(client.Scopes, true), Legacy: client.Legacy,
		Form: f, Decline: endOfferForm(&v, &declineForm, client, client.Offer),
	}
	body.Registered, body.Offered = v.At(client.Created), v.At(client.Offer.At)
	if people, counted := w.people(c, &v, client, w.Ledger.Now()); counted {
		body.People = ui.Comma(people.Users)
	}
	if client.Proposed != nil {
		body.Proposed = folded(parts.Differences(&client.Profile, client.Proposed))
		for i := range body.Proposed {
			parts.HideLogos(&body.Proposed[i])
		}
	}
	return w.Show(c, v, "offer", ui.Page{
		Title: "Take over " + client.Name + "?", Picture: parts.PublicPicture(client), Up: site.Up("Applications", parts.PathDeveloper), Form: f, Body: body,
	})
}

// accept makes the user the owner of the revision that the page showed.
func (w *Area) accept(c *site.Request, v site.Session, f *site.Form) error {
	revision, err := strconv.ParseUint(f.Get("revision"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	id, revoke := f.Get("id"), f.Has("revoke", "yes")
	refused, err := w.Propose(c, &v, "accept a client", &ledger.AcceptClient{Actor: v.Actor(), ID: id, Revision: revision, RevokeSecrets: revoke})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showOfferAgain(c, v, f, refused)
	}
	c.Client = id
	if revoke {
		return c.RedirectNotice(parts.ClientPath(id), clientNotices, "accepted-revoked")
	}
	return c.RedirectNotice(parts.ClientPath(id), clientNotices, "accepted")
}

// showOfferAgain shows the offer as it is now, after a form about it was refused.
func (w *Area) showOfferAgain(c *site.Request, v site.Session, f *site.Form, refused *ledger.Refusal) error {
	fresh, err := w.Fresh(c.R.Context())
	if err != nil {
		return fmt.Errorf("look again: %w", err)
	}
	v.View = fresh
	client, err := w.offered(c, &v)
	if err != nil {
		return err
	}
	again := acceptValues(client)
	again["revoke"] = f.Values["revoke"]
	return w.showOffer(c, v, client, v.Form(&acceptForm, again).Refused(refused))
}

// decline also succeeds if the offer has ended meanwhile, unless the user accepted it: then the
// user reads nothing of a decline.
func (w *Area) decline(c *site.Request, v site.Session, f *site.Form) error {
	id := f.Get("id")
	offer, err := strconv.ParseUint(f.Get("offer"), 10, 64)
	if err != nil {
		return site.ErrUnreadable
	}
	refused, err := w.Propose(c, &v, "decline a client", &ledger.DeclineClient{Actor: v.Actor(), ID: id, Offer: offer})
	if err != nil && !errors.Is(err, site.ErrNotFound) {
		return err
	}
	if v.View, err = w.Fresh(c.R.Context()); err != nil {
		return fmt.Errorf("look again: %w", err)
	}
	switch client := v.View.Client(id); {
	case client != nil && client.Owner == v.User.ID:
		return c.Redirect(parts.ClientPath(id))
	case refused != nil: // it was offered anew
		return w.showOfferAgain(c, v, f, refused)
	}
	return c.RedirectNotice(parts.PathDeveloper, developerNotices, "declined")
}
