package telemetry

import (
	"net/http"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// statusClasses are the values of the label status, by the first digit of the status. A
// request is aborted if its connection was cut before a status was sent, or if its client hung
// up and so got none of the server's failures.
var statusClasses = [...]string{0: "aborted", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}

// statusHungUp replaces the status of a failure that the client did not wait for, as in the logs
// of nginx. Such a client may be the cause: whoever waits for a view stops waiting for it.
// Otherwise strangers could make the server seem to fail.
const statusHungUp = 499

// Route are the metrics of one route. They are created at its first request:
// the series of routes that are never requested would be most of what is exported.
type Route struct {
	Method, Pattern string
	metrics         *Metrics

	once     sync.Once // guards the two fields below
	requests [len(statusClasses)]prometheus.Counter
	duration prometheus.Observer
}

// route returns the metrics of a route. pattern is the router's: it has the names of
// parameters, and never their values.
func (m *Metrics) route(method, pattern string) *Route {
	return &Route{Method: method, Pattern: pattern, metrics: m}
}

func (r *Route) init() {
	r.duration = r.metrics.durations.WithLabelValues(r.Method, r.Pattern)
	for i, class := range statusClasses {
		if class != "" {
			r.requests[i] = r.metrics.requests.WithLabelValues(r.Method, r.Pattern, class)
		}
	}
}

// served counts a request; status 0 means that it was not answered.
func (r *Route) served(status int, d time.Duration) {
	r.once.Do(r.init)
	class := status / 100
	if status == statusHungUp {
		class = 0
	}
	if class < 0 || class >= len(r.requests) || statusClasses[class] == "" {
		class = 5 // no handler of this program sends such a status
	}
	r.requests[class].Inc()
	r.duration.Observe(d.Seconds())
}

// Recording is what is recorded of requests beside their metrics. The zero value is
// nothing but their ids.
type Recording struct {
	Traces  *Tracing
	Access  *AccessLog
	Trusted proxy.Trusted // peers whose request ids and traces are used
}

// Timed counts and measures the requests that next answers, and records each. It is the
// outermost handler, so requests that are refused before the router are counted too. The
// handler that the router finds sets the route: see Router. Each response has the
// request's id, and its trace if there is one.
func (m *Metrics) Timed(next http.Handler, o Recording) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, record := o.Trusted.Identify(w, r)
		r, span := o.Traces.begin(r, o.Trusted)
		if span != nil {
			record.Trace = span.SpanContext().TraceID().String()
			w.Header()[traceResponse] = []string{traceResponseOf(span.SpanContext())}
		}
		t := &timedWriter{ResponseWriter: w, route: m.unrouted}
		begun, returned := time.Now(), false
		defer func() {
			if returned && t.status == 0 {
				t.status = http.StatusOK // as net/http does for a handler that writes nothing
			}
			if t.status >= http.StatusInternalServerError && r.Context().Err() != nil {
				t.status = statusHungUp
			}
			took := time.Since(begun)
			t.route.served(t.status, took)
			o.Traces.end(span, t.route, t.status)
			o.Access.write(r, record, t, took)
		}()
		next.ServeHTTP(t, r)
		returned = true
	})
}

// A timedWriter records the status, the size and the route of one response. It belongs to that
// request's goroutine.
type timedWriter struct {
	http.ResponseWriter
	route  *Route
	status int   // 0: none yet
	bytes  int64 // of the body
}

// WriteHeader records the first final status.
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
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the writer of net/http.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A Router registers handlers with an httprouter.Router, so that requests are counted by
// the pattern of their route. httprouter passes a handler the parameters and not the
// pattern.
type Router struct {
	router  *httprouter.Router
	metrics *Metrics
}

// Router returns a router whose requests are counted by route.
func (m *Metrics) Router(r *httprouter.Router) Router { return Router{r, m} }

// Handle registers a handler as httprouter.Router.Handle does.
func (r Router) Handle(method, path string, h httprouter.Handle) {
	route := r.route(method, path)
	r.router.Handle(method, path, func(w http.ResponseWriter, req *http.Request, p httprouter.Params) {
		setRoute(w, route)
		h(w, req, p)
	})
}

// Handler registers a handler as httprouter.Router.Handler does.
func (r Router) Handler(method, path string, h http.Handler) {
	route := r.route(method, path)
	r.router.Handler(method, path, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		setRoute(w, route)
		h.ServeHTTP(w, req)
	}))
}

func (r Router) route(method, path string) *Route {
	route := r.metrics.route(method, path)
	r.metrics.Routes = append(r.metrics.Routes, route)
	return route
}

// setRoute records the route in the request's writer. Nothing between Timed and the
// router may wrap the writer.
func setRoute(w http.ResponseWriter, route *Route) {
	if t, ok := w.(*timedWriter); ok {
		t.route = route
	}
}
