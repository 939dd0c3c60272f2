package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const waitingPath = "/auth/oauth2/waiting"

// waits opens the request of an agent that is not reviewed, and returns the address of the page that
// waits.
func waits(t *testing.T, b *Browser) string {
	t.Helper()
	res := b.Get(At(agentRequest("scope", "BOOKING_READ", "state", "x")))
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	require.True(t, strings.HasPrefix(res.Header.Get("Location"), waitingPath+"?request="))
	return res.Header.Get("Location")
}

// TestForgedWaiting: an address that was changed, cut, made for another purpose or for another user is
// refused like any other, and causes nothing.
func TestForgedWaiting(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	w.User("u-bob", "bob", "Bob")
	b, bob := w.SignedIn(), w.SignedInAs("bob")
	address := waits(t, b)
	u, err := url.Parse(address)
	require.NoError(t, err)
	sealed := u.Query().Get("request")
	fetched, proposals := p.requests(), len(w.Proposals)
	gone := bob.Get(address)
	require.Equal(t, http.StatusGone, gone.StatusCode)
	require.NotContains(t, gone.Text, "example.com", "nobody learns what another user asked for")
	require.Empty(t, gone.Header.Get("Refresh"))

	forged := []string{"", "?request=", "?request=%00", "?request=" + strings.Repeat("A", 20_000), "?request=" + sealed[:20], "?request=" + sealed + sealed, "?request=" + sealed + "&request=" + sealed[1:], "?other=" + sealed}
	for i := 0; i < len(sealed); i += 7 {
		c := "A"
		if sealed[i] == 'A' {
			c = "B"
		}
		forged = append(forged, "?request="+url.QueryEscape(sealed[:i]+c+sealed[i+1:]))
	}
	for _, query := range append(forged,
		"?request="+url.QueryEscape(Sealer{}.SealForm([]byte("waiting\x00"))),
		"?request="+url.QueryEscape(Sealer{}.SealForm([]byte("another purpose\x00u-ada\x00client_id=x"))),
	) {
		res := b.Get(waitingPath + query)
		if strings.HasPrefix(query, "?request="+sealed+"&") { // the first one counts
			require.Equal(t, http.StatusOK, res.StatusCode)
			continue
		}
		require.Contains(t, []int{http.StatusGone, http.StatusRequestURITooLong, http.StatusBadRequest}, res.StatusCode, "%.60s", query)
		require.Empty(t, res.Header.Get("Location"))
	}
	require.Contains(t, w.Browser().Get(address).Text+w.Browser().Get(address).Header.Get("Location"), "sign-in", "a stranger signs in first")
	require.Equal(t, fetched, p.requests())
	require.Len(t, w.Proposals, proposals)
}

// TestWaitingEnds: the page goes on to the request that it was made for, and nowhere else, whatever
// happened to the publisher meanwhile, and ends after ten minutes.
func TestWaitingEnds(t *testing.T) {
	operator := ledger.Actor{Operator: true}
	for name, c := range map[string]struct {
		meanwhile func(w *Env)
		status    int // of the page that it goes on to; 0 if it does not
		text      string
	}{
		"approved": {func(w *Env) { w.List("example.com") }, http.StatusOK, "<bdi>example.com</bdi> wants access"},
		"rejected": {func(w *Env) {
			w.Must(&ledger.EndPublisher{Actor: operator, Host: "example.com", How: ledger.EndReject})
		}, http.StatusForbidden, "was not approved"},
		"removed": {func(w *Env) {
			w.Must(&ledger.EndPublisher{Actor: operator, Host: "example.com", How: ledger.EndRemove})
		}, http.StatusSeeOther, ""}, // it waits again
		"off":         {func(w *Env) { w.Agents(ledger.AgentsOff) }, 0, "Page not found"},
		"listed only": {func(w *Env) { w.Agents(ledger.AgentsListed) }, 0, "is waiting for review"},
		"suspended": {func(w *Env) {
			w.List("example.com")
			c := w.View().ClientNamed(agentID)
			w.Must(&ledger.ReviewClient{Actor: operator, ID: c.ID, Verdict: ledger.Suspend, Revision: c.Revision})
		}, http.StatusForbidden, ""},
		"ten minutes": {func(w *Env) { w.Advance(10 * time.Minute) }, 0, "no longer valid"},
		"almost":      {func(w *Env) { w.Advance(10*time.Minute - time.Second) }, 0, "is waiting for review"},
		"disabled": {func(w *Env) {
			w.Must(&ledger.SetUserState{Actor: operator, User: "u-ada", State: ledger.Disable})
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newAgentEnv(t, ledger.AgentsReviewed)
			b := w.SignedIn()
			address := waits(t, b)
			require.Equal(t, http.StatusOK, b.Get(address).StatusCode)
			c.meanwhile(w)
			res := b.Get(address)
			next := res.Header.Get("Location")
			if c.status == 0 {
				require.Contains(t, res.Text, c.text)
				require.NotContains(t, next, "authorize")
				require.Empty(t, w.Grants())
				return
			}
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			require.True(t, strings.HasPrefix(next, "/auth/oauth2/authorize?"), next)
			require.Empty(t, res.Header.Get("Refresh"))
			page := b.Get(next)
			require.Equal(t, c.status, page.StatusCode, page.Text)
			require.Contains(t, page.Text, c.text)
			require.Empty(t, w.Grants())
		})
	}
}

// TestStormOfWaiting: however often the page is loaded, nothing is fetched, proposed or awaited.
func TestStormOfWaiting(t *testing.T) {
	w, p := newAgentEnv(t, ledger.AgentsReviewed)
	b := w.SignedIn()
	address := waits(t, b)
	fetched, proposals, paced := p.requests(), len(w.Proposals), w.PacedViews.Load()
	for range 500 {
		res := b.Get(address)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, "5", res.Header.Get("Refresh"))
	}
	require.Equal(t, fetched, p.requests())
	require.Len(t, w.Proposals, proposals)
	require.Equal(t, paced, w.PacedViews.Load())

	// A publisher that is removed again and again is fetched as often as a user may ask for new URLs.
	for range 30 {
		w.Must(&ledger.EndPublisher{Actor: ledger.Actor{Operator: true}, Host: "example.com", How: ledger.EndRemove})
		b.Get(b.Get(address).Header.Get("Location"))
		if w.View().Publisher("example.com") == nil {
			break
		}
	}
	require.Equal(t, 10, p.requests())
}
