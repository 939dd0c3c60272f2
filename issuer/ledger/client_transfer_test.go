package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestClientsOfOnePerson verifies that nobody creates or takes over more than
// MaxClientsPerUser clients, except by an operator.
func TestClientsOfOnePerson(t *testing.T) {
	session := &ledger.Session{ID: id32(1), User: "u-bob", CreatedSeq: 1, Created: 1, Seen: 1}
	person, operator := ledger.Actor{Session: session.ID}, ledger.Actor{Operator: true}
	view := func(owned int) ledger.View {
		clients := []*ledger.Client{{ID: "offered", Owner: "u-alice", State: ledger.Approved, Offer: &ledger.Offer{To: "u-bob", CreatedSeq: 1}}}
		for i := range owned {
			clients = append(clients, &ledger.Client{ID: fmt.Sprint("app-", i), Owner: "u-bob", State: ledger.Deleted})
		}
		users := []*ledger.User{{ID: "u-bob", Username: "bob"}, {ID: "u-alice", Username: "alice"}}
		return viewOf(t, tableOf(ledger.TableClients, clients), tableOf(ledger.TableUsers, users), tableOf(ledger.TableSessions, []*ledger.Session{session}))
	}
	create := func(a ledger.Actor) command.Command {
		return &ledger.CreateClient{Actor: a, ID: "more", Owner: "u-bob", Type: ledger.Public, Profile: ledger.Profile{
			Name: "App", RedirectURIs: []string{"https://app.example/cb"}, Scopes: []string{"PROFILE_READ"},
		}}
	}
	accept, transfer := &ledger.AcceptClient{Actor: person, ID: "offered"}, &ledger.TransferClient{Actor: operator, ID: "offered", Username: "bob"}
	for _, test := range []struct {
		owned   int
		command command.Command
		refused bool
	}{
		{ledger.MaxClientsPerUser - 1, create(person), false},
		{ledger.MaxClientsPerUser, create(person), true},
		{ledger.MaxClientsPerUser, create(operator), false},
		{ledger.MaxClientsPerUser - 1, accept, false},
		{ledger.MaxClientsPerUser, accept, true},
		{ledger.MaxClientsPerUser, transfer, false},
	} {
		o := view(test.owned).Decide(test.command, command.Meta{Seq: 2, At: 1})
		if !test.refused {
			require.Nil(t, o.Refusal, "%+v", test)
			continue
		}
		require.Equal(t, ledger.TooManyClients, o.Refusal.Cause)
	}
}
