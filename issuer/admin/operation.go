package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// An Operation is the name of an operation, with the types of request and response, so
// that client and server can't disagree on them.
type Operation[Request, Answer any] string

// Operations.
const (
	AddClient    Operation[NewClient, AddedClient]   = "client.add"
	ListClients  Operation[ClientFilter, ClientList] = "client.list"
	ShowClient   Operation[ClientRef, Client]        = "client.show"
	ReviewClient Operation[Review, Client]           = "client.review"
	SetClient    Operation[ClientEdit, EditedClient] = "client.set"
	DeleteClient Operation[ClientRef, Done]          = "client.delete"
	ImportClient Operation[LegacyClient, Imported]   = "client.import"
	ApplyClient  Operation[DeclaredClient, Applied]  = "client.apply"

	DescribeClients Operation[ClientsQuery, DescribedClients] = "client.describe"
	DescribeUsers   Operation[UsersQuery, DescribedUsers]     = "user.describe"

	DescribeResourceServers Operation[ResourceServersQuery, DescribedResourceServers] = "resource-server.describe"

	AddSecret    Operation[NewSecret, AddedSecret]          = "client.secret.add"
	SetSecret    Operation[SecretEdit, Secret]              = "client.secret.set"
	RevokeSecret Operation[SecretRef, Done]                 = "client.secret.revoke"
	AddUser      Operation[NewUser, AddedUser]              = "user.add"
	ListUsers    Operation[UserFilter, UserList]            = "user.list"
	ShowUser     Operation[UserRef, User]                   = "user.show"
	ApplyUser    Operation[DeclaredUser, Applied]           = "user.apply"
	SetUserState Operation[UserStateChange, User]           = "user.state"
	SetPassword  Operation[PasswordChange, ChangedPassword] = "user.password"
	ListGrants   Operation[GrantFilter, GrantList]          = "grant.list"
	RevokeGrant  Operation[GrantRef, Done]                  = "grant.revoke"
	Disconnect   Operation[Disconnection, Done]             = "grant.disconnect"
	Explain      Operation[ErrorID, Explained]              = "explain"
	Audit        Operation[EventFilter, EventList]          = "audit"
	ListKeys     Operation[KeyFilter, KeyList]              = "keys.list"
	ShowSettings Operation[SettingsQuery, Settings]         = "settings.show"
	SetSettings  Operation[SettingsChange, Settings]        = "settings.set"
	RotateKeys   Operation[Rotation, Rotated]               = "keys.rotate"
	RewrapKeys   Operation[RewrapRequest, RewrapResult]     = "keys.rewrap"

	AddResourceServer    Operation[NewResourceServer, AddedResourceServer]   = "resource-server.add"
	ListResourceServers  Operation[ResourceServerFilter, ResourceServerList] = "resource-server.list"
	ShowResourceServer   Operation[ResourceServerRef, ResourceServer]        = "resource-server.show"
	SetResourceServer    Operation[ResourceServerEdit, ResourceServer]       = "resource-server.set"
	ApplyResourceServer  Operation[DeclaredResourceServer, Applied]          = "resource-server.apply"
	RemoveResourceServer Operation[ResourceServerRef, RemovedResourceServer] = "resource-server.remove"
	AddResourceSecret    Operation[NewResourceSecret, AddedSecret]           = "resource-server.secret.add"
	RevokeResourceSecret Operation[ResourceSecretRef, Done]                  = "resource-server.secret.revoke"

	AddPublisher    Operation[NewPublisher, Publisher]        = "publisher.add"
	ListPublishers  Operation[PublisherFilter, PublisherList] = "publisher.list"
	ShowPublisher   Operation[PublisherRef, Publisher]        = "publisher.show"
	SetPublisher    Operation[PublisherEdit, Publisher]       = "publisher.set"
	ApplyPublisher  Operation[DeclaredPublisher, Applied]     = "publisher.apply"
	RejectPublisher Operation[PublisherRejection, Done]       = "publisher.reject"
	RemovePublisher Operation[PublisherRef, Done]             = "publisher.remove"
	RevokePublisher Operation[PublisherRef, Done]             = "publisher.revoke"

	AddOperatorToken    Operation[NewOperatorToken, AddedOperatorToken]   = "operator.token.add"
	ListOperatorTokens  Operation[OperatorTokenFilter, OperatorTokenList] = "operator.token.list"
	RevokeOperatorToken Operation[OperatorTokenRef, Done]                 = "operator.token.revoke"

	InitCluster        Operation[NewCluster, CreatedCluster]      = "cluster.init"
	InviteNode         Operation[Invitation, Invited]             = "cluster.invite"
	ReplaceNode        Operation[Replacement, Invited]            = "cluster.replace"
	ListInvitations    Operation[InvitationQuery, InvitationList] = "cluster.invitation.list"
	WithdrawInvitation Operation[Withdrawal, Done]                = "cluster.invitation.withdraw"
	ShowCluster        Operation[StatusQuery, ClusterStatus]      = "cluster.status"
	ChecksumNode       Operation[ChecksumQuery, ClusterChecksum]  = "cluster.checksum"
	TransferLeader     Operation[Transfer, Transferred]           = "cluster.transfer"
	RemoveNode         Operation[Removal, Done]                   = "cluster.remove"
	AcceptClock        Operation[ClockAcceptance, Done]           = "cluster.accept-clock"

	RotateAuthority Operation[AuthorityRotation, AuthorityChange] = "cluster.rotate-authority"

	saveBackup    download[SaveQuery]                 = "cluster.backup.save"
	saveJournal   download[SaveQuery]                 = "cluster.backup.journal"
	restoreBackup upload[restoreQuery, RestoreReport] = "cluster.backup.restore"
)

