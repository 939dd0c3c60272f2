package admin

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

type handler struct {
	Config
	routes map[string]route // by path
	remote *Remote          // nil for the local socket
}

// NewHandler serves the operations. It authenticates nobody: whoever can open the socket
// is an operator.
func NewHandler(c Config) http.Handler { return newHandler(c, routes) }

func newHandler(c Config, routes []route) *handler {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	h := &handler{Config: c, routes: make(map[string]route, len(routes))}
	for _, r := range routes {
		h.routes[pathPrefix+r.name] = r
	}
	return h
}

// ServeHTTP runs one operation and logs it. It logs neither request nor response, since
// both may contain secrets.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Config: h.Config, actor: ledger.Actor{Operator: true}, admitted: h.remote == nil}
	answer, err := h.run(c, w, r)
	p := h.log(c, r, err)
	if !c.admitted {
		w.Header().Set("Connection", "close") // the listener has few connections, for operators
	}
	if p != nil && p.Class == Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if c.stream.begun() {
		c.stream.end(p)
		return
	}
	code := http.StatusOK
	if p != nil {
		answer, code = p, httpStatus[p.Class]
	}
	if c.stale {
		w.Header().Set(staleHeader, "true")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (h *handler) run(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
	route, ok := h.routes[r.URL.Path]
	c.name = route.name
	if h.remote != nil {
		scopes, err := h.authenticate(c, r)
		if err != nil {
			return nil, err
		}
		c.admitted = true
		if r.Method == http.MethodGet && r.URL.Path == openAPIPath {
			return OpenAPI(), nil
		}
		if ok {
			if err := h.authorize(c, r, route, scopes); err != nil {
				return nil, err
			}
			if route.compares != "" {
				c.mayCompare = func() error { return h.requireScope(c, r, route.compares, scopes) }
			}
		}
	}
	if !ok || r.Method != http.MethodPost {
		return nil, &Problem{Class: BadRequest, Text: "this server has no such operation"}
	}
	return route.serve(c, w, r)
}

// log logs the result of an operation, and returns the Problem to send. It logs nothing of a
// sender who is not authenticated, and no path that the sender chose: both would let strangers
// fill the log. Remote.Refused has them.
func (h *handler) log(c *call, r *http.Request, err error) *Problem {
	ctx, name, log := r.Context(), c.name, h.Log
	if name == "" {
		name = "none"
	}
	if c.operator != "" {
		log = log.With("operator", c.operator)
	}
	if err == nil {
		if c.proposed {
			log.InfoContext(ctx, "operator command done", "operation", name, "subject", c.subject)
		} else {
			log.DebugContext(ctx, "operator command answered", "operation", name)
		}
		return nil
	}
	p := problem(err)
	switch {
	case !c.admitted || p.Class == Unauthenticated || p.Class == Forbidden: // reported to Remote.Refused
	case ctx.Err() != nil:
		log.InfoContext(ctx, "operator command abandoned by its client", "operation", name, "error", err)
	case p.Class == Internal:
		log.ErrorContext(ctx, "operator command failed", "operation", name, "error", err)
	default:
		cause := p.Text
		if p.Cause != ledger.NoCause {
			cause = p.Cause.String()
		}
		log.InfoContext(ctx, "operator command rejected", "operation", name, "class", p.Class, "cause", cause, "subject", p.Subject)
	}
	return p
}
