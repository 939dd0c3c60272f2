package chaos

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A pair is a direction between two nodes.
type pair struct{ from, to string }

// links are the proxies between the nodes: one for each pair, which the node "from" dials
// to reach the node "to". Packets from i to j are the requests of (i, j) and the answers
// of (j, i), so that each direction can be cut separately.
type links struct {
	server *toxiproxy.ApiServer

	mu      sync.Mutex
	proxies map[pair]*toxiproxy.Proxy // guarded by mu
}

func newLinks() *links {
	return &links{
		server:  toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		proxies: map[pair]*toxiproxy.Proxy{},
	}
}

// address returns the address at which "from" reaches "to", which listens on upstream.
func (l *links) address(t testing.TB, p pair, upstream string) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.proxies[p]; old != nil {
		return old.Listen
	}
	proxy := toxiproxy.NewProxy(l.server, p.from+"-"+p.to, clustertest.Address(t), upstream)
	_, err := proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
		`{"name":"meter","type":"meter","stream":"upstream","attributes":{"pair":%q}}`, proxy.Name)))
	require.NoError(t, err)
	require.NoError(t, proxy.Start())
	l.proxies[p] = proxy
	t.Cleanup(proxy.Stop)
	return proxy.Listen
}

// disturb puts a toxic on all packets from p.from to p.to.
func (l *links) disturb(p pair, kind, attributes string) error {
	return l.eachStream(p, func(proxy *toxiproxy.Proxy, stream string) error {
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
			`{"name":"%s-%s","type":"%s","stream":"%s","attributes":{%s}}`, kind, stream, kind, stream, attributes)))
		return err
	})
}

// calm removes such a toxic.
func (l *links) calm(p pair, kind string) error {
	return l.eachStream(p, func(proxy *toxiproxy.Proxy, stream string) error {
		return proxy.Toxics.RemoveToxic(context.Background(), kind+"-"+stream)
	})
}

func (l *links) eachStream(p pair, do func(*toxiproxy.Proxy, string) error) error {
	l.mu.Lock()
	requests, answers := l.proxies[p], l.proxies[pair{p.to, p.from}]
	l.mu.Unlock()
	if requests == nil || answers == nil {
		return fmt.Errorf("no link between %s and %s", p.from, p.to)
	}
	if err := do(requests, "upstream"); err != nil {
		return err
	}
	return do(answers, "downstream")
}

// reset closes the connections that p.from has opened to p.to, in the middle of their
// traffic.
func (l *links) reset(p pair) error {
	l.mu.Lock()
	proxy := l.proxies[p]
	l.mu.Unlock()
	proxy.Stop()
	// A connection attempt to a closed port may briefly occupy the port itself.
	var err error
	if !testkit.Until(eventually, func() bool { err = proxy.Start(); return err == nil }) {
		return err
	}
	return nil
}

// TestLinks: the network that the other tests use follows its orders.
func TestLinks(t *testing.T) {
	echo := newEcho(t)
	l := newLinks()
	ab, ba := pair{"a", "b"}, pair{"b", "a"}
	address := l.address(t, ab, echo)
	l.address(t, ba, echo)

	require.NoError(t, says(t, address))
	for _, way := range []pair{ab, ba} {
		before := dropped.Load()
		require.NoError(t, l.disturb(way, "hole", ""))
		require.ErrorIs(t, says(t, address), errSilence, "from %s", way.from)
		require.Greater(t, dropped.Load(), before)
		require.NoError(t, l.calm(way, "hole"))
		require.NoError(t, says(t, address))
	}

	c := dialEcho(t, address)
	require.NoError(t, l.disturb(ab, "stall", ""))
	_, err := c.Write([]byte("later\n"))
	require.NoError(t, err)
	require.True(t, testkit.Until(eventually, func() bool { return stalled.Load() > 0 }))
	require.NoError(t, l.calm(ab, "stall"))
	line, err := c.lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "later\n", line)

	before := dialled(ab)
	require.Positive(t, before)
	require.NoError(t, l.reset(ab))
	_, err = c.lines.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, says(t, address), "the same address")
	require.Greater(t, dialled(ab), before)

	require.NoError(t, l.disturb(ab, "lag", `"ms": 50, "jitter": 10`))
	began, lagged := time.Now(), delayed.Load()
	require.NoError(t, says(t, address))
	require.GreaterOrEqual(t, time.Since(began), 40*time.Millisecond)
	require.Greater(t, delayed.Load(), lagged)
}
