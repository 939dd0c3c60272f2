package admin_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A remoteEnv has a socket and a remote listener of the same node.
type remoteEnv struct {
	*admintest.Env
	local  *admin.Caller
	server *admintest.RemoteServer
	http   *http.Client
}

func newRemoteEnv(t *testing.T) *remoteEnv {
	t.Helper()
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	w.Backup = func(_ context.Context, out io.Writer) error { _, err := io.WriteString(out, "sealed"); return err }
	w.Journal = w.Backup
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example", "https://app.example", "https://api.example"
	w.Do(&ledger.Configure{Settings: s})
	w.Replace = func(context.Context, string) (admin.Rotated, error) { return admin.Rotated{ID: "k9"}, nil }
	e := &remoteEnv{Env: w, server: w.ServeRemote()}
	var err error
	e.local, err = admin.NewCaller(w.Serve())
	require.NoError(t, err)
	t.Cleanup(e.local.Close)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: e.server.Authority.Pool(), MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	e.http = &http.Client{Transport: transport}
	ask(t, e.local, admin.AddUser, admin.NewUser{ID: "u-alice", Username: "alice", Password: alicePassword})
	ask(t, e.local, admin.AddClient, calApp())
	ask(t, e.local, admin.AddPublisher, admin.NewPublisher{Host: "agent.example", Scopes: []string{"PROFILE_READ"}})
	ask(t, e.local, admin.AddResourceServer, admin.NewResourceServer{ID: "https://calendar.example", Name: "calendar"})
	return e
}

func (e *remoteEnv) token(t *testing.T, name string, scopes ...string) admin.AddedOperatorToken {
	t.Helper()
	return ask(t, e.local, admin.AddOperatorToken, admin.NewOperatorToken{Name: name, Scopes: scopes, Lifetime: time.Hour})
}

// post sends a request that a Caller would not send.
func (e *remoteEnv) post(t *testing.T, name, body string, header http.Header) (int, admin.Problem) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.server.URL+"/v1/"+name, strings.NewReader(body))
	require.NoError(t, err)
	maps.Copy(r.Header, header)
	return e.do(t, e.http, r)
}

func (e *remoteEnv) do(t *testing.T, client *http.Client, r *http.Request) (int, admin.Problem) {
	t.Helper()
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var p admin.Problem
	if resp.StatusCode != http.StatusOK {
		require.NoError(t, json.Unmarshal(body, &p), "%s", body)
	}
	require.Equal(t, resp.StatusCode == http.StatusUnauthorized, resp.Header.Get("WWW-Authenticate") == "Bearer")
	return resp.StatusCode, p
}

func authorization(token admin.Plain) http.Header {
	return http.Header{"Authorization": {"Bearer " + token.Reveal()}}
}

