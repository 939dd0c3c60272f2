package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestReplayKeyring verifies the keyring after each kind of effect on keys, and what the
// preview reports of effects that are not applied.
func TestReplayKeyring(t *testing.T) {
	key := func(id string, state ledger.KeyState, number uint32) *ledger.Key {
		k := &ledger.Key{ID: id, Purpose: ledger.ForSigning, State: state, Number: number, Sealed: []byte("sealed " + id), SealedUnder: "old"}
		if strings.HasPrefix(id, "c") {
			k.Purpose = ledger.ForCredentials
		}
		return k
	}
	added := func(k *ledger.Key) ledger.Effect { return ledger.Effect{Kind: ledger.EffectKeyAdded, Key: k} }
	changed := func(k *ledger.Key, change func(*ledger.Key)) *ledger.Key { change(k); return k }
	activated := func(id string) ledger.Effect { return ledger.Effect{Kind: ledger.EffectKeyActivated, ID: id} }
	dropped := func(id string, emergency bool) ledger.Effect {
		return ledger.Effect{Kind: ledger.EffectKeyDropped, ID: id, Emergency: emergency}
	}
	rewrapped := func(under string, ids ...string) ledger.Effect {
		e := ledger.Effect{Kind: ledger.EffectRewrapped, ID: under}
		for _, id := range ids {
			e.Sealed = append(e.Sealed, ledger.SealedKey{ID: id, Sealed: []byte("sealed " + id + " under " + under)})
		}
		return e
	}
	c1, k1 := key("c1", ledger.KeyActive, 1), key("k1", ledger.KeyActive, 0)
	for name, test := range map[string]struct {
		before []*ledger.Key
		effect ledger.Effect
		want   string // id, state, number, highest number, and whether it was sealed again; "too late" if the replay is refused
		why    string // what the preview reports
	}{
		"first of a purpose":       {nil, added(k1), "k1 active", ""},
		"second of a purpose":      {[]*ledger.Key{k1}, added(key("k2", ledger.KeyActive, 0)), "k1 active, k2 announced", ""},
		"of another purpose":       {[]*ledger.Key{k1}, added(c1), "k1 active, c1 active 1", ""},
		"retiring":                 {[]*ledger.Key{k1}, added(key("k2", ledger.KeyRetiring, 0)), "k1 active, k2 retiring", ""},
		"known":                    {[]*ledger.Key{c1}, added(key("c1", ledger.KeyActive, 1)), "c1 active 1", ""},
		"another with the id":      {[]*ledger.Key{k1}, added(changed(key("k1", ledger.KeyActive, 0), func(k *ledger.Key) { k.Sealed = []byte("other") })), "too late", ""},
		"the same, sealed again":   {[]*ledger.Key{k1}, added(changed(key("k1", ledger.KeyActive, 0), func(k *ledger.Key) { k.SealedUnder = "new" })), "too late", ""},
		"another with the number":  {[]*ledger.Key{c1}, added(key("c9", ledger.KeyAnnounced, 1)), "too late", ""},
		"a signing key has it":     {[]*ledger.Key{c1, key("k7", ledger.KeyActive, 7)}, added(key("c7", ledger.KeyAnnounced, 7)), "c1 active 1, k7 active 7, c7 announced 7", ""},
		"signing keys with one":    {[]*ledger.Key{key("k7", ledger.KeyActive, 7)}, added(key("k8", ledger.KeyAnnounced, 7)), "k7 active 7, k8 announced 7", ""},
		"a credential key has it":  {[]*ledger.Key{c1}, added(key("k1", ledger.KeyActive, 1)), "c1 active 1, k1 active 1", ""},
		"activated":                {[]*ledger.Key{c1, k1, key("k2", ledger.KeyAnnounced, 0)}, activated("k2"), "c1 active 1, k1 retiring, k2 active", ""},
		"activated, first":         {[]*ledger.Key{c1, key("k2", ledger.KeyAnnounced, 0)}, activated("k2"), "c1 active 1, k2 active", ""},
		"activated before":         {[]*ledger.Key{k1, key("k2", ledger.KeyRetiring, 0)}, activated("k2"), "k1 active, k2 retiring", ""},
		"activated, unknown":       {[]*ledger.Key{k1}, activated("k2"), "k1 active", "it is not there"},
		"dropped":                  {[]*ledger.Key{k1, key("k2", ledger.KeyRetiring, 1)}, dropped("k2", false), "k1 active", ""},
		"dropped, active":          {[]*ledger.Key{k1}, dropped("k1", true), "k1 active", "it is still in use, as there is no other"},
		"dropped, unknown":         {[]*ledger.Key{k1}, dropped("k2", true), "k1 active", "the backup does not have it"},
		"dropped in time, unknown": {[]*ledger.Key{k1}, dropped("k2", false), "k1 active", ""},
		"dropped, highest number":  {[]*ledger.Key{c1, key("c5", ledger.KeyAnnounced, 5)}, dropped("c5", true), "c1 active 1 (5)", ""},
		"dropped, highest no more": {[]*ledger.Key{changed(key("c3", ledger.KeyActive, 3), func(k *ledger.Key) { k.HighestNumber = 6 }), key("c5", ledger.KeyAnnounced, 5)}, dropped("c5", true), "c3 active 3 (6)", ""},
		"dropped, lower number":    {[]*ledger.Key{key("c2", ledger.KeyRetiring, 2), key("c3", ledger.KeyActive, 3)}, dropped("c2", false), "c3 active 3", ""},
		"dropped, with secrets":    {[]*ledger.Key{key("c1", ledger.KeyRetiring, 1), key("c3", ledger.KeyActive, 3)}, dropped("c1", false), "c1 retiring 1, c3 active 3", "secrets of the backup are recorded under it; it goes when they have been used"},
		"dropped, no active key":   {[]*ledger.Key{key("c2", ledger.KeyRetiring, 2)}, dropped("c2", true), "", ""},
		"dropped, a signing key":   {[]*ledger.Key{c1, key("k5", ledger.KeyRetiring, 5)}, dropped("k5", true), "c1 active 1", ""},
		"sealed again":             {[]*ledger.Key{c1, k1}, rewrapped("new", "c1", "k1"), "c1 active 1 new!, k1 active new!", ""},
		"sealed again, unknown":    {[]*ledger.Key{c1}, rewrapped("new", "k9"), "c1 active 1", ""},
		"sealed under it already":  {[]*ledger.Key{c1}, rewrapped("old", "c1"), "c1 active 1", ""},
		"sealed again, one of two": {[]*ledger.Key{c1, changed(key("k1", ledger.KeyActive, 0), func(k *ledger.Key) { k.SealedUnder = "new" })}, rewrapped("new", "k1", "c1"), "c1 active 1 new!, k1 active new", ""},
	} {
		t.Run(name, func(t *testing.T) {
			app := &ledger.Client{ID: "app", State: ledger.Approved, Secrets: []ledger.Secret{{ID: "s", Key: 1}}}
			v := viewOf(t, tableOf(ledger.TableKeys, test.before), tableOf(ledger.TableClients, []*ledger.Client{app}))
			p, refused := v.PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{test.effect}}})
			if test.want == "too late" {
				require.Equal(t, ledger.ReplayTooLate, refused.Cause)
				return
			}
			require.Nil(t, refused)
			var got []string
			for _, k := range p.Keyring {
				text := k.ID + " " + string(k.State)
				if k.Number > 0 {
					text += fmt.Sprint(" ", k.Number)
				}
				if k.HighestNumber > 0 {
					text += fmt.Sprintf(" (%d)", k.HighestNumber)
				}
				if k.SealedUnder == "new" {
					text += " new"
				}
				if string(k.Sealed) == "sealed "+k.ID+" under new" {
					text += "!"
				}
				got = append(got, text)
			}
			require.Equal(t, test.want, strings.Join(got, ", "))
			changes := 0
			for _, n := range p.Counts {
				changes += n.Changes
			}
			if test.why == "" {
				for _, line := range p.Unapplied {
					require.Contains(t, line, "client app can't authenticate")
				}
			} else {
				require.Contains(t, strings.Join(p.Unapplied, "\n"), ": "+test.why)
				require.Zero(t, changes)
			}
			switch name {
			case "known", "activated before", "dropped in time, unknown", "sealed again, unknown", "sealed under it already":
				require.Zero(t, changes)
			}
		})
	}
}

