package machine

import (
	"context"
	"sync"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// progress is the index up to which the log was applied.
type progress struct {
	mu      sync.Mutex
	index   uint64
	changed chan struct{} // closed at the next advance; nil without waiters
}

// advance commits and sets the index in one step, so that at can return a view together
// with its index. commit only swaps a pointer.
func (p *progress) advance(index uint64, commit func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	commit()
	p.index = index
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// applied returns the index.
func (p *progress) applied() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.index
}

// wait returns when index was applied.
func (p *progress) wait(ctx context.Context, stop <-chan struct{}, index uint64) error {
	for {
		p.mu.Lock()
		if p.index >= index {
			p.mu.Unlock()
			return nil
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		moved := p.changed
		p.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			return command.ErrClosed
		}
	}
}

// with calls f with the index while no commit can happen.
func (p *progress) with(f func(index uint64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.index)
}
