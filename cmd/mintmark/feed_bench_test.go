package main

import (
	crand "crypto/rand"
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// BenchmarkRevocations measures the time from the response "revoked" until a resource
// server refuses the token. 50 resource servers wait at one node over loopback, while a
// hundred grants a second are revoked. Each token is checked at one of the 50. One
// operation is one revocation; use -benchtime 1000x for ten seconds.
func BenchmarkRevocations(b *testing.B) {
	const readers, rate = 50, 100
	ts, secret := feedServer(b)
	var servers []*verifier.Verifier
	for range readers {
		v, err := verifier.New(verifier.Config{
			Issuer: ts.Base, Audience: ts.Base,
			Revocations: &verifier.RevocationsConfig{Name: "calendar", Secret: secret},
		})
		require.NoError(b, err)
		b.Cleanup(v.Close)
		servers = append(servers, v)
	}
	for _, v := range servers {
		require.Eventually(b, v.RevocationsFresh, 30*time.Second, 10*time.Millisecond)
	}
	tokens := make([]string, b.N)
	grants := make([]ledger.GrantID, b.N)
	for i := range tokens {
		tokens[i], grants[i] = ts.quickToken(b, i)
	}
	late := make([]time.Duration, b.N)
	var done sync.WaitGroup
	b.ResetTimer()
	pace := time.NewTicker(time.Second / rate)
	defer pace.Stop()
	for i := range b.N {
		<-pace.C
		done.Go(func() {
			v := servers[rand.IntN(readers)]
			if _, err := v.Verify(b.Context(), tokens[i]); err != nil {
				b.Error(err)
				return
			}
			ts.propose(&ledger.RevokeGrant{Actor: ledger.Actor{Operator: true}, Grant: grants[i]})
			began := time.Now()
			for {
				if _, err := v.Verify(b.Context(), tokens[i]); err != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			late[i] = time.Since(began)
		})
	}
	done.Wait()
	b.StopTimer()
	slices.Sort(late)
	for name, part := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "worst-ms": 1} {
		b.ReportMetric(float64(late[int(part*float64(b.N-1))].Microseconds())/1000, name)
	}
	b.ReportMetric(float64(runtime.NumCPU()), "cores")
}

// quickToken returns an access token of a new grant, made without a browser.
func (ts *testServer) quickToken(b *testing.B, n int) (string, ledger.GrantID) {
	session := sha256.Sum256([]byte("session " + strconv.Itoa(n%100)))
	if n < 100 {
		user := "reader-" + strconv.Itoa(n)
		ts.propose(&ledger.PutUser{ID: user, Username: user, Password: "x"})
		ts.propose(&ledger.SignIn{Session: session, User: user, VerifiedHash: sha256.Sum256([]byte("x"))})
	}
	var grant ledger.GrantID
	_, _ = crand.Read(grant[:])
	o := ts.propose(&ledger.Allow{
		Actor: ledger.Actor{Session: session}, User: "reader-" + strconv.Itoa(n%100), Grant: grant, Revision: 1,
		Request: oauth.AuthorizationRequest{ClientID: "other-app", RedirectURI: callback, Scope: "PROFILE_READ"},
	})
	require.Nil(b, o.Refusal)
	code, err := ts.s.Issuer.Code(b.Context(), o.Issued, 0)
	require.NoError(b, err)
	answer, err := ts.s.Issuer.Token(b.Context(), oauth.TokenRequest{
		GrantType: oauth.AuthorizationCode, Client: oauth.ClientCredentials{ID: "other-app", Secret: "other-app-secret"},
		Code: code.Reveal(), RedirectURI: callback,
	})
	require.NoError(b, err)
	return answer.AccessToken, grant
}
