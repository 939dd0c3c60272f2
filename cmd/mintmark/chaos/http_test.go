package chaos

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	pathToken     = "/v2/auth/oauth2/token"
	pathAuthorize = "/auth/oauth2/authorize"
	pathMe        = "/v2/me"
)

// clientTimeout is a client's timeout: longer than any request may take.
const clientTimeout = 12 * time.Second

// newHTTP returns a client that does not follow redirects.
func newHTTP(jar http.CookieJar) *http.Client {
	return &http.Client{
		Jar: jar, Timeout: clientTimeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A reply is a completely read HTTP answer, or the error.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

func send(ctx context.Context, c *http.Client, method, address string, form url.Values, headers ...string) reply {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return reply{err: err}
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(text), err}
}

// class returns what can be concluded from an answer that is neither a success nor a
// refusal. single means that the node does not distinguish its two kinds of 503.
func (r reply) class(single bool) class {
	var dial *net.OpError
	switch {
	case errors.As(r.err, &dial) && dial.Op == "dial":
		return noEffect
	case r.err != nil:
		return unknown
	case r.status == http.StatusOK || r.status == http.StatusSeeOther:
		return ok
	case r.status == http.StatusTooManyRequests:
		return noEffect
	case r.status == http.StatusServiceUnavailable:
		if r.header.Get("Retry-After") == "1" && !single {
			return noEffect
		}
		return unknown
	case r.status >= 500:
		return unknown
	}
	return refused
}

// errorCode returns the member "error" of RFC 6749 §5.2.
func (r reply) errorCode() string {
	var m struct{ Error string }
	_ = json.Unmarshal([]byte(r.body), &m)
	return m.Error
}

// A link has the plain parts of a code or refresh token: version, key, grant, generation,
// MAC.
type link struct {
	key   uint32
	grant string
	gen   uint32
}

func parseLink(text string) (link, bool) {
	_, encoded, _ := strings.Cut(text, "_")
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || len(raw) != 57 {
		return link{}, false
	}
	return link{binary.BigEndian.Uint32(raw[1:5]), hex.EncodeToString(raw[5:21]), binary.BigEndian.Uint32(raw[21:25])}, true
}
