package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var localOperator = ledger.Actor{Operator: true}

func newToken(id, name string, lifetime time.Duration, scopes ...ledger.OperatorScope) *ledger.AddOperatorToken {
	return &ledger.AddOperatorToken{Actor: localOperator, ID: id, Name: name, Key: 1, Digest: id32(9), Scopes: scopes, Lifetime: lifetime}
}

func (w *env) refusal(c command.Command) *ledger.Refusal {
	w.t.Helper()
	o, wrote := w.do(c, "", false)
	require.NotNil(w.t, o.Refusal, "%T", c)
	require.False(w.t, wrote)
	return o.Refusal
}

func TestAddOperatorToken(t *testing.T) {
	w := newEnv(t)
	w.must(newToken("ot_1", "ci", time.Hour, ledger.ScopeClients, ledger.ScopeRead, ledger.ScopeClients))
	row := w.view().OperatorToken("ot_1")
	require.Equal(t, []ledger.OperatorScope{ledger.ScopeRead, ledger.ScopeClients}, row.Scopes)
	require.Equal(t, row.Created.Add(time.Hour), row.Expires)
	require.Equal(t, ledger.NoCause, w.view().OperatorTokenCause(row, row.Expires-1))
	require.Equal(t, ledger.OperatorTokenExpired, w.view().OperatorTokenCause(row, row.Expires))

	bad := func(change func(*ledger.AddOperatorToken)) *ledger.AddOperatorToken {
		c := newToken("ot_2", "other", time.Hour, ledger.ScopeRead)
		change(c)
		return c
	}
	for name, test := range map[string]struct {
		c     *ledger.AddOperatorToken
		cause ledger.Cause
		field string
	}{
		"name of a valid token": {bad(func(c *ledger.AddOperatorToken) { c.Name = "ci" }), ledger.AlreadyExists, "name"},
		"no id":                 {bad(func(c *ledger.AddOperatorToken) { c.ID = "" }), ledger.BadField, "token"},
		"a bad id":              {bad(func(c *ledger.AddOperatorToken) { c.ID = "a b" }), ledger.BadField, "token"},
		"id of another":         {bad(func(c *ledger.AddOperatorToken) { c.ID = "ot_1" }), ledger.AlreadyExists, ""},
		"no name":               {bad(func(c *ledger.AddOperatorToken) { c.Name = "" }), ledger.BadField, "name"},
		"a name with a colon":   {bad(func(c *ledger.AddOperatorToken) { c.Name = "a:b" }), ledger.BadField, "name"},
		"a long name":           {bad(func(c *ledger.AddOperatorToken) { c.Name = fmt.Sprintf("%065d", 1) }), ledger.BadField, "name"},
		"no scope":              {bad(func(c *ledger.AddOperatorToken) { c.Scopes = nil }), ledger.BadField, "scopes"},
		"unknown scope":         {bad(func(c *ledger.AddOperatorToken) { c.Scopes = []ledger.OperatorScope{"local"} }), ledger.BadField, "scopes"},
		"no expiry":             {bad(func(c *ledger.AddOperatorToken) { c.Lifetime = 0 }), ledger.BadField, "lifetime"},
		"a short life":          {bad(func(c *ledger.AddOperatorToken) { c.Lifetime = time.Minute - 1 }), ledger.BadField, "lifetime"},
		"more than a year":      {bad(func(c *ledger.AddOperatorToken) { c.Lifetime = 365*24*time.Hour + 1 }), ledger.BadField, "lifetime"},
		"dropped key":           {bad(func(c *ledger.AddOperatorToken) { c.Key = 9 }), ledger.BadField, "token"},
		"a token's holder":      {bad(func(c *ledger.AddOperatorToken) { c.Actor.Token = "ot_1" }), ledger.LocalOnly, ""},
		"a certificate's":       {bad(func(c *ledger.AddOperatorToken) { c.Actor.Certificate = "alice" }), ledger.LocalOnly, ""},
		"nobody":                {bad(func(c *ledger.AddOperatorToken) { c.Actor = ledger.Actor{} }), ledger.NotAllowed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.refusal(test.c)
			require.Equal(t, test.cause, r.Cause)
			require.Equal(t, test.field, r.Field)
		})
	}
	year := bad(func(c *ledger.AddOperatorToken) { c.Lifetime = 365 * 24 * time.Hour })
	for _, again := range []bool{false, true} {
		o, wrote := w.do(year, "year", again)
		require.Nil(t, o.Refusal)
		require.Equal(t, !again, wrote)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.must(newToken("ot_3", "ci", time.Hour, ledger.ScopeRead)) // the first token of this name has expired
}

