package middleware_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// newVerifier returns a resource server's verifier, but for a test issuer. In production
// its Config needs only the Issuer and the Audience.
func newVerifier() (*verifier.Verifier, *verifiertest.Issuer) {
	issuer := verifiertest.NewIssuer()
	v, err := verifier.New(issuer.Config())
	if err != nil {
		log.Fatal(err)
	}
	return v, issuer
}

// show prints a handler's response, or its challenge.
func show(h http.Handler, method, target, token string) {
	r := httptest.NewRequest(method, target, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	said := strings.TrimSpace(w.Body.String())
	if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
		said = challenge
	}
	fmt.Println(method, target, w.Code, said)
}

// A resource server whose routes are guarded one by one.
func Example() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	guard := middleware.New(v, middleware.Config{})

	mux := http.NewServeMux()
	mux.Handle("GET /v2/bookings", guard.Require(scope.BookingRead)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The scope allows the application to list bookings. The handler selects
			// those of the token's user.
			token, _ := middleware.FromContext(r.Context())
			fmt.Fprintf(w, "bookings of %s", token.Subject())
		})))

	show(mux, "GET", "/v2/bookings", "")
	show(mux, "GET", "/v2/bookings", "not a token")
	show(mux, "GET", "/v2/bookings", issuer.Token(verifiertest.Expired()))
	show(mux, "GET", "/v2/bookings", issuer.Token(verifiertest.Scope(scope.BookingRead)))
	// Output:
	// GET /v2/bookings 401 Bearer
	// GET /v2/bookings 400 Bearer error="invalid_request", error_description="The Authorization header must be one Bearer token"
	// GET /v2/bookings 401 Bearer error="invalid_token", error_description="The access token has expired"
	// GET /v2/bookings 200 bookings of user-1
}

// ORG_X covers TEAM_X, and a legacy token passes everywhere. A write scope does not cover
// reading.
func ExampleGuard_Require() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	bookings := middleware.New(v, middleware.Config{}).Require(scope.TeamBookingRead)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "bookings of the team") }))

	show(bookings, "GET", "/", issuer.Token(verifiertest.Scope(scope.TeamBookingRead)))
	show(bookings, "GET", "/", issuer.Token(verifiertest.Scope(scope.OrgBookingRead)))
	show(bookings, "GET", "/", issuer.Token(verifiertest.Legacy()))
	show(bookings, "GET", "/", issuer.Token(verifiertest.Scope(scope.TeamBookingWrite)))
	// Output:
	// GET / 200 bookings of the team
	// GET / 200 bookings of the team
	// GET / 200 bookings of the team
	// GET / 403 Bearer error="insufficient_scope", error_description="The access token lacks a scope that this request needs", scope="TEAM_BOOKING_READ"
}

// A user's disconnection of an application takes effect within a second. While the feed
// of revocations is unavailable, bookings are still shown, but nothing is refunded.
func ExampleGuard_FailClosed() {
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	config := issuer.Config()
	config.Revocations = issuer.RevocationsConfig() // in production: the Name and the Secret of "mintmark resource-server add"
	v, err := verifier.New(config)
	if err != nil {
		log.Fatal(err)
	}
	defer v.Close()
	until := func(done func() bool) {
		for !done() {
			time.Sleep(5 * time.Millisecond)
		}
	}
	until(v.RevocationsFresh)

	guard := middleware.New(v, middleware.Config{})
	bookings := guard.Require(scope.BookingRead)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "bookings") }))
	refunds := guard.FailClosed().Require(scope.BookingWrite)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "refunded") }))

	token := issuer.Token(verifiertest.Scope(scope.BookingRead, scope.BookingWrite), verifiertest.Claim("grant_id", "grant-7"))
	show(bookings, "GET", "/v2/bookings", token)
	show(refunds, "POST", "/v2/refunds", token)
	issuer.RevokeGrant("grant-7")
	until(func() bool { return v.Revocations().Entries == 1 })
	show(bookings, "GET", "/v2/bookings", token)

	// Output:
	// GET /v2/bookings 200 bookings
	// POST /v2/refunds 200 refunded
	// GET /v2/bookings 401 Bearer error="invalid_token", error_description="The access token is invalid"
}

// One of several scopes is enough. The challenge names the first.
func ExampleGuard_RequireAny() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	busy := middleware.New(v, middleware.Config{}).RequireAny(scope.AppsRead, scope.ScheduleRead)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "busy from 9 to 10") }))

	show(busy, "GET", "/", issuer.Token(verifiertest.Scope(scope.ScheduleRead)))
	show(busy, "GET", "/", issuer.Token(verifiertest.Scope(scope.ProfileRead)))
	// Output:
	// GET / 200 busy from 9 to 10
	// GET / 403 Bearer error="insufficient_scope", error_description="The access token lacks a scope that this request needs", scope="APPS_READ"
}

