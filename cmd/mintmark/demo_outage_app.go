package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// requestsPerSecond is how often the application calls.
const requestsPerSecond = 50

// A demoApp calls the resource server all the time, one call after the other.
type demoApp struct {
	url     string
	client  *http.Client
	access  atomic.Pointer[string]
	refresh string // of the goroutine that runs the chapters

	mu     sync.Mutex
	second requestCounts // mu; since somebody looked at the last second
	step   requestCounts // mu; since a chapter began
}

// requestCounts are what came of some calls.
type requestCounts struct {
	all, accepted int
	slowest       time.Duration
	other         int // the last status that was not 200; 0 for no answer
}

func newDemoApp(url string, first oauth.TokenResponse) *demoApp {
	a := &demoApp{url: url, client: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8},
	}}
	a.setTokens(first)
	return a
}

// setTokens has the application go on with other tokens.
func (a *demoApp) setTokens(t oauth.TokenResponse) {
	a.access.Store(&t.AccessToken)
	a.refresh = t.RefreshToken
}

func (a *demoApp) run(ctx context.Context) {
	pace := time.NewTicker(time.Second / requestsPerSecond)
	defer pace.Stop()
	for {
		began := time.Now()
		status := a.request(ctx, *a.access.Load())
		if ctx.Err() != nil {
			return
		}
		a.record(status, time.Since(began))
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// request makes one call and tells the status, 0 where there is no answer.
func (a *demoApp) request(ctx context.Context, token string) (status int) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/v2/bookings", nil)
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := a.client.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

func (a *demoApp) accepted(ctx context.Context, token string) bool {
	return a.request(ctx, token) == http.StatusOK
}

func (a *demoApp) refused(ctx context.Context, token string) bool {
	return a.request(ctx, token) == http.StatusUnauthorized
}

func (a *demoApp) record(status int, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range []*requestCounts{&a.second, &a.step} {
		c.all++
		c.slowest = max(c.slowest, took)
		if status == http.StatusOK {
			c.accepted++
		} else {
			c.other = status
		}
	}
}

// beginStep forgets what came of the calls of the chapter before.
func (a *demoApp) beginStep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step = requestCounts{}
}

// stepCounts is what came of the calls of this chapter.
func (a *demoApp) stepCounts() requestCounts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.step
}

func (a *demoApp) lastSecond() requestCounts {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.second
	a.second = requestCounts{}
	return c
}

func (c requestCounts) refused() int { return c.all - c.accepted }

func (c requestCounts) String() string {
	if c.refused() == 0 {
		return fmt.Sprintf("%d calls, all answered 200, slowest %s", c.all, roughly(c.slowest))
	}
	return fmt.Sprintf("%d calls, %d answered 200 and %d otherwise (%d), slowest %s", c.all, c.accepted, c.refused(), c.other, roughly(c.slowest))
}
