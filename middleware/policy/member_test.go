package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

func everybody(context.Context, *verifier.Claims, policy.Kind, string) (bool, error) {
	return true, nil
}

// A table with teams or organizations needs Member, or SkipMember.
func TestNewAsksForMember(t *testing.T) {
	tests := []struct {
		name, text string
		config     policy.Config
		want       string // of the error; empty: none
	}{
		{"team", "GET /t/:teamId TEAM_PROFILE_READ", policy.Config{}, "line 1, GET /t/:teamId has the team's id, and"},
		{"organization", "GET /x PUBLIC\nGET /o/{orgId} CLOSED", policy.Config{}, "line 2, GET /o/{orgId} has the organization's id, and"},
		{"other spelling", "GET /t/:team_id TEAM_PROFILE_READ", policy.Config{}, "team"},
		{"long spelling", "GET /t/:organizationId TEAM_PROFILE_READ", policy.Config{}, "organization"},
		{"hook", "GET /t/:teamId TEAM_PROFILE_READ", policy.Config{Member: everybody}, ""},
		{"declined", "GET /t/:teamId TEAM_PROFILE_READ", policy.Config{SkipMember: true}, ""},
		{"both", "GET /t/:teamId TEAM_PROFILE_READ", policy.Config{Member: everybody, SkipMember: true}, "both"},
		{"public only", "GET /t/:teamId PUBLIC", policy.Config{}, ""},
		{"neither in a path", "GET /t/:id TEAM_PROFILE_READ", policy.Config{}, ""},
		{"a literal of that name", "GET /teamId TEAM_PROFILE_READ", policy.Config{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policy.New(load(t, tt.text), tt.config)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			assert.Nil(t, p)
		})
	}
	_, err := policy.New(nil, policy.Config{SkipMember: true})
	require.Error(t, err)
}

// A path that leads to an id only in another letter case is refused: a router that
// ignores case would serve it without a call of Member.
func TestMatchRefusesIDsBehindAnotherCase(t *testing.T) {
	text := `
GET /v2/teams/:teamId/x          TEAM_PROFILE_READ
GET /v2/Orgs/:orgId/teams/:teamId TEAM_PROFILE_READ
GET /:area/:teamId/y             TEAM_PROFILE_READ
GET /A/:teamId                   TEAM_PROFILE_READ
GET /a/:orgId                    ORG_PROFILE_READ
GET /p/q/:teamId                 PUBLIC
GET /p/:teamId                   TEAM_PROFILE_READ
GET /v2/teams/me                 TEAM_PROFILE_READ
`
	p, err := policy.New(load(t, text), policy.Config{Member: everybody})
	require.NoError(t, err)
	declined := compile(t, load(t, text))
	for path, ok := range map[string]bool{
		"/v2/teams/7/x":       true,
		"/v2/teams/7":         true,
		"/v2/teams/ME":        true, // an id, which is passed to Member
		"/v2/teams/Other/X":   true,
		"/V2/Teams/other/x":   false,
		"/V2/teams/other/x":   false,
		"/v2/TEAMS/other":     false,
		"/v2/teamſ/other":     false, // a long s, which is S in upper case
		"/v2/Orgs/1/teams/2":  true,
		"/v2/orgs/1/teams/2":  false, // the row has an upper-case letter
		"/v2/Orgs/1/Teams/2":  false, // longer than the prefix with the same letter case
		"/v2/Orgs/1/teams":    true,
		"/v2/Orgs/1/members":  true,
		"/A/1":                true, // both are listed
		"/a/1":                true,
		"/P/1":                false, // in the other case: :area and a team
		"/p/Q/1":              false,
		"/z/1":                true,
		"/Z/1":                true,
		"/V2":                 true, // leads to no id
		"/V2/Teams":           true, // :area and a team
		"/nothing/1/V2/Teams": true,
	} {
		for _, method := range []string{"GET", "DELETE"} {
			_, err := p.Match(method, requestURL(t, path))
			assert.Equal(t, ok, err == nil, "%s %s", method, path)
			if !ok {
				assert.ErrorIs(t, err, policy.ErrPath)
			}
			_, err = declined.Match(method, requestURL(t, path))
			assert.NoError(t, err, "without Member")
		}
	}
}

