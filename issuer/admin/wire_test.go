package admin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// post sends a request that Caller would not send.
func post(h http.Handler, method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func TestRequestsThatAreNotUnderstood(t *testing.T) {
	h := admin.NewHandler(admintest.New(t).Config())
	for name, test := range map[string]struct {
		method, path, body string
		text               string
	}{
		"unknown operation": {"POST", "/v1/client.explode", `{}`, "no such operation"},
		"another method":    {"GET", "/v1/client.list", ``, "no such operation"},
		"unknown field":     {"POST", "/v1/client.show", `{"id":"x","hunter2":1}`, "hunter2"},
		"wrong type":        {"POST", "/v1/client.add", `{"secret":987654321}`, "wrong type"},
		"not JSON":          {"POST", "/v1/client.show", `id=x`, "not the JSON value"},
		"two values":        {"POST", "/v1/client.show", `{"id":"x"}{}`, "not the JSON value"},
		"nothing":           {"POST", "/v1/client.show", ``, "not the JSON value"},
		"too long":          {"POST", "/v1/client.show", `{"id":"` + strings.Repeat("x", 2<<20) + `"}`, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := post(h, test.method, test.path, test.body)
			require.Equal(t, http.StatusBadRequest, code)
			require.Contains(t, body, test.text)
			require.Contains(t, body, `"class":"bad_request"`)
			require.NotContains(t, body, "987654321")
		})
	}
}

// TestWithoutALeader verifies that operators see the node's state, marked as stale, while
// nothing can be decided, and that changes are refused as unavailable.
func TestWithoutALeader(t *testing.T) {
	w, c := newEnv(t)
	stale := 0
	c.Stale = func() { stale++ }
	ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"})
	require.Zero(t, stale)

	w.SetNoLeader(true)
	require.Equal(t, "cal-app", ask(t, c, admin.ShowClient, admin.ClientRef{ID: "cal-app"}).ID)
	require.Equal(t, 1, stale)
	require.Equal(t, admin.Unavailable, refused(t, c, admin.ReviewClient, admin.Review{ID: "cal-app", Verdict: "approve"}).Class)
	require.Equal(t, admin.Unavailable, refused(t, c, admin.DeleteClient, admin.ClientRef{ID: "cal-app"}).Class)
}

// TestFaultsStayInTheLog verifies that the text of an internal error is only logged,
// since it may contain anything.
func TestFaultsStayInTheLog(t *testing.T) {
	w := admintest.New(t)
	config := w.Config()
	config.Secret = func(string) (ledger.NewSecret, error) { return ledger.NewSecret{}, errors.New("the disk is on fire") }
	w.Do(&ledger.PutUser{ID: "u-alice", Username: "alice"})
	code, body := post(admin.NewHandler(config), "POST", "/v1/client.add", string(marshal(t, calApp())))
	require.Equal(t, http.StatusInternalServerError, code)
	require.NotContains(t, body, "fire")
	require.Contains(t, w.Log.String(), "fire")
}

// TestSecretsStayOutOfTheLog verifies that no request and no result puts a secret into the log.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	const given = "given-credential-0123456789"
	w, c := newEnv(t)
	var secrets []string
	seen := func(p admin.Plain) { secrets = append(secrets, p.Reveal()) }

	q := calApp()
	q.ID, q.Secret = "given", given
	ask(t, c, admin.AddClient, q)
	refused(t, c, admin.AddClient, q) // the id is taken
	q.ID, q.Secret = "made", ""
	seen(ask(t, c, admin.AddClient, q).Secret)
	seen(ask(t, c, admin.AddSecret, admin.NewSecret{Client: "made"}).Secret)
	refused(t, c, admin.AddSecret, admin.NewSecret{Client: "made", Secret: given})
	legacy := legacyApp()
	legacy.Secrets = []admin.Plain{given, given}
	require.NotContains(t, refused(t, c, admin.ImportClient, legacy).Error(), given)
	seen(ask(t, c, admin.AddUser, admin.NewUser{Username: "bob"}).Password)
	refused(t, c, admin.AddUser, admin.NewUser{Username: "bob", Password: given})
	ask(t, c, admin.SetPassword, admin.PasswordChange{User: "bob", Password: given})

	log := w.Log.String()
	require.Contains(t, log, "operation=client.add")
	require.Contains(t, log, "cause=\"this name is taken\"")
	for _, s := range append(secrets, given, alicePassword) {
		require.NotEmpty(t, s)
		require.NotContains(t, log, s)
	}
}

func TestPlainPrintsRedacted(t *testing.T) {
	q := admin.NewSecret{Client: "cal-app", Secret: "hunter2"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(format, q), "hunter2", format)
		require.NotContains(t, fmt.Sprintf(format, q.Secret), "hunter2", format)
		require.NotContains(t, fmt.Sprintf(format, q.Secret), "68756e74657232", format)
	}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", q.Secret, "request", q)
	require.NotContains(t, b.String(), "hunter2")
	require.JSONEq(t, `{"client":"cal-app","secret":"hunter2"}`, string(marshal(t, q)))
}
