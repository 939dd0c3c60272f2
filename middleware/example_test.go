package middleware_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A resource server of the scheduling product. In production, the key set is at
// the jwks_uri of the authorization server's metadata.
func Example() {
	issuer := newIssuer()
	defer issuer.Close()

	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: issuer.URL + "/jwks"})
	if err != nil {
		panic(err)
	}
	v, err := verifier.New(verifier.Config{Issuer: issuer.URL, Audience: "https://api.example.com", Keys: keys})
	if err != nil {
		panic(err)
	}
	guard := middleware.New(v, middleware.Config{Realm: "scheduling"})

	// Members of each team, from the service's own data.
	members := map[string][]string{"team-1": {"user-1"}}

	mux := http.NewServeMux()
	mux.Handle("GET /v2/bookings", guard.Require("BOOKING_READ")(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The scope says that the application may list bookings. Whose they
			// are is up to us: those of the token's user.
			claims, _ := middleware.FromContext(r.Context())
			fmt.Fprintf(w, "bookings of %s", claims.Subject())
		})))
	mux.Handle("POST /v2/bookings", guard.Optional()(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Anybody may book. A token, if there is one, has been verified.
			by := "a guest"
			if claims, ok := middleware.FromContext(r.Context()); ok {
				by = claims.Subject()
			}
			fmt.Fprintf(w, "booked by %s", by)
		})))
	mux.Handle("GET /v2/teams/{teamId}/bookings", guard.Require("TEAM_BOOKING_READ")(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The token doesn't say of which teams its user is a member: that
			// check is the resource server's own, for legacy tokens too.
			claims, _ := middleware.FromContext(r.Context())
			for _, member := range members[r.PathValue("teamId")] {
				if member == claims.Subject() {
					fmt.Fprintf(w, "bookings of %s", r.PathValue("teamId"))
					return
				}
			}
			http.Error(w, "no such team", http.StatusNotFound)
		})))

	show := func(method, path, token string) {
		r := httptest.NewRequest(method, path, nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code == http.StatusOK {
			fmt.Println(method, path, w.Code, w.Body)
		} else {
			fmt.Println(method, path, w.Code, w.Header().Get("WWW-Authenticate"))
		}
	}
	own := issuer.token("BOOKING_READ", nil)
	organization := issuer.token("ORG_BOOKING_READ", nil)
	show("GET", "/v2/bookings", "")
	show("GET", "/v2/bookings", own)
	show("POST", "/v2/bookings", "")
	show("POST", "/v2/bookings", own)
	show("GET", "/v2/teams/team-1/bookings", own)
	show("GET", "/v2/teams/team-1/bookings", organization)
	show("GET", "/v2/teams/team-2/bookings", organization)

	// Output:
	// GET /v2/bookings 401 Bearer realm="scheduling"
	// GET /v2/bookings 200 bookings of user-1
	// POST /v2/bookings 200 booked by a guest
	// POST /v2/bookings 200 booked by user-1
	// GET /v2/teams/team-1/bookings 403 Bearer realm="scheduling", error="insufficient_scope", error_description="The access token lacks a scope that this request needs", scope="TEAM_BOOKING_READ"
	// GET /v2/teams/team-1/bookings 200 bookings of team-1
	// GET /v2/teams/team-2/bookings 404
}