// requests are bodies with which all operations for other machines succeed, in this
// order. %s is the name of the scope, so that the names differ between rounds.
var requests = []struct {
	name, body string
	event      string // kind of the event that the operation writes, "" for none
}{
	{"user.add", `{"id":"u-%s","username":"%s"}`, "user.put"},
	{"user.apply", `{"id":"applied-%s","username":"applied-%s","bio":"Made by a file."}`, "user.put"},
	{"user.describe", `{"users":[{"user":"alice"}]}`, ""},
	{"user.show", `{"user":"alice"}`, ""},
	{"user.list", `{}`, ""},
	{"user.password", `{"user":"%s","password":"battery staple horse"}`, "user.password"},
	{"user.state", `{"user":"%s","state":"disable"}`, "user.state"},
	{"client.add", `{"id":"c-%s","name":"App","owner":"alice","type":"confidential","redirect_uris":["https://a.example/"],"scopes":["PROFILE_READ"]}`, "client.created"},
	{"client.apply", `{"id":"a-%s","name":"App","owner":"alice","type":"public","redirect_uris":["https://a.example/"],"scopes":["PROFILE_READ"],"manager":"apply"}`, "client.applied"},
	{"client.describe", `{"clients":[{"id":"cal-app"}],"grants":true}`, ""},
	{"client.list", `{}`, ""},
	{"client.show", `{"id":"cal-app"}`, ""},
	{"client.review", `{"id":"c-%s","verdict":"approve","reason":""}`, "client.reviewed"},
	{"client.set", `{"id":"c-%s","name":"Other"}`, "client.edited"},
	{"client.secret.add", `{"client":"c-%s"}`, "secret.added"},
	{"client.secret.set", `{"client":"c-%s","id":"SECRET","name":"production"}`, "secret.edited"},
	{"client.secret.revoke", `{"client":"c-%s","id":"SECRET"}`, "secret.revoked"},
	{"client.import", `{"id":"old-%s","name":"Old","type":"confidential","owner":"alice","redirect_uris":["https://o.example/"]}`, "client.imported"},
	{"grant.list", `{"user":"alice"}`, ""},
	{"grant.revoke", `{"id":"GRANT"}`, "grant.revoked"},
	{"grant.disconnect", `{"user":"alice","client":"CONNECTED"}`, "grant.disconnected"},
	{"client.delete", `{"id":"c-%s"}`, "client.deleted"},
	{"resource-server.add", `{"id":"https://%s.example","name":"%s"}`, "resource_server.added"},
	{"resource-server.list", `{}`, ""},
	{"resource-server.show", `{"id":"calendar"}`, ""},
	{"resource-server.set", `{"id":"%s","scopes":["PROFILE_READ"]}`, "resource_server.edited"},
	{"resource-server.secret.add", `{"resource_server":"%s"}`, "resource_server.secret_added"},
	{"resource-server.secret.revoke", `{"resource_server":"%s","id":"DIGEST"}`, "resource_server.secret_revoked"},
	{"resource-server.apply", `{"id":"https://applied-%s.example","name":"applied-%s","manager":"apply"}`, "resource_server.applied"},
	{"resource-server.describe", `{"resource_servers":[{"id":"https://%s.example"}]}`, ""},
	{"resource-server.remove", `{"id":"%s"}`, "resource_server.removed"},
	{"publisher.add", `{"host":"%s.example","scopes":["PROFILE_READ"]}`, "publisher.added"},
	{"publisher.list", `{}`, ""},
	{"publisher.show", `{"host":"agent.example"}`, ""},
	{"publisher.set", `{"host":"%s.example","default_scopes":["PROFILE_READ"]}`, "publisher.edited"},
	{"publisher.apply", `{"host":"applied-%s.example","scopes":["PROFILE_READ"],"manager":"apply"}`, "publisher.applied"},
	{"publisher.revoke", `{"host":"%s.example"}`, "publisher.revoked"},
	{"publisher.reject", `{"host":"%s.example"}`, "publisher.rejected"},
	{"publisher.remove", `{"host":"%s.example"}`, "publisher.removed"},
	{"explain", `{"error_id":"ERROR"}`, ""},
	{"audit", `{}`, ""},
	{"keys.list", `{}`, ""},
	{"keys.rotate", `{"leaked":"k1"}`, "operator.operation"},
	{"settings.show", `{}`, ""},
	{"settings.set", `{"set":{"code_lifetime":"SECONDSs"}}`, "settings.changed"},
	{"operator.token.list", `{}`, ""},
	{"operator.token.revoke", `{"token":"TOKEN"}`, "operator.token_revoked"},
	{"cluster.status", `{}`, ""},
	{"cluster.checksum", `{}`, ""},
	{"cluster.invitation.list", `{}`, ""},
	{"cluster.invitation.withdraw", `{"name":"n4"}`, "operator.operation"},
	{"cluster.transfer", `{"to":"n3"}`, "operator.operation"},
	{"cluster.remove", `{"name":"n3"}`, "operator.operation"},
	{"cluster.accept-clock", `{}`, "operator.operation"},
	{"cluster.rotate-authority", `{}`, "operator.operation"},
	{"cluster.backup.save", `{}`, "operator.operation"},
	{"cluster.backup.journal", `{}`, "operator.operation"},
}

// fill replaces the placeholders of a request by the values of a round.
func (e *remoteEnv) fill(t *testing.T, body, round string, n int) string {
	t.Helper()
	switch {
	case strings.Contains(body, "DIGEST"):
		id := "s_0"
		if s := e.View().ResourceServerNamed(round); s != nil {
			id = s.Secrets[0].ID
		}
		body = strings.ReplaceAll(body, "DIGEST", id)
	case strings.Contains(body, "SECRET"):
		id := "s_0"
		if c := e.View().Client("c-" + round); c != nil {
			id = c.Secrets[0].ID
		}
		body = strings.ReplaceAll(body, "SECRET", id)
	case strings.Contains(body, "GRANT"):
		body = strings.ReplaceAll(body, "GRANT", e.Allow("u-alice", "cal-app", "PROFILE_READ").String())
	case strings.Contains(body, "CONNECTED"):
		e.Allow("u-alice", "cal-app", "PROFILE_READ")
		body = strings.ReplaceAll(body, "CONNECTED", "cal-app")
	case strings.Contains(body, "TOKEN"):
		body = strings.ReplaceAll(body, "TOKEN", e.token(t, "revoked-"+round, "read").ID)
	case strings.Contains(body, "ERROR"):
		body = strings.ReplaceAll(body, "ERROR", e.ErrorID(credential.Cause{Code: uint16(ledger.SecretWrong), Client: credential.ClientDigest("cal-app"), At: int64(e.Now())}))
	case strings.Contains(body, "SECONDS"):
		body = strings.ReplaceAll(body, "SECONDS", fmt.Sprint(61+n))
	}
	return strings.ReplaceAll(body, "%s", round)
}

