package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// newHandler serves the endpoint, guarded, and its metadata (RFC 9728).
func newHandler(v *verifier.Verifier, c verifier.Config, s *store) (http.Handler, error) {
	endpoint, err := url.Parse(c.Audience)
	if err != nil {
		return nil, err
	}
	m, err := middleware.NewMetadata(middleware.MetadataConfig{
		Resource: c.Audience, AuthorizationServers: []string{c.Issuer}, Scopes: allScopes(), Name: "Scheduling",
	})
	if err != nil {
		return nil, err
	}
	guard := middleware.New(v, middleware.Config{ResourceMetadata: m.URL(), ChallengeScopes: []string{scope.BookingRead}})
	server := newServer(s)
	// Stateless: each request is complete, and nothing is kept between two of them that
	// would belong to a user.
	endpointHandler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	routes := http.NewServeMux()
	routes.Handle(m.Path(), m)
	routes.Handle(endpoint.Path, guard.RequireAny(allScopes()...)(byTool(guard, endpointHandler)))
	return crossOrigin(routes), nil
}

// maxBody is the maximum size of a request, in bytes: ten times what any tool needs.
const maxBody = 64 << 10

// byTool refuses the call of a tool whose scope the token lacks. It does so before the SDK
// sees the request, since clients ask their user for more when HTTP answers 403, and not
// when JSON-RPC answers an error.
func byTool(guard *middleware.Guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		} else if err != nil {
			http.Error(w, "request not read", http.StatusBadRequest)
			return
		}
		if refused := missing(r.Context(), calledTool(body)); refused != nil {
			guard.Refuse(w, refused)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// calledTool returns the name of the tool that a request calls; "" if there is none.
func calledTool(body []byte) string {
	message, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return "" // the SDK answers the error
	}
	request, ok := message.(*jsonrpc.Request)
	if !ok || request.Method != "tools/call" {
		return ""
	}
	var call struct{ Name string }
	if json.Unmarshal(request.Params, &call) != nil {
		return ""
	}
	return call.Name
}

// missing is the refusal of a token without the scope of a tool. It names the scopes that
// the token has too: a client asks for exactly what it reads there, and would lose the
// others.
func missing(ctx context.Context, tool string) *middleware.Refusal {
	token, _ := middleware.FromContext(ctx)
	need, ok := scopes[tool]
	if !ok || token.Allows(need) {
		return nil
	}
	return middleware.InsufficientScope(token.Scope().Union(scope.MustOf(need)).Names()...)
}

// checkTool decides again where the SDK calls a tool: JSON can be read in more than one way, as
// with two members of one name or a batch of requests, and what the SDK has read counts.
func checkTool(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if call, ok := r.(*mcp.CallToolRequest); ok {
			if refused := missing(ctx, call.Params.Name); refused != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("%v: %s", refused, refused.Scope)}
			}
		}
		return next(ctx, method, r)
	}
}

// crossOrigin lets clients in browsers read the answers, of any origin: only a request
// with a token gets data, and a browser adds none by itself.
func crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", "*, Authorization") // * does not include Authorization (Fetch)
			h.Set("Access-Control-Max-Age", "7200")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
