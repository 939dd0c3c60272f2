package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A Request makes one request for a client. It returns the status of the answer, or an error
// if there was no answer: then the outcome of the request is unknown.
type Request func(c *Conn, client *Client) (status int, err error)

// Refresh presents the refresh token of a client and takes the next one from the answer.
func Refresh(c *Conn, client *Client) (status int, err error) {
	status, body, err := c.Post(oauth.PathToken, client.form())
	if err != nil || status != http.StatusOK {
		return status, err
	}
	next, ok := RefreshTokenIn(body)
	if !ok {
		return 0, fmt.Errorf("%w: no refresh token in it", errAnswer)
	}
	client.RefreshToken = next
	return status, nil
}

// form is the body of a refresh. All but the token is encoded once.
func (c *Client) form() string {
	if c.prefix == "" {
		v := url.Values{"grant_type": {string(oauth.RefreshToken)}, "client_id": {c.ID}}
		if c.Secret != "" {
			v.Set("client_secret", c.Secret)
		}
		c.prefix = v.Encode() + "&refresh_token="
	}
	return c.prefix + url.QueryEscape(c.RefreshToken)
}

// Exchange exchanges the code of a client, which can be done once: see Load.Once.
func Exchange(c *Conn, client *Client) (status int, err error) {
	status, body, err := c.Post(oauth.PathToken, url.Values{
		"grant_type": {string(oauth.AuthorizationCode)}, "client_id": {client.ID}, "client_secret": {client.Secret},
		"code": {client.Code}, "redirect_uri": {seedRedirect},
	}.Encode())
	if err != nil || status != http.StatusOK {
		return status, err
	}
	client.AccessToken, _ = memberOf(body, accessMember)
	if next, ok := RefreshTokenIn(body); ok {
		client.RefreshToken = next
		return status, nil
	}
	return 0, fmt.Errorf("%w: no refresh token in it", errAnswer)
}

// Introspect introspects the access token of a client, which has the
// credentials of a resource server here: see SeedOptions.Introspect.
func Introspect(c *Conn, client *Client) (status int, err error) {
	if client.prefix == "" {
		client.prefix = url.Values{"client_id": {client.ID}, "client_secret": {client.Secret}}.Encode() + "&token="
	}
	status, body, err := c.Post(oauth.PathIntrospect, client.prefix+client.AccessToken)
	if err == nil && status == http.StatusOK && !bytes.Contains(body, activeMember) {
		return 0, fmt.Errorf("%w: the token is not active", errAnswer)
	}
	return status, err
}

var (
	refreshMember = []byte(`"refresh_token":"`)
	accessMember  = []byte(`"access_token":"`)
	activeMember  = []byte(`"active":true`)
)

// RefreshTokenIn finds the token in a response without a JSON parser. It has no
// character that JSON escapes.
func RefreshTokenIn(body []byte) (string, bool) { return memberOf(body, refreshMember) }

// memberOf finds a member of a response whose value has no character that JSON escapes.
func memberOf(body, member []byte) (string, bool) {
	_, rest, ok := bytes.Cut(body, member)
	if !ok {
		return "", false
	}
	token, _, ok := bytes.Cut(rest, []byte(`"`))
	return string(token), ok
}
