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
	// ViewPaced is ViewFresh for a request without a valid credential: all such requests
	// share a bounded number of fresh views.
	ViewPaced(ctx context.Context) (ledger.View, error)
	// View returns this node's state, which may lag.
	View() ledger.View
	// Propose has a command decided. The error is oauth.ErrUnavailable if nothing can be
	// decided.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now is the node's estimate of state time. It is for display, and for the expiry of tokens
	// and certificates: a command decides on state time itself.
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
	SecretOfHash   func(hash string) (ledger.NewSecret, error)
	// Digest returns the digest of a secret under a credential key; false if the key was
	// dropped.
	Digest func(key uint32, plain string) ([32]byte, bool)
	// SecretDigests returns the digests of a secret, of which the SHA-256 is known, under
	// every credential key that the node has opened.
	SecretDigests func(sum [32]byte) []ledger.Digest
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

// localOnly is the scope of operations that only the local socket accepts: those that create
// or reveal what gives access to everything. An invitation is one of them, since the node
// that joins with it receives the cluster key.
const localOnly ledger.OperatorScope = "local"

// routes has all operations, each with the scope that an operator on another machine needs.
var routes = []route{
	operationRoute(ledger.ScopeClients, AddClient, (*call).addClient),
	operationRoute(ledger.ScopeRead, ListClients, (*call).listClients),
	operationRoute(ledger.ScopeRead, ShowClient, (*call).showClient),
	operationRoute(ledger.ScopeClients, ReviewClient, (*call).reviewClient),
	operationRoute(ledger.ScopeClients, SetClient, (*call).setClient),
	operationRoute(ledger.ScopeClients, DeleteClient, (*call).deleteClient),
	operationRoute(ledger.ScopeClients, ImportClient, (*call).importClient),
	operationRoute(ledger.ScopeClients, ApplyClient, (*call).applyClient),
	operationRoute(ledger.ScopeRead, DescribeClients, (*call).describeClients).comparing(ledger.ScopeClients),
	operationRoute(ledger.ScopeClients, AddSecret, (*call).addSecret),
	operationRoute(ledger.ScopeClients, SetSecret, (*call).setSecret),
	operationRoute(ledger.ScopeClients, RevokeSecret, (*call).revokeSecret),
	operationRoute(ledger.ScopeClients, AddResourceServer, (*call).addResourceServer),
	operationRoute(ledger.ScopeRead, ListResourceServers, (*call).listResourceServers),
	operationRoute(ledger.ScopeRead, ShowResourceServer, (*call).showResourceServer),
	operationRoute(ledger.ScopeClients, SetResourceServer, (*call).setResourceServer),
	operationRoute(ledger.ScopeClients, ApplyResourceServer, (*call).applyResourceServer),
	operationRoute(ledger.ScopeRead, DescribeResourceServers, (*call).describeResourceServers).comparing(ledger.ScopeClients),
	operationRoute(ledger.ScopeClients, RemoveResourceServer, (*call).removeResourceServer),
	operationRoute(ledger.ScopeClients, AddResourceSecret, (*call).addResourceSecret),
	operationRoute(ledger.ScopeClients, RevokeResourceSecret, (*call).revokeResourceSecret),
	operationRoute(ledger.ScopeClients, AddPublisher, (*call).addPublisher),
	operationRoute(ledger.ScopeRead, ListPublishers, (*call).listPublishers),
	operationRoute(ledger.ScopeRead, ShowPublisher, (*call).showPublisher),
	operationRoute(ledger.ScopeClients, SetPublisher, (*call).setPublisher),
	operationRoute(ledger.ScopeClients, ApplyPublisher, (*call).applyPublisher),
	operationRoute(ledger.ScopeClients, RejectPublisher, (*call).rejectPublisher),
	operationRoute(ledger.ScopeClients, RemovePublisher, (*call).removePublisher),
	operationRoute(ledger.ScopeClients, RevokePublisher, (*call).revokePublisher),
	operationRoute(ledger.ScopeUsers, AddUser, (*call).addUser),
	operationRoute(ledger.ScopeRead, ListUsers, (*call).listUsers),
	operationRoute(ledger.ScopeRead, ShowUser, (*call).showUser),
	operationRoute(ledger.ScopeRead, DescribeUsers, (*call).describeUsers).comparing(ledger.ScopeUsers),
	operationRoute(ledger.ScopeUsers, ApplyUser, (*call).applyUser),
	operationRoute(ledger.ScopeUsers, SetUserState, (*call).setUserState),
	operationRoute(ledger.ScopeUsers, SetPassword, (*call).setPassword),
	operationRoute(ledger.ScopeRead, ListGrants, (*call).listGrants),
	operationRoute(ledger.ScopeUsers, RevokeGrant, (*call).revokeGrant),
	operationRoute(ledger.ScopeUsers, Disconnect, (*call).disconnect),
	operationRoute(ledger.ScopeRead, Explain, (*call).explain),
	operationRoute(ledger.ScopeRead, Audit, (*call).audit),
	operationRoute(localOnly, AddOperatorToken, (*call).addOperatorToken),
	operationRoute(ledger.ScopeRead, ListOperatorTokens, (*call).listOperatorTokens),
	operationRoute(ledger.ScopeCluster, RevokeOperatorToken, (*call).revokeOperatorToken),
	operationRoute(ledger.ScopeRead, ListKeys, (*call).listKeys),
	operationRoute(ledger.ScopeRead, ShowSettings, (*call).showSettings),
	operationRoute(ledger.ScopeSettings, SetSettings, (*call).setSettings),
	operationRoute(ledger.ScopeCluster, RotateKeys, (*call).rotateKeys),
	operationRoute(localOnly, RewrapKeys, (*call).rewrapKeys),
	operationRoute(localOnly, InitCluster, (*call).initCluster),
	operationRoute(localOnly, InviteNode, (*call).inviteNode),
	operationRoute(localOnly, ReplaceNode, (*call).replaceNode),
	operationRoute(ledger.ScopeRead, ListInvitations, (*call).listInvitations),
	operationRoute(ledger.ScopeCluster, WithdrawInvitation, (*call).withdrawInvitation),
	operationRoute(ledger.ScopeRead, ShowCluster, (*call).showCluster),
	operationRoute(ledger.ScopeRead, ChecksumNode, (*call).checksumNode),
	operationRoute(ledger.ScopeCluster, TransferLeader, (*call).transferLeader),
	operationRoute(ledger.ScopeCluster, RemoveNode, (*call).removeNode),
	operationRoute(ledger.ScopeCluster, AcceptClock, (*call).acceptClock),
	operationRoute(ledger.ScopeCluster, RotateAuthority, (*call).rotateAuthority),
	downloadRoute(ledger.ScopeCluster, saveBackup, (*call).saveBackup),
	downloadRoute(ledger.ScopeCluster, saveJournal, (*call).saveJournal),
	uploadRoute(localOnly, restoreBackup, (*call).restoreBackup),
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