// TestCrossOriginRequests: a browser that has an operator's certificate can't run an
// operation for a page of another origin.
func TestCrossOriginRequests(t *testing.T) {
	e := newRemoteEnv(t)
	client := e.withCertificate(t, e.server.Operators.Issue("ada", []string{"read", "users"}, nil))
	send := func(method, path string, header http.Header) int {
		r, err := http.NewRequestWithContext(t.Context(), method, e.server.URL+path, strings.NewReader(`{"id":"u-eve","username":"eve"}`))
		require.NoError(t, err)
		maps.Copy(r.Header, header)
		code, p := e.do(t, client, r)
		if code == http.StatusForbidden {
			require.Equal(t, ledger.OperatorCrossOrigin, p.Cause)
		}
		return code
	}
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}, "Content-Type": {"text/plain"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://evil.example"}},
		{"Origin": {"null"}},
	} {
		before := e.Proposals.Load()
		require.Equal(t, http.StatusForbidden, send(http.MethodPost, "/v1/user.add", header), header)
		require.Equal(t, []ledger.Cause{ledger.OperatorCrossOrigin}, e.server.Refused())
		require.Equal(t, before, e.Proposals.Load())
		require.Equal(t, http.StatusOK, send(http.MethodGet, "/v1/openapi.json", header), "changes nothing")
	}
	require.Nil(t, e.View().User("u-eve"))
	require.Equal(t, http.StatusOK, send(http.MethodPost, "/v1/user.add", http.Header{"Sec-Fetch-Site": {"same-origin"}}))
}

// TestRemoteOperations runs every operation with every scope, as a token and as a
// certificate: it is accepted with its own scope only. Requests and responses have the form
// of the OpenAPI description, and each change names the operator in the audit trail.
func TestRemoteOperations(t *testing.T) {
	e := newRemoteEnv(t)
	approve(t, e.local, "cal-app")
	scopes := admin.Scopes()
	open := map[string]bool{}
	for _, r := range requests {
		open[r.name] = true
	}
	for name, scope := range scopes {
		require.Equal(t, scope != "local", open[name], "operation %s is missing from the list of requests, or local", name)
	}
	doc := readOpenAPI(t, marshal(t, admin.OpenAPI()))
	n := 0
	for _, scope := range ledger.OperatorScopes {
		for _, by := range []string{"token", "certificate"} {
			n++
			round := by + "-" + string(scope)
			client, header := e.http, http.Header{}
			if by == "token" {
				header = authorization(e.token(t, round, string(scope)).Token)
			} else {
				client = e.withCertificate(t, e.server.Operators.Issue(round, []string{string(scope), "Operations", "local"}, nil))
			}
			t.Run(round, func(t *testing.T) {
				for _, r := range requests {
					body := e.fill(t, r.body, round, n)
					before := e.View().LastEvent().Seq
					code, answer := e.send(t, client, r.name, body, header)
					if scopes[r.name] != scope {
						require.Equal(t, http.StatusForbidden, code, "%s: %s", r.name, answer)
						require.Equal(t, ledger.OperatorScopeMissing, problemOf(t, answer).Cause)
						require.Equal(t, []ledger.Cause{ledger.OperatorScopeMissing}, e.server.Refused())
						require.Equal(t, before, e.View().LastEvent().Seq, r.name)
						continue
					}
					require.Equal(t, http.StatusOK, code, "%s: %s", r.name, answer)
					require.Empty(t, e.server.Refused())
					doc.check(t, r.name, []byte(body), answer, code)
					last := e.View().LastEvent()
					if r.event == "" {
						require.Equal(t, before, last.Seq, "%s wrote %s", r.name, last.Kind)
						continue
					}
					require.Greater(t, last.Seq, before, r.name)
					require.Equal(t, r.event, string(last.Kind), r.name)
					require.Equal(t, by+":"+round, last.Actor, r.name)
				}
				for name, of := range scopes {
					if of != "local" {
						continue
					}
					code, answer := e.send(t, client, name, `{}`, header)
					require.Equal(t, http.StatusForbidden, code, name)
					p := problemOf(t, answer)
					require.Equal(t, ledger.LocalOnly, p.Cause)
					require.ErrorIs(t, &p, admin.ErrLocalOnly)
					require.Equal(t, []ledger.Cause{ledger.LocalOnly}, e.server.Refused())
				}
			})
		}
	}
	require.NotContains(t, e.Log.String(), "mmo_")
	require.Contains(t, e.Log.String(), "operator=token:token-clients")
}