// Anybody may book. If there is a token, it must be valid.
func ExampleGuard_Optional() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	book := middleware.New(v, middleware.Config{}).Optional()(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			by := "a guest"
			if token, ok := middleware.FromContext(r.Context()); ok {
				by = token.Subject()
			}
			fmt.Fprintf(w, "booked by %s", by)
		}))

	show(book, "POST", "/", "")
	show(book, "POST", "/", issuer.Token())
	show(book, "POST", "/", "forged")
	// Output:
	// POST / 200 booked by a guest
	// POST / 200 booked by user-1
	// POST / 401 Bearer error="invalid_token", error_description="The access token is invalid"
}

// The whole scheduling API behind its ready table. Membership of a team is checked in the
// service's own data, in one place.
func ExampleGuard_Enforce() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()

	members := map[string]string{"team 7": "user-1"}
	rules, err := policy.New(policy.Scheduling(), policy.Config{
		Member: func(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
			return members[string(kind)+" "+id] == token.Subject(), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/teams/{teamId}/bookings", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "bookings of team %s", r.PathValue("teamId"))
	})
	api := middleware.New(v, middleware.Config{}).Enforce(rules)(mux)

	token := issuer.Token(verifiertest.Scope(scope.TeamBookingRead))
	show(api, "GET", "/v2/teams/7/bookings", token)
	show(api, "GET", "/v2/teams/8/bookings", token)
	show(api, "GET", "/v2/event-types", token)
	show(api, "GET", "/v2/not-in-the-table", token)
	show(api, "GET", "/v2/teams/8/../7/bookings", token)
	// Output:
	// GET /v2/teams/7/bookings 200 bookings of team 7
	// GET /v2/teams/8/bookings 403 {"error":"access_denied","error_description":"The user does not belong to the team or organization in the path"}
	// GET /v2/event-types 403 Bearer error="insufficient_scope", error_description="The access token lacks a scope that this request needs", scope="EVENT_TYPE_READ"
	// GET /v2/not-in-the-table 403 Bearer error="insufficient_scope", error_description="No scope opens this route"
	// GET /v2/teams/8/../7/bookings 400 {"error":"invalid_request","error_description":"The path can be read in more than one way"}
}

// An adapter to anything with a method, a path and a header: here a queue that carries
// requests. Module examples has one for gRPC.
func ExampleGuard_Authorize() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	guard := middleware.New(v, middleware.Config{})
	table, err := policy.Load(strings.NewReader("POST /booking.v1.Bookings/List BOOKING_READ"))
	if err != nil {
		log.Fatal(err)
	}
	rules, err := policy.New(table, policy.Config{})
	if err != nil {
		log.Fatal(err)
	}

	call := func(authorization string) {
		r := httptest.NewRequest("POST", "/booking.v1.Bookings/List", nil)
		token, refused := guard.Authorize(context.Background(), rules, r.Method, r.URL, http.Header{"Authorization": {authorization}})
		if refused != nil {
			fmt.Println(refused.Status, refused, "| required scope:", refused.Scope)
			return
		}
		fmt.Println("for", token.Subject(), "by", token.ClientID())
	}
	call("Bearer " + issuer.Token(verifiertest.Scope(scope.BookingRead)))
	call("Bearer " + issuer.Token(verifiertest.Scope(scope.BookingWrite)))
	// Output:
	// for user-1 by client-1
	// 403 insufficient_scope: The access token lacks a scope that this request needs | required scope: BOOKING_READ
}

// A handler is tested without its guard: NewContext puts claims into the context as a
// guard does.
func ExampleFromContext() {
	bookings := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := middleware.FromContext(r.Context())
		fmt.Fprintf(w, "bookings of %s", token.Subject())
	})

	r := httptest.NewRequest("GET", "/v2/bookings", nil)
	r = r.WithContext(middleware.NewContext(r.Context(), verifiertest.Claims(verifiertest.Subject("user-42"))))
	w := httptest.NewRecorder()
	bookings.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output: bookings of user-42
}

// Clients find the authorization server in the resource server's metadata, which each
// challenge names.
func ExampleMetadata() {
	v, issuer := newVerifier()
	defer issuer.Close()
	defer v.Close()
	metadata, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource:             "https://api.example.com",
		AuthorizationServers: []string{"https://auth.example.com"},
		Scopes:               []string{scope.BookingRead},
	})
	if err != nil {
		log.Fatal(err)
	}
	guard := middleware.New(v, middleware.Config{ResourceMetadata: metadata.URL()})

	mux := http.NewServeMux()
	mux.Handle(metadata.Path(), metadata)
	mux.Handle("GET /v2/bookings", guard.Require(scope.BookingRead)(http.NotFoundHandler()))
	show(mux, "GET", "/v2/bookings", "")
	show(mux, "GET", "/.well-known/oauth-protected-resource", "")
	// Output:
	// GET /v2/bookings 401 Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"
	// GET /.well-known/oauth-protected-resource 200 {"resource":"https://api.example.com","authorization_servers":["https://auth.example.com"],"scopes_supported":["BOOKING_READ"],"bearer_methods_supported":["header"]}
}
