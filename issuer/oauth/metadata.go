package oauth

import "time"

// Paths of the endpoints. RFCs fix those below /.well-known, and the service document the
// others that clients use.
const (
	PathAuthorize   = "/auth/oauth2/authorize"                  // of the web application
	PathToken       = "/v2/auth/oauth2/token"                   // of the API
	PathRevoke      = "/v2/auth/oauth2/revoke"                  // of the API, RFC 7009 §2
	PathOpenAPI     = "/v2/openapi.json"                        // of the API
	PathMe          = "/v2/me"                                  // of the API
	PathJWKS        = "/.well-known/jwks.json"                  // RFC 7517 §5
	PathMetadata    = "/.well-known/oauth-authorization-server" // RFC 8414 §3
	PathIntrospect  = "/v2/auth/oauth2/introspect"              // of the API
	PathRegister    = "/v2/auth/oauth2/register"                // of the API, RFC 7591 §3
	PathRevocations = "/v2/auth/oauth2/revocations"             // of the API, for resource servers
)

// A KeySet is the encoded JWKS document (RFC 7517 §5).
type KeySet struct {
	Body   []byte
	ETag   string
	MaxAge time.Duration // for Cache-Control; never extends beyond the next change of a key
}

// Metadata is the authorization server metadata (RFC 8414 §2). It names only what this
// server supports.
type Metadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	JWKSURI               string   `json:"jwks_uri"`
	Scopes                []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	RevocationAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionEndpoint string   `json:"introspection_endpoint"`
	IntrospectionMethods  []string `json:"introspection_endpoint_auth_methods_supported"`
	IssParameter          bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207 §3

	// Documents is that of draft-ietf-oauth-client-id-metadata-document §5. DescribeServer
	// leaves it false.
	Documents bool `json:"client_id_metadata_document_supported,omitempty"`
	// RegistrationEndpoint is that of RFC 7591. DescribeServer leaves it out.
	RegistrationEndpoint string `json:"registration_endpoint,omitempty"`
	// PolicyURI and TermsURI are for people. DescribeServer leaves them out.
	PolicyURI string `json:"op_policy_uri,omitempty"`
	TermsURI  string `json:"op_tos_uri,omitempty"`
}

// DescribeServer returns the metadata of a server with these base addresses, without
// trailing slash, and these scopes.
func DescribeServer(baseURL, appURL string, scopes []string) Metadata {
	methods := []string{"client_secret_basic", "client_secret_post", "none"}
	return Metadata{
		Issuer:                baseURL,
		AuthorizationEndpoint: appURL + PathAuthorize,
		TokenEndpoint:         baseURL + PathToken,
		JWKSURI:               baseURL + PathJWKS,
		Scopes:                scopes,
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            []string{string(AuthorizationCode), string(RefreshToken)},
		AuthMethods:           methods,
		RevocationEndpoint:    baseURL + PathRevoke,
		RevocationAuthMethods: methods,
		ChallengeMethods:      []string{"S256"},
		IntrospectionEndpoint: baseURL + PathIntrospect,
		IntrospectionMethods:  []string{"client_secret_basic", "client_secret_post"},
		IssParameter:          true,
	}
}
