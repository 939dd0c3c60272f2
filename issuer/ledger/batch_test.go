package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// TestBatchBordersLeaveNoTrace: commands that share a transaction leave the state that
// they leave one by one, in particular those that are decided on the state before it.
func TestBatchBordersLeaveNoTrace(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	w.run("sign-in alice")
	w.run("import app owner=alice secrets=s1 scopes=PROFILE_READ")
	const grants = 4
	for i := range grants {
		w.run(fmt.Sprintf("allow alice client=app scope=PROFILE_READ grant=g%d", i))
	}
	var begin bytes.Buffer
	require.NoError(t, w.memory.Save(&begin))
	open := func(r *rapid.T) *machine.Memory {
		m := machine.NewMemory(replica.Machine(), time.Now)
		require.NoError(r, m.Load(bytes.NewReader(begin.Bytes())))
		return m
	}
	rapid.Check(t, func(r *rapid.T) {
		alone, together := open(r), open(r)
		at := w.now.UnixMilli()
		entry, n := []machine.Encoded(nil), 0
		for range rapid.IntRange(1, 4).Draw(r, "entries") {
			entry = entry[:0]
			for range rapid.IntRange(1, 12).Draw(r, "commands") {
				n++
				at += int64(rapid.SampledFrom([]int{0, 0, 0, 1, 1000, 61_000}).Draw(r, "ms"))
				c := drawRedemption(r, grants, alone)
				body, err := machine.Marshal(c)
				require.NoError(r, err)
				e := machine.Encoded{Kind: c.Kind(), ID: command.ID{byte(n)}, At: at, Body: body}
				require.NoError(r, alone.Apply(machine.AppendCommand(machine.AppendBatch(nil, 1), &e)))
				entry = append(entry, e)
			}
			b := machine.AppendBatch(nil, len(entry))
			for i := range entry {
				b = machine.AppendCommand(b, &entry[i])
			}
			require.NoError(r, together.Apply(b))
			require.Equal(r, alone.Checksum(), together.Checksum())
		}
	})
}

// drawRedemption presents credentials of few grants, mostly the ones that are due, and
// sometimes does what the others must see: it changes client, user or keys.
func drawRedemption(r *rapid.T, grants int, m *machine.Memory) command.Command {
	id := ledger.GrantID(id16(fmt.Sprint("g", rapid.IntRange(0, grants-1).Draw(r, "grant"))))
	secret := rapid.SampledFrom([]string{"s1", "s1", "s1", "s1", "wrong"}).Draw(r, "secret")
	proof := ledger.ClientAuth{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: sha256.Sum256([]byte(secret))}}}
	v := ledger.At(m.View())
	g := v.Grant(id)
	ref := &ledger.CredentialRef{Grant: id, Generation: g.Due, Key: g.Key}
	switch rapid.SampledFrom([]string{"due", "due", "due", "due", "before", "revoke", "suspend"}).Draw(r, "what") {
	case "before":
		ref.Generation = uint32(max(0, int(g.Due)-1))
	case "revoke":
		return &ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: id}
	case "suspend":
		app := v.Client("app")
		verdict := ledger.Suspend
		if app.State == ledger.Suspended {
			verdict = ledger.Resume
		}
		return &ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "app", Verdict: verdict, Revision: app.Revision}
	}
	if ref.Generation == 0 {
		return &ledger.Exchange{ClientAuth: proof, Credential: ref, Redirect: sha256.Sum256([]byte("https://app.example/cb"))}
	}
	return &ledger.Refresh{ClientAuth: proof, Credential: ref}
}

// TestSingleRowNeedsACredential: a request without a credential of this server reads no
// grant.
func TestSingleRowNeedsACredential(t *testing.T) {
	ref := &ledger.CredentialRef{Grant: id16("g")}
	for _, c := range [][2]command.SingleRow{{&ledger.Exchange{}, &ledger.Exchange{Credential: ref}}, {&ledger.Refresh{}, &ledger.Refresh{Credential: ref}}} {
		_, _, ok := c[0].SingleRow()
		require.False(t, ok)
		table, id, ok := c[1].SingleRow()
		require.True(t, ok)
		require.Equal(t, ledger.TableGrants, table)
		require.Equal(t, id16("g"), id)
	}
}