// TestOperatorTokenBounds verifies the limits on valid tokens and on rows.
func TestOperatorTokenBounds(t *testing.T) {
	w := newEnv(t)
	w.must(newToken("ot_old", "old", 100*time.Hour, ledger.ScopeRead))
	w.now = w.now.Add(time.Second)
	for i := range ledger.MaxOperatorTokens - 1 {
		w.must(newToken(fmt.Sprintf("ot_a%03d", i), fmt.Sprint("a", i), time.Hour, ledger.ScopeRead))
	}
	require.Equal(t, ledger.TooManyOperatorTokens, w.refusal(newToken("ot_x", "x", time.Hour, ledger.ScopeRead)).Cause)
	w.now = w.now.Add(2 * time.Hour)
	for i := range 20 {
		w.now = w.now.Add(time.Second)
		w.must(newToken(fmt.Sprintf("ot_b%03d", i), "b", 10*time.Hour, ledger.ScopeRead))
		w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: fmt.Sprintf("ot_b%03d", i)})
	}
	w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_old"})
	w.must(newToken("ot_c", "c", time.Hour, ledger.ScopeRead))
	rows := slices.Collect(w.view().OperatorTokens())
	require.Len(t, rows, 101)
	require.NotNil(t, w.view().OperatorToken("ot_b019"), "the tokens that ended first are removed first")
	require.NotNil(t, w.view().OperatorToken("ot_old"), "ot_old was added first, but ended last")
}

