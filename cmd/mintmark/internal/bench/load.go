package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A Load is requests of many clients.
type Load struct {
	// URLs are the origins of the servers. Connections are spread over them.
	URLs    []string
	Request Request
	// Clients are each used by one connection only, in turn. What a request changes in
	// them is there when Run returns.
	Clients     []Client
	Connections int // fewer if there are fewer clients
	// Once makes one request for each client. The load ends when that is done, or its
	// time is over.
	Once bool
	// Warmup is loaded but not measured; then Duration is.
	Warmup, Duration time.Duration
	// Rate is how many requests a second begin, over all connections. A request that has
	// to wait for the answer before it counts as slow by that time too. With 0 each
	// connection begins a request when the one before is answered.
	Rate float64
	// Progress is called each second with the requests that were answered in it and the
	// failures so far. It may be nil.
	Progress func(answered, failed int64)
}

// pause is between a failure and the next request of a connection.
const pause = 50 * time.Millisecond

// ErrNoClients is returned where no client is left that a request can be made for.
var ErrNoClients = errors.New("no client can be used any more")

// Run loads until the time is over or ctx ends. The result is that of the time until
// then.
func (l *Load) Run(ctx context.Context) (Result, error) {
	origins := make([]*url.URL, len(l.URLs))
	for i, text := range l.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return Result{}, fmt.Errorf("%q is not an http or https URL", text)
		}
		origins[i] = u
	}
	n := min(l.Connections, len(l.Clients))
	if n < 1 || len(origins) == 0 {
		return Result{}, ErrNoClients
	}
	var answered, failed atomic.Int64
	begin := time.Now().Add(l.Warmup)
	workers := make([]worker, n)
	var running sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		*w = worker{
			load: l, origin: origins[i%len(origins)], begin: begin, end: begin.Add(l.Duration),
			answered: &answered, failed: &failed, failures: map[string]int64{},
			clients: l.Clients[i*len(l.Clients)/n : (i+1)*len(l.Clients)/n],
		}
		if l.Rate > 0 {
			w.every = time.Duration(float64(n) / l.Rate * float64(time.Second))
			w.due = time.Now().Add(time.Duration(i) * w.every / time.Duration(n))
		}
		running.Go(func() { w.run(ctx) })
	}
	stop := l.report(&answered, &failed)
	running.Wait()
	stop()
	r := l.result(workers, min(l.Duration, time.Since(begin)))
	if r.Requests == 0 && len(r.Failures) > 0 {
		return r, fmt.Errorf("%w: %s", ErrNoClients, r.firstFailure())
	}
	return r, nil
}

// report calls Progress until stop is called.
func (l *Load) report(answered, failed *atomic.Int64) (stop func()) {
	if l.Progress == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for last := int64(0); ; {
			select {
			case <-ticker.C:
				now := answered.Load()
				l.Progress(now-last, failed.Load())
				last = now
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// A worker makes the requests of one connection.
type worker struct {
	load       *Load
	origin     *url.URL
	begin, end time.Time // of what is measured
	clients    []Client
	every      time.Duration // between two requests; 0 without a rate
	due        time.Time     // when the next request begins

	conn             *Conn
	took             []time.Duration
	failures         map[string]int64
	unusable         []bool // clients for which no request can be made any more
	answered, failed *atomic.Int64
}

func (w *worker) run(ctx context.Context) {
	defer w.hangUp()
	w.unusable = make([]bool, len(w.clients))
	left := len(w.clients)
	for i := 0; left > 0; i = (i + 1) % len(w.clients) {
		if w.unusable[i] {
			continue
		}
		if w.every == 0 {
			w.due = time.Now()
		} else {
			sleep(ctx, time.Until(w.due))
		}
		if ctx.Err() != nil || !time.Now().Before(w.end) {
			return
		}
		status, err := w.request(ctx, &w.clients[i])
		for err != nil || status == http.StatusTooManyRequests || status >= 500 {
			// The token may be spent or not: the same request is repeated, as a client does.
			w.fail(status, err)
			sleep(ctx, pause)
			if ctx.Err() != nil || !time.Now().Before(w.end) {
				return
			}
			status, err = w.request(ctx, &w.clients[i])
		}
		if status == http.StatusOK {
			w.answered.Add(1)
			if !w.due.Before(w.begin) {
				w.took = append(w.took, time.Since(w.due))
			}
			if w.load.Once {
				w.unusable[i] = true
				left--
			}
		} else {
			w.fail(status, nil)
			w.unusable[i] = true
			left--
		}
		w.due = w.due.Add(w.every)
	}
}

func (w *worker) request(ctx context.Context, client *Client) (status int, err error) {
	if w.conn == nil {
		if w.conn, err = Dial(ctx, w.origin); err != nil {
			return 0, err
		}
	}
	if status, err = w.load.Request(w.conn, client); err != nil || w.conn.last {
		w.hangUp()
	}
	return status, err
}

func (w *worker) hangUp() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// fail counts a failure by its status, or by the text of its error.
func (w *worker) fail(status int, err error) {
	text := fmt.Sprintf("status %d", status)
	if err != nil {
		text = err.Error()
	}
	w.failures[text]++
	w.failed.Add(1)
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
