package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

func demoOutageCommand() *cobra.Command {
	var fast, verbose bool
	c := &cobra.Command{
		Use:   "outage",
		Short: "Show what callers notice of an outage, new keys, a flood and a disconnection",
		Long: `Start a node in a temporary folder, a resource server that trusts it, and an
application that calls that all the time, and show what the application notices
while the node is stopped and started again, while strangers send tokens of keys
that nobody has, while the signing key is rotated and then taken away, and when
the user disconnects the application.

It ends by itself in less than a minute, with a table of what was promised and
what was measured, and with an exit code other than 0 where a promise was broken.
Nothing is left behind.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := normalPace
			if fast {
				p = fastPace
			}
			log := io.Discard
			if verbose {
				log = c.ErrOrStderr()
			}
			return runOutage(c.Context(), p, c.OutOrStdout(), log)
		},
	}
	c.Flags().BoolVar(&fast, "fast", false, "wait less: the outage is a short one")
	c.Flags().BoolVar(&verbose, "verbose", false, "show the node's log on standard error")
	return c
}

// A pace is how long things take that could take any time.
type pace struct {
	calm   time.Duration // before something happens
	outage time.Duration
	maxAge time.Duration // of the key set; a new key signs after two of them
}

// A verifier asks for the keys each ten seconds, however short max-age is. So a
// person who watches sees it ask in vain, and two of watched's max-ages are enough
// for it to learn a key before that signs.
var (
	normalPace = pace{calm: 1500 * time.Millisecond, outage: 9 * time.Second, maxAge: 5 * time.Second}
	fastPace   = pace{calm: 300 * time.Millisecond, outage: 1500 * time.Millisecond, maxAge: time.Second}
)

// An outageDemo is all that the demonstration has. It runs in one process, but
// its three parts meet over HTTP. What operators and Dana do is done as their
// commands and pages do it.
type outageDemo struct {
	pace
	*transcript
	node    *demoNode    // the issuer
	service *demoService // the resource server
	app     *demoApp     // who calls it

	nextKeyID          string // the key that a rotation brings
	fetchesBeforeFlood int64  // fetches for unknown kids before the flood
}

// runOutage tells the whole tale and says whether what was promised was kept.
func runOutage(ctx context.Context, p pace, out, log io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &outageDemo{pace: p, transcript: newTranscript(ctx, out)}
	var background sync.WaitGroup
	defer func() {
		cancel()
		background.Wait()
		err = errors.Join(err, d.close())
	}()
	if err := d.open(ctx, log); err != nil {
		return d.interrupted(ctx, err)
	}
	background.Go(func() { d.app.run(ctx) })
	background.Go(func() { d.printEachSecond(ctx) })
	for _, chapter := range []func(context.Context) error{
		d.beginOutage, d.endOutage, d.beginRotation, d.floodUnknownKids, d.endRotation, d.leakKey, d.disconnectUser,
	} {
		if err = chapter(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return d.interrupted(ctx, err)
		}
	}
	return d.conclude()
}

// interrupted is what a person is told who did not wait for the end.
func (d *outageDemo) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted before everything was shown")
	}
	return err
}

func (d *outageDemo) open(ctx context.Context, log io.Writer) (err error) {
	if d.node, err = newDemoNode(ctx, d.maxAge, log); err != nil {
		return fmt.Errorf("start the issuer: %w", err)
	}
	d.event("A node of Mintmark runs at %s, in a temporary folder.", d.node.base())
	if d.service, err = newDemoService(d.node); err != nil {
		return fmt.Errorf("start the resource server: %w", err)
	}
	d.event("A resource server runs at %s. It verifies tokens by itself, and reads the feed of what was revoked.", d.service.url)
	first, err := d.node.connect(ctx)
	if err != nil {
		return fmt.Errorf("connect the application: %w", err)
	}
	d.app = newDemoApp(d.service.url, first)
	if took, ok := waitUntil(ctx, stepTimeout, func() bool { return d.service.isReady() && d.app.accepted(ctx, first.AccessToken) }); !ok {
		return fmt.Errorf("the resource server takes no token after %s", roughly(took))
	}
	d.event("Dana has connected her calendar, which calls GET /v2/bookings %d times a second from now on.", requestsPerSecond)
	return nil
}

func (d *outageDemo) close() error {
	var errs []error
	if d.service != nil {
		errs = append(errs, d.service.close())
	}
	if d.node != nil {
		errs = append(errs, d.node.close())
	}
	return errors.Join(errs...)
}

// printEachSecond says how the application fares, and the resource server.
func (d *outageDemo) printEachSecond(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			d.status("%s; %s", d.app.lastSecond(), d.service.state())
		case <-ctx.Done():
			return
		}
	}
}