// TestRemoteGuessesNoAdministrator: an operator on another machine may not change an
// administrator, and can't find out either whether a password is the administrator's.
func TestRemoteGuessesNoAdministrator(t *testing.T) {
	e := newRemoteEnv(t)
	ask(t, e.local, admin.AddUser, admin.NewUser{Username: "root", Admin: true, Password: alicePassword})
	header := authorization(e.token(t, "users", "read", "users").Token)
	question := `{"users":[{"user":"root","password":"` + alicePassword + `"},{"user":"alice","password":"` + alicePassword + `"}]}`
	code, answer := e.send(t, e.http, "user.describe", question, header)
	require.Equal(t, http.StatusOK, code)
	var got admin.DescribedUsers
	require.NoError(t, json.Unmarshal(answer, &got))
	require.False(t, got.Users[0].PasswordMatches)
	require.True(t, got.Users[1].PasswordMatches)
	code, answer = e.send(t, e.http, "user.apply", `{"username":"new","admin":true}`, header)
	require.Equal(t, http.StatusUnprocessableEntity, code, "%s", answer)
	require.Equal(t, ledger.LocalOnly, problemOf(t, answer).Cause)
}

// TestComparingNeedsItsScope verifies that an operator who may only read learns nothing of
// secrets and passwords: a request that has some to compare needs the scope that changes them.
func TestComparingNeedsItsScope(t *testing.T) {
	e := newRemoteEnv(t)
	read := authorization(e.token(t, "reader", "read").Token)
	digest := strings.Repeat("0", 64)
	for i, test := range []struct{ operation, without, with, scope string }{
		{"client.describe", `{"clients":[{"id":"cal-app"}]}`, `{"clients":[{"id":"old-app"},{"id":"cal-app","secrets":[{"sha256":"` + digest + `"}]}]}`, "clients"},
		{"resource-server.describe", `{"resource_servers":[{"id":"calendar"}]}`, `{"resource_servers":[{"id":"calendar","secrets":[{"sha256":"` + digest + `"}]}]}`, "clients"},
		{"user.describe", `{"users":[{"user":"alice"}]}`, `{"users":[{"user":"bob"},{"user":"alice","password":"x"}]}`, "users"},
		{"user.describe", `{"users":[]}`, `{"users":[{"user":"alice","password_hash":"x"}]}`, "users"},
	} {
		code, answer := e.send(t, e.http, test.operation, test.without, read)
		require.Equal(t, http.StatusOK, code, "%s", answer)
		code, answer = e.send(t, e.http, test.operation, test.with, read)
		require.Equal(t, http.StatusForbidden, code, "%s", answer)
		p := problemOf(t, answer)
		require.Equal(t, ledger.OperatorScopeMissing, p.Cause)
		require.Equal(t, test.scope, p.Note)
		require.Equal(t, test.operation, p.Subject)
		require.Equal(t, []ledger.Cause{ledger.OperatorScopeMissing}, e.server.Refused())
		other := authorization(e.token(t, fmt.Sprint("other-", i), "read", test.scope).Token)
		code, answer = e.send(t, e.http, test.operation, test.with, other)
		require.Equal(t, http.StatusOK, code, "%s", answer)
	}
}

// TestDeclaredElsewhereMeanwhile: if another apply has created the user since this apply
// read the state, the scope of user.apply suffices to compare the password.
func TestDeclaredElsewhereMeanwhile(t *testing.T) {
	e := newRemoteEnv(t)
	users := authorization(e.token(t, "writer", "users").Token)
	for _, result := range []string{admin.ResultAdded, admin.ResultUnchanged} {
		code, answer := e.send(t, e.http, "user.apply", `{"username":"eve","password":"a long enough password"}`, users)
		require.Equal(t, http.StatusOK, code, "%s", answer)
		require.Contains(t, string(answer), `"`+result+`"`)
	}
}

