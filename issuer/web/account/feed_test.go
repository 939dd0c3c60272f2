package account_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var shownFeed = regexp.MustCompile(`https://app\.mintmark\.example(/feed/mmf_[A-Za-z0-9_-]{43})<`)

// makeFeed makes an address of the user's feed, and returns its path.
func makeFeed(t *testing.T, b *Browser) string {
	t.Helper()
	page := b.Post(FeedPath, b.FeedForm())
	require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
	shown := shownFeed.FindStringSubmatch(page.Text)
	require.NotNil(t, shown, page.Text)
	return shown[1]
}

type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"http://www.w3.org/2005/Atom id"`
	Title   string   `xml:"http://www.w3.org/2005/Atom title"`
	Updated string   `xml:"http://www.w3.org/2005/Atom updated"`
	Author  string   `xml:"http://www.w3.org/2005/Atom author>name"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"http://www.w3.org/2005/Atom link"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Summary string `xml:"summary"`
		Link    struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
}

// readFeed returns a feed, and verifies what RFC 4287 requires of each.
func readFeed(t *testing.T, text string) (f atom) {
	t.Helper()
	require.NoError(t, xml.Unmarshal([]byte(text), &f), text)
	newest, ids := "", map[string]bool{}
	for _, e := range f.Entries {
		assert.Regexp(t, `^tag:app\.mintmark\.example,2026:[A-Za-z0-9/._-]+$`, e.ID)
		assert.False(t, ids[e.ID], "%s is there twice", e.ID)
		assert.NotEmpty(t, e.Title)
		assert.NotEmpty(t, e.Summary)
		assert.Equal(t, "alternate", e.Link.Rel)
		assert.Regexp(t, `^https://app\.mintmark\.example/`, e.Link.Href)
		_, err := time.Parse(time.RFC3339, e.Updated)
		assert.NoError(t, err)
		ids[e.ID], newest = true, max(newest, e.Updated)
	}
	assert.LessOrEqual(t, newest, f.Updated)
	_, err := time.Parse(time.RFC3339, f.Updated)
	assert.NoError(t, err)
	return f
}

func (f atom) entry(t *testing.T, title string) string {
	t.Helper()
	for _, e := range f.Entries {
		if e.Title == title {
			return e.ID + " " + e.Updated + " " + e.Link.Href + " " + e.Summary
		}
	}
	require.Fail(t, "no entry", "%s in %v", title, f.Entries)
	return ""
}

// TestFeed verifies what a feed has, for an owner and for an administrator.
func TestFeed(t *testing.T) {
	w, b, root := needy(t)
	path := makeFeed(t, b)
	stranger := w.Browser()
	res := stranger.Get(path)
	require.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, "application/atom+xml; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(t, "private, max-age=300", res.Header.Get("Cache-Control"))
	assert.Empty(t, res.Header.Get("Set-Cookie"))
	f := readFeed(t, res.Text)
	assert.Equal(t, "Mintmark: needs your attention", f.Title)
	assert.Equal(t, "Mintmark", f.Author)
	assert.Equal(t, "tag:app.mintmark.example,2026:feed/u-ada", f.ID)
	assert.Equal(t, "self https://app.mintmark.example"+path, f.Links[0].Rel+" "+f.Links[0].Href)
	assert.Equal(t, "alternate https://app.mintmark.example/", f.Links[1].Rel+" "+f.Links[1].Href)
	for title, texts := range map[string][]string{
		"The rejected app: rejected":        {":rejected/rejected/", "https://app.mintmark.example/developer/clients/rejected", "Edit and resubmit."},
		"The suspended app: suspended":      {"until an administrator resumes it"},
		"The secretless app: no secret":     {":no-secret/secretless ", "It needs a secret to get access."},
		"The changed app: changes rejected": {":refused/changed/", "The application works without the changes."},
		"The offered app: offered to you":   {":offered/offered/", "/developer/offers/offered", "Root (root) asks you"},
		"The newer app: waiting for review": {":waiting/newer/", "2026-03-04T14:00:00Z", "Nobody can use it before it is approved."},
		"The legacy app: legacy":            {":legacy/legacy ", "/developer/clients/legacy"},
		"The stopped app: suspended":        {":app-suspended/stopped/", "/connected-apps/stopped"},
	} {
		entry := f.entry(t, title)
		for _, text := range texts {
			assert.Contains(t, entry, text, title)
		}
	}
	for _, secret := range []string{"The purpose doesn’t say", "It was too loud.", "Not that name.", "Nobody may know why."} {
		assert.NotContains(t, res.Text, secret, "a reviewer's words")
	}
	assert.NotContains(t, res.Text, "Number ", "a position changes without an event")

	rootPath := makeFeed(t, root)
	f = readFeed(t, stranger.Get(rootPath).Text)
	assert.Contains(t, f.entry(t, "The newer app: waiting for review"), ":review/newer/")
	assert.Contains(t, f.entry(t, "The older app: waiting for review"), "/admin/clients/older Root (root) submitted it.")
	assert.Less(t, strings.Index(stranger.Get(rootPath).Text, "review/newer"), strings.Index(stranger.Get(rootPath).Text, "review/older"))
}

