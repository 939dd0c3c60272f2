package clientdoc

import (
	"net"
	"syscall"
)

// Parse is parse.
var Parse = parse

// Lifetime is lifetime.
var Lifetime = lifetime

// NewResolving returns a Fetcher with the guarded dialer and another resolver of names.
func NewResolving(c Config, r *net.Resolver) *Fetcher {
	d := guarded()
	d.Resolver = r
	c.Dial = d.DialContext
	return New(c)
}

// Guard checks an address as the guarded dialer does before it connects.
func Guard(network, address string) error {
	return guarded().Control(network, address, syscall.RawConn(nil))
}

// Remembered returns the number of URLs whose failure is remembered.
func (f *Fetcher) Remembered() int { return f.failed.Len() }
