package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

func TestLogos(t *testing.T) {
	png, jpeg := "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0"
	of := func(start string, size int) []byte { return append([]byte(start), make([]byte, size-len(start))...) }
	tests := map[string]struct {
		picture []byte
		named   func([]byte) []byte
		note    string
	}{
		"png":                  {of(png, 100), nil, ""},
		"jpeg":                 {of(jpeg, 100), nil, ""},
		"as large as can be":   {of(png, ledger.MaxLogo), nil, ""},
		"a byte too large":     {of(png, ledger.MaxLogo+1), nil, "is larger than 16 KiB"},
		"svg":                  {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`), nil, "is neither PNG nor JPEG"},
		"gif":                  {of("GIF89a", 100), nil, "is neither PNG nor JPEG"},
		"html":                 {[]byte("<script>"), nil, "is neither PNG nor JPEG"},
		"half a signature":     {[]byte(png[:7]), nil, "is neither PNG nor JPEG"},
		"another's digest":     {of(png, 100), func([]byte) []byte { return make([]byte, 32) }, "is not the picture that its digest names"},
		"no digest":            {of(png, 100), func([]byte) []byte { return nil }, "is not named by its digest"},
		"half a digest":        {of(png, 100), func(d []byte) []byte { return d[:16] }, "is not named by its digest"},
		"more than a digest":   {of(png, 100), func(d []byte) []byte { return append(d, 0) }, "is not named by its digest"},
		"a digest, no picture": {nil, nil, "is not there any more; choose the picture again"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.run("user bob")
			sum := sha256.Sum256(test.picture)
			p := ledger.Profile{Name: "App", RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"}, Logo: sum[:]}
			if test.named != nil {
				p.Logo = test.named(p.Logo)
			}
			operator := ledger.Actor{Operator: true}
			create := &ledger.CreateClient{Actor: operator, ID: "app", Owner: "u-bob", Type: ledger.Public, Profile: p, Logo: test.picture}
			w.run("create other owner=bob scopes=PROFILE_READ")
			edit := &ledger.EditClient{Actor: operator, ID: "other", Revision: 1, Profile: p, Logo: test.picture}
			for _, c := range []command.Command{create, edit} {
				o, _ := w.do(c, "", false)
				if test.note != "" {
					require.Equal(t, "logo", o.Refusal.Field)
					require.Equal(t, test.note, o.Refusal.Note)
					continue
				}
				require.Nil(t, o.Refusal)
				require.Equal(t, test.picture, w.view().Logo(sum).Bytes)
			}
		})
	}
}

// TestLogoFor verifies who may see a logo: anybody if it is in an approved profile, and
// otherwise the owner of a client that has it and administrators.
func TestLogoFor(t *testing.T) {
	red, blue := [32]byte(digestOfLogo("red")), [32]byte(digestOfLogo("blue"))
	for name, test := range map[string]struct {
		lines  []string
		logo   [32]byte
		public bool
		seen   string // by whom, besides administrators
	}{
		"of a pending client":          {nil, red, false, "bob"},
		"of an approved client":        {[]string{"review cal verdict=approve"}, red, true, ""},
		"of a suspended client":        {[]string{"review cal verdict=approve", "review cal verdict=suspend"}, red, true, ""},
		"of a rejected client":         {[]string{"review cal verdict=reject reason=no"}, red, false, "bob"},
		"of a deleted client":          {[]string{"delete cal"}, red, false, ""},
		"proposed":                     {[]string{"review cal verdict=approve", "edit cal by=bob logo=blue"}, blue, false, "bob"},
		"in force while one is":        {[]string{"review cal verdict=approve", "edit cal by=bob logo=blue"}, red, true, ""},
		"refused":                      {[]string{"review cal verdict=approve", "edit cal by=bob logo=blue", "review cal verdict=reject reason=no"}, blue, false, "bob"},
		"of two pending clients":       {[]string{"create crm owner=erin scopes=PROFILE_READ logo=red"}, red, false, "bob erin"},
		"of an approved and a pending": {[]string{"create crm owner=erin scopes=PROFILE_READ logo=red", "review crm verdict=approve"}, red, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			for _, line := range append([]string{
				"user bob", "user erin", "user carol admin", "sign-in bob", "create cal by=bob scopes=PROFILE_READ logo=red",
			}, test.lines...) {
				require.Equal(t, "ok", w.run(line), line)
			}
			l, public := w.view().LogoFor(nil, test.logo)
			require.Equal(t, test.public, public)
			require.Equal(t, test.public, l != nil, "seen without a session")
			for _, user := range []string{"bob", "erin", "carol"} {
				l, public := w.view().LogoFor(w.view().User("u-"+user), test.logo)
				require.Equal(t, test.public, public)
				require.Equal(t, test.public || user == "carol" || strings.Contains(test.seen, user), l != nil, user)
			}
		})
	}
}

// TestGreatestClientFits verifies that the largest client that the rules accept, with its
// picture, fits into a command.
func TestGreatestClientFits(t *testing.T) {
	w := newEnv(t)
	w.run("user bob")
	w.run(fmt.Sprintf("add-key c%d purpose=credential number=%[1]d", math.MaxUint32))
	picture := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0xff}, ledger.MaxLogo-8)...)
	sum := sha256.Sum256(picture)
	p := ledger.Profile{
		Name: strings.Repeat("\U0001f600", 80), Purpose: strings.Repeat("\U0001f600", 500),
		Website: "https://" + strings.Repeat("a", 1016), Scopes: scope.All().Names(), Logo: sum[:],
	}
	for i := range ledger.MaxRedirectURIs {
		uri := fmt.Sprintf("https://%d.example/", i)
		p.RedirectURIs = append(p.RedirectURIs, uri+strings.Repeat("a", 1024-len(uri)))
	}
	id := strings.Repeat("a", ledger.MaxID)
	secret := ledger.NewSecret{ID: id, Key: math.MaxUint32, Digest: sum, Tail: "tail"}
	actor := ledger.Actor{Session: sum, Operator: true}
	create := &ledger.CreateClient{Actor: actor, ID: id, Owner: "u-bob", Type: ledger.Confidential, Profile: p, Secret: &secret, Logo: picture}
	w.must(create)
	p.Name = "App"
	edit := &ledger.EditClient{Actor: actor, ID: id, Revision: 1, Profile: p, Logo: picture, Confirm: true}
	w.must(edit)
	for _, c := range []command.Command{create, edit} {
		encoded, err := cbor.Marshal(c)
		require.NoError(t, err)
		require.Less(t, len(encoded), command.MaxBody)
	}
}
