package chaos

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// An agent is a client that describes itself. It asks for more than its publisher may have.
type agent struct{ clientID, publisher string }

// The publishers: programs that register themselves, and a host that serves documents.
const (
	programs     = "local"
	documentHost = "example.com"
)

// The scopes that agents ask for, and the two ceilings that their publishers have in turn.
const (
	agentAsks   = "PROFILE_READ BOOKING_READ BOOKING_WRITE"
	wideCeiling = "PROFILE_READ BOOKING_READ"
	lowCeiling  = "PROFILE_READ"
)

// The pair of a verifier and its challenge of RFC 7636, appendix B.
const (
	codeVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	codeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// serveDocuments serves metadata documents for the nodes that start after it, as documentHost.
func (c *cluster) serveDocuments() {
	c.t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"client_id": "https://" + documentHost + r.URL.Path, "client_name": "Helper", "redirect_uris": []string{callback},
		})
	}))
	c.t.Cleanup(s.Close)
	roots := filepath.Join(c.dir, "publisher.pem")
	require.NoError(c.t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	c.publisher = []string{"MINTMARK_TEST_PUBLISHER=" + s.Listener.Addr().String(), "MINTMARK_TEST_PUBLISHER_ROOTS=" + roots}
}

// admitAgents lists the publishers, and returns one agent of each.
func (w *env) admitAgents() []agent {
	w.t.Helper()
	n := w.c.nodes[0]
	require.Equal(w.t, exitOK, n.Decided("", "settings", "set", "agents=listed").Code)
	for _, p := range []string{programs, documentHost} {
		a := n.Decided("", "publisher", "add", p, "--scope", flagOf(wideCeiling), "--default-scope", lowCeiling, "--long-retry")
		require.Equal(w.t, exitOK, a.Code, "%s", a.Err)
	}
	return []agent{{register(w.t, n), programs}, {"https://" + documentHost + "/agent", documentHost}}
}

// flagOf returns scopes as commands take them.
func flagOf(scopes string) string { return strings.ReplaceAll(scopes, " ", ",") }

// register returns the client_id of a program that registers at a node (RFC 7591).
func register(t testing.TB, n *node) (clientID string) {
	t.Helper()
	body := fmt.Sprintf(`{"client_name":%q,"redirect_uris":[%q]}`, "A program", callback)
	require.True(t, testkit.Until(eventually, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL()+"/v2/auth/oauth2/register", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		a, err := testkit.Send(newHTTP(nil), r)
		if err != nil || a.Status != http.StatusCreated {
			return false
		}
		clientID, _ = a.JSON(t)["client_id"].(string)
		return true
	}), "%s registers no program", n.Name)
	return clientID
}

// request is the query of the agent's authorization request.
func (a agent) request() url.Values {
	return url.Values{
		"client_id": {a.clientID}, "redirect_uri": {callback}, "scope": {agentAsks}, "state": {"a-state"},
		"code_challenge": {codeChallenge}, "code_challenge_method": {"S256"},
	}
}
