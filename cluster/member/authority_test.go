package member

import (
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

func TestDecideAuthorities(t *testing.T) {
	auth := func(id string, made int64) Authority { return Authority{ID: id, Made: made, Sealed: []byte(id)} }
	one, two, next := auth("a", 1), auth("b", 2), auth("b", 0)
	member := func(id, issuer, knows string) *Member {
		return &Member{ID: id, Name: id, Issuer: issuer, TrustedIssuer: knows}
	}
	for name, test := range map[string]struct {
		had     []Authority
		members []*Member
		read    []Authority
		want    []Authority
		refused string
		changes int
	}{
		"announced":                  {had: []Authority{one}, read: []Authority{one}, want: []Authority{one, next}, changes: 2},
		"signs at once":              {had: []Authority{one}, read: []Authority{one}, want: []Authority{one, two}, refused: "without being announced"},
		"signs when all know it":     {had: []Authority{one, next}, members: []*Member{member("m", "a", "b")}, read: []Authority{one, next}, want: []Authority{one, two}, changes: 2},
		"one does not know it":       {had: []Authority{one, next}, members: []*Member{member("m", "a", "b"), member("o", "a", "")}, read: []Authority{one, next}, want: []Authority{one, two}, refused: "node o does not accept"},
		"nobody signs":               {had: []Authority{one, next}, read: []Authority{one, next}, want: []Authority{next}, refused: "no authority would sign"},
		"none":                       {had: []Authority{one}, read: []Authority{one}, refused: "no authority would sign"},
		"the old one goes":           {had: []Authority{one, two}, members: []*Member{member("m", "b", "")}, read: []Authority{one, two}, want: []Authority{two}, changes: 2},
		"the old one is needed":      {had: []Authority{one, two}, members: []*Member{member("m", "a", "")}, read: []Authority{one, two}, want: []Authority{two}, refused: "is from an authority"},
		"read before another change": {had: []Authority{one, two}, read: []Authority{one, next}, want: []Authority{one, next}, refused: "concurrently"},
		"that is done already":       {had: []Authority{one, two}, read: []Authority{one, next}, want: []Authority{one, two}},
		"sealed anew":                {had: []Authority{one}, read: []Authority{one}, want: []Authority{{ID: "a", Made: 1, Sealed: []byte("x")}}, changes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Extend(machine.Machine{})
			require.NoError(t, err)
			c, err := machine.New(m, nil)
			require.NoError(t, err)
			var d command.Decision
			c.Edit(func(txn *memdb.Txn) {
				for i := range test.had {
					require.NoError(t, txn.Insert(AuthoritiesTable, &test.had[i]))
				}
				for _, m := range test.members {
					require.NoError(t, txn.Insert(MembersTable, m))
				}
				cmd := &SetAuthorities{Authorities: test.want, PreviousDigest: DigestOf(test.read)}
				d = cmd.Decide(txn, command.Meta{})
			})
			require.Len(t, d.Changes, test.changes)
			if test.refused == "" {
				require.Empty(t, d.Outcome.(Outcome).Refused)
				return
			}
			require.Contains(t, d.Outcome.(Outcome).Refused, test.refused)
		})
	}
}
