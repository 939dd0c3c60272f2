package main

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// editorFixture is a client that may edit profiles.
const editorFixture = `  - {id: editor, name: Editor, owner: bob, redirect_uris: ["` + callback + `"], scopes: [PROFILE_READ, PROFILE_WRITE, TEAM_PROFILE_WRITE, ORG_PROFILE_WRITE], secrets: [editor-secret]}
`

func (s *suite) edit(token, body string) answer {
	s.t.Helper()
	return s.request(http.MethodPatch, oauth.PathMe, body, "Authorization", "Bearer "+token, "Content-Type", "application/json")
}

// profileOf returns the data of GET /v2/me.
func (s *suite) profileOf(token string) map[string]any {
	s.t.Helper()
	a := s.me(token)
	require.Equal(s.t, http.StatusOK, a.Status, a.Body)
	return a.JSON(s.t)["data"].(map[string]any)
}

// TestEditProfile covers PATCH /v2/me: each member, and what is refused.
func TestEditProfile(t *testing.T) {
	t.Parallel()
	s := newSuite(t, editorFixture)
	token := s.granted(with("editor", "scope", "PROFILE_READ PROFILE_WRITE")).Access

	for member, values := range map[string][]any{ // JSON values, and the values then shown
		"name":              {`"Alice B."`, "Alice B.", `null`, nil},
		"bio":               {`"a\r\nb\n"`, "a\nb", `"` + strings.Repeat("é", 1000) + `"`, strings.Repeat("é", 1000), `""`, nil},
		"avatarUrl":         {`"https://cdn.example/a.png"`, "https://cdn.example/a.png", `null`, nil},
		"timeFormat":        {`12`, 12.0, `24`, 24.0},
		"weekStart":         {`"Monday"`, "Monday", `null`, nil},
		"timeZone":          {`" Asia/Tokyo "`, "Asia/Tokyo", `null`, nil},
		"locale":            {`"pt-BR"`, "pt-BR", `null`, nil},
		"defaultScheduleId": {`"17"`, "17", `null`, nil},
	} {
		s.run("changes_"+member, func(s *suite) {
			for i := 0; i < len(values); i += 2 {
				before := s.profileOf(token)
				a := s.edit(token, `{"`+member+`":`+values[i].(string)+`}`)
				require.Equal(s.t, http.StatusOK, a.Status, a.Body)
				before[member] = values[i+1]
				require.Equal(s.t, before, a.JSON(s.t)["data"], "no other member changes")
				require.Equal(s.t, before, s.profileOf(token))
			}
		})
	}
	s.run("changes_several_at_once_or_none", func(s *suite) {
		a := s.edit(token, `{"name":"Alice","locale":"en","timeFormat":12}`)
		require.Equal(s.t, http.StatusOK, a.Status, a.Body)
		before := s.profileOf(token)
		require.Equal(s.t, []any{"Alice", "en", 12.0}, []any{before["name"], before["locale"], before["timeFormat"]})
		require.Equal(s.t, http.StatusBadRequest, s.edit(token, `{"name":"Other","locale":"`+strings.Repeat("x", 36)+`"}`).Status)
		require.Equal(s.t, http.StatusOK, s.edit(token, `{}`).Status)
		require.Equal(s.t, before, s.profileOf(token))
	})

	// Each of these gets 400 with the member's name, and changes nothing.
	before := s.profileOf(token)
	for name, bodies := range map[string][]string{
		"identity_and_rights": {
			`"username":"root"`, `"email":"root@example.com"`, `"organizationId":"9"`, `"role":"admin"`, `"admin":true`, `"id":"u-admin"`,
			`"username":"alice"`, `"email":null`, `"password":"x"`,
		},
		"unknown_members": {`"nickname":"x"`, `"Name":"x"`, `"time_zone":"UTC"`, `"":1`, `"__proto__":{}`},
		"wrong_types": {
			`"name":1`, `"name":{}`, `"bio":["x"]`, `"avatarUrl":true`, `"timeFormat":"12"`, `"timeFormat":13`, `"timeFormat":null`, `"timeFormat":1e99`,
			`"timeFormat":12.5`, `"weekStart":0`, `"timeZone":false`, `"locale":{}`, `"defaultScheduleId":17`,
		},
		"sizes": {
			`"name":"` + strings.Repeat("x", 101) + `"`, `"bio":"` + strings.Repeat("x", 1001) + `"`, `"weekStart":"` + strings.Repeat("x", 17) + `"`,
			`"timeZone":"` + strings.Repeat("x", 65) + `"`, `"locale":"` + strings.Repeat("x", 36) + `"`, `"defaultScheduleId":"` + strings.Repeat("x", 65) + `"`,
			`"avatarUrl":"https://x.example/` + strings.Repeat("x", 3000) + `"`, `"bio":"` + strings.Repeat("x", 5000) + `"`,
		},
		"addresses_and_control_characters": {`"avatarUrl":"javascript:alert(1)"`, `"avatarUrl":"cdn.example/a.png"`, `"name":"a\u0000b"`, `"bio":"a\u0007b"`},
	} {
		s.run("refuses_"+name, func(s *suite) {
			for _, member := range bodies {
				a := s.edit(token, `{"bio":"changed",`+member+`}`)
				refused(s.t, a, http.StatusBadRequest, oauth.InvalidRequest)
				if key, _, _ := strings.Cut(strings.TrimPrefix(member, `"`), `"`); key != "" {
					require.Contains(s.t, a.Body, "The member "+key+" ", member)
				}
			}
			require.Equal(s.t, before, s.profileOf(token))
		})
	}
	s.run("refuses_bodies", func(s *suite) {
		for _, body := range []string{``, `null`, `[]`, `"name"`, `{`, `{"name":"x"`, `{"name":"x"}{}`, `{"name":"x","name":"y"}`, "{\"name\":\"\xff\"}", `name=x`} {
			refused(s.t, s.edit(token, body), http.StatusBadRequest, oauth.InvalidRequest)
		}
		for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json-patch+json"} {
			a := s.request(http.MethodPatch, oauth.PathMe, `{"name":"x"}`, "Authorization", "Bearer "+token, "Content-Type", contentType)
			require.Equal(s.t, http.StatusUnsupportedMediaType, a.Status, contentType)
			require.Equal(s.t, "application/json, application/merge-patch+json", a.Header.Get("Accept-Patch"))
		}
		large := s.edit(token, `{"bio":"`+strings.Repeat("x", 70_000)+`"}`)
		require.Equal(s.t, http.StatusRequestEntityTooLarge, large.Status)
		require.Equal(s.t, before, s.profileOf(token))
	})
	s.run("needs_PROFILE_WRITE", func(s *suite) {
		for _, scopes := range []string{"PROFILE_READ", "TEAM_PROFILE_WRITE", "ORG_PROFILE_WRITE"} {
			a := s.edit(s.granted(with("editor", "scope", scopes)).Access, `{"name":"x"}`)
			require.Equal(s.t, http.StatusForbidden, a.Status, scopes)
			require.Contains(s.t, a.Header.Get("WWW-Authenticate"), `error="insufficient_scope"`)
			require.Contains(s.t, a.Header.Get("WWW-Authenticate"), `scope="PROFILE_WRITE"`)
		}
		require.Equal(s.t, http.StatusUnauthorized, s.request(http.MethodPatch, oauth.PathMe, `{"name":"x"}`, "Content-Type", "application/json").Status)
		writes := s.granted(with("editor", "scope", "PROFILE_WRITE")).Access
		require.Equal(s.t, http.StatusOK, s.edit(writes, `{"timeZone":"UTC"}`).Status)
		require.Equal(s.t, http.StatusForbidden, s.me(writes).Status, "the write scope does not include PROFILE_READ")
		require.Equal(s.t, http.StatusOK, s.edit(s.granted(good("legacy-app")).Access, `{"timeZone":"UTC"}`).Status, "legacy tokens are not limited")
	})
	s.run("of_the_token's_user_only_and_audited", func(s *suite) {
		bob := s.grantedBy("bob", with("editor", "scope", "PROFILE_READ PROFILE_WRITE")).Access
		require.Equal(s.t, http.StatusOK, s.edit(bob, `{"name":"Robert"}`).Status)
		require.Equal(s.t, "Robert", s.profileOf(bob)["name"])
		require.NotEqual(s.t, "Robert", s.profileOf(token)["name"])
		e := s.s.Issuer.View().LastEvent()
		require.Equal(s.t, ledger.EventProfileEdited, e.Kind)
		require.Equal(s.t, []string{"editor", "u-bob", "name"}, []string{e.Client, e.User, e.Detail})
	})
	s.run("ends_with_the_grant", func(s *suite) {
		gone := s.granted(with("editor", "scope", "PROFILE_READ PROFILE_WRITE"))
		require.Equal(s.t, http.StatusOK, s.request(http.MethodPost, oauth.PathRevoke, encode("client_id", "editor", "client_secret", "editor-secret", "token", gone.Refresh),
			"Content-Type", "application/x-www-form-urlencoded").Status)
		a := s.edit(gone.Access, `{"name":"x"}`)
		require.Equal(s.t, http.StatusUnauthorized, a.Status)
		require.Contains(s.t, a.Header.Get("WWW-Authenticate"), `error="invalid_token"`)
	})
}