// TestReplayLocksOut verifies which clients and resource servers the preview names, because their secrets are
// recorded under a key that the replay drops.
func TestReplayLocksOut(t *testing.T) {
	at := ledger.Time(5)
	secret := func(key uint32, revoked ledger.Time) ledger.Secret {
		return ledger.Secret{ID: fmt.Sprint("s", key, revoked), Key: key, Revoked: revoked}
	}
	for name, test := range map[string]struct {
		secrets []ledger.Secret
		want    bool
	}{
		"under the dropped key":      {[]ledger.Secret{secret(1, 0)}, true},
		"under the other key":        {[]ledger.Secret{secret(2, 0)}, false},
		"under both":                 {[]ledger.Secret{secret(1, 0), secret(2, 0)}, false},
		"the other one is revoked":   {[]ledger.Secret{secret(1, 0), secret(2, at)}, true},
		"it is revoked":              {[]ledger.Secret{secret(1, at)}, false},
		"none":                       {nil, false},
		"under a key dropped before": {[]ledger.Secret{secret(9, 0)}, false},
		"a signing key's number":     {[]ledger.Secret{secret(1, 0), secret(7, at)}, true},
		"under a signing key's":      {[]ledger.Secret{secret(7, 0), secret(1, 0)}, true},
	} {
		v := viewOf(t,
			tableOf(ledger.TableKeys, []*ledger.Key{
				{ID: "c1", Purpose: ledger.ForCredentials, State: ledger.KeyRetiring, Number: 1},
				{ID: "c2", Purpose: ledger.ForCredentials, State: ledger.KeyActive, Number: 2},
				{ID: "k7", Purpose: ledger.ForSigning, State: ledger.KeyActive, Number: 7},
			}),
			tableOf(ledger.TableClients, []*ledger.Client{{ID: "app", State: ledger.Approved, Secrets: test.secrets}}),
			tableOf(ledger.TableResourceServers, []*ledger.ResourceServer{{ID: "https://api.example", Name: "api", Secrets: test.secrets}}))
		p, refused := v.PreviewReplay(0, []ledger.Record{{Seq: 1, At: 1, Effects: []ledger.Effect{{Kind: ledger.EffectKeyDropped, ID: "c1", Emergency: true}}}})
		require.Nil(t, refused)
		require.Len(t, p.Keyring, 2)
		all := strings.Join(p.Unapplied, "\n")
		require.Equal(t, test.want, strings.Contains(all, "client app can't authenticate: "+ledger.ErrLockedOut.Error()), name)
		require.Equal(t, test.want, strings.Contains(all, "resource server https://api.example can't authenticate: "+ledger.ErrResourceLockedOut.Error()), name)
	}
}
