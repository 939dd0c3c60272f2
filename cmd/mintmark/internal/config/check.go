package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Check validates the settings before anything is started, reports all errors at once,
// and normalizes addresses.
func (o *Options) Check(from Sources) error {
	var errs []error
	expect := func(key string, holds bool, expected string) {
		if !holds {
			errs = append(errs, SettingError(key, from, "expected "+expected))
		}
	}
	expect(KeyDataDir, o.DataDir != "", "a folder")
	expect(KeyName, member.ValidName(o.Name), expectedName)

	for _, l := range o.listeners() {
		if err := CheckListen(l.address); err != nil {
			errs = append(errs, SettingError(l.key, from, err.Error()))
		}
	}
	for _, f := range []struct {
		cert, key string
		files     TLSFiles
	}{{KeyTLSCertFile, KeyTLSKeyFile, o.TLS}, {KeyOpsTLSCertFile, KeyOpsTLSKeyFile, o.OpsTLS}, {KeyOperatorsTLSCertFile, KeyOperatorsTLSKeyFile, o.OperatorsTLS}} {
		expect(f.cert, f.files.Cert != "" || f.files.Key == "", "the file of the certificate, since "+f.key+" is given")
		expect(f.key, f.files.Key != "" || f.files.Cert == "", "the file of the private key, since "+f.cert+" is given")
	}
	if o.OperatorsListen == "" {
		expect(KeyOperatorsListen, o.OperatorsTLS == TLSFiles{} && o.OperatorsCAFile == "", "an address, since files for operators are given")
	} else {
		expect(KeyOperatorsTLSCertFile, o.OperatorsTLS.Cert != "" || o.OperatorsTLS.Key != "", "the file of the certificate, since operators-listen is given")
	}
	errs = append(errs, o.checkAdvertise(from), o.checkPeers(from), o.checkDistinct(from))

	expect(KeyJoin, o.Join == "" || dialable(o.Join), expectedDial)
	if o.Join != "" && o.TokenFile == "" {
		errs = append(errs, wrapSettingError(KeyTokenFile, from, ErrNoToken))
	}
	expect(KeyJoin, o.Join != "" || o.TokenFile == "", "the address of a node, since token-file is given")

	o.PublicURL, o.AppURL = strings.TrimSuffix(o.PublicURL, "/"), strings.TrimSuffix(o.AppURL, "/")
	expect(KeyPublicURL, o.PublicURL == "" || admin.IsOrigin(o.PublicURL), ExpectedOrigin)
	expect(KeyAppURL, o.AppURL == "" || admin.IsOrigin(o.AppURL), ExpectedOrigin)
	for _, u := range []struct{ key, origin string }{{KeyPublicURL, o.PublicURL}, {KeyAppURL, o.AppURL}} {
		if !o.PlainHTTP && ledger.PlainHTTP(u.origin) {
			errs = append(errs, wrapSettingError(u.key, from, ErrPlainHTTP))
		}
	}

	_, err := proxy.Parse(o.TrustedProxies)
	expect(KeyTrustedProxy, err == nil, "addresses or networks such as 10.0.0.0/8")
	errs = append(errs, o.checkSignIn(from))
	errs = append(errs, o.checkBackup(from))
	expect(KeyOTLPEndpoint, o.OTLPEndpoint == "" || isServer(strings.TrimSuffix(o.OTLPEndpoint, "/")), expectedServer)
	expect(KeyDrain, o.Drain >= 0, "a duration that is not negative")
	expect(KeyStopTimeout, o.StopTimeout >= time.Millisecond, "a duration of at least 1ms")
	_, known := ParseLogLevel(o.LogLevel)
	expect(KeyLogLevel, known, ExpectedLogLevel)
	expect(KeyLogFormat, o.LogFormat == LogText || o.LogFormat == LogJSON, "text or json")
	return errors.Join(errs...)
}

const (
	expectedName   = "a name of " + member.NameRule
	expectedDial   = "HOST:PORT that others can reach"
	expectedServer = "scheme://host or scheme://host:port, http or https, and nothing behind it"
	ExpectedOrigin = expectedServer + ", in lower case and without the usual port"
)

