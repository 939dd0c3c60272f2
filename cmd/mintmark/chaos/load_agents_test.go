package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// processes is the number of processes of an agent that share one refresh token.
const processes = 5

// useAgent makes grants for an agent one after the other. Its processes share each of them until
// it ends, or for a while.
func (l *load) useAgent(ctx context.Context, it agent) {
	b := newBrowser(l.env)
	var all []*application
	for range processes {
		all = append(all, newApplication(l.env))
	}
	for ctx.Err() == nil {
		g := b.allowAgent(ctx, it)
		if g == nil {
			backOff(ctx)
			continue
		}
		if l.redeem(ctx, all[0], g) {
			for range 5 + rand.IntN(20) {
				if ctx.Err() != nil || !l.share(ctx, all, g) {
					break
				}
				backOff(ctx)
			}
		}
		l.release(g)
	}
}

// share advances a grant by one generation: all processes present the token that they share, each
// to any node, and those without an answer present it again while others may have a successor
// already. It returns false if the grant can't continue.
func (l *load) share(ctx context.Context, all []*application, g *grant) bool {
	var mu sync.Mutex // guards next and over
	var next string
	over := false
	gen := g.gen()
	var waiting sync.WaitGroup
	for _, a := range all {
		waiting.Go(func() {
			copied := *g
			for tries := 0; ctx.Err() == nil && tries < 3; tries++ {
				o, token := a.refresh(ctx, a.pick(), &copied, gen, 0)
				mu.Lock()
				switch {
				case o.Class == ok && o.Got == gen+1:
					next = token
				case o.Class == refused:
					over = true // the models determine whether this is right
				}
				mu.Unlock()
				if o.Class == ok || o.Class == refused {
					return
				}
				backOff(ctx)
			}
		})
	}
	waiting.Wait()
	if next != "" {
		g.tokens = append(g.tokens, next)
	}
	return next != "" && !over
}

// reviewPublisher changes its ceiling, ends all its grants, and rejects and approves it, again and
// again. The commands are sent one after the other.
func (l *load) reviewPublisher(ctx context.Context, publisher string) {
	pause := func() {
		select {
		case <-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	// until repeats a command until its outcome is known.
	until := func(k kind, ceiling string, arguments ...string) {
		for ctx.Err() == nil && l.command(k, op{Publisher: publisher, Scope: ceiling}, arguments...).Class == unknown {
			backOff(ctx)
		}
	}
	for pause(); ctx.Err() == nil; pause() {
		ceiling := wideCeiling
		if chance(50) {
			ceiling = lowCeiling
		}
		switch rand.IntN(4) {
		case 0:
			until(setCeiling, ceiling, "publisher", "set", publisher, "--scope", flagOf(ceiling))
		case 1:
			until(setCeiling, ceiling, "apply", "--yes", "-f", l.env.declaration(publisher, ceiling))
		case 2:
			l.command(endGrants, op{Publisher: publisher}, "grant", "revoke", "--publisher", publisher)
		default:
			until(rejectPublisher, "", "publisher", "reject", publisher)
			pause()
			until(approvePublisher, ceiling, "publisher", "add", publisher, "--scope", flagOf(ceiling), "--default-scope", lowCeiling, "--long-retry")
		}
	}
	// The last check needs an approved publisher, whatever the load was stopped at.
	for l.command(approvePublisher, op{Publisher: publisher, Scope: wideCeiling},
		"publisher", "add", publisher, "--scope", flagOf(wideCeiling), "--default-scope", lowCeiling, "--long-retry").Class == unknown {
		backOff(context.Background())
	}
}

// declaration writes a file that declares a publisher.
func (w *env) declaration(publisher, ceiling string) string {
	file := filepath.Join(w.c.dir, publisher+".yaml")
	text := "publishers:\n  - {host: " + publisher + ", scopes: [" + flagOf(ceiling) + "], default_scopes: [" + lowCeiling + "], long_retry: true}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Errorf("write a declaration: %v", err)
	}
	return file
}
