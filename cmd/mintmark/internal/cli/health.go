package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

var errNoListener = errors.New("nothing listens there")

// healthCommand asks a node of this machine for /readyz, for the health check of a
// container, which has no other program.
func healthCommand() *cobra.Command {
	var timeout time.Duration
	c := command("health", "Ask the node of this machine whether it is ready; the exit code is 0 or 1", func(cmd *cobra.Command, _ []string) error {
		o, _, err := config.Read(cmd.Flags(), os.Environ(), installed)
		if err != nil {
			return err
		}
		return askReady(cmd, o.OpsListen, o.OpsTLS.Cert != "", timeout)
	})
	c.Long = c.Short + `.

It asks /readyz at --ops-listen, which it reads as "mintmark serve" does, and
without --config from /etc/mintmark/mintmark.yaml if that is there. A node of
"mintmark dev" has another address at each start: give the one that it prints.
The exit code is 1 if the node does not answer in time, or is not ready: standard
error has the checks that failed. Use it to stop sending requests to a node, not
to restart it.`
	o := config.Default()
	o.Flags(c.Flags())
	config.DurationVar(c.Flags(), &timeout, "timeout", 5*time.Second, "how long the node may take to answer")
	return c
}

func askReady(cmd *cobra.Command, listener string, secure bool, timeout time.Duration) error {
	address, scheme := reachableHere(listener), "http://"
	if secure {
		scheme = "https://"
	}
	r, err := http.NewRequestWithContext(cmdContext(cmd), http.MethodGet, scheme+address+"/readyz?verbose", nil)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	// The certificate is for the names by which others reach the node. The request has no
	// secret, and goes to this machine.
	client := http.Client{Timeout: timeout, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := client.Do(r)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("ask for health at %s: %w", address, errNoListener)
	case err != nil:
		return fmt.Errorf("ask for health: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	switch {
	case err != nil:
		return fmt.Errorf("ask for health: %w", err)
	case answer.StatusCode == http.StatusOK:
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready")
		return err
	}
	var failed []string
	for line := range strings.Lines(string(text)) {
		if check, found := strings.CutPrefix(line, "[-]"); found {
			failed = append(failed, strings.TrimSpace(check))
		}
	}
	return fmt.Errorf("the node at %s is not ready (status %d): %s", address, answer.StatusCode, strings.Join(failed, "; "))
}

// reachableHere returns the address at which a listener is reached from this machine: the
// loopback for one on every address.
func reachableHere(listener string) string {
	host, port, _ := net.SplitHostPort(listener)
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		if host = "127.0.0.1"; ip.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