// TestRemoteOperator verifies that commands name the token or certificate as their actor, and
// are refused once the token is not valid.
func TestRemoteOperator(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.must(newToken("ot_1", "ci", time.Hour, ledger.ScopeUsers))
	token := ledger.Actor{Operator: true, Token: "ot_1"}
	certificate := ledger.Actor{Operator: true, Certificate: "ada"}
	add := func(a ledger.Actor, name string) *ledger.PutUser {
		return &ledger.PutUser{Actor: a, ID: "u-" + name, Username: name, New: true}
	}
	last := func() *ledger.Event { return w.view().LastEvent() }

	w.must(add(token, "bob"))
	require.Equal(t, "token:ci", last().Actor)
	w.must(add(certificate, "carol"))
	require.Equal(t, "certificate:ada", last().Actor)
	require.True(t, ledger.RemoteOperator(last().Actor))
	require.False(t, ledger.RemoteOperator(ledger.Operator))
	w.must(add(ledger.Actor{}, "dora"))
	require.Equal(t, ledger.Operator, last().Actor)
	w.must(&ledger.RecordOperation{Actor: token, Operation: "cluster.remove node n3"})
	require.Equal(t, ledger.Event{Seq: last().Seq, At: last().At, Kind: ledger.EventOperation, Actor: "token:ci", Detail: "cluster.remove node n3"}, *last())

	w.must(&ledger.RecordOperation{Actor: certificate, Operation: "cluster.remove node n4"})
	require.Equal(t, "certificate:ada", last().Actor)
	require.Equal(t, ledger.OperatorCertificateRefused, w.refusal(add(ledger.Actor{Operator: true, Certificate: "a:b"}, "eve")).Cause)
	require.Equal(t, ledger.OperatorTokenUnknown, w.refusal(add(ledger.Actor{Operator: true, Token: "ot_2"}, "eve")).Cause)
	require.Equal(t, ledger.NotAllowed, w.refusal(add(ledger.Actor{Token: "ot_1"}, "eve")).Cause, "not an operator")

	// Administrators are made and changed on the local socket only.
	admin := add(token, "eve")
	admin.Admin = true
	require.Equal(t, ledger.LocalOnly, w.refusal(admin).Cause)
	require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.SetUserState{Actor: certificate, User: "u-bob", State: ledger.Promote}).Cause)
	w.must(&ledger.SetPassword{Actor: token, User: "u-bob", Password: "hash"})
	w.must(&ledger.SetUserState{Actor: localOperator, User: "u-bob", State: ledger.Promote})
	w.must(&ledger.PutUser{Actor: token, ID: "u-bob", Username: "bob", Admin: true, Password: "hash"}) // no change: bob is an administrator
	require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.SetPassword{Actor: token, User: "u-bob", Password: "other"}).Cause)
	require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.PutUser{Actor: token, ID: "u-bob", Username: "bob", Password: "other"}).Cause)
	require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.AddUser{Actor: token, ID: "u-eve", Username: "eve", Password: "hash", Admin: true}).Cause)
	require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.SetPerson{Actor: token, User: "u-bob", Username: "bob", Person: ledger.Person{Name: "B"}}).Cause)
	states := []ledger.UserState{ledger.Promote, ledger.Demote, ledger.Disable, ledger.DeleteUser}
	for range 2 {
		for _, state := range states {
			require.Equal(t, ledger.LocalOnly, w.refusal(&ledger.SetUserState{Actor: token, User: "u-bob", State: state}).Cause, "%s", state)
		}
		w.must(&ledger.SetUserState{Actor: localOperator, User: "u-bob", State: ledger.Disable})
		states = []ledger.UserState{ledger.Enable} // of a disabled administrator
	}
	w.must(&ledger.SetUserState{Actor: localOperator, User: "u-bob", State: ledger.Demote})
	w.must(&ledger.SetUserState{Actor: token, User: "u-bob", State: ledger.Enable})

	require.Equal(t, ledger.NotAllowed, w.refusal(&ledger.RevokeOperatorToken{ID: "ot_1"}).Cause)
	for _, again := range []bool{false, true} {
		o, wrote := w.do(&ledger.RevokeOperatorToken{Actor: token, ID: "ot_1"}, "revoke", again)
		require.Nil(t, o.Refusal, "the token revoked itself")
		require.Equal(t, !again, wrote)
	}
	require.Equal(t, "token:ci", last().Actor)
	require.Equal(t, ledger.OperatorTokenRevoked, w.refusal(add(token, "eve")).Cause)
	require.Equal(t, ledger.OperatorTokenRevoked, w.refusal(&ledger.RecordOperation{Actor: token, Operation: "x"}).Cause)
	o, wrote := w.do(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_1"}, "", false)
	require.Nil(t, o.Refusal)
	require.False(t, wrote, "it was revoked again")
	require.Equal(t, ledger.NotFound, w.refusal(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_9"}).Cause)
	w.must(newToken("ot_4", "short", time.Minute, ledger.ScopeUsers))
	w.now = w.now.Add(time.Minute)
	require.Equal(t, ledger.OperatorTokenExpired, w.refusal(add(ledger.Actor{Operator: true, Token: "ot_4"}, "eve")).Cause)
}

// TestOperatorTokenUse verifies that the last use costs at most one log entry an hour.
func TestOperatorTokenUse(t *testing.T) {
	w := newEnv(t)
	w.must(newToken("ot_1", "ci", 24*time.Hour, ledger.ScopeRead))
	use := &ledger.RecordOperation{Actor: ledger.Actor{Operator: true, Token: "ot_1"}}
	_, wrote := w.do(use, "", false)
	require.True(t, wrote)
	require.Equal(t, w.at(), w.view().OperatorToken("ot_1").Used)
	w.now = w.now.Add(time.Hour - time.Millisecond)
	_, wrote = w.do(use, "", false)
	require.False(t, wrote)
	w.now = w.now.Add(time.Millisecond)
	_, wrote = w.do(use, "", false)
	require.True(t, wrote)
}

// TestRevokedOperatorTokenStaysRevoked verifies that restoring an older backup with the
// journal does not make a revoked token valid again, and neither does a second restore.
func TestRevokedOperatorTokenStaysRevoked(t *testing.T) {
	w := newEnv(t)
	w.must(newToken("ot_1", "ci", 24*time.Hour, ledger.ScopeRead))
	w.must(newToken("ot_2", "other", 24*time.Hour, ledger.ScopeRead))
	w.backup("before")
	w.must(&ledger.RecordOperation{Actor: ledger.Actor{Operator: true, Token: "ot_1"}})
	w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_1"})
	w.must(newToken("ot_3", "later", 24*time.Hour, ledger.ScopeRead))
	w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_3"})
	require.Len(t, w.journal, 4, "the env's two keys and the two revocations; a use is not journaled")

	for range 2 {
		w.restore("before")
		require.Zero(t, w.view().OperatorToken("ot_1").Revoked)
		w.must(&ledger.BeginRestore{Backup: w.backupSeq})
		for _, c := range ledger.Replays(w.backupSeq, w.oldJournal) {
			w.must(c)
		}
		require.NotZero(t, w.view().OperatorToken("ot_1").Revoked)
		require.Zero(t, w.view().OperatorToken("ot_2").Revoked)
		require.Nil(t, w.view().OperatorToken("ot_3"))
	}
	w.restore("before")
	w.must(&ledger.BeginRestore{Backup: w.backupSeq})
	w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_1"})
	revoked := *w.view().OperatorToken("ot_1")
	for _, c := range ledger.Replays(w.backupSeq, w.oldJournal) {
		w.must(c)
	}
	require.Equal(t, revoked, *w.view().OperatorToken("ot_1"), "it was revoked again")
	require.Contains(t, ledger.RevokingEffects(), ledger.EffectOperatorTokenRevoked)
}

// TestOperatorTokenKeepsItsKey verifies that a credential key is kept while the digest of a
// valid token needs it, and that a token is void once its leaked key is dropped.
func TestOperatorTokenKeepsItsKey(t *testing.T) {
	w := newEnv(t)
	w.must(newToken("ot_1", "ci", 365*24*time.Hour, ledger.ScopeRead))
	require.Equal(t, 1, w.view().SecretsUnder(1, w.at()))
	require.Zero(t, w.view().SecretsUnder(2, w.at()))
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "c2", Purpose: ledger.ForCredentials, Number: 2, Sealed: []byte("sealed")}})
	w.must(&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1", "c2", "k1"}})
	w.must(&ledger.ActivateKey{ID: "c2", Voters: []string{"n1"}})
	w.now = w.now.Add(365*24*time.Hour - time.Millisecond)
	require.Equal(t, ledger.KeyInUse, w.refusal(&ledger.DropKey{ID: "c1"}).Cause)
	w.now = w.now.Add(time.Millisecond) // the token expires without being revoked
	require.Zero(t, w.view().SecretsUnder(1, w.at()))
	w.must(&ledger.DropKey{ID: "c1"})

	second := newToken("ot_2", "ci", 24*time.Hour, ledger.ScopeRead)
	second.Key = 2
	w.must(second)
	require.Equal(t, 1, w.view().SecretsUnder(2, w.at()))
	w.must(&ledger.RevokeOperatorToken{Actor: localOperator, ID: "ot_2"})
	require.Zero(t, w.view().SecretsUnder(2, w.at()))
	third := newToken("ot_3", "ci", 24*time.Hour, ledger.ScopeRead)
	third.Key = 2
	w.must(third)
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "c3", Purpose: ledger.ForCredentials, Number: 3, Sealed: []byte("sealed")}})
	w.must(&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c2", "c3", "k1"}})
	w.must(&ledger.ActivateKey{ID: "c3", Voters: []string{"n1"}, Emergency: true})
	w.must(&ledger.DropKey{ID: "c2", Emergency: true})
	require.Equal(t, ledger.OperatorTokenUnknown, w.view().OperatorTokenCause(w.view().OperatorToken("ot_3"), w.at()), "made under c2")
}