// Done is the response of an operation without other results.
type Done struct {
	ID string `json:"id"` // of what was changed
}

// A route is one entry of the server's table. Without an error, the result is sent as JSON.
type route struct {
	name  string
	scope ledger.OperatorScope // that an operator on another machine needs, or localOnly
	// compares is the scope that such an operator needs too where the request has secrets or
	// passwords to compare with stored ones, since comparing lets the operator guess them. "" if
	// none has any.
	compares ledger.OperatorScope
	serve    func(c *call, w http.ResponseWriter, r *http.Request) (any, error)

	// The types of the request and of the response; answer is nil for a response of bytes.
	request, answer reflect.Type
	upload          bool // bytes follow the request
}

// comparing returns r with the scope to compare secrets.
func (r route) comparing(scope ledger.OperatorScope) route {
	r.compares = scope
	return r
}

// with returns r with another implementation.
func (r route) with(serve func(*call, http.ResponseWriter, *http.Request) (any, error)) route {
	r.serve = serve
	return r
}

func operationRoute[Q, A any](scope ledger.OperatorScope, o Operation[Q, A], do func(*call, context.Context, Q) (A, error)) route {
	return route{name: string(o), scope: scope, request: reflect.TypeFor[Q](), answer: reflect.TypeFor[A](), serve: func(c *call, w http.ResponseWriter, r *http.Request) (any, error) {
		q, err := request[Q](w, r)
		if err != nil {
			return nil, err
		}
		return do(c, r.Context(), q)
	}}
}

// request parses a body that is one JSON value.
func request[Q any](w http.ResponseWriter, r *http.Request) (q Q, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return q, &Problem{Class: BadRequest, Text: "the request could not be read, or is too long"}
	}
	return q, decode(body, &q)
}

// decode parses one JSON value and refuses unknown fields: a client that is newer than
// the server must learn that it was not understood. Errors of package json may quote
// values, so only those that name a field are passed on.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
	}
	p := &Problem{Class: BadRequest, Text: "the request is not the JSON value that belongs here"}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		p.Field, p.Note = wrong.Field, "has a value of the wrong type"
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		p.Text = "this server does not know the field " + strings.TrimPrefix(err.Error(), "json: unknown field ")
	}
	return p
}
