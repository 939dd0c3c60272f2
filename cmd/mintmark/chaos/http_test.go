package chaos

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// clientTimeout is a client's timeout: longer than any request may take.
const clientTimeout = 12 * time.Second

// newHTTP returns a client that does not follow redirects.
func newHTTP(jar http.CookieJar) *http.Client { return testkit.NewHTTP(jar, true, clientTimeout) }

// A reply is an answer, or the reason why there is none.
type reply struct {
	testkit.Answer
	err error
}

func send(ctx context.Context, c *http.Client, method, address string, form url.Values, headers ...string) reply {
	a, err := testkit.SendForm(ctx, c, method, address, form, headers...)
	return reply{a, err}
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
	case r.Status == http.StatusOK || r.Status == http.StatusSeeOther:
		return ok
	case r.Status == http.StatusTooManyRequests:
		return noEffect
	case r.Status == http.StatusServiceUnavailable:
		if r.Header.Get("Retry-After") == "1" && !single {
			return noEffect
		}
		return unknown
	case r.Status >= 500:
		return unknown
	}
	return refused
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
