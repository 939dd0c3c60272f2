package endpoint

import (
	"errors"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// meScope is what a token needs here.
const meScope = scope.ProfileRead

// resourceMetadata is the metadata of GET /v2/me as a protected resource, which its
// challenges name: who knows nothing but its address finds out whom to ask for a
// token (RFC 9728 §5). Its identifier is that address, as §3.3 has it. It is nil
// where the server is reached by http from elsewhere, which no identifier may be.
func (e *Endpoints) resourceMetadata() *middleware.Metadata {
	base := e.Server.View().Settings().BaseURL
	m, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource: base + oauth.PathMe, AuthorizationServers: []string{base}, Scopes: []string{meScope},
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

// me is GET /v2/me behind the guard: the token is valid, its grant lives, and
// it has PROFILE_READ.
func (e *Endpoints) me(w http.ResponseWriter, r *http.Request) {
	claims, ok := middleware.FromContext(r.Context())
	if !ok {
		e.fail(w, r, errors.New("the guard let a request through without claims"))
		return
	}
	u := e.Server.View().User(claims.Subject())
	if u == nil {
		e.fail(w, r, errors.New("a token names a user that is not there"))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Status string  `json:"status"`
		Data   profile `json:"data"`
	}{"success", profileOf(u)})
}
