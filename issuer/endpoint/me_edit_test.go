package endpoint_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

var grantOfEdits = strings.Repeat("0a", 16)

// editMe sends PATCH /v2/me with a token that has a scope.
func (s *testServer) editMe(scope, contentType, body string, options ...verifiertest.Option) *httptest.ResponseRecorder {
	s.t.Helper()
	token := s.issuer.Token(append([]verifiertest.Option{verifiertest.Scope(scope), verifiertest.Claim("grant_id", grantOfEdits)}, options...)...)
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPatch, oauth.PathMe, strings.NewReader(body))
	return s.send(r, "Authorization", "Bearer "+token, "Content-Type", contentType)
}

func TestEditMe(t *testing.T) {
	s := newTestServer(t, nil)
	s.edited = &ledger.User{ID: "u", Username: "ann", Person: ledger.Person{Name: "Ann"}}
	body := `{"name":" Ann ","bio":"a\r\nb","avatarUrl":null,"timeFormat":12,"weekStart":"Monday","timeZone":"UTC","locale":"en","defaultScheduleId":"d"}`
	for _, contentType := range []string{"application/json", "application/merge-patch+json; charset=utf-8"} {
		w := s.editMe("PROFILE_WRITE", contentType, body)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Contains(t, w.Body.String(), `{"status":"success","data":{"id":"u","username":"ann","email":null,"name":"Ann",`)
	}
	require.Equal(t, http.StatusOK, s.editMe("PROFILE_WRITE", "application/json", "{}").Code)
	require.Len(t, s.edits, 3)
	c := s.edits[0]
	require.Equal(t, ledger.ProfileFields, c.Fields)
	require.Equal(t, ledger.Person{Name: "Ann", Bio: "a\nb", TimeFormat: 12, WeekStart: "Monday", TimeZone: "UTC", Locale: "en", DefaultScheduleID: "d"}, c.Person)
	require.Equal(t, grantOfEdits, c.Token.Grant.String())
	require.NotEmpty(t, c.Token.Key)
	require.Equal(t, c, s.edits[1])
	require.Empty(t, s.edits[2].Fields)
}

// TestEditMeRefused verifies that the error names the refused member, and that no other
// member of the body is applied.
func TestEditMeRefused(t *testing.T) {
	s := newTestServer(t, nil)
	for body, text := range map[string]string{
		`{"name":"x","email":"e@example.com"}`:        "The member email is not one that an application can change.",
		`{"username":"x"}`:                            "The member username is not one that an application can change.",
		`{"organizationId":null}`:                     "The member organizationId is not one that an application can change.",
		`{"role":"admin"}`:                            "The member role is not one that an application can change.",
		`{"Name":"x"}`:                                "The member Name is not one that an application can change.",
		`{"time_zone":"UTC"}`:                         "The member time_zone is not one that an application can change.",
		`{"a\"b\\\u00e9\n":1}`:                        "The member a?b??? is not one that an application can change.",
		`{"` + strings.Repeat("x", 99) + `":1}`:       "The member " + strings.Repeat("x", 64) + " is not one that an application can change.",
		`{"name":"x","name":"x"}`:                     "The member name came more than once.",
		`{"name":1}`:                                  "The member name is not a string.",
		`{"bio":"` + strings.Repeat("x", 4097) + `"}`: "The member bio is too long.",
		`{"timeFormat":null}`:                         "The member timeFormat must be 12 or 24.",
		`{"timeFormat":"12"}`:                         "The member timeFormat must be 12 or 24.",
		`{"timeFormat":12.5}`:                         "The member timeFormat must be 12 or 24.",
		`{"timeFormat":0}`:                            "The member timeFormat must be 12 or 24.",
		``:                                            "The body is not one JSON object.",
		`null`:                                        "The body is not one JSON object.",
		`[]`:                                          "The body is not one JSON object.",
		`{"name":"x"`:                                 "The body is not one JSON object.",
		`{"name":}`:                                   "The body is not one JSON object.",
		`{name:"x"}`:                                  "The body is not one JSON object.",
		`{"name":"x"}{}`:                              "The body is not one JSON object.",
		"{\"name\":\"\xff\"}":                         "The body is not one JSON object.",
	} {
		w := s.editMe("PROFILE_WRITE", "application/json", body)
		requireError(t, w, http.StatusBadRequest, oauth.InvalidRequest)
		require.Contains(t, w.Body.String(), `"error_description":"`+text+`"`)
	}
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset"} {
		w := s.editMe("PROFILE_WRITE", contentType, "{}")
		requireError(t, w, http.StatusUnsupportedMediaType, oauth.InvalidRequest)
		require.Equal(t, "application/json, application/merge-patch+json", w.Header().Get("Accept-Patch"))
	}
	requireError(t, s.editMe("PROFILE_WRITE", "application/json", strings.Repeat(" ", oauth.MaxBody+1)), http.StatusRequestEntityTooLarge, oauth.InvalidRequest)
	require.Equal(t, http.StatusForbidden, s.editMe("PROFILE_READ", "application/json", "{}").Code)
	require.Equal(t, http.StatusUnauthorized, s.do(http.MethodPatch, oauth.PathMe).Code)
	requireError(t, s.editMe("PROFILE_WRITE", "application/json", "{}", verifiertest.Claim("grant_id", "no grant")), http.StatusInternalServerError, oauth.ServerError)
	require.Empty(t, s.edits)

	s.refusal = &ledger.Refusal{Code: oauth.InvalidRequest, Cause: ledger.BadField, Field: "avatar_url", Note: `holds a "quote"`}
	w := s.editMe("PROFILE_WRITE", "application/json", "{}")
	requireError(t, w, http.StatusBadRequest, oauth.InvalidRequest)
	require.Contains(t, w.Body.String(), "The member avatarUrl holds a ?quote?.")
	s.refusal = &ledger.Refusal{Code: oauth.InvalidToken, Cause: ledger.GrantEnded}
	w = s.editMe("PROFILE_WRITE", "application/json", "{}")
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Contains(t, w.Header().Get("WWW-Authenticate"), `Bearer error="invalid_token"`)
	s.refusal, s.err = nil, oauth.ErrUnavailable
	requireError(t, s.editMe("PROFILE_WRITE", "application/json", "{}"), http.StatusServiceUnavailable, oauth.TemporarilyUnavailable)
}
