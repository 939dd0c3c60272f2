package admin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func TestImportIsIdempotent(t *testing.T) {
	w, c := newEnv(t)
	require.Equal(t, admin.ResultImported, ask(t, c, admin.ImportClient, legacyApp()).Result)
	require.True(t, authenticates(w, "old-app", "old-secret-of-1999"))
	got := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "old-app"})
	require.Equal(t, "approved", got.State)
	require.Equal(t, "legacy", got.Kind)

	// Repeating an import does not undo later changes.
	ask(t, c, admin.ReviewClient, admin.Review{ID: "old-app", Verdict: "suspend"})
	before := w.Proposals.Load()
	require.Equal(t, admin.ResultUnchanged, ask(t, c, admin.ImportClient, legacyApp()).Result)
	require.Equal(t, before, w.Proposals.Load())
	w.Rotated.Store(true)
	for range 2 {
		require.Equal(t, admin.ResultUnchanged, ask(t, c, admin.ImportClient, legacyApp()).Result)
		require.Equal(t, before+1, w.Proposals.Load(), "its digest is renewed once")
	}
	require.Equal(t, "suspended", ask(t, c, admin.ShowClient, admin.ClientRef{ID: "old-app"}).State)

	changed := legacyApp()
	changed.Name = "Older App"
	require.Equal(t, admin.ResultChanged, ask(t, c, admin.ImportClient, changed).Result)
	got = ask(t, c, admin.ShowClient, admin.ClientRef{ID: "old-app"})
	require.Equal(t, "Older App", got.Name)
	require.Equal(t, "suspended", got.State, "an import changed the state")
	require.Len(t, got.Secrets, 1)
}

func TestImportOfDigests(t *testing.T) {
	w, c := newEnv(t)
	sum := sha256.Sum256([]byte("exported"))
	q := legacyApp()
	q.Secrets, q.SecretsSHA256 = nil, []admin.Plain{admin.Plain(hex.EncodeToString(sum[:]))}
	ask(t, c, admin.ImportClient, q)
	require.True(t, authenticates(w, "old-app", "exported"))
}

// TestImportOfHashes imports secrets that another system hashed.
func TestImportOfHashes(t *testing.T) {
	w, c := newEnv(t)
	const hash = admin.Plain("$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e")
	q := legacyApp()
	q.Secrets, q.SecretHashes = []admin.Plain{"in clear"}, []admin.Plain{hash}
	ask(t, c, admin.ImportClient, q)
	require.True(t, authenticates(w, "old-app", "in clear"))
	row := w.View().Client("old-app").Secrets[1]
	require.Equal(t, hash.Reveal(), row.Hash)
	require.NotEmpty(t, row.ID)
	shown := ask(t, c, admin.ShowClient, admin.ClientRef{ID: "old-app"}).Secrets
	require.Equal(t, []bool{false, true}, []bool{shown[0].Imported, shown[1].Imported})
	require.Equal(t, []string{"active", "active"}, []string{shown[0].State, shown[1].State})
	found := ask(t, c, admin.DescribeClients, admin.ClientsQuery{Clients: []admin.ClientQuestion{{
		ID: "old-app", Secrets: []admin.DeclaredSecret{{Hash: hash}, {Hash: "$2a$05$" + hash[7:]}},
	}}}).Clients
	require.Equal(t, []string{row.ID, ""}, found[0].SecretIDs)
}

// TestImportDoesNotWiden: importing an old file with a small change must not remove the
// limits of a migrated client, or of a client that was never legacy.
func TestImportDoesNotWiden(t *testing.T) {
	_, c := newEnv(t)
	ask(t, c, admin.ImportClient, legacyApp())
	scopes := []string{"BOOKING_READ"}
	ask(t, c, admin.SetClient, admin.ClientEdit{ID: "old-app", Scopes: &scopes})

	require.Equal(t, admin.ResultUnchanged, ask(t, c, admin.ImportClient, legacyApp()).Result)
	for _, id := range []string{"old-app", "cal-app"} {
		q := legacyApp()
		q.ID, q.Name = id, "Changed"
		p := refused(t, c, admin.ImportClient, q)
		require.Equal(t, "legacy", p.Field, p.Text)
		require.Equal(t, "scoped", ask(t, c, admin.ShowClient, admin.ClientRef{ID: id}).Kind)
	}
}

func TestImportRefusals(t *testing.T) {
	w, c := newEnv(t)
	for name, test := range map[string]struct {
		change func(*admin.LegacyClient)
		text   string
	}{
		"owner":     {func(q *admin.LegacyClient) { q.Owner = "nobody" }, "client old-app: owner is not a user"},
		"redirect":  {func(q *admin.LegacyClient) { q.RedirectURIs = []string{"ftp://x"} }, "client old-app: redirect_uris[0] must be https"},
		"many":      {func(q *admin.LegacyClient) { q.Secrets = []admin.Plain{"a", "b", "c"} }, "client old-app: secrets has more than 2"},
		"twice":     {func(q *admin.LegacyClient) { q.Secrets = []admin.Plain{"a", "a"} }, "client old-app: secrets has the same secret twice"},
		"empty":     {func(q *admin.LegacyClient) { q.Secrets = []admin.Plain{""} }, "client old-app: secrets[0] is empty"},
		"no sha256": {func(q *admin.LegacyClient) { q.SecretsSHA256 = []admin.Plain{"beef"} }, "client old-app: secrets_sha256[0] is not a SHA-256"},
		"no hash":   {func(q *admin.LegacyClient) { q.SecretHashes = []admin.Plain{"x", "y"} }, "client old-app: secret_hashes[0] is not a hash"},
		"hostile hash": {func(q *admin.LegacyClient) {
			q.SecretHashes = []admin.Plain{"$scrypt$ln=20,r=32,p=16$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA"}
		}, "client old-app: secret_hashes[0] asks for 4194304 KiB of memory: at most 131072 are accepted"},
		"id":           {func(q *admin.LegacyClient) { q.ID = "a b" }, "client a b: id may hold"},
		"public":       {func(q *admin.LegacyClient) { q.Type = "public" }, "client old-app: secrets must be empty"},
		"type is none": {func(q *admin.LegacyClient) { q.Type = "" }, "client old-app: type must be"},
	} {
		t.Run(name, func(t *testing.T) {
			q, before := legacyApp(), w.Proposals.Load()
			test.change(&q)
			require.ErrorContains(t, refused(t, c, admin.ImportClient, q), test.text)
			require.Equal(t, before, w.Proposals.Load(), "a refused import made a proposal")
			require.Nil(t, w.View().Client("old-app"))
		})
	}
}