var beginning = regexp.MustCompile(`href="(` + web.PathUpstreamCallback + `/begin[^"]*)"`)

// TestEditProfileOfAnUpstreamUser verifies that the members that the provider owns are refused,
// and that the others can be changed.
func TestEditProfileOfAnUpstreamUser(t *testing.T) {
	t.Parallel()
	provider := upstreamtest.New(t, time.Now)
	provider.Profile = upstreamtest.Claims{"name": "Ann of the Provider", "preferred_username": "ann"}
	s := suiteOf(t, startTestServer(t, t.TempDir(), fixtureText+editorFixture, func(c *server.Config) {
		c.Upstream = &upstream.Config{Issuer: provider.URL, ClientID: upstreamtest.ClientID, ClientSecret: upstreamtest.ClientSecret}
	}))
	b, request := s.browser(), with("editor", "scope", "PROFILE_READ PROFILE_WRITE")
	var link []string
	require.Eventually(t, func() bool { // the node fetches the provider's metadata in the background
		link = beginning.FindStringSubmatch(b.get(request).Body)
		return link != nil
	}, 20*time.Second, 20*time.Millisecond)
	begun := b.get(html.UnescapeString(link[1]))
	require.Equal(t, http.StatusSeeOther, begun.Status, begun.Body)
	in := b.get(web.PathUpstreamCallback + "?" + provider.SignIn(begun.Header.Get("Location"), "7").Encode())
	require.Contains(t, []int{http.StatusOK, http.StatusSeeOther}, in.Status, in.Body)
	code := b.allow("", request).Query().Get("code")
	token := tokensOf(t, s.exchange("editor", code)).Access

	before := s.profileOf(token)
	require.Equal(t, "Ann of the Provider", before["name"])
	for _, member := range []string{`"name":"Ann"`, `"avatarUrl":"https://x.example/a.png"`, `"timeZone":"UTC"`, `"locale":"en"`, `"name":null`} {
		a := s.edit(token, `{"bio":"changed",`+member+`}`)
		refused(t, a, http.StatusBadRequest, oauth.InvalidRequest)
		require.Contains(t, a.Body, "comes from the provider that the user signs in with", member)
	}
	require.Equal(t, before, s.profileOf(token))
	a := s.edit(token, `{"bio":"b","timeFormat":24,"weekStart":"Sunday","defaultScheduleId":"5"}`)
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	before["bio"], before["timeFormat"], before["weekStart"], before["defaultScheduleId"] = "b", 24.0, "Sunday", "5"
	require.Equal(t, before, s.profileOf(token))
}
