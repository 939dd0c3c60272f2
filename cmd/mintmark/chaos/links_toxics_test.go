package chaos

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// A hole swallows packets, as a dead network does: no end and no reset, until
// it is taken away and the connection with it.
type blackhole struct{}

// What the network did so far: pieces that holes took, that stalls held up, and
// that came late.
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

// Cleanup ends the connection: a stream with a gap would be no stream.
func (*blackhole) Cleanup(stub *toxics.ToxicStub) { stub.Close() }

// A stall holds packets back and lets them go when it is taken away.
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

// A lag delivers packets late, in their order.
type lag struct {
	Milliseconds int64 `json:"ms"`
	Jitter       int64 `json:"jitter"` // so many more or less, at random
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

// GetBufferSize keeps a slow link from being a narrow one.
func (*lag) GetBufferSize() int { return 1024 }

// A meter is on every link and counts its connections.
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

// dialled is how often p.from has opened a connection to p.to.
func dialled(p pair) int {
	connections.Lock()
	defer connections.Unlock()
	return connections.count[p.from+"-"+p.to]
}
