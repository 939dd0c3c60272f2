package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var (
	offerForm = formKind{
		purpose: "offer client", action: pathClient + "/transfer", page: pathClient + "/transfer",
		fields: []field{textField("username", "Username")},
	}
	withdrawForm = formKind{purpose: "withdraw offer", ends: true, action: pathClient + "/transfer/withdraw", page: pathClient + "/transfer"}
	acceptForm   = formKind{
		purpose: "accept client", action: pathOffer + "/accept", page: pathOffer,
		fields: []field{boundField("revision"), listField("revoke", "Secrets").chosen()},
	}
	declineForm = formKind{purpose: "decline client", ends: true, action: pathOffer + "/decline", page: pathOffer}
)

func offerPath(id string) string { return pathOffers + "/" + url.PathEscape(id) }

type transferBody struct {
	Path      string
	Public    bool // the client has no secrets
	OfferedTo string
	OfferedAt ledger.Time
	Form      *form
	Withdraw  *form
}

func (w *Web) transferPage(c *request, v session, client *ledger.Client) error {
	return w.showTransfer(c, v, client, v.clientForm(&offerForm, client))
}

func (w *Web) showTransfer(c *request, v session, client *ledger.Client, f *form) error {
	body := transferBody{Path: clientPath(client.ID), Public: client.Public(), Form: f, Withdraw: v.clientForm(&withdrawForm, client)}
	if offer := v.view.OfferOf(client); offer != nil {
		body.OfferedTo, body.OfferedAt = recipientOf(v.view, offer), offer.At
	}
	return w.show(c, v, "developer_transfer", ui.Page{Title: "Transfer " + client.Name, Up: upTo(client), Form: f, Body: body})
}

const alertTooManyOffers = "You have made many offers. Please wait a little before you make another."

// recipientOf returns the name of an offer's recipient for display: the user name that
// the owner entered, and not the real name, which the owner may not know.
func recipientOf(view ledger.View, o *ledger.Offer) string {
	u := view.User(o.To)
	if u == nil || u.Deleted {
		return nameOf(nil)
	}
	return cmp.Or(u.Username, u.ID)
}

// offer offers a client to another user, who has to accept. The response reveals whether
// a user name exists, since the owner must learn of a mistyped name; so the number of
// offers is limited.
func (w *Web) offer(c *request, v session, f *form, client *ledger.Client) error {
	name := f.trimmed("username")
	if name == "" {
		f.addProblem("username", "is missing")
		return w.showTransfer(c, v, client, f)
	}
	if wait := w.limits.offers.Take(v.user.ID, w.config.Ledger.Now().Std()); wait > 0 {
		retryAfter(c, wait)
		f.alert, f.status = alertTooManyOffers, http.StatusTooManyRequests
		return w.showTransfer(c, v, client, f)
	}
	refused, err := w.propose(c, &v, "offer a client", &ledger.OfferClient{Actor: v.actor(), ID: client.ID, Username: name})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showTransfer(c, v, client, f.refused(refused))
	}
	return c.redirectNotice(clientPath(client.ID), clientNotices, "offered")
}

func (w *Web) withdraw(c *request, v session, _ *form, client *ledger.Client) error {
	refused, err := w.propose(c, &v, "withdraw an offer", &ledger.DeclineClient{Actor: v.actor(), ID: client.ID})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return errNotFound
	}
	return c.redirectNotice(clientPath(client.ID), clientNotices, "withdrawn")
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
	Groups      []scopeGroup
	Legacy      bool
	Proposed    []ui.Difference
	Form        *form // for accepting
	Decline     *form
}

// offerPage is visible to the recipient of the offer only.
func (w *Web) offerPage(c *request, v session) error {
	client, err := w.offered(c, &v)
	if err != nil {
		return err
	}
	return w.showOffer(c, v, client, v.form(&acceptForm, acceptValues(client)))
}

func acceptValues(client *ledger.Client) url.Values {
	return url.Values{"id": {client.ID}, "revision": {strconv.FormatUint(client.Revision, 10)}}
}

// offered returns the client that the path names, if it is offered to the session's user.
func (w *Web) offered(c *request, v *session) (*ledger.Client, error) {
	var client *ledger.Client
	there, err := w.confirmFresh(c, v, func() bool {
		client = v.view.Client(c.param("id"))
		if client == nil || client.State == ledger.Deleted {
			return false
		}
		offer := v.view.OfferOf(client)
		return offer != nil && offer.To == v.user.ID
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the offer: %w", err)
	case !there:
		return nil, errNotFound
	}
	c.client = client.ID
	return client, nil
}

func (w *Web) showOffer(c *request, v session, client *ledger.Client, f *form) error {
	body := offeredBody{
		Name: client.Name, Owner: nameOf(v.view.User(client.Owner)), ID: client.ID, Type: typeName(client.Type),
		Public: client.Public(), State: client.State, Purpose: client.Purpose,
		Website: client.Website, WebsiteHost: hostOf(client.Website), URIs: client.RedirectURIs,
		Groups: scopeGroups(client.Scopes, true), Legacy: client.Legacy,
		Form: f, Decline: v.clientForm(&declineForm, client),
	}
	if client.Proposed != nil {
		body.Proposed = differences(&client.Profile, client.Proposed)
		for i := range body.Proposed {
			hideLogos(&body.Proposed[i])
		}
	}
	return w.show(c, v, "developer_offer", ui.Page{
		Title: "Take over " + client.Name + "?", Picture: publicPicture(client), Up: up("Applications", pathDeveloper), Form: f, Body: body,
	})
}

// accept makes the user the owner of the revision that the page showed.
func (w *Web) accept(c *request, v session, f *form) error {
	revision, err := strconv.ParseUint(f.get("revision"), 10, 64)
	if err != nil {
		return errUnreadable
	}
	id, revoke := f.get("id"), f.Has("revoke", "yes")
	refused, err := w.propose(c, &v, "accept a client", &ledger.AcceptClient{Actor: v.actor(), ID: id, Revision: revision, RevokeSecrets: revoke})
	switch {
	case err != nil:
		return err
	case refused != nil:
		fresh, err := w.fresh(c.r.Context())
		if err != nil {
			return fmt.Errorf("look again: %w", err)
		}
		v.view = fresh
		client, err := w.offered(c, &v)
		if err != nil {
			return err
		}
		again := acceptValues(client)
		again["revoke"] = f.values["revoke"]
		return w.showOffer(c, v, client, v.form(&acceptForm, again).refused(refused))
	}
	c.client = id
	if revoke {
		return c.redirectNotice(clientPath(id), clientNotices, "accepted-revoked")
	}
	return c.redirectNotice(clientPath(id), clientNotices, "accepted")
}

// decline also succeeds if the offer has ended meanwhile.
func (w *Web) decline(c *request, v session, f *form) error {
	refused, err := w.propose(c, &v, "decline a client", &ledger.DeclineClient{Actor: v.actor(), ID: f.get("id")})
	switch {
	case errors.Is(err, errNotFound):
	case err != nil:
		return err
	case refused != nil:
		return errNotFound
	}
	return c.redirectNotice(pathDeveloper, developerNotices, "declined")
}
