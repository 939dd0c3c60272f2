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
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// guards returns a handler behind each kind of guard, all of which accept the token.
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
	g := middleware.New(v, middleware.Config{})
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	return map[string]http.Handler{
		"bare":    bare,
		"require": g.Require("TEAM_EVENT_TYPE_READ")(bare),
		"enforce": g.Enforce(rules)(bare),
	}, issuer.Token(verifiertest.Scope("TEAM_EVENT_TYPE_READ"))
}

const benchTarget = "/v2/organizations/4217/teams/981/event-types/55/private-links"

// BenchmarkGuard measures a guard alone, with a cached token: "best-ns/op" is the fastest
// round, without other load of the machine.
func BenchmarkGuard(b *testing.B) {
	handlers, token := guards(b)
	for _, name := range []string{"bare", "require", "enforce"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", benchTarget, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			const round = 64
			best := time.Hour
			for done := 0; done < b.N; done += round {
				began := time.Now()
				for range round {
					w.Body.Reset()
					handlers[name].ServeHTTP(w, r)
				}
				best = min(best, time.Since(began))
			}
			b.ReportMetric(float64(best.Nanoseconds())/round, "best-ns/op")
			require.Equal(b, http.StatusOK, w.Code)
		})
	}
}

// BenchmarkGuardOverTheWire measures requests a second over loopback, from eight clients,
// as a share of the bare handler's. Each round is between two rounds of the bare handler
// on the same connections, so that other load of the machine affects both; the result is
// the median of many rounds. "-of-bare" is by wall-clock time, for a machine without
// other load. "-of-bare-cpu" is by the CPU time of this process, clients included, and is
// also right on a loaded machine. "bare-of-bare" compares the bare handler with itself,
// and shows the error of the others.
//
//	go test -run '^$' -bench GuardOverTheWire -benchtime 300x ./middleware
func BenchmarkGuardOverTheWire(b *testing.B) {
	handlers, token := guards(b)
	request := "GET " + benchTarget + " HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	var handler atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.Load().(http.Handler).ServeHTTP(w, r)
	}))
	b.Cleanup(server.Close)
	var clients []*client
	for range 8 {
		clients = append(clients, dial(b, strings.TrimPrefix(server.URL, "http://")))
	}
	const requests = 50
	type rate struct{ clock, cpu float64 } // requests a second
	round := func(name string) rate {
		handler.Store(handlers[name])
		began, had := time.Now(), processorTime()
		var done sync.WaitGroup
		for _, c := range clients {
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
		n := float64(len(clients) * requests)
		return rate{n / time.Since(began).Seconds(), n / (processorTime() - had).Seconds()}
	}
	for range 5 {
		for name := range handlers {
			round(name)
		}
	}
	var rates []float64
	byClock, byCPU := map[string][]float64{}, map[string][]float64{}
	for b.Loop() {
		before := round("bare")
		for name := range handlers { // map order is random
			guarded, after := round(name), round("bare")
			// Compared with each separately: the mean of the two would be less biased,
			// but lower than either's median, since disturbances only slow rounds down.
			for _, bare := range []rate{before, after} {
				byClock[name] = append(byClock[name], guarded.clock/bare.clock)
				byCPU[name] = append(byCPU[name], guarded.cpu/bare.cpu)
			}
			rates = append(rates, after.clock)
			before = after
		}
	}
	b.ReportMetric(median(rates), "bare-req/s")
	for name := range handlers {
		b.ReportMetric(median(byClock[name]), name+"-of-bare")
		b.ReportMetric(median(byCPU[name]), name+"-of-bare-cpu")
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// client is a connection with little overhead.
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
