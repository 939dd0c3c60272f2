package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAddKey verifies which keys are announced. The keyring has c1 and k1, both active.
func TestAddKey(t *testing.T) {
	signing := func(id string) ledger.Key {
		return ledger.Key{ID: id, Purpose: ledger.ForSigning, Sealed: []byte("sealed")}
	}
	credential := func(id string, number uint32) ledger.Key {
		return ledger.Key{ID: id, Purpose: ledger.ForCredentials, Number: number, Sealed: []byte("sealed")}
	}
	under := func(k ledger.Key, clusterKey string) ledger.Key {
		k.SealedUnder = clusterKey
		return k
	}
	for name, test := range map[string]struct {
		before []string
		key    ledger.Key
		cause  ledger.Cause
	}{
		"signing":                   {nil, signing("k2"), ledger.NoCause},
		"credential":                {nil, credential("c2", 2), ledger.NoCause},
		"taken id":                  {nil, signing("k1"), ledger.AlreadyExists},
		"no id":                     {nil, signing(""), ledger.BadField},
		"nothing sealed":            {nil, ledger.Key{ID: "k2", Purpose: ledger.ForSigning}, ledger.BadField},
		"no purpose":                {nil, ledger.Key{ID: "k2", Sealed: []byte("sealed")}, ledger.BadField},
		"one is announced":          {[]string{"add-key k2 purpose=signing"}, signing("k3"), ledger.WrongState},
		"of another purpose":        {[]string{"add-key k2 purpose=signing"}, credential("c2", 2), ledger.NoCause},
		"number in use":             {nil, credential("c2", 1), ledger.Conflict},
		"no number":                 {nil, credential("c2", 0), ledger.Conflict},
		"a signing key's number":    {[]string{"add-key k2 purpose=signing number=7"}, credential("c2", 2), ledger.NoCause},
		"number of a dropped key":   {[]string{"add-key c5 purpose=credential number=5", "drop c5 emergency"}, credential("c6", 5), ledger.Conflict},
		"above a dropped key":       {[]string{"add-key c5 purpose=credential number=5", "drop c5 emergency"}, credential("c6", 6), ledger.NoCause},
		"sealed before a rewrap":    {[]string{"acknowledge n1 holds=new", "rewrap new keys=c1,k1 voters=n1"}, signing("k2"), ledger.SealedUnderOtherKey},
		"sealed after it":           {[]string{"acknowledge n1 holds=new", "rewrap new keys=c1,k1 voters=n1"}, under(signing("k2"), "new"), ledger.NoCause},
		"sealed under a named key":  {nil, under(signing("k2"), "first"), ledger.NoCause},
		"fields of the ledger kept": {nil, ledger.Key{ID: "k2", Purpose: ledger.ForSigning, Sealed: []byte("x"), State: ledger.KeyActive, Activated: 1, Retired: 1, HighestNumber: 9}, ledger.NoCause},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for _, line := range test.before {
				require.Equal(t, "ok", w.run(line), line)
			}
			o, changed := w.do(&ledger.AddKey{Key: test.key}, "add", false)
			if test.cause != ledger.NoCause {
				require.Equal(t, test.cause, o.Refusal.Cause)
				require.False(t, changed)
				return
			}
			require.Nil(t, o.Refusal)
			require.Equal(t, test.key.ID, o.ID)
			k := w.view().Key(test.key.ID)
			require.Equal(t, ledger.KeyAnnounced, k.State)
			require.Zero(t, k.Activated)
			require.Zero(t, k.Retired)
			require.Zero(t, k.HighestNumber)
			require.Equal(t, test.key.Purpose == ledger.ForSigning, k.PropagatedAt != 0)

			o, changed = w.do(&ledger.AddKey{Key: test.key}, "add", false)
			require.Equal(t, ledger.Outcome{ID: test.key.ID}, o, "the same command is accepted again")
			require.False(t, changed)
		})
	}
}

