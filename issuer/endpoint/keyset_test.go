package endpoint_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func TestKeySet(t *testing.T) {
	s := newTestServer(t, nil)
	w := s.do(http.MethodGet, oauth.PathJWKS)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, `{"keys":[]}`, w.Body.String())
	require.Equal(t, http.Header{
		"Access-Control-Allow-Origin": {"*"}, "Cache-Control": {"public, max-age=300"},
		"Content-Length": {"11"}, "Content-Type": {"application/jwk-set+json"}, "Etag": {`"tag"`},
	}, w.Header())

	head := s.do(http.MethodHead, oauth.PathJWKS)
	require.Equal(t, w.Header(), head.Header())
	require.Empty(t, head.Body.String())

	for _, tags := range []string{`"tag"`, `W/"tag"`, `"old", W/"tag"`, "*"} {
		same := s.do(http.MethodGet, oauth.PathJWKS, "If-None-Match", tags)
		require.Equal(t, http.StatusNotModified, same.Code, tags)
		require.Empty(t, same.Body.String())
	}
	for _, tags := range []string{`"old"`, "tag", `W/"old"`} {
		require.Equal(t, http.StatusOK, s.do(http.MethodGet, oauth.PathJWKS, "If-None-Match", tags).Code, tags)
	}
}

// TestMetadata covers RFC 8414 §3.2.
func TestMetadata(t *testing.T) {
	s := newTestServer(t, nil)
	w := s.do(http.MethodGet, oauth.PathMetadata)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.NotContains(t, w.Header(), "Etag")
	var got oauth.Metadata
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Equal(t, oauth.DescribeServer(s.issuer.URL, "https://app.example.com", got.Scopes), got)
	require.Empty(t, s.do(http.MethodHead, oauth.PathMetadata).Body.String())
	require.Equal(t, http.StatusOK, s.do(http.MethodGet, oauth.PathMetadata, "If-None-Match", "").Code)
	require.NotContains(t, w.Body.String(), "op_")

	settings := *s.View().Settings()
	settings.Brand.PrivacyURL, settings.Brand.TermsURL = "https://example.com/privacy", "https://example.com/terms"
	s.insert(ledger.TableSettings, &settings)
	require.NoError(t, json.Unmarshal(s.do(http.MethodGet, oauth.PathMetadata).Body.Bytes(), &got))
	require.Equal(t, []string{"https://example.com/privacy", "https://example.com/terms"}, []string{got.PolicyURI, got.TermsURI})
}
