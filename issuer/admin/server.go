package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Ledger is where commands are decided and views come from.
type Ledger interface {
	// ViewFresh holds everything acknowledged before the call; its error is
	// oauth.ErrUnavailable where that can't be had now.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// View is local and may lag.
	View() ledger.View
	// Propose has a command decided; the error is oauth.ErrUnavailable where
	// nothing can be.
	Propose(ctx context.Context, c ledger.Command) (ledger.Outcome, uint64, error)
	// Now is for what is shown only.
	Now() ledger.Time
}

// Config is what the operations are made of. All fields but Log are needed.
type Config struct {
	Ledger Ledger
	Rand   io.Reader // safe for concurrent use
	// Secret is the digest of a client secret under the active credential
	// key, with a random id and the tail.
	Secret         func(plain string) (ledger.NewSecret, error)
	SecretOfSHA256 func(sum [32]byte) (ledger.NewSecret, error)
	// Declared are the keyed digests of a declaration, which may hold weak
	// secrets: under the active key first.
	Declared func(text []byte) []string
	// Explain opens an error_id, or fails for what is none.
	Explain func(errorID string) (ledger.Explanation, error)
	// Rotate announces a new key of a purpose. In an emergency it is active at
	// once and the key before it is dropped.
	Rotate    func(ctx context.Context, p ledger.Purpose, emergency bool) (id string, err error)
	Passwords *credential.Hasher
	Log       *slog.Logger // default: slog.Default()
}

const (
	pathPrefix  = "/v1/"
	staleHeader = "Mintmark-Stale" // set where the answer may lag
	maxBody     = 1 << 20
)

// routes is everything that can be asked for.
var routes = []route{
	on(AddClient, (*call).addClient),
	on(ListClients, (*call).listClients),
	on(ShowClient, (*call).showClient),
	on(ReviewClient, (*call).reviewClient),
	on(SetClient, (*call).setClient),
	on(DeleteClient, (*call).deleteClient),
	on(ImportClient, (*call).importClient),
	on(AddSecret, (*call).addSecret),
	on(RevokeSecret, (*call).revokeSecret),
	on(AddUser, (*call).addUser),
	on(ListUsers, (*call).listUsers),
	on(ShowUser, (*call).showUser),
	on(SetUserState, (*call).setUserState),
	on(SetPassword, (*call).setPassword),
	on(ListGrants, (*call).listGrants),
	on(RevokeGrant, (*call).revokeGrant),
	on(Disconnect, (*call).disconnect),
	on(Explain, (*call).explain),
	on(Audit, (*call).audit),
	on(ListKeys, (*call).listKeys),
	on(RotateKeys, (*call).rotateKeys),
}

// A Server answers on one socket.
type Server struct {
	http     *http.Server
	listener net.Listener
}

// Listen opens the socket at a path. Nothing is answered before Serve.
func Listen(path string, c Config) (*Server, error) {
	l, err := listen(path)
	if err != nil {
		return nil, err
	}
	return &Server{
		http: &http.Server{
			Handler: NewHandler(c), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		},
		listener: l,
	}, nil
}

// Serve answers until Close; its error is then nil.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the local socket: %w", err)
	}
	return nil
}

// Close lets what runs finish, for a few seconds, and removes the socket.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	_ = s.listener.Close() // Shutdown does not know it before Serve
	return err
}

type handler struct {
	Config
	routes map[string]route
}

// NewHandler serves the operations. It checks nobody's identity: whoever can
// open the socket is an operator.
func NewHandler(c Config) http.Handler {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	h := &handler{Config: c, routes: make(map[string]route, len(routes))}
	for _, r := range routes {
		h.routes[pathPrefix+r.name] = r
	}
	return h
}

// ServeHTTP runs one operation and logs it. Neither request nor answer is
// logged: both may hold secrets.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, pathPrefix)
	c := &call{Config: h.Config}
	answer, err := h.run(w, r, c)
	code := http.StatusOK
	if err != nil {
		p := problem(err)
		answer, code = p, status[p.Class]
		switch p.Class {
		case Internal:
			h.Log.Error("operator command failed", "operation", name, "error", err)
		default:
			h.Log.Info("operator command not done", "operation", name, "class", p.Class, "cause", p.Cause, "subject", p.Subject)
		}
	} else if c.proposed {
		h.Log.Info("operator command done", "operation", name, "subject", c.subject)
	}
	if c.stale {
		w.Header().Set(staleHeader, "true")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (h *handler) run(w http.ResponseWriter, r *http.Request, c *call) (any, error) {
	route, ok := h.routes[r.URL.Path]
	if !ok || r.Method != http.MethodPost {
		return nil, &Problem{Class: BadRequest, Text: "this server has no such operation"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, &Problem{Class: BadRequest, Text: "the request could not be read, or is too long"}
	}
	return route.serve(r.Context(), c, body)
}