// TestFirstKeys: the first key of a purpose is active at once, and no verifier has to learn
// it.
func TestFirstKeys(t *testing.T) {
	w := newEnv(t)
	for _, id := range []string{"c1", "k1"} {
		k := w.view().Key(id)
		require.Equal(t, ledger.KeyActive, k.State)
		require.Positive(t, k.Activated)
		require.Zero(t, k.PropagatedAt)
	}
}

// TestKeyDue verifies when each key may take its next step.
func TestKeyDue(t *testing.T) {
	s := ledger.DefaultSettings()
	for name, test := range map[string]struct {
		key  ledger.Key
		want time.Duration // after 1000
	}{
		"announced for signing":             {ledger.Key{State: ledger.KeyAnnounced, Purpose: ledger.ForSigning, Announced: 1000}, 10 * time.Minute},
		"with the time that verifiers need": {ledger.Key{State: ledger.KeyAnnounced, Purpose: ledger.ForSigning, Announced: 1000, PropagatedAt: 61_000}, time.Minute},
		"announced for credentials":         {ledger.Key{State: ledger.KeyAnnounced, Purpose: ledger.ForCredentials, Announced: 1000}, 0},
		"retiring from signing":             {ledger.Key{State: ledger.KeyRetiring, Purpose: ledger.ForSigning, Announced: 5, PropagatedAt: 7, Retired: 1000}, 31 * time.Minute},
		"retiring from credentials":         {ledger.Key{State: ledger.KeyRetiring, Purpose: ledger.ForCredentials, Announced: 5, Retired: 1000}, s.GrantAbsolute},
	} {
		require.Equal(t, ledger.Time(1000).Add(test.want), test.key.Due(&s), name)
	}
}

// TestNextStep verifies the earliest time at which the published keys may change: only
// announced and retiring signing keys are considered.
func TestNextStep(t *testing.T) {
	w := newEnv(t)
	next := func() time.Duration { // from now, -1 if nothing is scheduled
		at, ok := w.view().NextStep()
		if !ok {
			require.Zero(t, at)
			return -1
		}
		return at.Std().Sub(w.now).Round(time.Second)
	}
	run := func(line string) { require.Equal(t, "ok", w.run(line), line) }
	run("acknowledge n1 keys=c1,c2,k1,k2,k3")
	require.Equal(t, time.Duration(-1), next(), "all keys are active")
	run("add-key c2 purpose=credential number=2")
	require.Equal(t, time.Duration(-1), next(), "credential keys are not published")
	run("activate c2 voters=n1")
	require.Equal(t, time.Duration(-1), next())
	run("add-key k2 purpose=signing")
	require.Equal(t, 10*time.Minute, next(), "k2 may become active")
	run("now +10m")
	run("activate k2 voters=n1")
	require.Equal(t, 31*time.Minute, next(), "k1 may be dropped")
	run("add-key k3 purpose=signing")
	require.Equal(t, 10*time.Minute, next(), "k3 may become active, before k1 may be dropped")
	run("now +30m")
	require.Equal(t, -20*time.Minute, next(), "k3 may be active already")
	run("activate k3 voters=n1")
	require.Equal(t, time.Minute, next(), "k1 may be dropped, before k2")
	run("now +1m")
	run("drop k1")
	require.Equal(t, 30*time.Minute, next(), "k2 may be dropped")
}

