package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// DemoCommand returns "mintmark demo".
func DemoCommand() *cobra.Command {
	c := &cobra.Command{Use: "demo", Short: "Examples that run", RunE: func(c *cobra.Command, _ []string) error {
		_ = c.Help()
		return errors.New("no command given")
	}}
	c.AddCommand(demoAPICommand(), demoTokenCommand())
	return c
}

func demoAPICommand() *cobra.Command {
	var listen, issuer, audience string
	c := &cobra.Command{
		Use:   "api",
		Short: "Run a resource server with a few routes of the scheduling API",
		Long: `Run a resource server with a few routes of the scheduling API behind the
middleware. It fetches the issuer's key set once and then verifies every token
by itself, also while the issuer is stopped.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if audience == "" {
				audience = issuer
			}
			h, err := API(issuer, audience)
			if err != nil {
				return err
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("listen: %w", err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "The API is at http://%s, for tokens of %s; stop it with Ctrl-C. Its routes:\n%s", l.Addr(), issuer, demoRoutes)
			fmt.Fprintf(c.OutOrStdout(), "{\"api_url\":%q}\n", "http://"+l.Addr().String())
			return serveUntil(c.Context(), &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}, l)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8090", "address of the API")
	c.Flags().StringVar(&issuer, "issuer", "http://127.0.0.1:8080", "the authorization server")
	c.Flags().StringVar(&audience, "audience", "", "audience of the tokens (default: the issuer)")
	return c
}

const demoRoutes = `
  GET  /v2/bookings                       BOOKING_READ
  POST /v2/bookings                       public
  POST /v2/bookings/{bookingUid}/confirm  BOOKING_WRITE
  GET  /v2/schedules                      SCHEDULE_READ
  GET  /v2/teams/{teamId}/bookings        TEAM_BOOKING_READ
  GET  /v2/slots                          public

`

// API returns the resource server of "mintmark demo api", written as the author of a
// resource server writes one.
func API(issuer, audience string) (http.Handler, error) {
	v, err := verifier.New(verifier.Config{Issuer: issuer, Audience: audience})
	if err != nil {
		return nil, err
	}
	guard := middleware.New(v, middleware.Config{})
	mux := http.NewServeMux()
	mux.Handle("GET /v2/slots", guard.Optional()(demoRoute("free all day")))
	mux.Handle("GET /v2/bookings", guard.Require("BOOKING_READ")(demoRoute("your bookings")))
	mux.Handle("POST /v2/bookings", guard.Optional()(demoRoute("a new booking")))
	mux.Handle("POST /v2/bookings/{bookingUid}/confirm", guard.Require("BOOKING_WRITE")(demoRoute("a confirmed booking")))
	mux.Handle("GET /v2/schedules", guard.Require("SCHEDULE_READ")(demoRoute("your schedules")))
	mux.Handle("GET /v2/teams/{teamId}/bookings", guard.Require("TEAM_BOOKING_READ")(demoRoute("the team's bookings")))
	return mux, nil
}

// demoRoute answers what a real route would return, and for which user. A real route must
// also check that the user owns the resource, or belongs to the team in the path: a scope
// only limits what the application may do for its user.
func demoRoute(what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{"status": "success", "data": what}
		if claims, ok := middleware.FromContext(r.Context()); ok {
			answer["user"], answer["client"] = claims.Subject(), claims.ClientID()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// serveUntil serves until the context ends, and then ends cleanly.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.Shutdown(closing)
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