// TestFeedAsksAgain verifies the answers to conditional requests, and to HEAD.
func TestFeedAsksAgain(t *testing.T) {
	w, b, _ := needy(t)
	path := makeFeed(t, b)
	ask := func(method, tag string) Answer {
		return w.Browser().Send(method, path, nil, http.Header{"If-None-Match": {tag}})
	}
	first := ask(http.MethodGet, "")
	etag := first.Header.Get("ETag")
	require.Regexp(t, `^"[A-Za-z0-9_-]{22}"$`, etag)
	w.Advance(time.Second)
	for _, tag := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
		same := ask(http.MethodGet, tag)
		assert.Equal(t, http.StatusNotModified, same.StatusCode, tag)
		assert.Empty(t, same.Text)
		assert.Equal(t, etag, same.Header.Get("ETag"))
		assert.Equal(t, "private, max-age=300", same.Header.Get("Cache-Control"))
	}
	for _, tag := range []string{"", `"other"`, etag[1:]} {
		assert.Equal(t, http.StatusOK, ask(http.MethodGet, tag).StatusCode, tag)
	}
	head := ask(http.MethodHead, "")
	assert.Equal(t, http.StatusOK, head.StatusCode)
	assert.Equal(t, etag, head.Header.Get("ETag"))
	assert.Empty(t, head.Text)
	assert.Equal(t, http.StatusMethodNotAllowed, ask(http.MethodPost, "").StatusCode)

	w.Client("next", func(c *ledger.ImportClient) { c.State = ledger.Pending })
	changed := ask(http.MethodGet, etag)
	assert.Equal(t, http.StatusOK, changed.StatusCode)
	assert.Contains(t, changed.Text, "The next app: waiting for review")
	stays := regexp.MustCompile(`<id>[^<]*</id>`).FindAllString(first.Text, -1)
	for _, id := range stays {
		assert.Contains(t, changed.Text, id)
	}
}

// TestFeedAddress verifies that an address is shown once, and that it ends when it is replaced or
// removed and with the account. All addresses that aren't valid have the same answer.
func TestFeedAddress(t *testing.T) {
	w := NewEnv(t)
	b, stranger := w.SignedIn(), w.Browser()
	assert.Contains(t, b.Get("/account").Text, "Get feed address")
	form := b.FeedForm()
	first := b.Post(FeedPath, form)
	assert.Contains(t, first.Text, "Shown once.")
	path := shownFeed.FindStringSubmatch(first.Text)[1]
	assert.Equal(t, path, shownFeed.FindStringSubmatch(b.Post(FeedPath, form).Text)[1], "the same form twice")
	page := b.Get("/account")
	assert.NotContains(t, page.Text, path)
	assert.Regexp(t, `Address made <time[^>]*>just now</time>`, page.Text)
	digest := w.View().User("u-ada").FeedDigest

	second := makeFeed(t, b)
	assert.NotEqual(t, digest, w.View().User("u-ada").FeedDigest)
	unknown := stranger.Get("/feed/" + StageFeed)
	assert.Equal(t, http.StatusNotFound, unknown.StatusCode)
	gone := func(path string) {
		t.Helper()
		res := stranger.Get(path)
		assert.Equal(t, http.StatusNotFound, res.StatusCode)
		assert.Equal(t, unknown.Text, res.Text)
		assert.Equal(t, unknown.Header, res.Header)
	}
	gone(path)
	gone("/feed/x")
	assert.Equal(t, http.StatusOK, stranger.Get(second).StatusCode)

	res := b.Post(FeedPath+"/remove", b.Get("/account").Form(t, FeedPath+"/remove"))
	assert.Contains(t, b.Get(res.Header.Get("Location")).Text, "The address of your feed was removed.")
	gone(second)

	third := makeFeed(t, b)
	assert.Equal(t, http.StatusOK, stranger.Get(third).StatusCode)
	w.Must(&ledger.SetUserState{Actor: Operator, User: "u-ada", State: ledger.Disable})
	gone(third)
	w.Must(&ledger.SetUserState{Actor: Operator, User: "u-ada", State: ledger.Enable})
	gone(third)
	last := makeFeed(t, w.SignedIn())
	w.Must(&ledger.SetUserState{Actor: Operator, User: "u-ada", State: ledger.DeleteUser})
	gone(last)

	log := w.Log.String()
	assert.Contains(t, log, "route=/feed/:address")
	assert.Contains(t, log, "user=u-ada")
	assert.NotContains(t, log, "mmf_")
	for e := range w.View().EventsBackwards() {
		assert.NotContains(t, e.Detail, "mmf_")
	}
}

