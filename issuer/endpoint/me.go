package endpoint

import (
	"errors"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// meScope and editScope are the scopes that GET and PATCH /v2/me require.
const (
	meScope   = scope.ProfileRead
	editScope = scope.ProfileWrite
)

// resourceMetadata returns the metadata of /v2/me as a protected resource. Challenges
// name it, so that a client that only knows the address finds the authorization server
// (RFC 9728 §5). The resource identifier is that address (RFC 9728 §3.3). It returns nil
// for an http address outside the loopback, which can't be an identifier.
func (e *Endpoints) resourceMetadata() *middleware.Metadata {
	base := e.Server.View().Settings().BaseURL
	m, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource: base + oauth.PathMe, AuthorizationServers: []string{base}, Scopes: []string{meScope, editScope},
	})
	if err != nil {
		return nil
	}
	return m
}

// profile is the body of GET /v2/me. Empty values are null.
type profile struct {
	ID                string  `json:"id"`
	Username          string  `json:"username"`
	Email             *string `json:"email"`
	Name              *string `json:"name"`
	AvatarURL         *string `json:"avatarUrl"`
	Bio               *string `json:"bio"`
	TimeFormat        int     `json:"timeFormat"` // 12 or 24
	DefaultScheduleID *string `json:"defaultScheduleId"`
	WeekStart         *string `json:"weekStart"`
	TimeZone          *string `json:"timeZone"`
	Locale            *string `json:"locale"`
	OrganizationID    *string `json:"organizationId"`
}

func profileOf(u *ledger.User) profile {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	format := u.TimeFormat
	if format == 0 {
		format = 24
	}
	return profile{
		ID: u.ID, Username: u.Username, Email: text(u.Email), Name: text(u.Name),
		AvatarURL: text(u.AvatarURL), Bio: text(u.Bio), TimeFormat: format,
		DefaultScheduleID: text(u.DefaultScheduleID), WeekStart: text(u.WeekStart),
		TimeZone: text(u.TimeZone), Locale: text(u.Locale), OrganizationID: text(u.OrganizationID),
	}
}

// me handles GET /v2/me behind the guard: the token is valid, its grant is live, and it has
// PROFILE_READ.
func (e *Endpoints) me(w http.ResponseWriter, r *http.Request) {
	claims, ok := middleware.FromContext(r.Context())
	if !ok {
		e.fail(w, r, errors.New("request without claims passed the guard"))
		return
	}
	v := e.Server.View()
	// A publisher's ceiling may have cut the scopes of an agent since the token was issued.
	id, _ := ledger.ParseGrantID(claims.GrantID()) // each token of this server has one
	if g := v.Grant(id); g != nil && g.Agent && !scope.FromClaim(v.CutScope(g, claims.ScopeText())).Covers(meScope) {
		e.guard.Refuse(w, invalidToken)
		return
	}
	u := v.User(claims.Subject())
	if u == nil {
		e.fail(w, r, errors.New("token names an unknown user"))
		return
	}
	writeProfile(w, u)
}

func writeProfile(w http.ResponseWriter, u *ledger.User) {
	writeJSON(w, http.StatusOK, struct {
		Status string  `json:"status"`
		Data   profile `json:"data"`
	}{"success", profileOf(u)})
}
