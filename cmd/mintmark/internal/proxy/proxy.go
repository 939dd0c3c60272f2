// Package proxy has the trusted reverse proxies in front of a node, and determines the
// address, request id and trace of a request from their headers.
package proxy

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

	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// Trusted are the networks of peers whose X-Forwarded-For is used. From any other peer
// the header is ignored, because every client can write it.
type Trusted []netip.Prefix

// Parse parses addresses and networks in CIDR notation.

func Parse(list []string) (Trusted, error) {
	var p Trusted
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, bad := netip.ParseAddr(text)
			if bad != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		p = append(p, prefix.Masked())
	}
	return p, nil
}

// clientIP returns the address for rate limits: the peer's or, behind trusted proxies,
// the nearest hop in X-Forwarded-For that is not a trusted proxy.
func (p Trusted) clientIP(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.Trusts(address); i-- {
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

// ClientIP returns the function that finds the address of a request's client. The
// function logs a warning, once, if a peer that is not trusted sends X-Forwarded-For:
// if that peer is a proxy, all clients behind it share one limit.
func (p Trusted) ClientIP(log *slog.Logger) func(*http.Request) string {
	var once sync.Once
	return func(r *http.Request) string {
		if len(r.Header["X-Forwarded-For"]) > 0 {
			if peer, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !p.Trusts(peer) {
				once.Do(func() {
					log.Warn("X-Forwarded-For ignored: its sender is not a trusted proxy", "peer", peer)
				})
			}
		}
		return p.clientIP(r)
	}
}

// Identify returns a request with a record of its own, and sets the id of the request in the
// response.
func (p Trusted) Identify(w http.ResponseWriter, r *http.Request) (*http.Request, *requestlog.Record) {
	record := &requestlog.Record{ID: p.requestID(r)}
	w.Header()[requestlog.Header] = []string{record.ID}
	return r.WithContext(requestlog.With(r.Context(), record)), record
}

// Identified identifies the requests that next answers.
func (p Trusted) Identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, _ = p.Identify(w, r)
		next.ServeHTTP(w, r)
	})
}

// requestID returns the id of a request: that of a trusted proxy, or a random one.
func (p Trusted) requestID(r *http.Request) string {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	if id := r.Header.Get(requestlog.Header); p.Trusts(address) && sentID.MatchString(id) {
		return id
	}
	return rand.Text()
}

var sentID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// Trusts reports whether an address is that of a trusted proxy.
func (p Trusted) Trusts(address string) bool {
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
