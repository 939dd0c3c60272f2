package server

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// TestOpenAPIHasTheOpsRoutes: the OpenAPI description has exactly the routes of the
// operators' listener, without those of ops-debug, which are for debugging only.
func TestOpenAPIHasTheOpsRoutes(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(endpoint.OpenAPI("https://api.example.com", "https://app.example.com"))
	require.NoError(t, err)
	described := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Tags[0] == "Monitoring" {
				described[method+" "+path] = true
				require.NotEmpty(t, item.Servers, "the operators' listener has another address than the API")
			}
		}
	}
	routes := map[string]bool{}
	for pattern := range new(Server).opsRoutes(nil) {
		routes[pattern] = true
	}
	require.Equal(t, routes, described)
}
