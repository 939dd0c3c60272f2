package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Paths of the service.
const (
	PathToken     = "/v2/auth/oauth2/token"
	PathAuthorize = "/auth/oauth2/authorize"
	PathMe        = "/v2/me"
)

// An Answer is an HTTP response that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON returns the members of an answer.
func (a Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.Body), &m), "%s", a.Body)
	return m
}

// ErrorCode is the member "error" of RFC 6749 §5.2, or "".
func (a Answer) ErrorCode() string {
	var m struct{ Error string }
	_ = json.Unmarshal([]byte(a.Body), &m)
	return m.Error
}

// Tokens are those of a successful answer of the token endpoint.
type Tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// Tokens returns the tokens of an answer. Any other answer is a [StatusError].
func (a Answer) Tokens() (t Tokens, err error) {
	if a.Status != http.StatusOK || json.Unmarshal([]byte(a.Body), &t) != nil || t.Access == "" || t.Refresh == "" {
		return Tokens{}, &StatusError{"token", a}
	}
	return t, nil
}

// A StatusError is an answer that a step can't go on with.
type StatusError struct {
	Step   string
	Answer Answer
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: status %d: %.300s", e.Step, e.Answer.Status, e.Answer.Body)
}

// NewHTTP is a client that shows every answer as it came, redirects too. It keeps
// connections open, or makes one for each request.
func NewHTTP(jar http.CookieJar, keep bool, limit time.Duration) *http.Client {
	return &http.Client{
		Jar: jar, Timeout: limit,
		Transport: Verified(&http.Transport{
			DisableKeepAlives: !keep, MaxIdleConnsPerHost: 4, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Send sends a request and reads the answer to its end.
func Send(c *http.Client, r *http.Request) (Answer, error) {
	response, err := c.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(body)}, err
}

// SendForm sends a request with a form, or without one if it is nil. Headers are pairs.
func SendForm(ctx context.Context, c *http.Client, method, address string, form url.Values, headers ...string) (Answer, error) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
		headers = append(headers, "Content-Type", "application/x-www-form-urlencoded")
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return Send(c, r)
}

// An App is an OAuth client that authenticates by its secret in the form.
type App struct {
	ID, Secret string
	HTTP       *http.Client
}

// Redeem sends a grant to the token endpoint of a server.
func (a *App) Redeem(ctx context.Context, server string, grant url.Values) (Answer, error) {
	grant.Set("client_id", a.ID)
	grant.Set("client_secret", a.Secret)
	return SendForm(ctx, a.HTTP, http.MethodPost, server+PathToken, grant)
}

// CodeGrant is the grant of an authorization code.
func CodeGrant(code, redirectURI string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI}}
}

// RefreshGrant is the grant of a refresh token.
func RefreshGrant(token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
}
