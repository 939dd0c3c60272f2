package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestUpstreamChanges verifies which sign-ins change the user's row, and the event of each.
func TestUpstreamChanges(t *testing.T) {
	w := newEnv(t)
	for i, test := range []struct {
		args    string
		changes bool
		kind    ledger.EventKind
		detail  string
	}{
		{"username=bob email=b@example.com", true, ledger.EventUserAdded, "by https://idp.example"},
		{"username=bob email=b@example.com", false, ledger.EventSignedIn, "by https://idp.example"},
		{"", false, ledger.EventSignedIn, "by https://idp.example"},
		{"email=c@example.com", true, ledger.EventSignedIn, "by https://idp.example"},
		{"admin", true, ledger.EventUserState, "promote, by https://idp.example"},
		{"admin", false, ledger.EventSignedIn, "by https://idp.example"},
		{"", false, ledger.EventSignedIn, "by https://idp.example"},
		{"admin=no", true, ledger.EventUserState, "demote, by https://idp.example"},
		{"admin=no", false, ledger.EventSignedIn, "by https://idp.example"},
	} {
		var before ledger.User
		if u := w.view().User("u-1"); u != nil {
			before = *u
		}
		require.Equal(t, "ok", w.run(fmt.Sprintf("upstream 1 session=s%d %s", i, test.args)))
		require.Equal(t, test.changes, w.view().User("u-1").Last != before.Last, "%d: %s", i, test.args)
		e := w.view().LastEvent()
		require.Equal(t, test.kind, e.Kind, "%d: %s", i, test.args)
		require.Equal(t, test.detail, e.Detail)
	}
}

// TestUpstreamRefusals verifies what a sign-in through a provider is refused for.
func TestUpstreamRefusals(t *testing.T) {
	w := newEnv(t)
	w.run("user bob")
	valid := ledger.SignInUpstream{Session: sessionOf("s"), Issuer: "https://idp.example", Subject: "1", ID: "u-1", Username: "kim"}
	for want, change := range map[string]func(*ledger.SignInUpstream){
		"issuer is empty":  func(c *ledger.SignInUpstream) { c.Issuer = "" },
		"subject is empty": func(c *ledger.SignInUpstream) { c.Subject = "" },
		"id may hold letters, digits and - _ . ~ @ | only": func(c *ledger.SignInUpstream) { c.ID = "a b" },
	} {
		c := valid
		change(&c)
		o, changed := w.do(&c, "", false)
		require.Equal(t, want, o.Refusal.Field+" "+o.Refusal.Note)
		require.False(t, changed)
	}
	c := valid
	c.ID = "u-bob"
	o, _ := w.do(&c, "", false)
	require.Equal(t, ledger.AlreadyExists, o.Refusal.Cause)

	// Each name that the person could get is taken.
	sum := sha256.Sum256([]byte("https://idp.example\x001"))
	ends := []string{"", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"}
	for n := 4; n <= 16; n *= 2 {
		ends = append(ends, "-"+hex.EncodeToString(sum[:n]))
	}
	for i, end := range ends {
		w.must(&ledger.PutUser{ID: fmt.Sprint("k", i), Username: "kim" + end})
		w.must(&ledger.PutUser{ID: fmt.Sprint("n", i), Username: "user" + end})
	}
	o, changed := w.do(&valid, "", false)
	require.Equal(t, "username is taken", o.Refusal.Field+" "+o.Refusal.Note)
	require.False(t, changed)
	last := fmt.Sprint("n", len(ends)-1)
	w.must(&ledger.PutUser{ID: last, Username: "renamed"})
	w.must(&valid)
	require.Equal(t, "user"+ends[len(ends)-1], w.view().User("u-1").Username)
}

// TestDisplayedClaims verifies which characters of a provider's name are displayed.
func TestDisplayedClaims(t *testing.T) {
	for said, want := range map[string]string{
		"Kim": "Kim", "K\xffim": "Kim", "K\u202eim": "Kim", "K\u200bim": "Kim", "K\x01im": "Kim", "K\ue000im": "Kim", " Kim ": "Kim", "K\u061cim": "Kim",
	} {
		w := newEnv(t)
		w.must(&ledger.SignInUpstream{Session: sessionOf("s"), Issuer: "https://idp.example", Subject: "1", ID: "u-1", Username: "kim", Person: ledger.Person{Name: said}})
		require.Equal(t, want, w.view().User("u-1").Name, "%q", said)
	}
}
