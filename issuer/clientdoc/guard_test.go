package clientdoc_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/clientdoc"
)

// refused are addresses that are not public.
var refused = []struct{ name, address string }{
	{"this network", "0.0.0.0"},
	{"this network, another", "0.1.2.3"},
	{"loopback", "127.0.0.1"},
	{"loopback, another", "127.255.255.254"},
	{"private 10", "10.0.0.1"},
	{"private 172.16", "172.16.0.1"},
	{"private 172.31", "172.31.255.255"},
	{"private 192.168", "192.168.1.1"},
	{"carrier-grade NAT", "100.64.0.1"},
	{"carrier-grade NAT, end", "100.127.255.255"},
	{"metadata of clouds", "169.254.169.254"},
	{"metadata of containers", "169.254.170.2"},
	{"metadata of Alibaba", "100.100.100.200"},
	{"IETF assignments", "192.0.0.192"},
	{"documentation", "192.0.2.1"},
	{"6to4 relay", "192.88.99.1"},
	{"benchmarking", "198.18.0.1"},
	{"multicast", "224.0.0.1"},
	{"multicast, administrative", "239.1.1.1"},
	{"reserved", "240.0.0.1"},
	{"broadcast", "255.255.255.255"},
	{"unspecified v6", "[::]"},
	{"loopback v6", "[::1]"},
	{"IPv4-mapped loopback", "[::ffff:127.0.0.1]"},
	{"IPv4-mapped public", "[::ffff:93.184.216.34]"},
	{"IPv4-compatible", "[::7f00:1]"},
	{"NAT64 of loopback", "[64:ff9b::7f00:1]"},
	{"NAT64 of metadata", "[64:ff9b::a9fe:a9fe]"},
	{"local NAT64", "[64:ff9b:1::1]"},
	{"discard-only", "[100::1]"},
	{"Teredo", "[2001::1]"},
	{"ORCHID", "[2001:20::1]"},
	{"documentation v6", "[2001:db8::1]"},
	{"documentation v6, new", "[3fff::1]"},
	{"6to4 of loopback", "[2002:7f00:1::1]"},
	{"6to4 of private", "[2002:a00:1::1]"},
	{"unique local", "[fd00:ec2::254]"},
	{"unique local, fc", "[fc00::1]"},
	{"link-local", "[fe80::1]"},
	{"link-local with a zone", "[fe80::1%eth0]"},
	{"site-local", "[fec0::1]"},
	{"multicast v6", "[ff02::1]"},
	{"SRv6", "[5f00::1]"},
}

// TestGuard: every address that is not public is refused.
func TestGuard(t *testing.T) {
	for _, r := range refused {
		network := "tcp4"
		if r.address[0] == '[' {
			network = "tcp6"
		}
		require.Error(t, clientdoc.Guard(network, r.address+":443"), r.name)
	}
	require.NoError(t, clientdoc.Guard("tcp4", "93.184.216.34:443"))
	require.NoError(t, clientdoc.Guard("tcp6", "[2606:4700::1111]:443"))
	require.Error(t, clientdoc.Guard("tcp4", "93.184.216.34:8443"), "another port")
	require.Error(t, clientdoc.Guard("tcp4", "93.184.216.34:80"), "another port")
	require.Error(t, clientdoc.Guard("udp4", "93.184.216.34:443"), "another network")
	require.Error(t, clientdoc.Guard("tcp4", "2130706433:443"), "an address in another spelling")
}

// TestNamesOfPrivateAddresses: no document is fetched if the name of the host resolves to an address
// that is not public. The fetcher is that of the program, with another name server.
func TestNamesOfPrivateAddresses(t *testing.T) {
	ipv6, err := net.ListenPacket("udp6", "[::1]:0")
	if err == nil {
		ipv6.Close()
	}
	tried := 0
	for _, r := range refused {
		ip, parseErr := netip.ParseAddr(strings.Trim(r.address, "[]"))
		require.NoError(t, parseErr, r.name)
		if ip.Zone() != "" || ip.Is4In6() || ip.Is6() && err != nil { // no record has a zone; the resolver unmaps
			continue
		}
		tried++
		names := newNameServer(t, ip)
		f := clientdoc.NewResolving(config(), names.resolver())
		_, _, err := f.Fetch(t.Context(), "alice", "https://agent.example.com/client", false)
		require.Equal(t, clientdoc.AddressRefused, reasonOf(t, err), r.name)
	}
	require.GreaterOrEqual(t, tried, 20)
	require.GreaterOrEqual(t, len(refused), 40)
}

// TestRebinding: a name resolves first to a public address and then, for the connection,
// to the loopback. The address of the connection is checked.
func TestRebinding(t *testing.T) {
	names := newNameServer(t, netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1"))
	r := names.resolver()
	seen, err := r.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
	require.NoError(t, err)
	require.Equal(t, "93.184.216.34", seen[0].String())
	f := clientdoc.NewResolving(config(), r)
	_, _, err = f.Fetch(t.Context(), "alice", "https://rebind.example.com/client", false)
	require.Equal(t, clientdoc.AddressRefused, reasonOf(t, err))
}

// A nameServer answers each query for an A record with its next address, and repeats the
// last one. If that is of IPv6, it answers queries for AAAA records instead.
type nameServer struct {
	conn net.PacketConn

	mu        sync.Mutex // guards addresses
	addresses []netip.Addr
}

func newNameServer(t *testing.T, addresses ...netip.Addr) *nameServer {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	s := &nameServer{conn: conn, addresses: addresses}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve()
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "udp4", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	buffer := make([]byte, 512)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = s.conn.WriteTo(s.answer(buffer[:n]), from)
	}
}

// answer returns the response to a query with one question (RFC 1035 §4.1).
func (s *nameServer) answer(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[12 : end+5]
	kind := binary.BigEndian.Uint16(question[len(question)-4:])
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	s.mu.Lock()
	defer s.mu.Unlock()
	address := s.addresses[0].AsSlice()
	if kind != map[int]uint16{4: 1, 16: 28}[len(address)] {
		return answer
	}
	answer[7] = 1
	answer = append(answer, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(address)))
	answer = append(answer, address...)
	if len(s.addresses) > 1 {
		s.addresses = s.addresses[1:]
	}
	return answer
}
