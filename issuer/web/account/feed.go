package account

import (
	"encoding/hex"
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// pathFeed begins the address of a feed.
const pathFeed = "/feed/"

var (
	feedForm = site.FormKind{
		Purpose: forFeed, Action: "/account/feed", Page: site.PathAccount,
		Fields: []site.Field{site.BoundField("secret"), site.BoundField("sealed"), site.BoundField("after")},
	}
	removeFeedForm = site.FormKind{Purpose: forRemoveFeed, Ends: true, Action: "/account/feed/remove", Page: site.PathAccount}
)

// A feedCard offers an address of a feed, or replaces and removes the one that there is.
type feedCard struct {
	Since   ui.Stamp // zero without an address
	Make    *site.Form
	Replace *ui.Confirm
	Remove  *ui.Confirm
}

func (w *Area) feedCard(v *site.Session) feedCard {
	made := w.secrets.WithNewFeed(v, v.Form(&feedForm, url.Values{"after": {hex.EncodeToString(v.User.Last[:])}}))
	return feedCard{
		Since: v.At(v.User.FeedSince), Make: made,
		Replace: &ui.Confirm{
			Button: "Replace address", About: "of the feed", Title: "Replace the address?", Text: "The old one stops working immediately.",
			Do: "Replace address", Form: made,
		},
		Remove: &ui.Confirm{
			Button: "Remove address", About: "of the feed", Title: "Remove the address?", Text: "It stops working immediately.",
			Do: "Remove address", Tone: ui.Bad, Form: v.Form(&removeFeedForm, nil),
		},
	}
}

// setFeed makes an address of the user's feed and shows it once, as addSecret of package
// developer does.
func (w *Area) setFeed(c *site.Request, v site.Session, f *site.Form) error {
	plain, ok := w.secrets.NewFeedOf(&v, f)
	after, err := hex.DecodeString(f.Get("after"))
	cmd := &ledger.SetFeed{Actor: v.Actor(), Digest: credential.FeedDigest(plain)}
	if !ok || err != nil || len(after) != len(cmd.ExpectedLast) {
		return w.showFeedExpired(c, v)
	}
	copy(cmd.ExpectedLast[:], after)
	refused, err := w.Propose(c, &v, "set the address of a feed", cmd)
	switch {
	case err != nil:
		return err
	case refused != nil && refused.Cause == ledger.Conflict:
		// The form of the page must have the change.
		if _, err := w.ConfirmFresh(c, &v, func() bool { return v.User.Last != cmd.ExpectedLast }); err != nil {
			return err
		}
		return w.showFeedExpired(c, v)
	case refused != nil: // another user's, which is as likely as a guess
		return site.ErrNotOurForm
	}
	return w.Show(c, v, "feed", ui.Page{
		Title: "Your feed", Up: site.Up("Profile & security", site.PathAccount),
		Body: ui.Copy{ID: "feed", Label: "address", Value: v.View.Settings().AppURL + pathFeed + plain, Wide: true},
	})
}

// showFeedExpired handles a form whose address can't be used any more: the page offers another.
func (w *Area) showFeedExpired(c *site.Request, v site.Session) error {
	again := v.Form(&feedForm, nil)
	again.SetAlert(site.NoticeOld, http.StatusConflict)
	return w.showProfile(c, v, again)
}

// removeFeed removes the address of the user's feed.
func (w *Area) removeFeed(c *site.Request, v site.Session, _ *site.Form) error {
	refused, err := w.Propose(c, &v, "remove the address of a feed", &ledger.SetFeed{Actor: v.Actor()})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return site.ErrNotFound
	}
	return c.RedirectNotice(site.PathAccount, accountNotices, "feed-removed")
}
