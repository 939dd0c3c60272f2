package issuer_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/issuertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// usageOf sums the figures of a client that a node shows.
func usageOf(i *issuer.Issuer, client string) (sum ledger.HourUsage) {
	for _, h := range i.View().Usage(client).LastHours(i.Now()) {
		sum.Refreshes += h.Refreshes
		sum.Refusals += h.Refusals
	}
	return sum
}

// TestUsageIsReported verifies what a node counts, that it writes nothing before its report, and
// that an idle node writes nothing at all.
func TestUsageIsReported(t *testing.T) {
	b := issuertest.New(t)
	first := b.Exchange().RefreshToken // an exchange is no refresh
	second, err := b.Refresh(first)
	require.NoError(t, err)
	_, err = b.Refresh(first) // a retry is the same refresh
	require.NoError(t, err)
	for _, c := range []oauth.ClientCredentials{{ID: "app", Secret: "wrong"}, {ID: "stranger", Secret: "wrong"}} {
		_, err = b.Token(t.Context(), oauth.TokenRequest{GrantType: oauth.RefreshToken, Client: c, RefreshToken: second.RefreshToken})
		require.Error(t, err)
	}
	_, err = b.Refresh(second.RefreshToken)
	require.NoError(t, err)
	require.Zero(t, usageOf(b.Issuer, "app"))
	reported := func() command.ID { return b.View().Node(b.Node.ID()).Reported }
	require.Zero(t, reported())

	require.NoError(t, b.ReportUsage(t.Context()))
	require.Equal(t, ledger.HourUsage{Refreshes: 2, Refusals: 1}, usageOf(b.Issuer, "app"))
	require.Zero(t, usageOf(b.Issuer, "stranger"))
	days := b.View().Usage("app").LastDays(b.Now())
	require.EqualValues(t, 1, days[len(days)-1].Allows)

	last := reported()
	require.NotZero(t, last)
	require.NoError(t, b.ReportUsage(t.Context()))
	require.Equal(t, last, reported(), "an idle node has written a report")
}

// TestUsageOfAgents verifies that the figures of an agent are kept under the id of its row, which
// is not its client_id.
func TestUsageOfAgents(t *testing.T) {
	b := issuertest.New(t)
	first, err := agentToken(t, b, oauth.TokenRequest{GrantType: oauth.AuthorizationCode, Code: newAgent(t, b, false), RedirectURI: agentRedirect, CodeVerifier: agentVerifier})
	require.NoError(t, err)
	_, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: first.RefreshToken})
	require.NoError(t, err)
	_, err = agentToken(t, b, oauth.TokenRequest{RefreshToken: "x"})
	require.Error(t, err)
	require.NoError(t, b.ReportUsage(t.Context()))
	require.Equal(t, ledger.HourUsage{Refreshes: 1, Refusals: 1}, usageOf(b.Issuer, ledger.ClientKey(agentID)))
}

// TestUsageAtClose verifies that a node that stops reports what it has counted.
func TestUsageAtClose(t *testing.T) {
	b := issuertest.New(t)
	_, err := b.Refresh(b.Exchange().RefreshToken)
	require.NoError(t, err)
	b.Stop()
	b.Start()
	require.Equal(t, ledger.HourUsage{Refreshes: 1}, usageOf(b.Issuer, "app"))
}

// TestUsageWaitsForALeader verifies that counts that could not be reported are reported later,
// each for its hour, and that hours that are no longer shown are dropped.
func TestUsageWaitsForALeader(t *testing.T) {
	b := issuertest.New(t)
	b.CountRefusal("app")
	b.Offset.Store(int64(time.Hour))
	b.CountRefusal("app")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.ReportUsage(canceled), oauth.ErrUnavailable)
	require.NoError(t, b.ReportUsage(t.Context()))
	hours := b.View().Usage("app").LastHours(b.Now())
	require.EqualValues(t, []uint32{1, 1}, []uint32{hours[22].Refusals, hours[23].Refusals})

	b.CountRefusal("app")
	b.Offset.Store(int64(26 * time.Hour))
	b.CountRefusal("app")
	require.ErrorContains(t, b.ReportUsage(t.Context()), "hour is over")
	require.Equal(t, ledger.HourUsage{Refusals: 1}, usageOf(b.Issuer, "app"))
	require.NoError(t, b.ReportUsage(t.Context()))
}

// TestUsageReportsFit verifies that reports are of permitted size and in order, and that a node
// counts a bounded number of clients.
func TestUsageReportsFit(t *testing.T) {
	b := issuertest.New(t)
	for n := range 11_000 {
		b.CountRefusal(fmt.Sprintf("c-%d", n%10_500))
	}
	b.CountRefusal("")
	reports := b.DrainUsage()
	require.Len(t, reports, 10_000/ledger.MaxUsageCounts)
	clients, refusals := []string(nil), 0
	for _, r := range reports {
		require.Len(t, r.Counts, ledger.MaxUsageCounts)
		require.Equal(t, b.Node.ID(), r.Node)
		for _, one := range r.Counts {
			clients = append(clients, one.Client)
			refusals += int(one.Refusals)
		}
	}
	require.True(t, slices.IsSorted(clients))
	require.Equal(t, 10_500, refusals, "500 clients again, and 500 beyond the bound")
	require.Empty(t, b.DrainUsage())
}

// TestUsageOfThreeNodes verifies that the figures are the sums over the nodes, on each of them.
func TestUsageOfThreeNodes(t *testing.T) {
	c := issuertest.NewPeers(t)
	propose := func(one command.Command) {
		t.Helper()
		o, _, err := c.All[0].Issuer.Propose(t.Context(), one)
		require.NoError(t, err)
		require.Nil(t, o.Refusal)
	}
	propose(&ledger.PutUser{ID: "u", Username: "alice", Password: "hash"})
	secret, err := c.All[0].Issuer.Secret("a-secret")
	require.NoError(t, err)
	propose(&ledger.ImportClient{
		ID: "app", Owner: "u", Type: ledger.Confidential, State: ledger.Approved, Secrets: []ledger.NewSecret{secret},
		Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
	})
	for n, p := range c.All {
		_, err := p.Issuer.ViewFresh(t.Context()) // it has the client
		require.NoError(t, err)
		for range n + 1 {
			_, err := p.Issuer.Token(t.Context(), oauth.TokenRequest{
				GrantType: oauth.RefreshToken, Client: oauth.ClientCredentials{ID: "app", Secret: "wrong"}, RefreshToken: "x",
			})
			require.Error(t, err)
		}
	}
	for _, p := range c.All {
		require.NoError(t, p.Issuer.ReportUsage(t.Context()))
	}
	for _, p := range c.All {
		v, err := p.Issuer.ViewFresh(t.Context())
		require.NoError(t, err)
		var refusals uint32
		for _, h := range v.Usage("app").LastHours(p.Issuer.Now()) {
			refusals += h.Refusals
		}
		require.EqualValues(t, 6, refusals, p.Name)
	}
}
