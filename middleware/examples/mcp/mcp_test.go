package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// now is the clock of the bookings: a Wednesday.
var now = time.Date(2026, 9, 2, 12, 0, 0, 0, time.UTC)

type service struct {
	t        *testing.T
	issuer   *verifiertest.Issuer
	endpoint string
}

// serve runs the service over HTTP until the test ends.
func serve(t *testing.T) *service {
	t.Helper()
	issuer := verifiertest.NewIssuer()
	t.Cleanup(issuer.Close)
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	s := &service{t: t, issuer: issuer, endpoint: server.URL + "/mcp"}
	config := verifier.Config{Issuer: issuer.URL, Audience: s.endpoint, Revocations: issuer.RevocationsConfig()}
	v, err := verifier.New(config)
	require.NoError(t, err)
	t.Cleanup(v.Close)
	handler, err = newHandler(v, config, newStore(func() time.Time { return now }))
	require.NoError(t, err)
	return s
}

func (s *service) token(user string, scopes ...string) string {
	return s.issuer.Token(verifiertest.ForAudience(s.endpoint), verifiertest.Subject(user), verifiertest.Scope(scopes...))
}

// An assistant is an OAuth client of the SDK. Its user allows all scopes that the service
// requests.
type assistant struct {
	service *service
	user    string

	mu    sync.Mutex
	token string
	asked []string // scopes of the challenges
}

// TokenSource implements auth.OAuthHandler.
func (a *assistant) TokenSource(context.Context) (oauth2.TokenSource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token == "" {
		return nil, nil
	}
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: a.token}), nil
}

// Authorize implements auth.OAuthHandler.
func (a *assistant) Authorize(_ context.Context, _ *http.Request, answer *http.Response) error {
	defer answer.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(answer.Header["Www-Authenticate"])
	if err != nil {
		return err
	}
	scopes := challenges[0].Params["scope"]
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, scopes)
	a.token = a.service.token(a.user, strings.Fields(scopes)...)
	return nil
}

// connect has an assistant act for a user, without a token at first.
func (s *service) connect(user string) (*assistant, *mcp.ClientSession) {
	s.t.Helper()
	a := &assistant{service: s, user: user}
	client := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil)
	session, err := client.Connect(s.t.Context(), &mcp.StreamableClientTransport{Endpoint: s.endpoint, OAuthHandler: a}, nil)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = session.Close() })
	return a, session
}

// call calls a tool that must succeed, and reads its result.
func call[Out any](t *testing.T, session *mcp.ClientSession, tool string, arguments any) (out Out) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	text := result.Content[0].(*mcp.TextContent).Text
	require.False(t, result.IsError, text)
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

func fails(t *testing.T, session *mcp.ClientSession, tool string, arguments any, text string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Contains(t, result.Content[0].(*mcp.TextContent).Text, text)
}

func titles(list bookingList) (titles []string) {
	for _, b := range list.Bookings {
		titles = append(titles, b.Title)
	}
	return titles
}

// TestTools: an assistant without a token calls each tool, and asks its user for more as
// it goes on.
func TestTools(t *testing.T) {
	a, session := serve(t).connect("u-1")
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		require.Contains(t, scopes, tool.Name, "a tool without a scope is open to every token")
		require.Equal(t, tool.Name != "reschedule_booking", tool.Annotations.ReadOnlyHint, tool.Name)
		schemas, err := json.Marshal([]any{tool.InputSchema, tool.OutputSchema})
		require.NoError(t, err)
		require.NotContains(t, string(schemas), `"type":[`, "some clients can't express a choice of types")
	}
	require.ElementsMatch(t, []string{"list_bookings", "find_bookings", "reschedule_booking", "list_schedules", "who_am_i"}, names)

	coming := call[bookingList](t, session, "list_bookings", nil)
	require.Equal(t, []string{"Introduction", "Review", "Planning"}, titles(coming))
	require.Equal(t, []string{"Review"}, titles(call[bookingList](t, session, "list_bookings",
		map[string]any{"from": coming.Bookings[0].End, "to": coming.Bookings[2].Start})))
	require.Equal(t, []string{"Interview", "Introduction", "Review", "Planning"},
		titles(call[bookingList](t, session, "list_bookings", map[string]any{"from": now.AddDate(0, 0, -7)})))
	require.Equal(t, []string{"Introduction", "Planning"}, titles(call[bookingList](t, session, "find_bookings", map[string]any{"text": "ADA"})))
	require.Equal(t, []string{"Interview", "Review"}, titles(call[bookingList](t, session, "find_bookings", map[string]any{"text": "view"})))
	require.Equal(t, []string{"BOOKING_READ"}, a.asked)

	review := coming.Bookings[1]
	require.Equal(t, "Review", review.Title)
	start := review.Start.Add(2 * time.Hour)
	moved := call[booking](t, session, "reschedule_booking", map[string]any{"uid": review.UID, "start": start.In(time.FixedZone("", 7200))})
	review.Start, review.End = start, review.End.Add(2*time.Hour)
	require.Equal(t, review, moved)
	require.Contains(t, call[bookingList](t, session, "list_bookings", nil).Bookings, moved, "the old scope is still there")

	require.Equal(t, "Europe/London", call[scheduleList](t, session, "list_schedules", nil).Schedules[0].TimeZone)
	me := call[identity](t, session, "who_am_i", nil)
	require.Equal(t, "u-1", me.User)
	require.Equal(t, "client-1", me.Application)
	require.Equal(t, []string{"BOOKING_READ", "BOOKING_WRITE", "SCHEDULE_READ", "PROFILE_READ"}, me.Scopes)
	require.Equal(t, []string{
		"BOOKING_READ", "BOOKING_READ BOOKING_WRITE", "BOOKING_READ BOOKING_WRITE SCHEDULE_READ",
		"BOOKING_READ BOOKING_WRITE SCHEDULE_READ PROFILE_READ",
	}, a.asked)
}

