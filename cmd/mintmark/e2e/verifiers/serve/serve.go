// Package serve is the common part of the resource servers: everything except the lines
// that README shows.
package serve

import (
	"context"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Claims are the claims of a verified token that a resource server uses.
type Claims struct {
	Subject string `json:"sub"`
	Scope   string `json:"scope"`
	Legacy  bool   `json:"legacy"`
}

// Bookings serves GET /bookings to tokens that verify accepts and that may read bookings.
// It never returns.
func Bookings(verify func(ctx context.Context, token string) (Claims, error)) {
	http.HandleFunc("GET /bookings", func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			refuse(w)
			return
		}
		claims, err := verify(r.Context(), token)
		switch {
		case err != nil:
			log.Print(err)
			refuse(w)
		case !claims.Legacy && !slices.Contains(strings.Fields(claims.Scope), "BOOKING_READ"):
			w.WriteHeader(http.StatusForbidden)
		default:
			w.WriteHeader(http.StatusOK)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), nil))
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.WriteHeader(http.StatusUnauthorized)
}
