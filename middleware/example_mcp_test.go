package middleware_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// guardMCP registers an MCP server at its endpoint, the audience of v.
func guardMCP(v *verifier.Verifier, issuer, endpoint string, mux *http.ServeMux, server http.Handler) error {
	m, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource: endpoint, AuthorizationServers: []string{issuer}, Scopes: []string{scope.BookingRead, scope.BookingWrite},
	})
	if err != nil {
		return err
	}
	guard := middleware.New(v, middleware.Config{ResourceMetadata: m.URL(), ChallengeScopes: []string{scope.BookingRead}})
	mux.Handle(m.Path(), m)
	mux.Handle("/mcp", guard.Require(scope.BookingRead)(server))
	return nil
}

// An MCP server, for clients that have only its address. It accepts the tokens that are for
// it: those for another resource server, or for none, are refused.
func Example_mcp() {
	const endpoint = "https://mcp.example.com/mcp"
	issuer := verifiertest.NewInMemoryIssuer()
	config := issuer.Config()
	config.Audience = endpoint // in production this and the Issuer are the whole Config
	v, err := verifier.New(config)
	if err != nil {
		log.Fatal(err)
	}
	defer v.Close()
	mux := http.NewServeMux()
	tools := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "tools") })
	if err := guardMCP(v, issuer.URL, endpoint, mux, tools); err != nil {
		log.Fatal(err)
	}

	show(mux, "POST", "/mcp", "")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/oauth-protected-resource/mcp", nil))
	fmt.Println(w.Body)
	read := verifiertest.Scope(scope.BookingRead)
	show(mux, "POST", "/mcp", issuer.Token(read, verifiertest.ForAudience(endpoint)))
	show(mux, "POST", "/mcp", issuer.Token(read, verifiertest.ForAudience(issuer.URL)))
	show(mux, "POST", "/mcp", issuer.Token(verifiertest.Scope(scope.ProfileRead), verifiertest.ForAudience(endpoint)))
	// Output:
	// POST /mcp 401 Bearer scope="BOOKING_READ", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// {"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],"scopes_supported":["BOOKING_READ","BOOKING_WRITE"],"bearer_methods_supported":["header"]}
	// POST /mcp 200 tools
	// POST /mcp 401 Bearer error="invalid_token", error_description="The access token is invalid", scope="BOOKING_READ", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// POST /mcp 403 Bearer error="insufficient_scope", error_description="The access token lacks a scope that this request needs", scope="BOOKING_READ", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
}
