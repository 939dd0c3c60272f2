package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func passwordIs(t *testing.T, w *admintest.Env, user, password string) bool {
	t.Helper()
	ok, err := w.Passwords.Matches(t.Context(), w.View().User(user).Password, password)
	require.NoError(t, err)
	return ok
}

func TestUsers(t *testing.T) {
	w, c := newEnv(t)
	require.True(t, passwordIs(t, w, "u-alice", alicePassword))

	bob := ask(t, c, admin.AddUser, admin.NewUser{Username: "bob", Email: "bob@example.com"})
	require.NotEmpty(t, bob.Password)
	require.True(t, passwordIs(t, w, bob.ID, bob.Password.Reveal()))

	require.EqualError(t, refused(t, c, admin.AddUser, admin.NewUser{Username: "BOB"}), "user BOB: username is taken")
	require.EqualError(t, refused(t, c, admin.AddUser, admin.NewUser{Username: "eve", Password: "short"}),
		"user eve: password is too short: use at least 12 characters")

	require.Len(t, ask(t, c, admin.ListUsers, admin.UserFilter{}).Users, 2)
	ask(t, c, admin.SetUserState, admin.UserStateChange{User: "bob", State: "delete"})
	require.Len(t, ask(t, c, admin.ListUsers, admin.UserFilter{}).Users, 1)
	require.Len(t, ask(t, c, admin.ListUsers, admin.UserFilter{Deleted: true}).Users, 2)
	require.Equal(t, "deleted", ask(t, c, admin.ShowUser, admin.UserRef{User: bob.ID}).State)
	require.Equal(t, admin.NotFound, refused(t, c, admin.ShowUser, admin.UserRef{User: "bob"}).Class)
	require.Equal(t, admin.NotFound, refused(t, c, admin.SetUserState, admin.UserStateChange{User: bob.ID, State: "enable"}).Class)
}

// TestImportedPasswords adds users with password hashes of another system.
func TestImportedPasswords(t *testing.T) {
	w, c := newEnv(t)
	const hash = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	bob := ask(t, c, admin.AddUser, admin.NewUser{Username: "bob", PasswordHash: hash})
	require.Empty(t, bob.Password)
	require.True(t, passwordIs(t, w, bob.ID, "correct horse"))
	shown := ask(t, c, admin.ShowUser, admin.UserRef{User: "bob"})
	require.True(t, shown.Password)
	require.True(t, shown.Imported)
	require.Equal(t, "bcrypt", w.View().User(bob.ID).PasswordCost.Kind)

	require.EqualError(t, refused(t, c, admin.AddUser, admin.NewUser{Username: "eve", Password: alicePassword, PasswordHash: hash}),
		"user eve: password_hash is there beside password")
	hostile := admin.Plain("$argon2id$v=19$m=4194304,t=3,p=4$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	const bound = "user eve: password_hash asks for 4194304 KiB of memory: at most 131072 are accepted"
	require.EqualError(t, refused(t, c, admin.AddUser, admin.NewUser{Username: "eve", PasswordHash: hostile}), bound)
	eve := admin.DeclaredUser{UserProfile: admin.UserProfile{Username: "eve"}, PasswordHash: hostile}
	require.EqualError(t, refused(t, c, admin.ApplyUser, eve), bound)
	eve.PasswordHash = hash
	require.Equal(t, admin.ResultAdded, ask(t, c, admin.ApplyUser, eve).Result)
	require.Equal(t, admin.ResultUnchanged, ask(t, c, admin.ApplyUser, eve).Result, "a concurrent apply has already made the change")

	found := ask(t, c, admin.DescribeUsers, admin.UsersQuery{Users: []admin.UserQuestion{
		{User: "bob", PasswordHash: hash}, {User: "eve", PasswordHash: hostile}, {User: "bob", Password: "correct horse"},
	}}).Users
	require.Equal(t, []bool{true, false, true}, []bool{found[0].PasswordMatches, found[1].PasswordMatches, found[2].PasswordMatches})
}

// TestPasswordChecksAreBounded verifies that one operation may compare only as many
// passwords as fit into its time limit. A query without passwords is not limited.
func TestPasswordChecksAreBounded(t *testing.T) {
	_, c := newEnv(t)
	asked := make([]admin.UserQuestion, 500)
	for i := range asked {
		asked[i].User = "nobody"
		if i <= admin.MaxPasswordChecks {
			asked[i].Password = "x"
		}
	}
	require.EqualError(t, refused(t, c, admin.DescribeUsers, admin.UsersQuery{Users: asked}), "users has more than 8 passwords to check")
	asked[0].Password = ""
	require.Empty(t, ask(t, c, admin.DescribeUsers, admin.UsersQuery{Users: asked}).Users)
}

func TestDisablingEndsGrants(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	w.Allow("u-alice", "cal-app", "BOOKING_READ")
	require.Equal(t, 1, ask(t, c, admin.ShowUser, admin.UserRef{User: "alice"}).Grants)
	require.Equal(t, "disabled", ask(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "disable"}).State)
	got := ask(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "enable"})
	require.Equal(t, "enabled", got.State)
	require.Zero(t, got.Grants)
	require.Equal(t, []string{"cal-app"}, got.Clients)
	require.ErrorContains(t, refused(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "odd"}), "state must be")
}