// TestReschedule: a booking can be moved only by its user, and only to a time in the
// future that is free.
func TestReschedule(t *testing.T) {
	s := serve(t)
	_, mine := s.connect("u-1")
	_, others := s.connect("u-2")
	before := call[bookingList](t, mine, "list_bookings", nil).Bookings
	first, second := before[0], before[1]
	move := func(uid string, start time.Time) map[string]any { return map[string]any{"uid": uid, "start": start} }
	fails(t, mine, "reschedule_booking", move("none", second.Start), "no such booking")
	fails(t, others, "reschedule_booking", move(first.UID, first.Start.Add(time.Hour)), "no such booking")
	fails(t, mine, "reschedule_booking", move(first.UID, now), "in the past")
	fails(t, mine, "reschedule_booking", move(first.UID, second.Start.Add(-time.Minute)), `taken by "Review"`)
	fails(t, mine, "reschedule_booking", map[string]any{"uid": first.UID, "start": "tomorrow"}, "start")
	require.Equal(t, before, call[bookingList](t, mine, "list_bookings", nil).Bookings)

	call[booking](t, mine, "reschedule_booking", move(first.UID, second.Start.Add(-time.Hour)))
	call[booking](t, mine, "reschedule_booking", move(first.UID, first.Start.Add(30*time.Minute))) // overlaps itself only
	for _, b := range call[bookingList](t, others, "list_bookings", nil).Bookings {
		require.NotContains(t, before, b, "the bookings of another user")
	}
}

// post sends a JSON-RPC request.
func (s *service) post(token, body string) (*http.Response, string) {
	s.t.Helper()
	return s.send(http.MethodPost, s.endpoint, body, "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-06-18", "Authorization", token)
}

