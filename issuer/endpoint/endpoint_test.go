package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/julienschmidt/httprouter"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// failingServer is a server that answers each token request with one error.
type failingServer struct {
	endpoint.Server
	view ledger.View
	err  error
}

func (s failingServer) Token(context.Context, oauth.TokenRequest) (oauth.TokenResponse, error) {
	return oauth.TokenResponse{}, s.err
}

func (s failingServer) View() ledger.View { return s.view }

func (failingServer) ErrorID(string, ledger.Refusal) string { return "id" }

// TestRetryAfter: what may have been decided is asked again after an election, and
// what was not, sooner.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		after  string
	}{
		{"nothing was decided", fmt.Errorf("%w: no leader", oauth.ErrUnavailable), http.StatusServiceUnavailable, "1"},
		{"it may have been", fmt.Errorf("%w: leadership lost", oauth.ErrOutcomeUnknown), http.StatusServiceUnavailable, "2"},
		{"the server is at fault", errors.New("disk on fire"), http.StatusInternalServerError, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
			require.NoError(t, err)
			routes := httprouter.New()
			endpoint.New(endpoint.Config{
				Server:   failingServer{view: ledger.At(db.Txn(false)), err: c.err},
				Verifier: new(verifier.Verifier), // nothing here shows a token
				ClientIP: func(*http.Request) string { return "192.0.2.1" },
				Log:      slog.New(slog.DiscardHandler),
				Now:      time.Now,
			}).Register(routes)
			form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"t"}, "client_id": {"c"}, "client_secret": {"s"}}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, oauth.PathToken, strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			routes.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Equal(t, c.after, w.Header().Get("Retry-After"))
		})
	}
}