// TestFeedForm verifies that the form is bound to a session, and for how long it can be sent.
func TestFeedForm(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob")
	b, elsewhere, bob := w.SignedIn(), w.SignedIn(), w.SignedInAs("bob")
	form := b.FeedForm()
	for _, other := range []*Browser{elsewhere, bob} {
		theirs := other.FeedForm()
		about := form.Get("secret") + "\x00" + form.Get("sealed") + "\x00" + theirs.Get("after")
		theirs.Set("secret", form.Get("secret"))
		theirs.Set("sealed", form.Get("sealed"))
		theirs.Set("token", site.FormToken(other.Session(), "feed", other.UserID, about))
		assert.Equal(t, http.StatusConflict, other.Post(FeedPath, theirs).StatusCode)
	}
	w.Advance(11 * time.Minute)
	late := b.Post(FeedPath, form)
	assert.Equal(t, http.StatusConflict, late.StatusCode)
	assert.Contains(t, late.Text, "nothing was done")
	assert.Zero(t, w.View().User("u-ada").FeedDigest)
	assert.Equal(t, http.StatusOK, b.Post(FeedPath, late.Form(t, FeedPath)).StatusCode, "the page has a new form")
}

// TestFeedAddressStaysGone verifies that a form, sent again, does not bring back an address that was
// removed or replaced.
func TestFeedAddressStaysGone(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *Browser){
		"removed": func(t *testing.T, b *Browser) {
			b.Done(b.Post(FeedPath+"/remove", b.Get("/account").Form(t, FeedPath+"/remove")))
		},
		"replaced": func(t *testing.T, b *Browser) { makeFeed(t, b) },
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b, stranger := w.SignedIn(), w.Browser()
			form := b.FeedForm()
			path := shownFeed.FindStringSubmatch(b.Post(FeedPath, form).Text)[1]
			require.Equal(t, http.StatusOK, stranger.Get(path).StatusCode)
			end(t, b)
			now := w.View().User("u-ada").FeedDigest
			res := b.Post(FeedPath, form)
			assert.Equal(t, http.StatusConflict, res.StatusCode)
			assert.Contains(t, res.Text, site.NoticeOld)
			assert.Equal(t, http.StatusNotFound, stranger.Get(path).StatusCode)
			assert.Equal(t, now, w.View().User("u-ada").FeedDigest)
			assert.Equal(t, http.StatusOK, b.Post(FeedPath, res.Form(t, FeedPath)).StatusCode, "the page has a new form")
		})
	}
}

// TestFeedElsewhere verifies what a node says that lags, or has lost the leader.
func TestFeedElsewhere(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	path := makeFeed(t, b)
	w.NoLeader = true
	assert.Equal(t, http.StatusOK, w.Browser().Get(path).StatusCode, "it only reads")
	w.NoLeaderContact = true
	assert.Equal(t, http.StatusServiceUnavailable, w.Browser().Get(path).StatusCode, "it may have been removed")
	w.NoLeader = false
	assert.Equal(t, http.StatusOK, w.Browser().Get(path).StatusCode)
}

// TestFeedReaders verifies that a reader can't ask without end, and that others are not kept
// from it.
func TestFeedReaders(t *testing.T) {
	w := NewEnv(t)
	path := makeFeed(t, w.SignedIn())
	ask := func(address, path string) Answer {
		return w.Browser().Send(http.MethodGet, path, nil, http.Header{"Test-Address": {address}})
	}
	for range 60 {
		require.Equal(t, http.StatusNotFound, ask("192.0.2.1", "/feed/"+StageFeed).StatusCode)
	}
	res := ask("192.0.2.1", path)
	assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	assert.Equal(t, "1", res.Header.Get("Retry-After"))
	assert.Contains(t, res.Text, "Try again in 1 second.")
	assert.Equal(t, http.StatusOK, ask("192.0.2.2", path).StatusCode)
	w.Advance(time.Second)
	assert.Equal(t, http.StatusOK, ask("192.0.2.1", path).StatusCode)
}

// TestFeedServed reads a feed by HTTP.
func TestFeedServed(t *testing.T) {
	w, b, _ := needy(t)
	path := makeFeed(t, b)
	s := httptest.NewServer(w.Handler)
	defer s.Close()
	res, err := s.Client().Get(s.URL + path)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Len(t, readFeed(t, string(text)).Entries, 13)
}
