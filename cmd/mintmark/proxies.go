package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"

	"github.com/mintmark-auth/mintmark/issuer/security"
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
		hop, err := parseHop(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap().String()
	}
	return address
}

// parseHop parses an address with or without a port: some proxies add the port.
func parseHop(text string) (netip.Addr, error) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr(), nil
	}
	if inner, found := strings.CutPrefix(text, "["); found {
		text = strings.TrimSuffix(inner, "]")
	}
	return netip.ParseAddr(text)
}

// clientIPWithWarning returns clientIP with a warning, logged once, if a peer that is not a
// trusted proxy sends X-Forwarded-For: if the peer is a proxy, everybody behind it
// shares one limit.
func (p proxies) clientIPWithWarning(log *slog.Logger) func(*http.Request) string {
	var once sync.Once
	return func(r *http.Request) string {
		if len(r.Header["X-Forwarded-For"]) > 0 {
			if peer, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !p.trust(peer) {
				once.Do(func() {
					log.Warn("X-Forwarded-For ignored: its sender is not a trusted proxy (see --trusted-proxy)", "peer", peer)
				})
			}
		}
		return p.clientIP(r)
	}
}

// requestID returns the id of a request for the log: that of a trusted proxy, or a
// random one.
func (p proxies) requestID(r *http.Request) string {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	if id := r.Header.Get(security.RequestID); p.trust(address) && sentID.MatchString(id) {
		return id
	}
	return rand.Text()
}

var sentID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

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
