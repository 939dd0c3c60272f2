package policy_test

import (
	"context"
	"errors"
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

// Nobody forgets: a table with teams or organizations is no policy without a
// hook that tells their members, or a word that says so.
func TestNewAsksForMember(t *testing.T) {
	tests := []struct {
		name, text string
		config     policy.Config
		want       string // of the error; empty: none
	}{
		{"team", "GET /t/:teamId TEAM_PROFILE_READ", policy.Config{}, "line 1, GET /t/:teamId names a kind of membership, team"},
		{"organization", "GET /x PUBLIC\nGET /o/{orgId} CLOSED", policy.Config{}, "line 2, GET /o/{orgId} names a kind of membership, organization"},
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

func TestBelongs(t *testing.T) {
	broken := errors.New("the database is away")
	var asked []string
	p, err := policy.New(load(t, `
GET /t/:teamId/o/:org_id  TEAM_PROFILE_READ
GET /t/:teamId            TEAM_PROFILE_READ
GET /p/:teamId            PUBLIC
GET /u/:userId            PROFILE_READ
`), policy.Config{Member: func(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
		asked = append(asked, token.Subject()+" "+string(kind)+" "+id)
		if id == "broken" {
			return true, broken
		}
		return id != "foreign", nil
	}})
	require.NoError(t, err)
	tests := []struct {
		path  string
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
		{"/u/foreign", nil, true, nil},
		{"/not/listed", nil, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			asked = nil
			m, err := p.Match("GET", requestURL(t, tt.path))
			require.NoError(t, err)
			ok, err := m.Belongs(t.Context(), verifiertest.Claims(verifiertest.Legacy()))
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.asked, asked)
			assert.ErrorIs(t, err, tt.err)
		})
	}
}
