package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clusterCommand() *cobra.Command {
	return group("cluster", "Create a cluster and manage its nodes",
		m.clusterInit(), m.clusterGenerate(), m.clusterInvite(), m.clusterReplace(), m.invitationCommand(), m.clusterStatus(), m.clusterChecksum(),
		m.clusterTransfer(), m.clusterRemove(), m.clusterAcceptClock(), m.clusterRotateAuthority(), m.clusterRecover(), m.backupCommand())
}

func (m *management) clusterInit() *cobra.Command {
	var q admin.NewCluster
	c := command("init", "Make the waiting node the first of a new cluster", func(cmd *cobra.Command, _ []string) error {
		q.PublicURL, q.AppURL = strings.TrimSuffix(q.PublicURL, "/"), strings.TrimSuffix(q.AppURL, "/")
		return runOperation(m, cmd, admin.InitCluster, q, func(p *printer, a admin.CreatedCluster) {
			p.line("the cluster is made: the API is %s, the pages are %s", a.PublicURL, a.AppURL)
			if a.PlainHTTP {
				p.remark("warning: http outside the loopback is accepted: passwords, cookies, codes and secrets can be read and changed on the way")
			}
			p.remark("other nodes join with a token from: mintmark cluster invite --name NAME")
		})
	})
	c.Flags().StringVar(&q.PublicURL, "public-url", "", "address of the API as others reach it, and the issuer: for good")
	c.Flags().StringVar(&q.AppURL, "app-url", "", "address of the pages as others reach them (default: the public URL)")
	c.Flags().BoolVar(&q.PlainHTTP, config.KeyPlainHTTP, false, config.PlainHTTPUsage)
	_ = c.MarkFlagRequired("public-url")
	return c
}

func (m *management) clusterChecksum() *cobra.Command {
	return command("checksum", "Hash the whole state of this node, to compare with that of others", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ChecksumNode, admin.ChecksumQuery{}, func(p *printer, a admin.ClusterChecksum) {
			p.line("%s  %d  %s", a.Checksum, a.Applied, a.Name)
		})
	})
}

func (m *management) clusterTransfer() *cobra.Command {
	var q admin.Transfer
	c := command("transfer-leader", "Let another node lead", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.TransferLeader, q, func(p *printer, t admin.Transferred) {
			switch {
			case t.ID == "":
				p.line("another node leads; see mintmark cluster status")
			case t.Already:
				p.line("node %s leads already", t.ID)
			default:
				p.line("node %s leads", t.ID)
			}
		})
	})
	c.Flags().StringVar(&q.To, "to", "", "`NAME` of the node (default: the one that is furthest)")
	return c
}

func (m *management) clusterRemove() *cobra.Command {
	var q admin.Removal
	var yes bool
	c := command("remove NODE", "Take a node out of the cluster for good", func(cmd *cobra.Command, args []string) error {
		q.Name = args[0]
		if err := confirm(cmd, yes, "remove node "+q.Name+" from the cluster for good"); err != nil {
			return err
		}
		c, err := m.open(cmd)
		if err != nil {
			return err
		}
		defer c.Close()
		living := nodeAnswers(cmd, c, q.Name)
		done, err := admin.RemoveNode.Call(cmdContext(cmd), c, q)
		if err != nil {
			return err
		}
		return m.show(cmd, done, func(p *printer) {
			p.line("node %s is removed", q.Name)
			if living {
				p.remark("warning: it was still running, and requests that are sent to it fail: stop it, and take it from the proxy")
			}
			p.remark("its key is refused from now on: its machine comes back only by an invitation, with an empty data folder")
		})
	})
	confirmFlag(c, &yes, "remove without a question")
	c.Flags().BoolVar(&q.Force, "wait", false, "wait for the others, rather than refuse at once, where those that are left and can be reached are no majority")
	c.Long = "Take a node out of the cluster for good.\n\n" + aboutRunningNode + "\n\n" + aboutCompromisedNode
	return c
}

func (m *management) clusterAcceptClock() *cobra.Command {
	c := command("accept-clock", "Accept this node's clock after a jump, or at a start", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.AcceptClock, admin.ClockAcceptance{}, func(p *printer, a admin.Done) {
			p.line("the clock of node %s was accepted", a.ID)
		})
	})
	c.Long = `Accept this node's clock after a jump, or at a start. A node that doubts its clock
decides nothing by it until then.

Make sure first that the clock is right. If you set it right, the node goes on by
itself. If several nodes wait, accept the clock of each. A wrong time in the future
can't be taken back once the cluster has stamped it: codes, sessions and grants
expire at once.`
	return c
}