func (e *remoteEnv) withCertificate(t *testing.T, certificate *tls.Certificate) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: e.server.Authority.Pool(), MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate},
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (e *remoteEnv) send(t *testing.T, client *http.Client, name, body string, header http.Header) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.server.URL+"/v1/"+name, strings.NewReader(body))
	require.NoError(t, err)
	maps.Copy(r.Header, header)
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, answer
}

func problemOf(t *testing.T, body []byte) (p admin.Problem) {
	t.Helper()
	require.NoError(t, json.Unmarshal(body, &p), "%s", body)
	require.NotEmpty(t, p.Class)
	return p
}

// TestRemoteAuthentication sends every operation with tokens and certificates that are
// not valid.
func TestRemoteAuthentication(t *testing.T) {
	e := newRemoteEnv(t)
	all := []string{"read", "clients", "users", "settings", "cluster"}
	revoked := e.token(t, "revoked", all...)
	ask(t, e.local, admin.RevokeOperatorToken, admin.OperatorTokenRef{Token: "revoked"})
	short := ask(t, e.local, admin.AddOperatorToken, admin.NewOperatorToken{Name: "short", Scopes: all, Lifetime: time.Minute})
	good := e.token(t, "good", all...)
	e.Advance(time.Minute)
	other := admintest.NewAuthority(t, "operators") // another authority of the same name
	foreign := credential.NewOperatorToken(bytes.NewReader(make([]byte, 32))).Reveal()

	bearer := func(text string) func() (*http.Client, http.Header) {
		return func() (*http.Client, http.Header) { return e.http, http.Header{"Authorization": {text}} }
	}
	certificate := func(by *admintest.Authority, name string, change func(*x509.Certificate)) func() (*http.Client, http.Header) {
		return func() (*http.Client, http.Header) {
			return e.withCertificate(t, by.Issue(name, all, change)), http.Header{}
		}
	}
	for name, test := range map[string]struct {
		by    func() (*http.Client, http.Header)
		cause ledger.Cause
	}{
		"nothing":       {func() (*http.Client, http.Header) { return e.http, http.Header{} }, ledger.OperatorUnauthenticated},
		"revoked":       {bearer("Bearer " + revoked.Token.Reveal()), ledger.OperatorTokenRevoked},
		"expired":       {bearer("Bearer " + short.Token.Reveal()), ledger.OperatorTokenExpired},
		"unknown":       {bearer("Bearer " + foreign), ledger.OperatorTokenUnknown},
		"garbage":       {bearer("Bearer hunter2"), ledger.OperatorTokenUnknown},
		"client secret": {bearer("Bearer mms_" + foreign[4:]), ledger.OperatorTokenUnknown},
		"basic":         {bearer("Basic " + good.Token.Reveal()), ledger.OperatorTokenUnknown},
		"token's id":    {bearer("Bearer " + good.ID), ledger.OperatorTokenUnknown},
		"two headers": {func() (*http.Client, http.Header) {
			return e.http, http.Header{"Authorization": {"Bearer " + good.Token.Reveal(), "Bearer x"}}
		}, ledger.OperatorTokenUnknown},
		"other authority":      {certificate(other, "alice", nil), ledger.OperatorCertificateRefused},
		"server's authority":   {certificate(e.server.Authority, "alice", nil), ledger.OperatorCertificateRefused},
		"expired certificate":  {certificate(e.server.Operators, "alice", func(c *x509.Certificate) { c.NotAfter = admintest.Started.Add(time.Second) }), ledger.OperatorCertificateRefused},
		"later certificate":    {certificate(e.server.Operators, "alice", func(c *x509.Certificate) { c.NotBefore = admintest.Started.Add(time.Hour) }), ledger.OperatorCertificateRefused},
		"server's certificate": {certificate(e.server.Operators, "alice", admintest.ForServer), ledger.OperatorCertificateRefused},
		"for any use":          {certificate(e.server.Operators, "alice", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }), ledger.OperatorCertificateRefused},
		"for no named use":     {certificate(e.server.Operators, "alice", func(c *x509.Certificate) { c.ExtKeyUsage = nil }), ledger.OperatorCertificateRefused},
		"no name":              {certificate(e.server.Operators, "", nil), ledger.OperatorCertificateRefused},
		"a name with a colon":  {certificate(e.server.Operators, "token:good", nil), ledger.OperatorCertificateRefused},
	} {
		t.Run(name, func(t *testing.T) {
			client, header := test.by()
			for operation := range admin.Scopes() {
				before := e.Proposals.Load()
				code, answer := e.send(t, client, operation, `{}`, header)
				require.Equal(t, http.StatusUnauthorized, code, operation)
				p := problemOf(t, answer)
				require.Equal(t, admin.Unauthenticated, p.Class)
				require.Equal(t, []ledger.Cause{test.cause}, e.server.Refused())
				require.Equal(t, before, e.Proposals.Load())
			}
		})
	}
	t.Run("certificate without a known unit", func(t *testing.T) {
		client := e.withCertificate(t, e.server.Operators.Issue("bob", []string{"Read", "admin", ""}, nil))
		code, _ := e.send(t, client, "client.list", `{}`, nil)
		require.Equal(t, http.StatusForbidden, code)
	})
	code, _ := e.post(t, "client.list", `{}`, authorization(good.Token))
	require.Equal(t, http.StatusOK, code)
	code, p := e.post(t, "client.explode", `{}`, authorization(good.Token))
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, p.Text, "no such operation")
	require.NotContains(t, e.Log.String(), "mmo_")
	require.NotContains(t, e.Log.String(), "hunter2")
}

