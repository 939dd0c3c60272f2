package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// testServer serves the endpoints without a cluster. It answers every token request with
// response or err, and every revocation request with err.
type testServer struct {
	t        *testing.T
	routes   *httprouter.Router
	config   endpoint.Config
	issuer   *verifiertest.Issuer // issues tokens for GET /v2/me
	db       *memdb.MemDB
	now      time.Time
	response oauth.TokenResponse
	err      error
	secret   string                // the secret that KnowsSecret knows
	decide   func(context.Context) // runs before each answer, if not nil

	requests []oauth.TokenRequest   // token requests that reached the server
	revoked  []oauth.PresentedToken // revocation requests that reached the server
	edits    []*ledger.EditProfile  // edits of profiles that reached the server
	edited   *ledger.User           // the answer to edits
	refusal  *ledger.Refusal        // the answer to edits

	introspection oauth.Introspection    // the answer to every introspection, unless err is set
	presented     []oauth.PresentedToken // introspection requests that reached the server

	causes     []string        // "client cause" of each error id
	failures   []string        // "kind cause" of each recorded failure
	log        strings.Builder // of the security recorder
	registered []oauth.Registration
}

func (s *testServer) Token(ctx context.Context, r oauth.TokenRequest) (oauth.TokenResponse, error) {
	s.requests = append(s.requests, r)
	if s.decide != nil {
		s.decide(ctx)
	}
	return s.response, s.err
}

func (s *testServer) Revoke(ctx context.Context, r oauth.PresentedToken) error {
	s.revoked = append(s.revoked, r)
	if s.decide != nil {
		s.decide(ctx)
	}
	return s.err
}

func (s *testServer) EditProfile(_ context.Context, c *ledger.EditProfile) (*ledger.User, *ledger.Refusal, error) {
	s.edits = append(s.edits, c)
	return s.edited, s.refusal, s.err
}

func (s *testServer) Introspect(ctx context.Context, r oauth.PresentedToken) (oauth.Introspection, error) {
	s.presented = append(s.presented, r)
	if s.decide != nil {
		s.decide(ctx)
	}
	return s.introspection, s.err
}

// AuthenticateFeedReader knows one resource server, calendar, with the secret "s".
func (s *testServer) AuthenticateFeedReader(_ context.Context, c oauth.ClientCredentials) (string, error) {
	switch {
	case s.err != nil:
		return "", s.err
	case c.ID != "calendar" || c.Secret != "s":
		return "", &oauth.Error{Code: oauth.InvalidClient, Cause: uint16(ledger.SecretWrong)}
	}
	return "https://calendar.example", nil
}

// Register registers every client but one with the name "refused".
func (s *testServer) Register(r oauth.Registration) (string, *oauth.Error) {
	if r.Name == "refused" {
		return "", &oauth.Error{Code: oauth.InvalidRedirectURI, Description: "No.", Cause: uint16(ledger.RegistrationRefused)}
	}
	s.registered = append(s.registered, r)
	return "mmd_" + r.Name, nil
}

func (s *testServer) KnowsSecret(c oauth.ClientCredentials) bool { return c.Secret == s.secret }

func (s *testServer) View() ledger.View { return ledger.At(s.db.Txn(false)) }

func (s *testServer) ErrorID(client string, r ledger.Refusal) string {
	s.causes = append(s.causes, fmt.Sprint(client, " ", r.Cause))
	return fmt.Sprint("id of ", r.Code)
}

func (*testServer) KeySet() oauth.KeySet {
	return oauth.KeySet{Body: []byte(`{"keys":[]}`), ETag: `"tag"`, MaxAge: 5 * time.Minute}
}

