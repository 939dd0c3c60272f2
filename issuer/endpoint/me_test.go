package endpoint_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

func (s *testServer) me(method string, options ...verifiertest.Option) (status int, body string) {
	w := s.do(method, oauth.PathMe, "Authorization", "Bearer "+s.issuer.Token(options...))
	return w.Code, w.Body.String()
}

func TestMe(t *testing.T) {
	s := newTestServer(t, nil,
		&ledger.User{ID: "bare", Username: "ann"},
		&ledger.User{ID: "full", Username: "bob", Person: ledger.Person{
			Email: "e", Name: "n", AvatarURL: "a", Bio: "b", TimeFormat: 12, DefaultScheduleID: "d",
			WeekStart: "w", TimeZone: "z", Locale: "l", OrganizationID: "o",
		}},
	)
	may := verifiertest.Scope("PROFILE_READ")
	status, body := s.me(http.MethodGet, may, verifiertest.Subject("bare"))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"status":"success","data":{"id":"bare","username":"ann","email":null,"name":null,"avatarUrl":null,
		"bio":null,"timeFormat":24,"defaultScheduleId":null,"weekStart":null,"timeZone":null,"locale":null,"organizationId":null}}`, body)
	status, body = s.me(http.MethodGet, may, verifiertest.Subject("full"))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"status":"success","data":{"id":"full","username":"bob","email":"e","name":"n","avatarUrl":"a",
		"bio":"b","timeFormat":12,"defaultScheduleId":"d","weekStart":"w","timeZone":"z","locale":"l","organizationId":"o"}}`, body)
	status, _ = s.me(http.MethodHead, may, verifiertest.Subject("full"))
	require.Equal(t, http.StatusOK, status)

	status, _ = s.me(http.MethodGet, verifiertest.Scope("BOOKING_READ"), verifiertest.Subject("full"))
	require.Equal(t, http.StatusForbidden, status)
	status, body = s.me(http.MethodGet, may, verifiertest.Subject("swept"))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, body, `"server_error"`)
}

// TestMeOfAgents verifies that the ceiling of a publisher cuts tokens that an agent already has,
// and those of nobody else.
func TestMeOfAgents(t *testing.T) {
	const clientID = "https://agent.example/client"
	for name, c := range map[string]struct {
		ceiling string
		grant   ledger.Grant
		token   verifiertest.Option
		status  int
	}{
		"an agent":                        {"PROFILE_READ", ledger.Grant{Agent: true}, verifiertest.Scope("PROFILE_READ"), http.StatusOK},
		"an agent above the ceiling":      {"BOOKING_READ", ledger.Grant{Agent: true}, verifiertest.Scope("PROFILE_READ", "BOOKING_READ"), http.StatusUnauthorized},
		"an application":                  {"BOOKING_READ", ledger.Grant{}, verifiertest.Scope("PROFILE_READ"), http.StatusOK},
		"an application without scopes":   {"BOOKING_READ", ledger.Grant{Legacy: true}, verifiertest.Legacy(), http.StatusOK},
		"a grant that was swept meantime": {"BOOKING_READ", ledger.Grant{ID: ledger.GrantID{9}}, verifiertest.Scope("PROFILE_READ"), http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil, &ledger.User{ID: "u", Username: "ann"},
				&ledger.Client{ID: ledger.ClientKey(clientID), Owner: "publisher", Document: &ledger.Document{ClientID: clientID}})
			s.insert(ledger.TablePublishers, &ledger.Publisher{Host: "agent.example", State: ledger.PublisherApproved, Scopes: []string{c.ceiling}})
			c.grant.Client, c.grant.User = ledger.ClientKey(clientID), "u"
			s.insert(ledger.TableGrants, &c.grant)
			w := s.do(http.MethodGet, oauth.PathMe, "Authorization",
				"Bearer "+s.issuer.Token(c.token, verifiertest.Subject("u"), verifiertest.Claim("grant_id", ledger.GrantID{}.String())))
			require.Equal(t, c.status, w.Code, w.Body)
			require.Equal(t, c.status != http.StatusOK, strings.Contains(w.Header().Get("WWW-Authenticate"), `error="invalid_token"`))
		})
	}
}

// TestMeMetadata verifies that a challenge names the metadata of the resource (RFC 9728 §5.1),
// unless the server's address permits none.
func TestMeMetadata(t *testing.T) {
	s := newTestServer(t, nil)
	described := "/.well-known/oauth-protected-resource" + oauth.PathMe
	require.Equal(t, `Bearer resource_metadata="`+s.issuer.URL+described+`"`, s.do(http.MethodGet, oauth.PathMe).Header().Get("WWW-Authenticate"))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		require.Equal(t, http.StatusOK, s.do(method, described).Code)
	}

	s = newTestServer(t, func(s *testServer) {
		settings := ledger.DefaultSettings()
		settings.BaseURL = "http://auth.example.com"
		s.insert(ledger.TableSettings, &settings)
	})
	w := s.do(http.MethodGet, oauth.PathMe)
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
	require.Equal(t, http.StatusNotFound, s.do(http.MethodGet, described).Code)
}
