package account

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/attention"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// An atomFeed is an atom:feed (RFC 4287 §4.1.1).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

// An atomEntry is an atom:entry (RFC 4287 §4.1.2).
type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary"`
}

// feed shows what needs the user to whom an address belongs. It has no session and changes
// nothing. The addresses of users who are disabled or deleted are gone from the ledger, so all
// addresses that aren't valid have the same answer. A node without contact to the leader may
// have missed that an address was removed.
func (w *Area) feed(c *site.Request) error {
	if wait, _ := w.readers.Try(w.prover.ClientIP(c.R), w.Ledger.Now().Std()); wait > 0 {
		return tooManyReads(wait)
	}
	address := c.Param("address")
	if !credential.IsFeed(address) {
		return site.ErrNotFound
	}
	view := w.Ledger.View()
	if !w.Ledger.InTouch() {
		fresh, err := w.FreshFor(c.R.Context(), c)
		if err != nil {
			return err
		}
		view = fresh
	}
	u := view.UserOfFeed(credential.FeedDigest(address))
	if u == nil {
		return site.ErrNotFound
	}
	c.User = u.ID
	text, err := w.atom(view, u, address)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	h := c.Header()
	h.Set("Cache-Control", "private, max-age=300")
	h.Set("ETag", etag)
	if oauth.MatchesETag(c.R.Header["If-None-Match"], etag) {
		c.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/atom+xml; charset=utf-8")
	c.WriteHeader(http.StatusOK)
	if !c.IsHead() {
		_, _ = c.Write(text) // the reader may have disconnected
	}
	return nil
}

func tooManyReads(wait time.Duration) *site.Failure {
	return &site.Failure{
		Status: http.StatusTooManyRequests, Title: "Too many requests", After: wait,
		Text: "Try again in " + site.WaitText(wait) + ".",
	}
}

// atom returns the feed of a user as a document.
func (w *Area) atom(view ledger.View, u *ledger.User, address string) ([]byte, error) {
	s, brand := view.Settings(), w.Brand()
	authority := s.AppURL
	if parsed, err := url.Parse(s.AppURL); err == nil {
		authority = parsed.Hostname()
	}
	id := func(parts ...string) string { // a tag URI (RFC 4151)
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		return "tag:" + authority + ",2026:" + strings.Join(parts, "/")
	}
	last := u.FeedSince
	doc := atomFeed{
		ID: id("feed", u.ID), Title: brand.Name + ": needs your attention", Author: brand.Name,
		Links: []atomLink{
			{Rel: "self", Type: "application/atom+xml", Href: s.AppURL + pathFeed + address},
			{Rel: "alternate", Type: "text/html", Href: s.AppURL + site.PathHome},
		},
	}
	date := func(t ledger.Time) string { return "on " + ui.Clock{}.At(int64(t)).Exact }
	for _, one := range attention.Single(view, u, w.Ledger.Now()) {
		is, updated := wordsOf(view, date, &one), cmp.Or(one.Since, u.FeedSince)
		about := []string{string(one.Kind)}
		switch {
		case one.Client != nil:
			about = append(about, one.Client.ID)
		case one.Publisher != nil:
			about = append(about, one.Publisher.Host)
		}
		switch one.Kind {
		case attention.AppShared: // it was last used then, which is no news
			updated = u.FeedSince
		case attention.SecretEnds:
			about = append(about, one.Secret.ID)
		case attention.NoSecret, attention.Legacy, attention.BrandDraft:
		default: // once it happens again it is another entry
			about = append(about, strconv.FormatInt(int64(one.Since), 10))
		}
		last = max(last, updated)
		doc.Entries = append(doc.Entries, atomEntry{
			ID: id(about...), Title: is.heading(), Updated: timestamp(updated),
			Link: atomLink{Rel: "alternate", Type: "text/html", Href: s.AppURL + is.Path}, Summary: cmp.Or(is.Text, is.Action.Title+"."),
		})
	}
	doc.Updated = timestamp(last)
	text := bytes.NewBufferString(xml.Header)
	if err := xml.NewEncoder(text).Encode(doc); err != nil {
		return nil, fmt.Errorf("encode a feed: %w", err)
	}
	return text.Bytes(), nil
}

// heading returns the title with the state, such as "Zeta Planner: rejected".
func (is words) heading() string {
	if is.Pill == nil {
		return is.Title
	}
	return is.Title + ": " + strings.ToLower(is.Pill.Text[:1]) + is.Pill.Text[1:]
}

func timestamp(t ledger.Time) string { return t.Std().UTC().Format(time.RFC3339) }