var (
	// ErrPlainHTTP is in the error about an address without TLS.
	ErrPlainHTTP = errors.New("expected https outside the loopback: by http, passwords, cookies, codes and secrets can be read and changed on the way")
	// ErrNoToken is in the error about a node that is to join without a token.
	ErrNoToken = errors.New("expected the file with the join token, since join is given")
)

// minBackupEvery is the shortest time between two scheduled backups.
const minBackupEvery = 10 * time.Second

// checkBackup requires a folder and a time, or none of them. Whether the folder can be
// used is found out by the backups: a node whose disk for backups is lost still serves.
func (o *Options) checkBackup(from Sources) error {
	switch {
	case o.BackupEvery != 0 && o.BackupEvery < minBackupEvery:
		return SettingError(KeyBackupEvery, from, "expected a duration of at least 10s, or 0s")
	case o.BackupEvery != 0 && o.BackupDir == "":
		return SettingError(KeyBackupDir, from, "expected a folder, since backup-every is given")
	case o.BackupKeep < 1:
		return SettingError(KeyBackupKeep, from, "expected a number from 1 on")
	}
	return nil
}

// listeners returns the addresses that a node listens on, by the key of their setting.
func (o *Options) listeners() []struct{ key, address string } {
	all := []struct{ key, address string }{
		{KeyListen, o.Listen}, {KeyOpsListen, o.OpsListen}, {KeyClusterListen, o.ClusterListen},
	}
	if o.OperatorsListen != "" {
		all = append(all, struct{ key, address string }{KeyOperatorsListen, o.OperatorsListen})
	}
	return all
}

// checkAdvertise requires an address that other nodes can dial: a listener on every
// address has none.
func (o *Options) checkAdvertise(from Sources) error {
	if o.Advertise != "" {
		if !dialable(o.Advertise) {
			return SettingError(KeyAdvertise, from, "expected "+expectedDial)
		}
		return nil
	}
	if host, _, err := net.SplitHostPort(o.ClusterListen); err == nil && isUnspecified(host) {
		return SettingError(KeyAdvertise, from, "needed, because cluster-listen ("+from[KeyClusterListen].String()+
			") is every address of this machine: expected "+expectedDial)
	}
	return nil
}

func (o *Options) checkPeers(from Sources) error {
	seen := map[string]bool{}
	for _, p := range o.Peers {
		name, address, _ := strings.Cut(p, "=")
		if !member.ValidName(name) || !dialable(address) {
			return SettingError(KeyPeer, from, "expected NAME=HOST:PORT")
		}
		if seen[name] {
			return SettingError(KeyPeer, from, "expected each name once")
		}
		seen[name] = true
	}
	return nil
}

// checkDistinct reports listeners with the same port, as far as that is known without
// opening them.
func (o *Options) checkDistinct(from Sources) error {
	taken := map[string]string{}
	for _, l := range o.listeners() {
		if other, ok := taken[l.address]; ok && !strings.HasSuffix(l.address, ":0") {
			return SettingError(l.key, from, "expected another address than that of "+other)
		}
		taken[l.address] = l.key
	}
	return nil
}

// CheckListen returns an error if address is not valid for a listener.
func CheckListen(address string) error {
	if !listenable(address) {
		return fmt.Errorf("expected HOST:PORT or :PORT, with a port from 0 to 65535, got %q", address)
	}
	return nil
}

// listenable reports whether address is valid for a listener.
func listenable(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil && (host == "" || isHost(host))
}

// dialable reports whether another machine could dial address.
func dialable(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && listenable(address) && !isUnspecified(host) && strings.Trim(port, "0") != ""
}

// isUnspecified reports whether a host means all addresses of a machine.
func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().IsUnspecified()
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?$`)

// isHost reports whether a text is an address, or a possible name.
func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || hostName.MatchString(host)
}

// isServer reports whether a text is the address of an http or https server, without a path.
func isServer(text string) bool {
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
