package chaos

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// A blackhole drops packets, as a broken network does: the connection gets no end and no
// reset until the toxic is removed, which closes it.
type blackhole struct{}

// Counters of pieces that were dropped, stalled and delayed.
var dropped, stalled, delayed atomic.Int64

func (*blackhole) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			dropped.Add(1)
		}
	}
}

// Cleanup closes the connection, since its stream has a gap.
func (*blackhole) Cleanup(stub *toxics.ToxicStub) { stub.Close() }

// A stall withholds packets and delivers them when it is removed.
type stall struct{}

func (*stall) Pipe(stub *toxics.ToxicStub) {
	select {
	case <-stub.Interrupt:
	case c := <-stub.Input:
		if c == nil {
			stub.Close()
			return
		}
		stalled.Add(1)
		<-stub.Interrupt
		stub.Output <- c
	}
}

func init() {
	toxics.Register("meter", new(meter))
	toxics.Register("hole", new(blackhole))
	toxics.Register("lag", new(lag))
	toxics.Register("stall", new(stall))
}

// A lag delays packets, in their order.
type lag struct {
	Milliseconds int64 `json:"ms"`
	Jitter       int64 `json:"jitter"` // greatest random deviation
}

func (l *lag) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			delayed.Add(1)
			late := l.Milliseconds - l.Jitter + rand.Int64N(2*l.Jitter+1)
			select {
			case <-time.After(time.Duration(late)*time.Millisecond - time.Since(c.Timestamp)):
			case <-stub.Interrupt:
				stub.Output <- c
				return
			}
			stub.Output <- c
		}
	}
}

// GetBufferSize makes sure that a slow link has enough throughput.
func (*lag) GetBufferSize() int { return 1024 }

// A meter counts the connections of every link.
type meter struct {
	Pair string `json:"pair"`
}

var connections = struct {
	sync.Mutex
	count map[string]int
}{count: map[string]int{}}

func (m *meter) Pipe(stub *toxics.ToxicStub) { new(toxics.NoopToxic).Pipe(stub) }

// NewState is called for each connection.
func (m *meter) NewState() any {
	connections.Lock()
	defer connections.Unlock()
	connections.count[m.Pair]++
	return nil
}

// dialled returns how often p.from has opened a connection to p.to.
func dialled(p pair) int {
	connections.Lock()
	defer connections.Unlock()
	return connections.count[p.from+"-"+p.to]
}
