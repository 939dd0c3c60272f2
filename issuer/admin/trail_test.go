package admin_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestExplain(t *testing.T) {
	w, c := newEnv(t)
	id := w.ErrorID(credential.Cause{
		Code: uint16(ledger.RefreshReused), At: int64(w.Now()), Client: credential.ClientDigest("cal-app"),
		Named: true, Grant: [16]byte{1}, Presented: 4, Due: 6, When: int64(w.Now()) - 1000,
	})
	got := ask(t, c, admin.Explain, admin.ErrorID{ErrorID: id})
	require.Equal(t, "cal-app", got.Client)
	require.Equal(t, "Calendar App", got.ClientName)
	require.Equal(t, ledger.RefreshReused.String(), got.Text)
	require.Equal(t, w.Now().Std(), got.At)
	require.Equal(t, uint32(4), *got.Presented)
	require.Equal(t, uint32(6), *got.Due)
	require.Equal(t, ledger.GrantID{1}.String(), got.Grant)

	// A resource server is refused by its identifier or its name.
	w.Do(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: "https://api.example", Name: "cal-app"})
	for sent, client := range map[string]string{"https://api.example": "", "cal-app": "cal-app"} {
		id = w.ErrorID(credential.Cause{Code: uint16(ledger.Throttled), At: int64(w.Now()), Client: credential.ClientDigest(sent)})
		got = ask(t, c, admin.Explain, admin.ErrorID{ErrorID: id})
		require.Equal(t, "https://api.example", got.ResourceServer)
		require.Equal(t, client, got.Client)
	}

	// A request that didn't authenticate names neither client nor grant.
	id = w.ErrorID(credential.Cause{Code: uint16(ledger.UnknownClient), At: int64(w.Now()), Client: credential.ClientDigest("none")})
	got = ask(t, c, admin.Explain, admin.ErrorID{ErrorID: id})
	require.Empty(t, got.Client)
	require.Empty(t, got.ResourceServer)
	require.Empty(t, got.Grant)
	require.Nil(t, got.Presented)

	require.Equal(t, admin.NotFound, refused(t, c, admin.Explain, admin.ErrorID{ErrorID: "mme_nonsense"}).Class)
}

func TestAudit(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	w.Allow("u-alice", "cal-app", "BOOKING_READ")
	kinds := func(q admin.EventFilter) (kinds []string) {
		for _, e := range ask(t, c, admin.Audit, q).Events {
			kinds = append(kinds, e.Kind)
		}
		return kinds
	}
	require.Equal(t, []string{"key.added", "key.added", "user.put", "client.created", "client.reviewed", "session.created", "grant.allowed"}, kinds(admin.EventFilter{}))
	require.Equal(t, []string{"client.created", "client.reviewed"}, kinds(admin.EventFilter{Kind: "client"}))
	require.Equal(t, []string{"client.created", "client.reviewed", "grant.allowed"}, kinds(admin.EventFilter{Client: "cal-app"}))
	require.Equal(t, []string{"session.created", "grant.allowed"}, kinds(admin.EventFilter{User: "alice", Limit: 2}))
	require.Empty(t, kinds(admin.EventFilter{Kind: "node"}))
	for kind, known := range map[string]string{
		"zz":         "there are the groups settings, user, session, client, secret, grant, key, node, restore, security",
		"cli":        "there are the groups settings,",
		"grant.uesd": "there are grant.allowed, grant.exchanged, grant.retried, grant.shared, grant.reuse,",
	} {
		p := refused(t, c, admin.Audit, admin.EventFilter{Kind: kind})
		require.ErrorIs(t, p, admin.ErrEventKind)
		require.Contains(t, p.Error(), fmt.Sprintf("kind %q is no kind of event: %s", kind, known))
	}
	require.Equal(t, "limit must be 0 or more", refused(t, c, admin.Audit, admin.EventFilter{Limit: -1}).Error())

	limited := ask(t, c, admin.Audit, admin.EventFilter{Limit: 2})
	require.True(t, limited.Truncated)
	require.Equal(t, "grant.allowed", limited.Events[1].Kind)
	require.Equal(t, "alice", limited.Events[1].Actor)
}
