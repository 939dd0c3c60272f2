package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestAddClient verifies that a new client is pending (service document, section 2.1),
// and that its secret is in the response to the creating request only.
func TestAddClient(t *testing.T) {
	w, c := newEnv(t)
	q := calApp()
	q.ID = ""
	added := ask(t, c, admin.AddClient, q)
	require.Equal(t, "pending", added.State)
	require.NotEmpty(t, added.ID)
	require.True(t, authenticates(w, added.ID, added.Secret.Reveal()))

	got := ask(t, c, admin.ShowClient, admin.ClientRef{ID: added.ID})
	require.Equal(t, "alice", got.Owner)
	require.Equal(t, "scoped", got.Kind)
	require.Len(t, got.Secrets, 1)
	require.Equal(t, "active", got.Secrets[0].State)
	require.Equal(t, added.SecretID, got.Secrets[0].ID)
	require.NotContains(t, string(marshal(t, got)), added.Secret.Reveal())

	q.Type = "public"
	public := ask(t, c, admin.AddClient, q)
	require.Empty(t, public.Secret)
	require.Empty(t, w.View().Client(public.ID).Secrets)

	q.Type, q.Secret = "confidential", "chosen-elsewhere"
	chosen := ask(t, c, admin.AddClient, q)
	require.Empty(t, chosen.Secret, "a secret that the caller chose must not be returned")
	require.True(t, authenticates(w, chosen.ID, "chosen-elsewhere"))
}

func TestAddClientRefusals(t *testing.T) {
	w, c := newEnv(t)
	for name, test := range map[string]struct {
		change func(*admin.NewClient)
		text   string
	}{
		"taken id":       {func(*admin.NewClient) {}, "client cal-app: this name is taken"},
		"unknown owner":  {func(q *admin.NewClient) { q.ID, q.Owner = "new", "nobody" }, "client new: owner is not a user"},
		"unknown type":   {func(q *admin.NewClient) { q.ID, q.Type = "new", "other" }, "client new: type must be confidential or public"},
		"unknown scope":  {func(q *admin.NewClient) { q.ID, q.Scopes = "new", []string{"BOOKING_REED"} }, `client new: scopes "BOOKING_REED" is no scope`},
		"no scope":       {func(q *admin.NewClient) { q.ID, q.Scopes = "new", nil }, "client new: scopes needs at least one"},
		"fragment":       {func(q *admin.NewClient) { q.ID, q.RedirectURIs = "new", []string{"https://a.example/#x"} }, "client new: redirect_uris[0] must not have a part after #"},
		"public, secret": {func(q *admin.NewClient) { q.ID, q.Type, q.Secret = "new", "public", "s" }, "client new: a public client has no secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			q, before := calApp(), w.Proposals.Load()
			test.change(&q)
			p := refused(t, c, admin.AddClient, q)
			require.Equal(t, admin.Refused, p.Class)
			require.ErrorContains(t, p, test.text)
			require.Equal(t, before, w.Proposals.Load())
		})
	}
}

// TestOwnRedirectionURIs verifies that an operator can't register an address of the
// service itself in any way.
func TestOwnRedirectionURIs(t *testing.T) {
	w, c := newEnv(t)
	own := ledger.DefaultSettings()
	own.BaseURL, own.AppURL, own.Audience = "https://api.example", "https://app.example", "https://api.example"
	w.Do(&ledger.Configure{Settings: own})
	for _, uri := range []string{"https://api.example/cb", "https://app.example:443"} {
		uris := []string{"https://cal.example/cb", uri}
		added, imported := calApp(), legacyApp()
		added.ID, added.RedirectURIs, imported.RedirectURIs = "new", uris, uris
		for _, p := range []*admin.Problem{
			refused(t, c, admin.AddClient, added),
			refused(t, c, admin.ImportClient, imported),
			refused(t, c, admin.SetClient, admin.ClientEdit{ID: "cal-app", RedirectURIs: &uris}),
		} {
			require.Equal(t, "redirect_uris[1]", p.Field)
			require.ErrorContains(t, p, "redirect_uris[1] is an address of this service, not of the application")
		}
	}
}

