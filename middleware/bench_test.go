package middleware_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// guards are the ways to put a guard before a handler, all of which let the
// token pass.
func guards(b *testing.B) (handlers map[string]http.Handler, token string) {
	issuer := verifiertest.NewIssuer()
	b.Cleanup(issuer.Close)
	v, err := verifier.New(issuer.Config())
	require.NoError(b, err)
	b.Cleanup(v.Close)
	rules, err := policy.New(policy.Scheduling(), policy.Config{
		Member: func(context.Context, *verifier.Claims, policy.Kind, string) (bool, error) { return true, nil },
	})
	require.NoError(b, err)
	g := middleware.New(v)
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	return map[string]http.Handler{
		"bare":    bare,
		"require": g.Require("TEAM_EVENT_TYPE_READ")(bare),
		"enforce": g.Enforce(rules)(bare),
	}, issuer.Token(verifiertest.Scope("TEAM_EVENT_TYPE_READ"))
}

const benchTarget = "/v2/organizations/4217/teams/981/event-types/55/private-links"

// What a guard costs by itself, for a token that has been seen before.
func BenchmarkGuard(b *testing.B) {
	handlers, token := guards(b)
	for _, name := range []string{"bare", "require", "enforce"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", benchTarget, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				w.Body.Reset()
				handlers[name].ServeHTTP(w, r)
			}
			require.Equal(b, http.StatusOK, w.Code)
		})
	}
}

// What a guard costs a service: requests a second over loopback, eight clients
// at once, in turn with the bare handler's, so that what else the machine does
// falls on both. Metrics: requests a second of the bare handler, and by how many
// percent the guards have fewer (the median of the rounds).
func BenchmarkGuardOverTheWire(b *testing.B) {
	handlers, token := guards(b)
	names := []string{"bare", "require", "enforce"}
	request := "GET " + benchTarget + " HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	clients := map[string][]*client{}
	for _, name := range names {
		server := httptest.NewServer(handlers[name])
		b.Cleanup(server.Close)
		for range 8 {
			clients[name] = append(clients[name], dial(b, strings.TrimPrefix(server.URL, "http://")))
		}
	}
	round := func(name string, requests int) time.Duration {
		began := time.Now()
		var done sync.WaitGroup
		for _, c := range clients[name] {
			done.Go(func() {
				for range requests {
					if err := c.ask(request); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		done.Wait()
		return time.Since(began)
	}
	for _, name := range names {
		round(name, 100)
	}
	rates, fewer := []float64{}, map[string][]float64{}
	const requests = 50
	for b.Loop() {
		before := round("bare", requests)
		took := map[string]time.Duration{}
		for _, name := range names[1:] {
			took[name] = round(name, requests)
		}
		bare := (before + round("bare", requests)) / 2
		rates = append(rates, 8*requests/bare.Seconds())
		for name, d := range took {
			fewer[name] = append(fewer[name], 100*(1-float64(bare)/float64(d)))
		}
	}
	b.ReportMetric(median(rates), "bare-req/s")
	b.ReportMetric(median(fewer["require"]), "require-%")
	b.ReportMetric(median(fewer["enforce"]), "enforce-%")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// client is a connection that costs little itself.
type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(b *testing.B, address string) *client {
	c, err := net.Dial("tcp", address)
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return &client{c, bufio.NewReader(c)}
}

func (c *client) ask(request string) error {
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return res.Body.Close()
}
