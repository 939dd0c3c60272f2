package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// The examples use an issuer of package verifiertest in place of Mintmark.
func newIssuer() *verifiertest.Issuer { return verifiertest.NewIssuer() }

// Two settings are enough: the issuer, and this resource server's audience. The keys are
// fetched in the background, from where Mintmark publishes them.
func Example() {
	mintmark := newIssuer()
	defer mintmark.Close()

	v, err := verifier.New(verifier.Config{Issuer: mintmark.URL, Audience: "https://api.example.com"})
	if err != nil {
		panic(err)
	}
	defer v.Close()

	token := mintmark.Token(verifiertest.Scope(scope.BookingRead))
	claims, err := v.Verify(context.Background(), token)
	if err != nil {
		panic(err)
	}
	fmt.Println(claims.Subject(), claims.ClientID())
	fmt.Println(claims.Allows(scope.BookingRead), claims.Allows(scope.BookingWrite))
	// Output:
	// user-1 client-1
	// true false
}

// An issuer with three nodes and no load balancer, and a file with the keys for a restart
// while all three are down.
func ExampleNewJWKS() {
	mintmark := newIssuer()
	defer mintmark.Close()
	gone := newIssuer()
	gone.Close()
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)

	keys, err := verifier.NewJWKS(verifier.JWKSConfig{
		URL:      gone.URL + verifier.KeySetPath,
		MoreURLs: []string{mintmark.URL + verifier.KeySetPath},
		Snapshot: filepath.Join(folder, "keys"),
	})
	if err != nil {
		panic(err)
	}
	defer keys.Close()
	v, err := verifier.New(verifier.Config{Issuer: mintmark.URL, Audience: "https://api.example.com", Keys: keys})
	if err != nil {
		panic(err)
	}
	_, err = v.Verify(context.Background(), mintmark.Token())
	fmt.Println(err)
	// Output: <nil>
}

// Every refusal has a reason, for metric labels, and belongs to one of three classes,
// which determine the response.
func ExampleVerifier_Verify() {
	mintmark := newIssuer()
	defer mintmark.Close()
	v, err := verifier.New(mintmark.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()

	for _, token := range []string{
		mintmark.Token(),
		mintmark.Token(verifiertest.Expired()),
		mintmark.Token(verifiertest.ForAudience("https://other.example.com")),
		mintmark.Token(verifiertest.Header("typ", "JWT")),
		"garbage",
	} {
		_, err := v.Verify(context.Background(), token)
		var refused *verifier.Error
		switch {
		case err == nil:
			fmt.Println("accepted")
		case errors.Is(err, verifier.ErrKeysUnavailable):
			fmt.Println("503: the token may be valid")
		case errors.As(err, &refused):
			fmt.Println("401:", refused.Reason, errors.Is(err, verifier.ErrExpired))
		}
	}
	// Output:
	// accepted
	// 401: expired true
	// 401: audience false
	// 401: type false
	// 401: malformed false
}

// Without keys no token can be verified. The error has the time after which to try again.
func ExampleError() {
	mintmark := newIssuer()
	defer mintmark.Close()
	mintmark.Down()
	v, err := verifier.New(mintmark.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()

	_, err = v.Verify(context.Background(), mintmark.Token())
	var refused *verifier.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.RetryAfter <= 2*time.Second)
	}
	// Output: keys_unavailable true
}

// An observer for three metrics: accepted tokens, refused tokens by reason, refreshes of
// the keys.
func ExampleObserver() {
	mintmark := newIssuer()
	defer mintmark.Close()
	var checked, remembered atomic.Int64
	refreshed := make(chan verifier.Refresh, 10)
	c := mintmark.Config()
	c.Observer = verifier.Observer{
		Accepted: func(_ context.Context, cached bool) {
			if cached {
				remembered.Add(1)
			} else {
				checked.Add(1)
			}
		},
		Refused: func(_ context.Context, err *verifier.Error) {
			fmt.Println("refused:", err.Reason)
		},
		Refreshed: func(r verifier.Refresh) { refreshed <- r },
	}
	v, err := verifier.New(c)
	if err != nil {
		panic(err)
	}
	defer v.Close()
	r := <-refreshed
	fmt.Println("refreshed:", r.Cause, r.Keys, r.Err)
	token := mintmark.Token()
	for range 5 {
		v.Verify(context.Background(), token)
	}
	v.Verify(context.Background(), "garbage")
	fmt.Println("accepted:", checked.Load(), "checked,", remembered.Load(), "remembered")
	// Output:
	// refreshed: start 1 <nil>
	// refused: malformed
	// accepted: 1 checked, 4 remembered
}

// A readiness check fails while every request would get 503.
func ExampleVerifier_State() {
	mintmark := newIssuer()
	defer mintmark.Close()
	v, err := verifier.New(mintmark.Config())
	if err != nil {
		panic(err)
	}
	defer v.Close()
	ready := func(w http.ResponseWriter, _ *http.Request) {
		s := v.State()
		if !s.Ready {
			http.Error(w, "no verification keys", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%d keys, usable for %s without the issuer", len(s.Keys), s.StaleAt.Sub(s.ConfirmedAt))
	}
	v.Verify(context.Background(), mintmark.Token()) // waits for the first fetch
	w := httptest.NewRecorder()
	ready(w, httptest.NewRequest("GET", "/ready", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 1 keys, usable for 24h0m0s without the issuer
}

// Keys from a file that is deployed with the service: there are no requests, and no
// rotation.
func ExampleStaticKeys() {
	mintmark := newIssuer()
	defer mintmark.Close()
	keys, err := verifier.StaticKeys(mintmark.KeySet())
	if err != nil {
		panic(err)
	}
	v, err := verifier.New(verifier.Config{Issuer: mintmark.URL, Audience: "https://api.example.com", Keys: keys})
	if err != nil {
		panic(err)
	}
	_, err = v.Verify(context.Background(), mintmark.Token())
	fmt.Println(err, mintmark.Fetches())
	// Output: <nil> 0
}

// ORG_X covers TEAM_X, and nothing else is implied. A legacy token covers everything. A
// token that is neither legacy nor has a known scope covers nothing.
func ExampleClaims_Allows() {
	show := func(options ...verifiertest.Option) {
		claims := verifiertest.Claims(options...)
		fmt.Println(claims.Allows(scope.TeamBookingRead), claims.Allows(scope.OrgBookingRead), claims.Allows(scope.BookingRead))
	}
	show(verifiertest.Scope(scope.TeamBookingRead))
	show(verifiertest.Scope(scope.OrgBookingRead))
	show(verifiertest.Legacy())
	show()
	show(verifiertest.Claim("scope", "EVERYTHING"))
	// Output:
	// true false false
	// true true false
	// true true true
	// false false false
	// false false false
}
