package main

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// asking is the good request of a client with some parameters changed: pairs
// of name and value, where no value takes the parameter away.
func asking(client string, pairs ...string) string {
	path, query, _ := strings.Cut(good(client), "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if q.Del(pairs[i]); pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return path + "?" + q.Encode()
}

// answered is the query of the redirect that an authorization request ends
// in when alice has clicked Allow, or before where it is refused.
func (d *docServer) answered(path string) url.Values { return d.answeredTo("alice", path) }

func (d *docServer) answeredTo(user, path string) url.Values {
	d.t.Helper()
	return d.browserOf(user).allow(user, path).Query()
}

// codeFor is a fresh code for alice.
func (d *docServer) codeFor(path string) string {
	d.t.Helper()
	q := d.answered(path)
	require.NotEmpty(d.t, q.Get("code"), q)
	return q.Get("code")
}

// granted are the tokens of a new grant of alice's.
func (d *docServer) granted(path string) tokens { return d.grantedBy("alice", path) }

func (d *docServer) grantedBy(user, path string) tokens {
	d.t.Helper()
	u, err := url.Parse(path)
	require.NoError(d.t, err)
	q := u.Query()
	code := d.answeredTo(user, path).Get("code")
	require.NotEmpty(d.t, code)
	var verifier []string
	if q.Get("code_challenge") != "" {
		verifier = []string{"code_verifier", verifierText}
	}
	return tokensOf(d.t, d.exchange(q.Get("client_id"), code, verifier...))
}

// refuses checks a refusal of the token endpoint.
func (d *docServer) refuses(a answer, status int, code oauth.Code) {
	d.t.Helper()
	require.Equal(d.t, status, a.Status, a.Body)
	require.Equal(d.t, string(code), a.ErrorCode(), a.Body)
	require.NotContains(d.t, a.Body, "_token\":")
}

// showsPage checks that an authorization request ends on a page: nobody is
// redirected, and no code is made.
func (d *docServer) showsPage(a answer, status int) {
	d.t.Helper()
	require.Equal(d.t, status, a.Status, a.Body)
	require.Contains(d.t, a.Header.Get("Content-Type"), "text/html")
	require.Empty(d.t, a.Header.Get("Location"))
	require.NotContains(d.t, a.Body, `name="decision"`)
}

// cli is the command line of this server's operator.
func (d *docServer) cli() *testkit.CLI {
	return operatorOf(d.t, filepath.Join(d.dir, "data"))
}

// client is what the command line shows of a client.
func (d *docServer) client(id string) map[string]any {
	d.t.Helper()
	return d.cli().Object("client", "show", id)
}

// profile is a good form of a client, with these scopes.
func profile(scopes ...string) ledger.Profile {
	return ledger.Profile{Name: "Made By Its Owner", RedirectURIs: []string{callback}, Scopes: scopes}
}

// newest is the secret of a client that its owner sees on top.
func (d *docServer) newest(client string) string {
	d.t.Helper()
	return d.s.Issuer.View().Client(client).NewestSecret()
}

// decided is the cause with which a command was refused.
func (d *docServer) decided(c command.Command) ledger.Cause {
	d.t.Helper()
	if r := d.propose(c).Refusal; r != nil {
		return r.Cause
	}
	return ledger.NoCause
}