// TestRefusedTokensAreCheap: a text that is not a token needs no view. A token that this
// node doesn't know needs only a paced view.
func TestRefusedTokensAreCheap(t *testing.T) {
	e := newRemoteEnv(t)
	before := e.Paced.Load()
	for _, text := range []string{"", "x", "mmo_", "mmo_" + strings.Repeat("A", 44), "mmo_" + strings.Repeat("!", 43)} {
		code, _ := e.post(t, "client.list", `{}`, authorization(admin.Plain(text)))
		require.Equal(t, http.StatusUnauthorized, code)
	}
	require.Equal(t, before, e.Paced.Load())
	code, _ := e.post(t, "client.list", `{}`, authorization(admin.Plain("mmo_"+strings.Repeat("A", 43))))
	require.Equal(t, http.StatusUnauthorized, code)
	require.Equal(t, before+1, e.Paced.Load())
}

// TestStrangersWriteNoLog: a sender who is not authenticated can't write to the log, even
// by hanging up or while there is no leader. A request of an operator is logged, but not
// its path if that is not an operation.
func TestStrangersWriteNoLog(t *testing.T) {
	e := newRemoteEnv(t)
	good := e.token(t, "good", "read").Token
	unknown := credential.NewOperatorToken(bytes.NewReader(make([]byte, 32)))
	before := e.Log.String()
	e.Slow.Store(true)
	for _, path := range []string{"client.list", "marked"} {
		ctx, hangUp := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.server.URL+"/v1/"+path, http.NoBody)
		require.NoError(t, err)
		r.Header = authorization(admin.Plain(unknown.Reveal()))
		paced := e.Paced.Load()
		go func() {
			for e.Paced.Load() == paced {
				runtime.Gosched()
			}
			hangUp()
		}()
		resp, err := e.http.Do(r)
		if err == nil { // the server answered before Do saw that its context had ended
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			resp.Body.Close()
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Equal(t, paced+1, e.Paced.Load(), "the client hung up while the request waited for a view")
	}
	e.Slow.Store(false)
	e.SetNoLeader(true)
	for _, path := range []string{"client.list", "marked"} {
		code, _ := e.post(t, path, `{}`, authorization(admin.Plain(unknown.Reveal())))
		require.Equal(t, http.StatusServiceUnavailable, code)
	}
	e.SetNoLeader(false)
	e.server.Close() // waits for the requests in progress
	require.Equal(t, before, e.Log.String())

	e.server = e.ServeRemote()
	e.http.Transport.(*http.Transport).TLSClientConfig.RootCAs = e.server.Authority.Pool()
	code, _ := e.post(t, "marked", `{}`, authorization(good))
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, e.Log.String(), "operation=none")
	require.NotContains(t, e.Log.String(), "marked")
}

// TestRemoteWithoutALeader: without a leader a token is refused, since another node may
// have revoked it. A certificate is accepted.
func TestRemoteWithoutALeader(t *testing.T) {
	e := newRemoteEnv(t)
	token := e.token(t, "reader", "read")
	c := e.server.Caller(t, token.Token, nil)
	ask(t, c, admin.ListClients, admin.ClientFilter{})
	e.SetNoLeader(true)
	p := refused(t, c, admin.ShowCluster, admin.StatusQuery{})
	require.Equal(t, admin.Unavailable, p.Class)
	require.ErrorIs(t, p, admin.ErrTokenUnchecked)
	stale := 0
	c = e.server.Caller(t, "", e.server.Operators.Issue("ada", []string{"read"}, nil))
	c.Stale = func() { stale++ }
	ask(t, c, admin.ListClients, admin.ClientFilter{})
	require.Equal(t, 1, stale)
}

