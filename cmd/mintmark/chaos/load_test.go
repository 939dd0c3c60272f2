package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// A load is the continuous activity of clients until it is stopped.
type load struct {
	env  *env
	ctx  context.Context // ends with the load
	stop context.CancelFunc
	all  sync.WaitGroup

	mu     sync.Mutex
	grants []*grant // released by their workers; guarded by mu
}

// chains is the number of grants that are used on all nodes at a time. In addition each
// node has a grant of its own: a client that waits for a node that can't answer must not
// hide that the others can.
const chains = 4

func startLoad(w *env) *load {
	if w.agents == nil {
		w.agents = w.admitAgents()
	}
	l := startChains(w)
	l.all.Go(func() { l.rotateSecrets(l.ctx) })
	l.all.Go(func() { l.toggle(l.ctx) })
	for _, it := range w.agents {
		l.all.Go(func() { l.useAgent(l.ctx, it) })
		l.all.Go(func() { l.reviewPublisher(l.ctx, it.publisher) })
	}
	return l
}

// startChains starts a load of grants only. It can be started again.
func startChains(w *env) *load {
	l := &load{env: w}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.all.Go(func() { w.keyLog.watch(l.ctx) })
	for i := range chains {
		l.all.Go(func() { l.chain(l.ctx, w.c.any, steady[i%len(steady)]) })
	}
	for _, n := range w.c.all() {
		l.all.Go(func() { l.chain(l.ctx, w.c.named(n.Name), steady[0]) })
	}
	return l
}

// end stops the load and waits for all answers.
func (l *load) end() {
	l.stop()
	l.all.Wait()
}

// release passes a grant to the final check.
func (l *load) release(g *grant) {
	l.mu.Lock()
	l.grants = append(l.grants, g)
	l.mu.Unlock()
}

// backOff pauses after a request that could not be answered, as clients do; it also keeps
// the history short enough to be checked.
func backOff(ctx context.Context) {
	select {
	case <-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond):
	case <-ctx.Done():
	}
}

// chance returns true with the given probability.
func chance(percent int) bool { return rand.IntN(100) < percent }

// chain makes grants one after the other and uses each for a while.
func (l *load) chain(ctx context.Context, pick func() *node, client string) {
	a, b := newApplication(l.env), newBrowser(l.env)
	a.pick, b.pick = pick, pick
	for ctx.Err() == nil {
		g := b.allow(ctx, client)
		if g == nil {
			backOff(ctx)
			continue
		}
		if l.redeem(ctx, a, g) {
			l.use(ctx, a, g)
		}
		l.release(g)
	}
}

// redeem exchanges the code, sometimes several times concurrently. It returns false if
// the grant has no token afterwards.
func (l *load) redeem(ctx context.Context, a *application, g *grant) bool {
	if chance(5) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				a.exchange(ctx, a.pick(), &grant{client: g.client, publisher: g.publisher, id: g.id, code: g.code, secret: g.secret}, false)
			})
		}
		all.Wait()
		// One may have succeeded, and the others have ended the grant.
		return false
	}
	for tries := 0; ctx.Err() == nil && tries < maxTries; tries++ {
		o, next := a.exchange(ctx, a.pick(), g, false)
		switch o.Class {
		case ok:
			g.tokens = append(g.tokens, next)
			return true
		case refused, unknown: // the code may have been used: the user must authorize again
			return false
		}
		backOff(ctx)
	}
	return false
}

// maxTries bounds the unanswered requests for one credential: each unknown outcome
// doubles the work of the check.
const maxTries = 12

// use refreshes for a while, and sometimes ends the grant.
func (l *load) use(ctx context.Context, a *application, g *grant) {
	for range 5 + rand.IntN(30) {
		if ctx.Err() != nil || !l.step(ctx, a, g, 0) {
			return
		}
		if chance(10) {
			a.me(ctx, a.pick(), g)
		}
	}
	switch {
	case chance(30):
		l.reuseToken(ctx, a, g)
	case chance(15):
		l.revoke(ctx, a, g)
	}
}

// step advances a grant by one generation, as clients do: responses are lost, requests
// are sent twice, and unanswered requests are repeated. It returns false if the grant
// can't continue.
func (l *load) step(ctx context.Context, a *application, g *grant, secret int) bool {
	gen := g.gen()
	switch {
	case chance(6): // the response is lost
		short, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(6000))*time.Microsecond)
		a.refresh(short, a.pick(), g, gen, secret)
		cancel()
	case chance(6): // sent twice
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				copied := *g
				a.refresh(ctx, a.pick(), &copied, gen, secret)
			})
		}
		all.Wait()
	}
	for tries := 0; ctx.Err() == nil && tries < maxTries; tries++ {
		o, next := a.refresh(ctx, a.pick(), g, gen, secret)
		switch {
		case o.Class == ok:
			if o.Got == gen+1 {
				g.tokens = append(g.tokens, next)
			}
			return o.Got == gen+1
		case o.Class == refused:
			return false // the models determine whether this is right
		}
		backOff(ctx)
	}
	return false
}

// reuseToken presents a token that was used long before, until a node answers. After that
// no node accepts any member of the grant.
func (l *load) reuseToken(ctx context.Context, a *application, g *grant) {
	if g.gen() < 3 {
		return
	}
	for tries := 0; ctx.Err() == nil && tries < maxTries; tries++ {
		if o, _ := a.refresh(ctx, a.pick(), g, 1+rand.Uint32N(g.gen()-2), 0); o.Class == refused {
			l.everywhere(ctx, a, g)
			return
		}
		backOff(ctx)
	}
}

// revoke ends a grant with an operator's command.
func (l *load) revoke(ctx context.Context, a *application, g *grant) {
	o := l.command(revokeGrant, op{Grant: g.id}, "grant", "revoke", g.id)
	if o.Class == ok {
		l.everywhere(ctx, a, g)
	}
}

// everywhere presents the newest token of an ended grant to each node.
func (l *load) everywhere(ctx context.Context, a *application, g *grant) {
	g.ended = true
	for _, n := range l.env.c.all() {
		if n.Running() {
			a.refresh(ctx, n, g, g.gen(), 0)
		}
	}
}

// command runs an operators' command on a node as an op of the history.
func (l *load) command(k kind, o op, arguments ...string) op {
	n := l.env.c.any()
	o.Kind, o.Node = k, n.Name
	l.env.h.begin(n.Name)
	o.Start = l.env.c.now()
	a := n.run(arguments...)
	o.End = l.env.c.now()
	switch a.Code {
	case exitOK:
		o.Class = ok
	case exitRefused, exitNotFound:
		o.Class, o.Code = refused, a.Err
	default:
		o.Class = unknown
	}
	l.env.h.end(o)
	return o
}
