package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

func TestDecideAuthorities(t *testing.T) {
	auth := func(id string, made int64) authority { return authority{ID: id, Made: made, Sealed: []byte(id)} }
	one, two, next := auth("a", 1), auth("b", 2), auth("b", 0)
	member := func(id, issuer, knows string) *Member {
		return &Member{ID: id, Name: id, Issuer: issuer, TrustedIssuer: knows}
	}
	for name, test := range map[string]struct {
		had     []authority
		members []*Member
		read    []authority
		want    []authority
		refused string
		changes int
	}{
		"announced":                    {had: []authority{one}, read: []authority{one}, want: []authority{one, next}, changes: 2},
		"signs at once":                {had: []authority{one}, read: []authority{one}, want: []authority{one, two}, refused: "announced before"},
		"signs when all know it":       {had: []authority{one, next}, members: []*Member{member("m", "a", "b")}, read: []authority{one, next}, want: []authority{one, two}, changes: 2},
		"one does not know it":         {had: []authority{one, next}, members: []*Member{member("m", "a", "b"), member("o", "a", "")}, read: []authority{one, next}, want: []authority{one, two}, refused: "node o does not accept"},
		"nobody signs":                 {had: []authority{one, next}, read: []authority{one, next}, want: []authority{next}, refused: "an authority that signs"},
		"none":                         {had: []authority{one}, read: []authority{one}, refused: "needs an authority"},
		"the old one goes":             {had: []authority{one, two}, members: []*Member{member("m", "b", "")}, read: []authority{one, two}, want: []authority{two}, changes: 2},
		"the old one is needed":        {had: []authority{one, two}, members: []*Member{member("m", "a", "")}, read: []authority{one, two}, want: []authority{two}, refused: "is from the authority"},
		"read before another change":   {had: []authority{one, two}, read: []authority{one, next}, want: []authority{one, next}, refused: "meanwhile"},
		"that is done already":         {had: []authority{one, two}, read: []authority{one, next}, want: []authority{one, two}},
		"sealed anew":                  {had: []authority{one}, read: []authority{one}, want: []authority{{ID: "a", Made: 1, Sealed: []byte("x")}}, changes: 1},
		"from before digests, changed": {had: []authority{one, two}, want: []authority{one}, refused: "meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newCore(Machine{})
			require.NoError(t, err)
			txn := c.db.Load().Txn(true)
			for i := range test.had {
				require.NoError(t, txn.Insert(authoritiesTable, &test.had[i]))
			}
			for _, m := range test.members {
				require.NoError(t, txn.Insert(membersTable, m))
			}
			cmd := &setAuthorities{Authorities: test.want}
			if test.read != nil {
				cmd.PreviousDigest = digestOf(test.read)
			}
			d := cmd.Decide(txn, command.Meta{})
			require.Len(t, d.Changes, test.changes)
			if test.refused == "" {
				require.Empty(t, d.Outcome.(membership).Refused)
				return
			}
			require.Contains(t, d.Outcome.(membership).Refused, test.refused)
		})
	}
}