// TestOperatorTokens verifies the operations on tokens, and that the token itself is shown
// once and stored as a digest only.
func TestOperatorTokens(t *testing.T) {
	e := newRemoteEnv(t)
	added := e.token(t, "ci", "clients", "read")
	require.Equal(t, []string{"read", "clients"}, added.Scopes)
	require.Equal(t, "valid", added.State)
	require.True(t, credential.IsOperatorToken(added.Token.Reveal()))
	row := e.View().OperatorToken(added.ID)
	digest, _ := e.Config().Digest(1, added.Token.Reveal())
	require.Equal(t, digest, row.Digest)

	c := e.server.Caller(t, added.Token, nil)
	list := ask(t, c, admin.ListOperatorTokens, admin.OperatorTokenFilter{})
	require.Len(t, list.Tokens, 1)
	require.Equal(t, admintest.Started, list.Tokens[0].Used)
	require.NotContains(t, string(marshal(t, list)), added.Token.Reveal())

	require.Equal(t, ledger.BadField, refused(t, e.local, admin.AddOperatorToken, admin.NewOperatorToken{Name: "x", Scopes: []string{"local"}, Lifetime: time.Hour}).Cause)
	require.Equal(t, admin.NotFound, refused(t, e.local, admin.RevokeOperatorToken, admin.OperatorTokenRef{Token: "none"}).Class)
	ask(t, e.local, admin.RevokeOperatorToken, admin.OperatorTokenRef{Token: "ci"})
	require.Equal(t, ledger.OperatorTokenRevoked, refused(t, c, admin.ListClients, admin.ClientFilter{}).Cause)
	require.Empty(t, ask(t, e.local, admin.ListOperatorTokens, admin.OperatorTokenFilter{}).Tokens)
	require.Equal(t, "revoked", ask(t, e.local, admin.ListOperatorTokens, admin.OperatorTokenFilter{Ended: true}).Tokens[0].State)
}

// TestRemoteCaller verifies downloads, and what the Caller refuses by itself.
func TestRemoteCaller(t *testing.T) {
	e := newRemoteEnv(t)
	token := e.token(t, "backup", "cluster", "users").Token
	c := e.server.Caller(t, token, nil)
	var saved bytes.Buffer
	require.NoError(t, admin.SaveBackup(t.Context(), c, &saved))
	require.Equal(t, "sealed", saved.String())

	p := refused(t, c, admin.RewrapKeys, admin.RewrapRequest{})
	require.ErrorIs(t, p, admin.ErrLocalOnly)
	_, err := admin.RestoreBackup(t.Context(), c, &saved, admin.RestoreOptions{})
	require.ErrorIs(t, err, admin.ErrLocalOnly)
	require.Empty(t, e.server.Refused(), "the Caller must not send anything")
	require.Equal(t, ledger.LocalOnly, refused(t, c, admin.AddUser, admin.NewUser{Username: "root", Admin: true}).Cause)

	for name, s := range map[string]admin.RemoteServer{
		"plain http": {URL: "http://127.0.0.1:1", Token: token},
		"a path":     {URL: "https://127.0.0.1:1/v1", Token: token},
		"no name":    {URL: "https://", Token: token},
		"nothing":    {URL: "https://127.0.0.1:1"},
		"both":       {URL: "https://127.0.0.1:1", Token: token, Certificate: &tls.Certificate{}},
	} {
		_, err := admin.NewRemoteCaller(s)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), token.Reveal())
	}
	untrusting, err := admin.NewRemoteCaller(admin.RemoteServer{URL: e.server.URL, Authority: admintest.NewAuthority(t, "x").Pool(), Token: token})
	require.NoError(t, err)
	defer untrusting.Close()
	_, err = admin.ListClients.Call(t.Context(), untrusting, admin.ClientFilter{})
	require.ErrorIs(t, err, admin.ErrServerUnreachable)
	require.ErrorContains(t, err, "signed by unknown authority")
	require.NotErrorIs(t, err, admin.ErrUnreachable)
	var unreachable *admin.UnreachableError
	require.True(t, errors.As(err, &unreachable))
	require.Equal(t, e.server.URL, unreachable.Place)

	api := httptest.NewTLSServer(http.NotFoundHandler())
	defer api.Close()
	roots := x509.NewCertPool()
	roots.AddCert(api.Certificate())
	other, err := admin.NewRemoteCaller(admin.RemoteServer{URL: api.URL, Authority: roots, Token: token})
	require.NoError(t, err)
	defer other.Close()
	_, err = admin.ListClients.Call(t.Context(), other, admin.ClientFilter{})
	require.EqualError(t, err, "client.list: the server answered 404 Not Found, and not as a listener for operators does")
}

