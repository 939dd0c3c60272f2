package clientdoc

import (
	"net"
	"time"

	"code.dny.dev/ssrf"
)

// guarded returns a dialer for public addresses only. The address is checked after the name
// was resolved, for each connection, so a name that resolves differently the second time
// doesn't pass (DNS rebinding).
//
// The guard refuses every port but 443, every address of the IANA special-purpose registries
// (RFC 6890), 6to4 among them, and every IPv6 address outside 2000::/3, as IPv4-mapped and
// NAT64 ones are.
func guarded() *net.Dialer {
	return &net.Dialer{
		Timeout: maxFetch, KeepAlive: -1,
		Control: ssrf.New(ssrf.WithPorts(443)).Safe,
	}
}

// maxFetch bounds a whole fetch: names, connection and response.
const maxFetch = 3 * time.Second
