package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Ledger provides views and decides commands.
type Ledger interface {
	// ViewFresh returns a view that includes everything acknowledged before the call. The
	// error is oauth.ErrUnavailable if no such view is available now.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// View returns this node's state, which may lag.
	View() ledger.View
	// Propose has a command decided. The error is oauth.ErrUnavailable if nothing can be
	// decided.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now is for display only.
	Now() ledger.Time
}

// Config configures the operations. A field is required unless its comment says otherwise.
type Config struct {
	// Cluster is nil on a standalone node.
	Cluster Cluster
	// AcceptClock makes a node without a Cluster trust its clock after it jumped. It may be nil.
	AcceptClock func() error
	// Backup writes a complete backup. It is nil on a standalone node.
	Backup func(ctx context.Context, w io.Writer) error
	// Journal writes this node's journal. It is nil on a standalone node.
	Journal func(ctx context.Context, w io.Writer) error

	Ledger Ledger
	Rand   io.Reader // safe for concurrent use
	// Secret returns the digest of a client secret under the active credential key, with
	// a random id and the tail.
	Secret         func(plain string) (ledger.NewSecret, error)
	SecretOfSHA256 func(sum [32]byte) (ledger.NewSecret, error)
	// Declared returns keyed digests of a declaration, which may contain weak secrets:
	// under the active key first.
	Declared func(text []byte) []string
	// Explain opens an error_id. It returns an error for any other text.
	Explain func(errorID string) (ledger.Explanation, error)
	// Rotate announces a new key of a purpose. Its errors, and those of the functions
	// below, report refusals like those of Cluster.
	Rotate func(ctx context.Context, p ledger.Purpose) (id string, err error)
	// Replace drops a leaked key at once, after activating another if the key is in use.
	// Repeating it finishes an interrupted replacement.
	Replace func(ctx context.Context, leaked string) (Rotated, error)
	// Rewrap changes the cluster key of all nodes. If force is set, unreachable voters
	// don't prevent it.
	Rewrap    func(ctx context.Context, force bool) (RewrapResult, error)
	Passwords *credential.Hasher
	Log       *slog.Logger // default: slog.Default()
}

const (
	pathPrefix  = "/v1/"
	staleHeader = "Mintmark-Stale" // set if the response may lag
	maxBody     = 1 << 20
)

// routes has all operations.
var routes = []route{
	operationRoute(AddClient, (*call).addClient),
	operationRoute(ListClients, (*call).listClients),
	operationRoute(ShowClient, (*call).showClient),
	operationRoute(ReviewClient, (*call).reviewClient),
	operationRoute(SetClient, (*call).setClient),
	operationRoute(DeleteClient, (*call).deleteClient),
	operationRoute(ImportClient, (*call).importClient),
	operationRoute(AddSecret, (*call).addSecret),
	operationRoute(RevokeSecret, (*call).revokeSecret),
	operationRoute(AddUser, (*call).addUser),
	operationRoute(ListUsers, (*call).listUsers),
	operationRoute(ShowUser, (*call).showUser),
	operationRoute(SetUserState, (*call).setUserState),
	operationRoute(SetPassword, (*call).setPassword),
	operationRoute(ListGrants, (*call).listGrants),
	operationRoute(RevokeGrant, (*call).revokeGrant),
	operationRoute(Disconnect, (*call).disconnect),
	operationRoute(Explain, (*call).explain),
	operationRoute(Audit, (*call).audit),
	operationRoute(ListKeys, (*call).listKeys),
	operationRoute(ShowSettings, (*call).showSettings),
	operationRoute(SetSettings, (*call).setSettings),
	operationRoute(RotateKeys, (*call).rotateKeys),
	operationRoute(RewrapKeys, (*call).rewrapKeys),
	operationRoute(InitCluster, (*call).initCluster),
	operationRoute(InviteNode, (*call).inviteNode),
	operationRoute(ReplaceNode, (*call).replaceNode),
	operationRoute(ListInvitations, (*call).listInvitations),
	operationRoute(WithdrawInvitation, (*call).withdrawInvitation),
	operationRoute(ShowCluster, (*call).showCluster),
	operationRoute(ChecksumNode, (*call).checksumNode),
	operationRoute(TransferLeader, (*call).transferLeader),
	operationRoute(RemoveNode, (*call).removeNode),
	operationRoute(AcceptClock, (*call).acceptClock),
	operationRoute(RotateAuthority, (*call).rotateAuthority),
	downloadRoute(saveBackup, (*call).saveBackup),
	downloadRoute(saveJournal, (*call).saveJournal),
	uploadRoute(restoreBackup, (*call).restoreBackup),
}

// A Server serves one socket.
type Server struct {
	http     *http.Server
	listener net.Listener
	handler  atomic.Pointer[http.Handler]
}

// Open creates the socket at a path, for a handler of NewHandler or NewSetupHandler.
// Nothing is served before Serve.
func Open(path string, h http.Handler) (*Server, error) {
	l, err := listen(path)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l}
	s.Handle(h)
	s.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*s.handler.Load()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
	}
	return s, nil
}

// Handle makes another handler serve new requests. Requests in progress are finished by
// the previous handler.
func (s *Server) Handle(h http.Handler) { s.handler.Store(&h) }

// Serve serves requests until Close, and then returns nil.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the local socket: %w", err)
	}
	return nil
}

// Close waits a few seconds for requests in progress, and removes the socket.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	_ = s.listener.Close() // before Serve, Shutdown doesn't close it
	return err
}
