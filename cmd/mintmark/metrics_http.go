package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus"
)

// statusClasses are the values of the label status, by the status' first
// digit. A request whose connection was cut before it had one is aborted.
var statusClasses = [...]string{0: "aborted", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}

// routeMetrics are the metrics of one route. They are created at its first request:
// the series of routes that are never requested would be most of what is exported.
type routeMetrics struct {
	method, pattern string
	metrics         *metrics

	once     sync.Once // guards the next two
	requests [len(statusClasses)]prometheus.Counter
	duration prometheus.Observer
}

// route returns the metrics of a route. pattern is the router's: it has the names of
// parameters, and never their values.
func (m *metrics) route(method, pattern string) *routeMetrics {
	return &routeMetrics{method: method, pattern: pattern, metrics: m}
}

func (r *routeMetrics) init() {
	r.duration = r.metrics.durations.WithLabelValues(r.method, r.pattern)
	for i, class := range statusClasses {
		if class != "" {
			r.requests[i] = r.metrics.requests.WithLabelValues(r.method, r.pattern, class)
		}
	}
}

// served counts a request that was answered; status 0 is one that was not.
func (r *routeMetrics) served(status int, d time.Duration) {
	r.once.Do(r.init)
	class := status / 100
	if class < 0 || class >= len(r.requests) || statusClasses[class] == "" {
		class = 5 // no handler of ours answers so
	}
	r.requests[class].Inc()
	r.duration.Observe(d.Seconds())
}

// timed measures all that next answers. It stands outside of everything else,
// so that what is refused before the router is counted too. The route is told
// by the handler that the router finds; see routes. Spans may be nil.
func (m *metrics) timed(next http.Handler, spans *tracing) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, span := spans.begin(r)
		t := &timedWriter{ResponseWriter: w, route: m.unrouted}
		begun, returned := time.Now(), false
		defer func() {
			if returned && t.status == 0 {
				t.status = http.StatusOK // as net/http does for a handler that writes nothing
			}
			t.route.served(t.status, time.Since(begun))
			spans.end(span, t.route, t.status)
		}()
		next.ServeHTTP(t, r)
		returned = true
	})
}

// A timedWriter remembers the status and the route of one request. It belongs
// to that request's goroutine.
type timedWriter struct {
	http.ResponseWriter
	route  *routeMetrics
	status int // 0: none yet
}

// WriteHeader notes the first status that is final.
func (w *timedWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *timedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer of net/http.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A timedRouter registers handlers with a router so that requests are counted
// by the pattern that they were registered with. The router itself tells a
// handler the parameters and not the pattern.
type timedRouter struct {
	router  *httprouter.Router
	metrics *metrics
}

func (m *metrics) routes(r *httprouter.Router) timedRouter { return timedRouter{r, m} }

// Handle is httprouter.Router's.
func (r timedRouter) Handle(method, path string, h httprouter.Handle) {
	route := r.route(method, path)
	r.router.Handle(method, path, func(w http.ResponseWriter, req *http.Request, p httprouter.Params) {
		setRoute(w, route)
		h(w, req, p)
	})
}

// Handler is httprouter.Router's.
func (r timedRouter) Handler(method, path string, h http.Handler) {
	route := r.route(method, path)
	r.router.Handler(method, path, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		setRoute(w, route)
		h.ServeHTTP(w, req)
	}))
}

func (r timedRouter) route(method, path string) *routeMetrics {
	route := r.metrics.route(method, path)
	r.metrics.routed = append(r.metrics.routed, route)
	return route
}

// setRoute tells the request's writer its route. Nothing between timed and the
// router may wrap the writer.
func setRoute(w http.ResponseWriter, route *routeMetrics) {
	if t, ok := w.(*timedWriter); ok {
		t.route = route
	}
}