// newTestServer returns a server for https://auth.example.com with the given rows. change may
// modify the configuration before the routes are made.
func newTestServer(t *testing.T, change func(*testServer), rows ...any) *testServer {
	t.Helper()
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	require.NoError(t, err)
	s := &testServer{t: t, routes: httprouter.New(), issuer: verifiertest.NewInMemoryIssuer(), db: db, now: time.Unix(1_700_000_000, 0)}
	settings := ledger.DefaultSettings()
	settings.BaseURL, settings.AppURL = s.issuer.URL, "https://app.example.com"
	s.insert(ledger.TableSettings, &settings)
	s.issuer.Now = func() time.Time { return s.now }
	tokens := s.issuer.Config()
	tokens.Keys, err = verifier.StaticKeys(s.issuer.KeySet())
	require.NoError(t, err)
	v, err := verifier.New(tokens)
	require.NoError(t, err)
	s.config = endpoint.Config{
		Server: s, KeySet: s.KeySet, Verifier: v,
		ClientIP: func(r *http.Request) string { return strings.TrimSuffix(r.RemoteAddr, ":1234") },
		Security: security.New(security.Config{
			Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: func() time.Time { return s.now },
			Count: func(k security.Kind, c ledger.Cause) { s.failures = append(s.failures, fmt.Sprint(k, " ", c)) },
		}),
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now },
	}
	for _, row := range rows {
		switch row.(type) {
		case *ledger.User:
			s.insert(ledger.TableUsers, row)
		case *ledger.Client:
			s.insert(ledger.TableClients, row)
		}
	}
	if change != nil {
		change(s)
	}
	endpoints := endpoint.New(s.config)
	endpoints.Register(s.routes)
	s.routes.MethodNotAllowed = endpoint.FixAllowHeader(s.routes, http.HandlerFunc(endpoints.MethodNotAllowed))
	return s
}

func (s *testServer) insert(table string, row any) {
	s.t.Helper()
	txn := s.db.Txn(true)
	require.NoError(s.t, txn.Insert(table, row))
	txn.Commit()
}

// do sends a request without a body. headers alternates names and values.
func (s *testServer) do(method, path string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.send(httptest.NewRequestWithContext(s.t.Context(), method, path, nil), headers...)
}

func (s *testServer) send(r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.routes.ServeHTTP(w, r)
	return w
}

const typeForm = "application/x-www-form-urlencoded"

// refresh sends a token request of a client with a secret, or without one if it is "".
func (s *testServer) refresh(client, secret string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.post(strings.NewReader(encodeForm(client, secret)), append(headers, "Content-Type", typeForm)...)
}

func encodeForm(client, secret string) string {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"t"}, "client_id": {client}, "client_secret": {secret}}.Encode()
}

func (s *testServer) post(body io.Reader, headers ...string) *httptest.ResponseRecorder {
	return s.send(httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, oauth.PathToken, body), headers...)
}

// requireError verifies the status of the response and its error.
func requireError(t *testing.T, w *httptest.ResponseRecorder, status int, code oauth.Code) {
	t.Helper()
	require.Equal(t, status, w.Code, w.Body)
	require.Contains(t, w.Body.String(), `{"error":"`+string(code)+`","error_description":"`)
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

// TestRetryAfter verifies that a request that may have been decided is to be retried after an
// election, and one that was not, sooner.
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
			s := newTestServer(t, nil)
			s.err = c.err
			w := s.refresh("c", "s")
			require.Equal(t, c.status, w.Code, w.Body)
			require.Equal(t, c.after, w.Header().Get("Retry-After"))
		})
	}
}

func TestIsAPI(t *testing.T) {
	for path, want := range map[string]bool{
		"/v2": true, "/v2/": true, "/v2/me": true, "/.well-known/x": true,
		"/": false, "/v2x": false, "/v3/": false, "/.well-known": false, "/app/v2/": false,
	} {
		require.Equal(t, want, endpoint.IsAPI(path), path)
	}
}

func TestNotFound(t *testing.T) {
	w := httptest.NewRecorder()
	endpoint.NotFound(w, nil)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.JSONEq(t, `{"error":"not_found"}`, w.Body.String())
	requireError(t, newTestServer(t, nil).do(http.MethodGet, oauth.PathToken), http.StatusMethodNotAllowed, oauth.InvalidRequest)
}
