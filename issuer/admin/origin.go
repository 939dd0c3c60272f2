package admin

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// checkOrigin refuses a text that is not an origin (RFC 6454 §6.2) in canonical spelling:
// the issuer is compared character by character in every token, and an Origin header has
// the spelling of the browser. The issuer can't be changed later, so one without TLS must
// be accepted explicitly.
func (q NewCluster) checkOrigin(field, text string) error {
	switch {
	case !IsOrigin(text):
		return badField("cluster", field, "must be scheme://host or scheme://host:port, http or https, in lower case, without a path")
	case ledger.PlainHTTP(text) && !q.PlainHTTP:
		return codedField("cluster", field, ErrPlainHTTP.Error(), ErrPlainHTTP)
	}
	return nil
}

var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?$`)

// IsOrigin reports whether a text is an origin, by http or https, in the canonical spelling: that
// of browsers, in lower case and without the scheme's usual port.
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || text != u.Scheme+"://"+u.Host {
		return false
	}
	usual, known := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if !known || u.Port() == usual || strings.HasSuffix(u.Host, ":") {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
			return false
		}
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Zone() == "" && ip.String() == u.Hostname() || hostName.MatchString(u.Hostname())
}
