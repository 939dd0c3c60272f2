package chaos

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// exchangedGrant makes a grant of a client whose secrets or state are under test, and
// exchanges its code with one of the client's secrets.
func (l *load) exchangedGrant(ctx context.Context, a *application, b *browser, client string, secret int) *grant {
	for ctx.Err() == nil {
		if g := b.allow(ctx, client); g != nil {
			if g.secret = secret; l.redeem(ctx, a, g) {
				return g
			}
			l.release(g)
		}
		backOff(ctx)
	}
	return nil
}

// mostSecrets is the number of secrets that the model can represent, with room for some
// whose outcome is pending.
const mostSecrets = bits.UintSize - 4

// rotateSecrets rotates the secrets of one client, up to mostSecrets: add, switch,
// revoke, and use a revoked one.
func (l *load) rotateSecrets(ctx context.Context) {
	a, b := newApplication(l.env), newBrowser(l.env)
	current := 0
	for ctx.Err() == nil && l.env.secretCount() < mostSecrets {
		g := l.exchangedGrant(ctx, a, b, turning, current)
		if g == nil {
			return
		}
		for alive := true; alive && ctx.Err() == nil && l.env.secretCount() < mostSecrets; {
			next, added := l.addSecret(ctx)
			if !added {
				backOff(ctx)
				continue
			}
			alive = l.step(ctx, a, g, next)
			for ctx.Err() == nil && l.revokeSecret(current).Class == unknown {
				backOff(ctx)
			}
			for _, n := range l.env.c.all() {
				if n.Running() {
					a.refresh(ctx, n, g, g.gen(), current) // invalid_client, regardless of the token
				}
			}
			current = next
			for i := 0; alive && i < 20; i++ {
				alive = l.step(ctx, a, g, current)
			}
		}
		l.release(g)
	}
}

// secretCount returns the number of secrets so far.
func (w *env) secretCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.secrets[turning])
}

// addSecret adds a generated secret. If the answer is lost, the list of secrets shows
// whether it was added and with which id.
func (l *load) addSecret(ctx context.Context) (number int, added bool) {
	text := random("secret")
	file := filepath.Join(l.env.c.dir, "new-secret")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, false
	}
	l.env.mu.Lock()
	number = len(l.env.secrets[turning])
	l.env.secrets[turning] = append(l.env.secrets[turning], secret{text: text})
	l.env.mu.Unlock()
	o := l.command(addSecret, op{Client: turning, Secret: number}, "client", "secret", "add", turning, "--secret-file", file)
	switch o.Class {
	case refused:
		l.adopt(ctx)
		return 0, false
	case ok:
		return number, l.identify(ctx, number, 2*clientTimeout)
	}
	return number, l.identify(ctx, number, clientTimeout)
}

// identify finds the id of the secret that was added last.
func (l *load) identify(ctx context.Context, number int, limit time.Duration) bool {
	return testkit.Until(limit, func() bool {
		for _, id := range l.env.secretIDs(l.env.c.any(), turning) {
			l.env.mu.Lock()
			fresh := !slices.ContainsFunc(l.env.secrets[turning], func(s secret) bool { return s.id == id })
			if fresh {
				l.env.secrets[turning][number].id = id
			}
			l.env.mu.Unlock()
			if fresh {
				return true
			}
		}
		return ctx.Err() != nil
	}) && ctx.Err() == nil
}

// adopt revokes a secret that was added after its request counted as failed, because it
// occupies the slot of the next one.
func (l *load) adopt(ctx context.Context) {
	l.env.mu.Lock()
	var lost []int
	for n, s := range l.env.secrets[turning] {
		if s.id == "" {
			lost = append(lost, n)
		}
	}
	l.env.mu.Unlock()
	// The last is the one that was refused just now.
	if len(lost) == 2 && l.identify(ctx, lost[0], time.Second) {
		l.revokeSecret(lost[0])
	}
	l.env.mu.Lock()
	if last := len(l.env.secrets[turning]) - 1; l.env.secrets[turning][last].id == "" {
		l.env.secrets[turning][last].id = "refused"
	}
	l.env.mu.Unlock()
}

func (l *load) revokeSecret(number int) op {
	l.env.mu.Lock()
	id := l.env.secrets[turning][number].id
	l.env.mu.Unlock()
	return l.command(revokeSecret, op{Client: turning, Secret: number}, "client", "secret", "revoke", turning, id)
}

// toggle suspends and reinstates one client repeatedly and uses it meanwhile.
func (l *load) toggle(ctx context.Context) {
	a, b := newApplication(l.env), newBrowser(l.env)
	g := l.exchangedGrant(ctx, a, b, toggling, 0)
	if g == nil {
		return
	}
	defer l.release(g)
	for ctx.Err() == nil {
		l.command(suspend, op{Client: toggling}, "client", "suspend", toggling)
		l.tryAll(ctx, a, g)
		for ctx.Err() == nil && l.command(resume, op{Client: toggling}, "client", "resume", toggling).Class == unknown {
			backOff(ctx)
		}
		l.tryAll(ctx, a, g)
		select {
		case <-time.After(time.Duration(100+rand.IntN(200)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// tryAll uses a grant once on each node, in any state of its client.
func (l *load) tryAll(ctx context.Context, a *application, g *grant) {
	for _, n := range l.env.c.all() {
		if !n.Running() {
			continue
		}
		if o, next := a.refresh(ctx, n, g, g.gen(), 0); o.Class == ok && o.Got == g.gen()+1 {
			g.tokens = append(g.tokens, next)
		}
	}
}