func TestPasswordChangeEndsSessions(t *testing.T) {
	w, c := newEnv(t)
	session := w.SignIn("u-alice").Session
	made := ask(t, c, admin.SetPassword, admin.PasswordChange{User: "alice"})
	require.True(t, passwordIs(t, w, "u-alice", made.Password.Reveal()))
	u, _ := w.View().SignedIn(session, w.Now())
	require.Nil(t, u)

	given := ask(t, c, admin.SetPassword, admin.PasswordChange{User: "u-alice", Password: "battery staple"})
	require.Empty(t, given.Password)
	require.True(t, passwordIs(t, w, "u-alice", "battery staple"))
}

func TestAdminKeepsTheRest(t *testing.T) {
	w, c := newEnv(t)
	session := w.SignIn("u-alice").Session
	require.True(t, ask(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "promote"}).Admin)
	require.True(t, passwordIs(t, w, "u-alice", alicePassword))
	require.Equal(t, "Alice", w.View().User("u-alice").Name)
	u, _ := w.View().SignedIn(session, w.Now())
	require.NotNil(t, u)

	before := w.Proposals.Load()
	ask(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "promote"})
	require.Equal(t, before, w.Proposals.Load())
	require.False(t, ask(t, c, admin.SetUserState, admin.UserStateChange{User: "alice", State: "demote"}).Admin)
}

func TestGrants(t *testing.T) {
	w, c := newEnv(t)
	approve(t, c, "cal-app")
	ask(t, c, admin.ImportClient, legacyApp())
	one := w.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	two := w.Allow("u-alice", "old-app", "").String()
	list := func(q admin.GrantFilter) (ids []string) {
		for _, g := range ask(t, c, admin.ListGrants, q).Grants {
			ids = append(ids, g.ID)
		}
		return ids
	}
	require.ElementsMatch(t, []string{one, two}, list(admin.GrantFilter{User: "alice"}))
	require.Equal(t, []string{two}, list(admin.GrantFilter{Client: "old-app"}))
	require.Equal(t, []string{one}, list(admin.GrantFilter{User: "u-alice", Client: "cal-app"}))
	limited := ask(t, c, admin.ListGrants, admin.GrantFilter{User: "alice", Limit: 1})
	require.Len(t, limited.Grants, 1)
	require.True(t, limited.Truncated)

	ask(t, c, admin.RevokeGrant, admin.GrantRef{ID: one})
	require.Equal(t, []string{two}, list(admin.GrantFilter{User: "alice"}))
	ended := ask(t, c, admin.ListGrants, admin.GrantFilter{Client: "cal-app", Ended: true}).Grants
	require.Len(t, ended, 1)
	require.Equal(t, "ended", ended[0].State)
	require.Equal(t, ledger.GrantEnded.String(), ended[0].EndCause)

	third := w.Allow("u-alice", "cal-app", "BOOKING_READ").String()
	ask(t, c, admin.Disconnect, admin.Disconnection{User: "alice", Client: "old-app"})
	require.Equal(t, []string{third}, list(admin.GrantFilter{User: "alice"}))
	ask(t, c, admin.Disconnect, admin.Disconnection{User: "alice"})
	require.Empty(t, list(admin.GrantFilter{User: "alice"}))

	for _, id := range []string{"nonsense", "00000000000000000000000000000000"} {
		require.Equal(t, admin.NotFound, refused(t, c, admin.RevokeGrant, admin.GrantRef{ID: id}).Class)
	}
	require.Equal(t, admin.NotFound, refused(t, c, admin.Disconnect, admin.Disconnection{User: "alice", Client: "none"}).Class)
	require.Equal(t, admin.Refused, refused(t, c, admin.ListGrants, admin.GrantFilter{}).Class)
	require.Equal(t, admin.NotFound, refused(t, c, admin.ListGrants, admin.GrantFilter{Client: "none"}).Class)
}