func (s *service) send(method, address, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(body))
	require.NoError(s.t, err)
	for pair := range slices.Chunk(headers, 2) {
		if pair[1] != "" {
			r.Header.Set(pair[0], pair[1])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return answer, string(bytes.TrimSpace(text))
}

// TestChallenges: the responses to a token that is missing, invalid or without the scope
// of the tool.
func TestChallenges(t *testing.T) {
	s := serve(t)
	metadata := strings.Replace(s.endpoint, "/mcp", "/.well-known/oauth-protected-resource/mcp", 1)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%","arguments":{}}}`
	named := func(tool string) string { return strings.Replace(call, "%", tool, 1) }
	bearer := func(scopes ...string) string { return "Bearer " + s.token("u-1", scopes...) }
	for _, row := range []struct {
		name, token, body string
		status            int
		challenge         string
	}{
		{"no token", "", named("list_bookings"), 401, `Bearer scope="BOOKING_READ"`},
		{"for another server", "Bearer " + s.issuer.Token(verifiertest.Scope("BOOKING_READ")), named("list_bookings"), 401, `error="invalid_token"`},
		{"scope of no tool", bearer("TEAM_BOOKING_READ"), named("list_bookings"), 403, `scope="BOOKING_READ"`},
		{"scope of another tool", bearer("PROFILE_READ"), named("list_bookings"), 403, `scope="BOOKING_READ PROFILE_READ"`},
		{"writing is not reading", bearer("BOOKING_WRITE"), named("find_bookings"), 403, `scope="BOOKING_READ BOOKING_WRITE"`},
		{"reading is not writing", bearer("BOOKING_READ"), named("reschedule_booking"), 403, `scope="BOOKING_READ BOOKING_WRITE"`},
		{"notification", bearer("BOOKING_READ"), strings.Replace(named("reschedule_booking"), `"id":1,`, "", 1), 403, `scope="BOOKING_READ BOOKING_WRITE"`},
		{"scope of the tool", bearer("BOOKING_READ"), named("list_bookings"), 200, ""},
		{"legacy", "Bearer " + s.issuer.Token(verifiertest.ForAudience(s.endpoint), verifiertest.Legacy()), named("who_am_i"), 200, ""},
		{"no call", bearer("PROFILE_READ"), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200, ""},
		{"unknown tool", bearer("PROFILE_READ"), named("drop_bookings"), 200, ""},
		{"no JSON", bearer("PROFILE_READ"), "{", 400, ""},
		{"too large", bearer("PROFILE_READ"), named(strings.Repeat("x", maxBody)), 413, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer, text := s.post(row.token, row.body)
			require.Equal(t, row.status, answer.StatusCode, text)
			challenge := answer.Header.Get("WWW-Authenticate")
			if row.challenge == "" {
				require.Empty(t, challenge)
				return
			}
			require.Contains(t, challenge, row.challenge)
			require.Contains(t, challenge, `resource_metadata="`+metadata+`"`)
		})
	}
	answer, text := s.send(http.MethodGet, metadata, "")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.JSONEq(t, `{"resource":"`+s.endpoint+`","authorization_servers":["`+s.issuer.URL+`"],"bearer_methods_supported":["header"],
		"resource_name":"Scheduling","scopes_supported":["BOOKING_READ","BOOKING_WRITE","PROFILE_READ","SCHEDULE_READ"]}`, text)
	answer, _ = s.send(http.MethodGet, strings.TrimSuffix(metadata, "/mcp"), "")
	require.Equal(t, http.StatusNotFound, answer.StatusCode, "the metadata has only the well-known path of this endpoint")
}

// TestAmbiguousCalls: a request that another reader of JSON would read as a call of
// another tool changes nothing.
func TestAmbiguousCalls(t *testing.T) {
	s := serve(t)
	_, session := s.connect("u-1")
	b := call[bookingList](t, session, "list_bookings", nil).Bookings[0]
	arguments := `"arguments":{"uid":"` + b.UID + `","start":"` + b.Start.Add(time.Hour).Format(time.RFC3339) + `"}`
	request := func(names string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + names + "," + arguments + `}}`
	}
	const read, write = `"name":"list_bookings"`, `"name":"reschedule_booking"`
	token := "Bearer " + s.token("u-1", "BOOKING_READ")
	for _, body := range []string{
		request(read + "," + write), request(write + "," + read), request(write + `,"Name":"list_bookings"`),
		request(`"Name":"reschedule_booking"`), request(`"n\u0061me":"reschedule_booking"`), request(`"NAME":"list_bookings",` + write),
	} {
		answer, text := s.post(token, body)
		require.Less(t, answer.StatusCode, http.StatusInternalServerError, text)
	}
	answer, text := s.send(http.MethodPost, s.endpoint, "["+request(write)+"]", "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-03-26", "Authorization", token)
	require.Equal(t, http.StatusOK, answer.StatusCode, "this version of the protocol has batches")
	require.Contains(t, text, "insufficient_scope")
	require.Contains(t, call[bookingList](t, session, "list_bookings", nil).Bookings, b)

	_, text = s.post("Bearer "+s.token("u-1", "BOOKING_WRITE"), request(write))
	require.Contains(t, text, `\"uid\":\"`+b.UID, "the same request with the scope")
	require.NotContains(t, call[bookingList](t, session, "list_bookings", nil).Bookings, b)
}

// TestRevoked: a revoked token is refused before it expires.
func TestRevoked(t *testing.T) {
	s := serve(t)
	a, session := s.connect("u-1")
	call[bookingList](t, session, "list_bookings", nil)
	s.issuer.RevokeGrant("grant-1")
	require.Eventually(t, func() bool {
		answer, _ := s.post("Bearer "+a.token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		return answer.StatusCode == http.StatusUnauthorized
	}, 10*time.Second, 10*time.Millisecond)
}

// TestOtherOrigins: what a browser needs before it lets a script use the endpoint.
func TestOtherOrigins(t *testing.T) {
	s := serve(t)
	preflight := []string{
		"Origin", "https://inspector.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version",
	}
	answer, _ := s.send(http.MethodOptions, s.endpoint, "", preflight...)
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "*, Authorization", answer.Header.Get("Access-Control-Allow-Headers"))
	require.Empty(t, answer.Header.Get("Access-Control-Allow-Credentials"))
	answer, _ = s.post("", "{}")
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate")
	answer, _ = s.send(http.MethodOptions, s.endpoint, "")
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode, "not a preflight")
}
