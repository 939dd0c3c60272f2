// Package serve is a resource server around somebody's verifier: what each
// needs beside the lines that README shows.
package serve

import (
	"context"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Claims are what a resource server decides by, once the token is verified.
type Claims struct {
	Subject string `json:"sub"`
	Scope   string `json:"scope"`
	Legacy  bool   `json:"legacy"`
}

// Bookings answers GET /bookings to tokens that verify takes, and that may read
// bookings. It never returns.
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