func TestReviews(t *testing.T) {
	_, c := newEnv(t)
	review := func(verdict, reason string) string {
		return ask(t, c, admin.ReviewClient, admin.Review{ID: "cal-app", Verdict: verdict, Reason: reason}).State
	}
	require.Equal(t, "approved", review("approve", ""))
	require.EqualError(t, refused(t, c, admin.ReviewClient, admin.Review{ID: "cal-app", Verdict: "approve"}),
		"client cal-app: its state does not allow that (state: approved)")
	require.Equal(t, "suspended", review("suspend", "abuse"))
	require.Equal(t, "approved", review("resume", ""))

	p := refused(t, c, admin.ReviewClient, admin.Review{ID: "cal-app", Verdict: "suspend", Revision: 1})
	require.Equal(t, ledger.Conflict, p.Cause)
	require.ErrorContains(t, p, "revision: 4")

	require.Equal(t, admin.NotFound, refused(t, c, admin.ReviewClient, admin.Review{ID: "nobody", Verdict: "approve"}).Class)
}

// TestProposedRevision verifies that whatever widens access in an owner's edit of an
// approved client awaits a review, which shows it as a difference.
func TestProposedRevision(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	old := w.View().Client("cal-app")
	next := old.Profile
	next.Name, next.Scopes = "Calendar", []string{"BOOKING_READ", "BOOKING_WRITE"}
	w.Do(&ledger.EditClient{Actor: w.SignIn("u-alice"), ID: "cal-app", Revision: old.Revision, Profile: next})

	got := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"})
	require.True(t, got.Proposed)
	require.Equal(t, []admin.Difference{
		{Field: "name", Removed: "Calendar App", Added: "Calendar"},
		{Field: "scopes", Added: "BOOKING_WRITE"},
	}, got.Difference) // PROFILE_READ was removed at once and is not in the difference

	got = ask(t, c, admin.ReviewClient, admin.Review{ID: "cal-app", Verdict: "approve", Revision: got.Revision})
	require.Equal(t, "Calendar", got.Name)
	require.Empty(t, got.Difference)
}

// TestUsage verifies that the figures of a client are shown if they are asked for, with zeros for
// days and hours without any.
func TestUsage(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	require.Nil(t, ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Usage)
	none := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app", Usage: true}).Usage
	require.Zero(t, none.LiveGrants)
	require.Len(t, none.Days, 30)
	require.Len(t, none.Hours, 24)

	for n := range byte(2) {
		w.Do(&ledger.Allow{
			Actor: w.SignIn("u-alice"), User: "u-alice", Grant: ledger.GrantID{n}, Revision: w.View().Client("cal-app").Revision,
			Request: oauth.AuthorizationRequest{ClientID: "cal-app", RedirectURI: calApp().RedirectURIs[0], Scope: "PROFILE_READ"},
		})
	}
	w.Do(&ledger.AcknowledgeKeys{Node: "n1"})
	w.Do(&ledger.ReportUsage{Node: "n1", Hour: ledger.HourOf(w.Now()) - 1, Counts: []ledger.UsageCount{{Client: "cal-app", Refreshes: 5, Refusals: 2}}})
	got := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app", Usage: true}).Usage
	require.Equal(t, admin.LiveGrants{Grants: 2, Users: 1}, got.LiveGrants)
	now := w.Now().Std()
	require.Equal(t, admin.DayUsage{Day: now.Format(time.DateOnly), Authorizations: 2, NewUsers: 1}, got.Days[29])
	require.Equal(t, admin.HourUsage{Hour: now.Truncate(time.Hour).Add(-time.Hour), Refreshes: 5, Refusals: 2}, got.Hours[22])
}

// TestQueuePlace verifies the place of a client in the queue of reviews.
func TestQueuePlace(t *testing.T) {
	w, c := newEnv(t)
	since := w.Now().Std()
	w.Advance(time.Hour)
	q := calApp()
	q.ID = "another"
	ask(t, c, admin.AddClient, q)
	place := func(id string) *admin.QueuePlace { return ask(t, c, admin.ShowClient, admin.ClientRef{ID: id}).Queue }
	require.Equal(t, &admin.QueuePlace{Since: since, Position: 1, Waiting: 2}, place("cal-app"))
	require.Equal(t, &admin.QueuePlace{Since: since.Add(time.Hour), Position: 2, Waiting: 2}, place("another"))
	approve(t, c, "cal-app")
	require.Nil(t, place("cal-app"))
	require.Equal(t, 1, place("another").Position)
}

