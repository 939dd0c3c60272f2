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

// A Ledger is where commands are decided and views come from.
type Ledger interface {
	// ViewFresh holds everything acknowledged before the call; its error is
	// oauth.ErrUnavailable where that can't be had now.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// View is local and may lag.
	View() ledger.View
	// Propose has a command decided; the error is oauth.ErrUnavailable where
	// nothing can be.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now is for what is shown only.
	Now() ledger.Time
}

// Config is what the operations are made of. Without a comment that says
// otherwise a field is needed.
type Config struct {
	// Cluster is nil on a node that runs alone for good.
	Cluster Cluster
	// AcceptClock makes a node without a Cluster trust its clock after it jumped. It
	// may be nil.
	AcceptClock func() error
	// Backup writes what operators keep, whole. Nil on a node that runs alone.
	Backup func(ctx context.Context, w io.Writer) error
	// Journal writes this node's journal likewise.
	Journal func(ctx context.Context, w io.Writer) error

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
	// Rotate announces a new key of a purpose. A rule that stands against it is
	// told as by Cluster, here and below.
	Rotate func(ctx context.Context, p ledger.Purpose) (id string, err error)
	// Replace drops a key that leaked at once; another takes its place where it
	// is in use. To repeat it finishes what was begun.
	Replace func(ctx context.Context, leaked string) (Rotated, error)
	// Rewrap changes the cluster key of all nodes. With force a voter that can't
	// be reached is no obstacle.
	Rewrap    func(ctx context.Context, force bool) (RewrapResult, error)
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

// A Server answers on one socket.
type Server struct {
	http     *http.Server
	listener net.Listener
	handler  atomic.Pointer[http.Handler]
}

// Open makes the socket at a path, for a handler of NewHandler or
// NewSetupHandler. Nothing is answered before Serve.
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

// Handle gives what is asked from now on to another handler. What the one
// before it has begun it ends.
func (s *Server) Handle(h http.Handler) { s.handler.Store(&h) }

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