func TestBelongs(t *testing.T) {
	broken := errors.New("the database is unavailable")
	var asked []string
	p, err := policy.New(load(t, `
GET /t/:teamId/o/:org_id  TEAM_PROFILE_READ
GET /t/:teamId            TEAM_PROFILE_READ
GET /p/:teamId            PUBLIC
GET /u/x/:userId          PROFILE_READ
GET /t/:id/x              TEAM_PROFILE_READ
GET /:area/:org_id/y      ORG_PROFILE_READ
PUT /:area/8              PROFILE_READ
GET /s/:organizationId/:x/w ORG_PROFILE_READ
GET /s/t/:teamId          TEAM_PROFILE_READ
GET /t/me                 TEAM_PROFILE_READ
`), policy.Config{Member: func(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
		asked = append(asked, token.Subject()+" "+string(kind)+" "+id)
		if id == "broken" {
			return true, broken
		}
		return id != "foreign", nil
	}})
	require.NoError(t, err)
	tests := []struct {
		path  string // of GET, or with another method in front
		asked []string
		ok    bool
		err   error
	}{
		{"/t/1/o/2", []string{"user-1 organization 2", "user-1 team 1"}, true, nil},
		{"/t/1/o/foreign", []string{"user-1 organization foreign"}, false, nil},
		{"/t/foreign/o/2", []string{"user-1 organization 2", "user-1 team foreign"}, false, nil},
		{"/t/a%20b", []string{"user-1 team a b"}, true, nil},
		{"/t/broken", []string{"user-1 team broken"}, false, broken},
		{"/p/foreign", nil, true, nil},
		{"/u/x/foreign", nil, true, nil},
		{"/not/listed/y", []string{"user-1 organization listed"}, true, nil},
		{"/not", nil, true, nil},

		// Below a row's team or organization, listed or not.
		{"/t/1/not/listed", []string{"user-1 team 1"}, true, nil},
		{"/t/foreign/not/listed", []string{"user-1 team foreign"}, false, nil},
		{"DELETE /t/foreign", []string{"user-1 team foreign"}, false, nil},
		{"DELETE /t/1/o/2/z", []string{"user-1 organization 2", "user-1 team 1"}, true, nil},
		{"/t/1/o" + strings.Repeat("/x", 20), []string{"user-1 organization x", "user-1 team 1"}, true, nil},
		{"DELETE /t/1/o/foreign", []string{"user-1 organization foreign"}, false, nil},
		{"DELETE /p/foreign", []string{"user-1 team foreign"}, false, nil}, // only GET is PUBLIC
		{"/p/foreign/z", []string{"user-1 team foreign"}, false, nil},
		{"/t/1/x", []string{"user-1 team 1"}, true, nil}, // this row calls it :id
		{"/a/1/y", []string{"user-1 organization 1"}, true, nil},
		{"/t/1/y", []string{"user-1 organization 1"}, true, nil},                    // this row calls it :org_id
		{"/s/t/1/w", []string{"user-1 organization t", "user-1 team 1"}, true, nil}, // the row's, and the prefix's
		{"PUT /t/8", nil, true, nil},                                                // 8 is a literal of the row
		{"PUT /t/9", []string{"user-1 team 9"}, true, nil},                          // not listed
		{"/t/me", nil, true, nil},
		{"/t/me/x", []string{"user-1 team me"}, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			asked = nil
			method, path, ok := strings.Cut(tt.path, " ")
			if !ok {
				method, path = "GET", tt.path
			}
			m, err := p.Match(method, requestURL(t, path))
			require.NoError(t, err)
			ok, err = m.Belongs(t.Context(), verifiertest.Claims(verifiertest.Legacy()))
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.asked, asked)
			assert.ErrorIs(t, err, tt.err)
		})
	}
}

// With SkipMember, Belongs reports true for every user.
func TestBelongsWithoutMember(t *testing.T) {
	m, err := compile(t, load(t, "GET /t/:teamId TEAM_PROFILE_READ")).Match("GET", requestURL(t, "/t/1"))
	require.NoError(t, err)
	ok, err := m.Belongs(t.Context(), verifiertest.Claims())
	require.NoError(t, err)
	assert.True(t, ok)
}