func TestListClients(t *testing.T) {
	_, c := newEnv(t)
	ask(t, c, admin.ImportClient, legacyApp())
	list := func(q admin.ClientFilter) (ids []string) {
		for _, client := range ask(t, c, admin.ListClients, q).Clients {
			ids = append(ids, client.ID)
		}
		return ids
	}
	require.Equal(t, []string{"cal-app", "old-app"}, list(admin.ClientFilter{}))
	require.Equal(t, []string{"old-app"}, list(admin.ClientFilter{State: "approved"}))
	require.Equal(t, []string{"cal-app", "old-app"}, list(admin.ClientFilter{Owner: "alice"}))
	ask(t, c, admin.DeleteClient, admin.ClientRef{ID: "old-app"})
	require.Equal(t, []string{"cal-app"}, list(admin.ClientFilter{}))
	require.Equal(t, []string{"old-app"}, list(admin.ClientFilter{State: "deleted"}))
	require.Equal(t, admin.NotFound, refused(t, c, admin.ListClients, admin.ClientFilter{Owner: "nobody"}).Class)
	require.Equal(t, admin.Refused, refused(t, c, admin.ListClients, admin.ClientFilter{State: "odd"}).Class)
}

// TestSecrets covers section 5.4 of the service document: at most two secrets, and
// immediate revocation.
func TestSecrets(t *testing.T) {
	w, c := newEnv(t)
	first := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets[0]
	require.EqualError(t, refused(t, c, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: first.ID}),
		"client cal-app: secret "+first.ID+": the last active secret of a confidential client can't be revoked, only replaced (active: 1)")

	second := ask(t, c, admin.AddSecret, admin.NewSecret{Client: "cal-app"})
	require.True(t, authenticates(w, "cal-app", second.Secret.Reveal()))
	require.Equal(t, ledger.TooManySecrets, refused(t, c, admin.AddSecret, admin.NewSecret{Client: "cal-app"}).Cause)

	w.Advance(time.Minute)
	ask(t, c, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: first.ID})
	got := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets
	require.Equal(t, "revoked", got[0].State)
	require.Equal(t, w.Now().Std(), got[0].Revoked)
	require.Equal(t, second.Secret.Reveal()[len(second.Secret.Reveal())-4:], got[1].Tail)

	require.Equal(t, admin.NotFound, refused(t, c, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: "s_none"}).Class)
	require.Equal(t, admin.NotFound, refused(t, c, admin.AddSecret, admin.NewSecret{Client: "nobody"}).Class)
}

// TestSecretNamesAndEnds verifies that a secret can be named, and revoked after a time.
func TestSecretNamesAndEnds(t *testing.T) {
	w, c := newEnv(t)
	secrets := func() []admin.Secret { return ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).Secrets }
	first := secrets()[0]
	name, day, cancel := "production", 24*time.Hour, time.Duration(0)
	require.Equal(t, ledger.LastSecret, refused(t, c, admin.SetSecret, admin.SecretEdit{Client: "cal-app", ID: first.ID, EndsIn: &day}).Cause)
	require.EqualError(t, refused(t, c, admin.AddSecret, admin.NewSecret{Client: "cal-app", OldEndsIn: time.Minute}),
		"client cal-app: old_ends must be from 1h to 90d")

	second := ask(t, c, admin.AddSecret, admin.NewSecret{Client: "cal-app", Name: name, OldEndsIn: day})
	require.Equal(t, w.Now().Add(day).Std(), secrets()[0].Ends)
	require.Equal(t, []any{second.ID, name, time.Time{}}, []any{secrets()[1].ID, secrets()[1].Name, secrets()[1].Ends})

	got := ask(t, c, admin.SetSecret, admin.SecretEdit{Client: "cal-app", ID: first.ID, Name: &name, EndsIn: &cancel})
	require.Equal(t, secrets()[0], got)
	require.Equal(t, []any{name, time.Time{}}, []any{got.Name, got.Ends})
	got = ask(t, c, admin.SetSecret, admin.SecretEdit{Client: "cal-app", ID: first.ID, EndsIn: &day})
	require.Equal(t, []any{name, w.Now().Add(day).Std()}, []any{got.Name, got.Ends})

	require.Equal(t, admin.NotFound, refused(t, c, admin.SetSecret, admin.SecretEdit{Client: "cal-app", ID: "s_none", Name: &name}).Class)
	require.Equal(t, admin.NotFound, refused(t, c, admin.SetSecret, admin.SecretEdit{Client: "nobody", ID: first.ID, Name: &name}).Class)
	ask(t, c, admin.RevokeSecret, admin.SecretRef{Client: "cal-app", ID: first.ID})
	require.Equal(t, ledger.WrongState, refused(t, c, admin.SetSecret, admin.SecretEdit{Client: "cal-app", ID: first.ID, Name: &name}).Cause)
}

