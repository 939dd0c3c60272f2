package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

const invitationLifetime = time.Hour

func (m *management) clusterInvite() *cobra.Command {
	var q admin.Invitation
	c := command("invite", "Make a token with which a new node joins", func(cmd *cobra.Command, _ []string) error {
		return invite(m, cmd, admin.InviteNode, q, "")
	})
	invitationFlags(c, &q.Name, &q.Lifetime)
	return c
}

func (m *management) clusterReplace() *cobra.Command {
	var q admin.Replacement
	c := command("replace NODE", "Make a token for a new node that takes the place of another", func(cmd *cobra.Command, args []string) error {
		q.Old = args[0]
		return invite(m, cmd, admin.ReplaceNode, q, q.Old)
	})
	c.Long = "Make a token for a new node that takes the place of another, dead or alive.\n\n" + aboutReplacing
	invitationFlags(c, &q.Name, &q.Lifetime)
	return c
}

// aboutReplacing is the one order in which a node is replaced. The old node votes until the
// new one does, so another node may fail meanwhile.
const aboutReplacing = `In this order:

  1. Take the old node out of the proxy, if it still runs: from step 4 on, what is
     sent to it fails with 503.
  2. Make the token:       mintmark cluster replace NODE --name NEW > FILE
  3. Start the new node:   mintmark serve --name NEW --join HOST:PORT --token-file FILE
  4. Wait until it votes:  mintmark cluster status --voters N
     The old node is removed by itself then.
  5. Stop the old node, if it still runs, and delete its data folder.`

func (m *management) invitationCommand() *cobra.Command {
	return group("invitation", "List and withdraw the tokens with which new nodes join", m.invitationList(), m.invitationWithdraw())
}

func (m *management) invitationList() *cobra.Command {
	return command("list", "List the tokens that nobody has used yet", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListInvitations, admin.InvitationQuery{}, func(p *printer, l admin.InvitationList) {
			var rows [][]string
			for _, i := range l.Invitations {
				rows = append(rows, []string{i.Name, i.Replaces, formatTimeSeconds(i.Expires)})
			}
			p.table([]string{"NAME", "REPLACES", "EXPIRES"}, rows)
		})
	})
}

func (m *management) invitationWithdraw() *cobra.Command {
	c := command("withdraw INVITATION", "Make the token for a node of that name worthless", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.WithdrawInvitation, admin.Withdrawal{Name: args[0]}, func(p *printer, a admin.Done) {
			p.line("the invitation for node %s is withdrawn", a.ID)
		})
	})
	c.Long = `Make the token for a node of that name worthless. A node that has joined by it is
a member: see mintmark cluster remove.`
	return c
}

func invitationFlags(c *cobra.Command, name *string, lifetime *time.Duration) {
	c.Flags().StringVar(name, "name", "", "`NAME` of the new node")
	config.DurationVar(c.Flags(), lifetime, "ttl", invitationLifetime, "for how long the token can be used")
	_ = c.MarkFlagRequired("name")
}

// invite prints the token alone on standard output, and on standard error what
// to do with it, and with the old node, if there is one.
func invite[Q any](m *management, cmd *cobra.Command, o admin.Operation[Q, admin.Invited], q Q, old string) error {
	c, err := m.open(cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := o.Call(cmdContext(cmd), c, q)
	if err != nil {
		return err
	}
	return m.show(cmd, a, func(p *printer) {
		p.secret(a.Token.Reveal())
		if a.Ended {
			p.remark("this token replaces an earlier one for node %s, which no longer works", a.Name)
		}
		p.remark("put the token into a file of mode 0600 on the new machine and start there, before %s:\n\n"+
			"  mintmark serve --name %s --join %s --token-file FILE\n\n"+
			"with --cluster-listen and --advertise where the other nodes are to reach it",
			formatTimeSeconds(a.Expires), a.Name, joinAddress(cmd, c))
		if old != "" && nodeAnswers(cmd, c, old) {
			p.remark("warning: node %s still runs, and is removed when the new one votes: take it out of the proxy before, and stop it after that", old)
		}
	})
}

// joinAddress is where a new node finds the one that was asked.
func joinAddress(cmd *cobra.Command, c *admin.Caller) string {
	s, err := admin.ShowCluster.Call(cmdContext(cmd), c, admin.StatusQuery{})
	if err == nil {
		for _, n := range s.Nodes {
			if n.ID == s.ID && n.Address != "" {
				return n.Address
			}
		}
	}
	return "HOST:PORT"
}