func FuzzOperatorToken(f *testing.F) {
	good := credential.NewOperatorToken(bytes.NewReader(bytes.Repeat([]byte{7}, 32))).Reveal()
	for _, seed := range []string{good, "Bearer " + good, "bearer  " + good, "Bearer", "", "Bearer " + good + " ", "Bearer\t" + good, "Bearer mmo_\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token := admin.BearerToken([]string{header})
		if !credential.IsOperatorToken(token) {
			return
		}
		require.Len(t, token, 47)
		scheme, rest, _ := strings.Cut(header, " ")
		require.True(t, strings.EqualFold(scheme, "Bearer"))
		require.Equal(t, rest, token)
		require.Len(t, credential.OperatorTokenID(token), 19)
	})
}

// An openAPI is a description, for checking bodies against it.
type openAPI struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]media `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Content map[string]media `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type media struct {
	Schema *schema `json:"schema"`
}

type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Minimum    *float64          `json:"minimum"`
	Additional json.RawMessage   `json:"additionalProperties"`
}

func readOpenAPI(t *testing.T, text []byte) (d openAPI) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

func (d openAPI) check(t *testing.T, name string, request, answer []byte, code int) {
	t.Helper()
	operation, ok := d.Paths["/v1/"+name]["post"]
	require.True(t, ok, name)
	var value any
	require.NoError(t, json.Unmarshal(request, &value))
	d.match(t, name, *operation.RequestBody.Content["application/json"].Schema, value)
	response := operation.Responses[fmt.Sprint(code)]
	if slices.Contains(admin.Downloads(), name) && code == http.StatusOK {
		require.Contains(t, response.Content, "application/octet-stream")
		return
	}
	require.NoError(t, json.Unmarshal(answer, &value))
	d.match(t, name, *response.Content["application/json"].Schema, value)
}

// match verifies a value against a schema. Fields that an object has beside those of the
// schema are an error here, since the document describes this version.
func (d openAPI) match(t *testing.T, at string, s schema, value any) {
	t.Helper()
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		found, ok := d.Components.Schemas[name]
		require.True(t, ok, name)
		s = found
	}
	switch s.Type {
	case "object":
		fields, ok := value.(map[string]any)
		require.True(t, ok, "%s is %T", at, value)
		for _, name := range s.Required {
			require.Contains(t, fields, name, at)
		}
		for name, field := range fields {
			of, known := s.Properties[name]
			if !known {
				require.NotEmpty(t, s.Additional, "%s.%s is not described", at, name)
				require.NoError(t, json.Unmarshal(s.Additional, &of), "%s.%s", at, name)
			}
			d.match(t, at+"."+name, of, field)
		}
	case "array":
		list, ok := value.([]any)
		require.True(t, ok, "%s is %T", at, value)
		for _, item := range list {
			d.match(t, at+"[]", *s.Items, item)
		}
	case "string":
		text, ok := value.(string)
		require.True(t, ok, "%s is %T", at, value)
		if s.Format == "date-time" {
			_, err := time.Parse(time.RFC3339Nano, text)
			require.NoError(t, err, at)
		}
	case "integer", "number":
		n, ok := value.(float64)
		require.True(t, ok, "%s is %T", at, value)
		require.True(t, s.Minimum == nil || n >= *s.Minimum, at)
	case "boolean":
		require.IsType(t, true, value, at)
	default:
		t.Fatalf("%s has the type %q", at, s.Type)
	}
}

// TestOpenAPI verifies that the listener serves the description, that it has the operations
// that are open to other machines, and that a Problem has its form.
func TestOpenAPI(t *testing.T) {
	e := newRemoteEnv(t)
	get := func(header http.Header) (int, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.server.URL+"/v1/openapi.json", nil)
		require.NoError(t, err)
		maps.Copy(r.Header, header)
		resp, err := e.http.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, body
	}
	code, body := get(authorization(e.token(t, "any", "settings").Token))
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, string(marshal(t, admin.OpenAPI())), string(body))
	doc := readOpenAPI(t, body)
	for name, scope := range admin.Scopes() {
		_, described := doc.Paths["/v1/"+name]
		require.Equal(t, scope != "local", described, name)
	}
	code, body = get(nil)
	require.Equal(t, http.StatusUnauthorized, code)
	doc.check(t, "client.list", []byte(`{}`), body, code)
}
