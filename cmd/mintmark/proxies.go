package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// proxies are the peers whose X-Forwarded-For is believed. From anybody else
// the header is whatever a stranger writes into it.
type proxies []netip.Prefix

func parseProxies(list []string) (proxies, error) {
	var p proxies
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, bad := netip.ParseAddr(text)
			if bad != nil {
				return nil, fmt.Errorf("--trusted-proxy: %q is neither an address nor a network", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		p = append(p, prefix.Masked())
	}
	return p, nil
}

// clientIP is the address that failures are counted by: the peer's, or where
// the peer is a trusted proxy the nearest hop that is none.
func (p proxies) clientIP(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap().String()
	}
	return address
}

func (p proxies) trust(address string) bool {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	for _, prefix := range p {
		if prefix.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}
