package main

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// check finds what is wrong before anything is started, all of it at once,
// and brings addresses into the form that the rest relies on.
func (o *serveOptions) check(from sources) error {
	var errs []error
	expect := func(key string, holds bool, expected string) {
		if !holds {
			errs = append(errs, settingError(key, from, "expected "+expected))
		}
	}
	expect(keyDataDir, o.DataDir != "", "a folder")
	expect(keyName, cluster.ValidName(o.Name), expectedName)

	expect(keyListen, listenable(o.Listen), expectedListen)
	expect(keyOpsListen, listenable(o.OpsListen), expectedListen)
	expect(keyClusterListen, listenable(o.ClusterListen), expectedListen)
	errs = append(errs, o.checkAdvertise(from), o.checkPeers(from), o.checkDistinct(from))

	expect(keyJoin, o.Join == "" || dialable(o.Join), expectedDial)
	expect(keyTokenFile, o.Join == "" || o.TokenFile != "", "the file with the token of \"mintmark cluster invite\", since join is given")
	expect(keyJoin, o.Join != "" || o.TokenFile == "", "the address of a node, since token-file is given")

	o.PublicURL, o.AppURL = strings.TrimSuffix(o.PublicURL, "/"), strings.TrimSuffix(o.AppURL, "/")
	expect(keyPublicURL, o.PublicURL == "" || isOrigin(o.PublicURL), expectedOrigin)
	expect(keyAppURL, o.AppURL == "" || isOrigin(o.AppURL), expectedOrigin)
	expect(keyPublicURL, o.PlainHTTP || !ledger.PlainHTTP(o.PublicURL), expectedHTTPS)
	expect(keyAppURL, o.PlainHTTP || !ledger.PlainHTTP(o.AppURL), expectedHTTPS)

	_, err := parseProxies(o.TrustedProxies)
	expect(keyTrustedProxy, err == nil, "addresses or networks such as 10.0.0.0/8")
	errs = append(errs, o.checkSignIn(from))
	expect(keyOTLPEndpoint, o.OTLPEndpoint == "" || isOrigin(strings.TrimSuffix(o.OTLPEndpoint, "/")), expectedOrigin)
	expect(keyDrain, o.Drain >= 0, "a duration that is not negative")
	expect(keyStopTimeout, o.StopTimeout >= time.Millisecond, "a duration of at least 1ms")
	expect(keyLogFormat, o.LogFormat == logText || o.LogFormat == logJSON, "text or json")
	return errors.Join(errs...)
}

const (
	expectedName   = "a name of " + cluster.NameRule
	expectedListen = "HOST:PORT or :PORT, with a port from 0 to 65535"
	expectedDial   = "HOST:PORT that others can reach"
	expectedOrigin = "scheme://host or scheme://host:port, http or https, and nothing behind it"
	expectedHTTPS  = "https outside the loopback: by http, passwords, cookies, codes and secrets can be read and changed on the way (--plain-http accepts that)"
)

// checkAdvertise: others can't call a node at "everywhere".
func (o *serveOptions) checkAdvertise(from sources) error {
	if o.Advertise != "" {
		if !dialable(o.Advertise) {
			return settingError(keyAdvertise, from, "expected "+expectedDial)
		}
		return nil
	}
	if host, _, err := net.SplitHostPort(o.ClusterListen); err == nil && isUnspecified(host) {
		return settingError(keyAdvertise, from, "needed, because cluster-listen ("+from[keyClusterListen].String()+
			") is every address of this machine: expected "+expectedDial)
	}
	return nil
}

func (o *serveOptions) checkPeers(from sources) error {
	seen := map[string]bool{}
	for _, p := range o.Peers {
		name, address, _ := strings.Cut(p, "=")
		if !cluster.ValidName(name) || !dialable(address) {
			return settingError(keyPeer, from, "expected NAME=HOST:PORT")
		}
		if seen[name] {
			return settingError(keyPeer, from, "expected each name once")
		}
		seen[name] = true
	}
	return nil
}

// checkDistinct finds the one clash of ports that can be told without opening
// them.
func (o *serveOptions) checkDistinct(from sources) error {
	taken := map[string]string{}
	for _, l := range []struct{ key, address string }{
		{keyListen, o.Listen}, {keyOpsListen, o.OpsListen}, {keyClusterListen, o.ClusterListen},
	} {
		if other, ok := taken[l.address]; ok && !strings.HasSuffix(l.address, ":0") {
			return settingError(l.key, from, "expected another address than that of "+other)
		}
		taken[l.address] = l.key
	}
	return nil
}

// listenable reports whether a listener may be opened there.
func listenable(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil && (host == "" || isHost(host))
}

// dialable reports whether an address is one that another machine could call.
func dialable(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && listenable(address) && !isUnspecified(host) && strings.Trim(port, "0") != ""
}

// isUnspecified reports whether a host stands for all addresses of a machine.
func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().IsUnspecified()
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?$`)

// isHost reports whether a text is an address, or could be a name.
func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || hostName.MatchString(host)
}

// isOrigin reports whether a text is an origin in its one spelling, which is
// compared character by character in tokens.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isHost(u.Hostname()) {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return text == u.Scheme+"://"+u.Host && !strings.HasSuffix(u.Host, ":")
}
