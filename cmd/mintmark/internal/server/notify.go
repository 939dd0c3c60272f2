package server

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// startGrace is how long a start may wait for other nodes, for the clock or for an
// operator. Then the service manager is told that the service is started, which ends its
// own waiting: the operators' socket and /readyz report the reason meanwhile.
const startGrace = 3 * time.Second

// A notifier reports to the service manager (systemd's sd_notify) that the node is
// started, waits, reloads or stops, and that its process lives. Without a service manager
// it does nothing.
type notifier struct {
	send func(state string) // never fails: a node serves without a service manager

	mu      sync.Mutex // guards the fields below
	started bool       // READY=1 was sent
	grace   *time.Timer
}

// newNotifier returns a notifier of the service manager that started this process.
func newNotifier(log *slog.Logger) *notifier {
	var once sync.Once
	return &notifier{send: func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			once.Do(func() { log.Warn("service manager not notified", "error", err) })
		}
	}}
}

// waiting reports why the node waits. A node that waits for startGrace counts as started.
func (n *notifier) waiting(why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status("waiting: " + why)
	if n.grace == nil {
		n.grace = time.AfterFunc(startGrace, n.ready)
	}
}

// serving reports that the node serves at an address.
func (n *notifier) serving(address string) {
	n.ready()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status("serving " + address)
}

// status reports one line for people.
func (n *notifier) status(text string) {
	n.send("STATUS=" + strings.ReplaceAll(text, "\n", " "))
}

// ready reports once that the service is started.
func (n *notifier) ready() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.started {
		n.started = true
		n.send(daemon.SdNotifyReady)
	}
}

// reloading reports a reload of the settings while f does it. A start is not over because
// of it.
func (n *notifier) reloading(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.started {
		f()
		return
	}
	n.send(daemon.SdNotifyReloading)
	f()
	n.send(daemon.SdNotifyReady)
}

// stopping reports that the node stops.
func (n *notifier) stopping() { n.send(daemon.SdNotifyStopping) }

// keepAlive reports that the process lives, three times in each interval of the service
// manager's watchdog, until stop is called. It never depends on what the node waits for: a
// slow disk, a lost majority or a slow stop is no reason to restart it.
func (n *notifier) keepAlive() (stop func(), err error) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return func() {}, fmt.Errorf("read the watchdog's interval: %w", err)
	}
	if every == 0 {
		return func() {}, nil
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		alive := time.NewTicker(every / 3)
		defer alive.Stop()
		for {
			n.send(daemon.SdNotifyWatchdog)
			select {
			case <-alive.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }, nil
}