// TestActivateKey verifies which key becomes the active one, and when.
func TestActivateKey(t *testing.T) {
	for name, test := range map[string]struct {
		before []string
		line   string
		want   string
	}{
		"unknown":                    {nil, "activate k9 voters=n1", "not found"},
		"active already":             {nil, "activate k1 voters=n1", "its state does not allow that"},
		"no voter":                   {nil, "activate k2", "a node has not opened the key yet"},
		"unknown voter":              {nil, "activate k2 voters=n9 emergency", "a node has not opened the key yet"},
		"a voter has not opened it":  {nil, "activate k2 voters=n1,n2 emergency", "a node has not opened the key yet"},
		"too young":                  {[]string{"now +599s"}, "activate k2 voters=n1", "the key was announced too recently; verifiers may not have learnt it yet"},
		"old enough":                 {[]string{"now +600s"}, "activate k2 voters=n1", ""},
		"in an emergency":            {nil, "activate k2 voters=n1 emergency", ""},
		"a credential key":           {nil, "activate c2 voters=n1", ""},
		"a voter opened it just now": {[]string{"now +600s", "acknowledge n2 keys=k2"}, "activate k2 voters=n1,n2", "the key was announced too recently; verifiers may not have learnt it yet"},
		"five minutes ago":           {[]string{"now +600s", "acknowledge n2 keys=k2", "now +300s"}, "activate k2 voters=n1,n2", ""},
		"before five minutes":        {[]string{"now +600s", "acknowledge n2 keys=k2", "now +299s"}, "activate k2 voters=n1,n2", "the key was announced too recently; verifiers may not have learnt it yet"},
		"credential key, just now":   {[]string{"now +600s", "acknowledge n2 keys=c2"}, "activate c2 voters=n1,n2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for _, line := range append([]string{
				"add-key k2 purpose=signing", "add-key c2 purpose=credential number=2", "acknowledge n1 keys=c1,c2,k1,k2", "acknowledge n2 keys=c1,k1",
			}, test.before...) {
				require.Equal(t, "ok", w.run(line), line)
			}
			l := parseLine(test.line)
			o, changed := w.do(w.command(l), "activate", false)
			if test.want != "" {
				require.Equal(t, test.want, o.Refusal.Cause.String())
				require.False(t, changed)
				return
			}
			require.Nil(t, o.Refusal)
			k := w.view().Key(l.name)
			require.Equal(t, ledger.KeyActive, k.State)
			require.Equal(t, k, w.view().ActiveKey(k.Purpose))
			var retiring []string
			for other := range w.view().Keys() {
				if other.State == ledger.KeyRetiring {
					retiring = append(retiring, other.ID)
					require.Equal(t, k.Activated, other.Retired)
				}
			}
			require.Equal(t, []string{l.name[:1] + "1"}, retiring)

			o, changed = w.do(w.command(l), "activate", false)
			require.Equal(t, ledger.Outcome{ID: l.name}, o, "the same command is accepted again")
			require.False(t, changed)
			o, _ = w.do(w.command(l), "another", false)
			require.Equal(t, ledger.WrongState, o.Refusal.Cause)
		})
	}
}

// TestActivateFirstKey: a keyring that a replay left without an active key gets one.
func TestActivateFirstKey(t *testing.T) {
	v := viewOf(t,
		tableOf(ledger.TableKeys, []*ledger.Key{{ID: "k2", Purpose: ledger.ForSigning, State: ledger.KeyAnnounced}}),
		tableOf(ledger.TableNodes, []*ledger.Node{{ID: "n1", Opened: []string{"k2"}}}))
	o := v.Decide(&ledger.ActivateKey{ID: "k2", Voters: []string{"n1"}, Emergency: true}, command.Meta{ID: command.ID{1}, Seq: 9, At: 9})
	require.Equal(t, ledger.Outcome{ID: "k2"}, o)
}

// TestKeyWaits verifies that a refusal names the time at which the step is permitted.
func TestKeyWaits(t *testing.T) {
	w := newEnv(t)
	refused := func(c command.Command) *ledger.Refusal {
		o, _ := w.do(c, "", false)
		return o.Refusal
	}
	w.run("add-key k2 purpose=signing")
	w.run("acknowledge n1 keys=k2")
	due := w.view().Key("k2").PropagatedAt
	require.Equal(t, due, refused(&ledger.ActivateKey{ID: "k2", Voters: []string{"n1"}}).When)
	w.run("activate k2 voters=n1 emergency")
	r := refused(&ledger.DropKey{ID: "k1"})
	require.Equal(t, ledger.KeyInUse, r.Cause)
	require.Equal(t, w.view().Key("k1").Retired.Add(31*time.Minute), r.When)
	r = refused(&ledger.DropKey{ID: "k2"})
	require.Equal(t, ledger.KeyInUse, r.Cause)
	require.Zero(t, r.When, "an active key is never dropped")
	require.Equal(t, ledger.KeyInUse, refused(&ledger.DropKey{ID: "k2", Emergency: true}).Cause)
	require.Equal(t, ledger.NotFound, refused(&ledger.DropKey{ID: "k9", Emergency: true}).Cause)

	w.run("add-key k3 purpose=signing")
	w.must(&ledger.DropKey{ID: "k3"}) // nothing needs a key that was never used
	require.Equal(t, ledger.EventKeyDropped, w.view().LastEvent().Kind)
	w.must(&ledger.DropKey{ID: "k1", Emergency: true})
	require.Equal(t, ledger.EventKeyEmergency, w.view().LastEvent().Kind)
}