func TestSetClient(t *testing.T) {
	_, c := newEnv(t)
	approve(t, c, "cal-app")
	name, uris := "Renamed", []string{"https://new.example/cb"}
	got := ask(t, c, admin.SetClient, admin.ClientEdit{ID: "cal-app", Name: &name, RedirectURIs: &uris})
	require.Equal(t, "Renamed", got.Name)
	require.Equal(t, uris, got.RedirectURIs)
	require.Equal(t, []string{"BOOKING_READ", "PROFILE_READ"}, sorted(got.Scopes), "an absent field was changed")
	require.Equal(t, "approved", got.State)
	require.False(t, got.Dropped)
	require.False(t, got.Migrated)

	require.Equal(t, ledger.Conflict, refused(t, c, admin.SetClient, admin.ClientEdit{ID: "cal-app", Name: &name, Revision: 1}).Cause)
	none := []string{}
	require.ErrorContains(t, refused(t, c, admin.SetClient, admin.ClientEdit{ID: "cal-app", Scopes: &none}), "scopes needs at least one")
}

// TestMigrationOfALegacyClient covers section 9 of the service document: selecting the
// scopes of a legacy client must be confirmed while authorization requests arrive without
// scope.
func TestMigrationOfALegacyClient(t *testing.T) {
	w, c := newEnv(t)
	ask(t, c, admin.ImportClient, legacyApp())
	w.Allow("u-alice", "old-app", "")
	w.Allow("u-alice", "old-app", "")
	w.Allow("u-alice", "old-app", "BOOKING_READ")

	before := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "old-app"})
	require.Equal(t, "legacy", before.Kind)
	require.Equal(t, &admin.Traffic{WithoutScope: 2, WithScope: 1}, before.Traffic)
	require.Equal(t, []string{"BOOKING_READ"}, before.AskedScopes)

	scopes := []string{"BOOKING_READ"}
	p := refused(t, c, admin.SetClient, admin.ClientEdit{ID: "old-app", Scopes: &scopes})
	require.Equal(t, ledger.ConfirmMigration, p.Cause)
	require.ErrorContains(t, p, "without scope: 2, with scope: 1")

	after := ask(t, c, admin.SetClient, admin.ClientEdit{ID: "old-app", Scopes: &scopes, Confirm: true})
	require.True(t, after.Migrated)
	require.Equal(t, "scoped", after.Kind)
	require.Equal(t, scopes, after.Scopes)
}

// TestRefusedClientHasNoMadeUpID: the error for a refused client does not name a
// generated id, since the caller does not know it.
func TestRefusedClientHasNoMadeUpID(t *testing.T) {
	_, c := newEnv(t)
	q := admin.NewClient{Name: "App", Owner: "nobody", Type: "public", RedirectURIs: []string{"https://a.example/"}, Scopes: []string{"BOOKING_READ"}}
	require.Equal(t, "client: owner is not a user", refused(t, c, admin.AddClient, q).Error())
	q.Owner, q.Name = "alice", ""
	require.Equal(t, "client: name is empty", refused(t, c, admin.AddClient, q).Error())
	q.ID = "app"
	require.Equal(t, "client app: name is empty", refused(t, c, admin.AddClient, q).Error())
}