// TestSecretsUnderAKey verifies that only active secrets of clients that are not deleted
// keep a credential key, and are listed when it is dropped.
func TestSecretsUnderAKey(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user bob", "import two owner=bob scopes=PROFILE_READ secrets=s1,s2", "import one owner=bob scopes=PROFILE_READ secrets=s3 revoked=s4",
		"import none owner=bob scopes=PROFILE_READ revoked=s5", "import gone owner=bob scopes=PROFILE_READ secrets=s6", "delete gone revision=1",
		"import pub owner=bob scopes=PROFILE_READ type=public",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	require.Equal(t, 3, w.view().SecretsUnder(1, w.at()))
	require.Zero(t, w.view().SecretsUnder(2, w.at()))
	require.Empty(t, w.view().DroppedSecrets(1), "the key is known")
	require.Empty(t, w.view().LockedOut())

	w.run("acknowledge n1 keys=c2")
	w.run("add-key c2 purpose=credential number=2")
	w.run("activate c2 voters=n1")
	mixed := secretOf("s7")
	mixed.Key = 2
	w.must(&ledger.AddSecret{Actor: ledger.Actor{Operator: true}, Client: "one", Secret: mixed})
	w.must(&ledger.DropKey{ID: "c1", Emergency: true})
	require.Zero(t, w.view().Key("c2").HighestNumber, "it has the highest number itself")
	require.Equal(t, []ledger.DroppedSecret{{ledger.SecretHolder{Client: "one"}, "s3"}, {ledger.SecretHolder{Client: "two"}, "s1"}, {ledger.SecretHolder{Client: "two"}, "s2"}}, w.view().DroppedSecrets(1))
	require.Empty(t, w.view().DroppedSecrets(2))
	require.Equal(t, []ledger.SecretHolder{{Client: "two"}}, w.view().LockedOut(), "one has a secret under a known key")
}

// TestDropSigningKey verifies that the number of a signing key means nothing.
func TestDropSigningKey(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{
		"user bob", "import app owner=bob scopes=PROFILE_READ secrets=s1", "acknowledge n1 keys=k2,k3", "add-key k2 purpose=signing number=1",
		"activate k2 voters=n1 emergency", "add-key k3 purpose=signing", "activate k3 voters=n1 emergency", "now +31m", "drop k2",
		"add-key k9 purpose=signing number=9", "drop k9 emergency",
	} {
		require.Equal(t, "ok", w.run(line), line)
	}
	require.Zero(t, w.view().Key("c1").HighestNumber)
}

// TestDropWithoutActiveKey: a keyring that a replay left without an active credential key
// loses the others as well.
func TestDropWithoutActiveKey(t *testing.T) {
	v := viewOf(t,
		tableOf(ledger.TableKeys, []*ledger.Key{{ID: "c5", Purpose: ledger.ForCredentials, State: ledger.KeyAnnounced, Number: 5}}),
		tableOf(ledger.TableClients, []*ledger.Client{
			{ID: "app", Secrets: []ledger.Secret{{ID: "a", Key: 9}, {ID: "b", Key: 5, Revoked: 1}}},
			{ID: "two", Secrets: []ledger.Secret{{ID: "a", Key: 9}, {ID: "b", Key: 5}}},
		}))
	require.Equal(t, []ledger.SecretHolder{{Client: "app"}}, v.LockedOut(), "a revoked secret lets nobody in")
	require.Equal(t, ledger.Outcome{ID: "c5"}, v.Decide(&ledger.DropKey{ID: "c5"}, command.Meta{ID: command.ID{1}, Seq: 9, At: 9}))
}
