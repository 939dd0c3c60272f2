package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) keysRewrap() *cobra.Command {
	var q admin.RewrapRequest
	c := command("rewrap", "Change the cluster key, which the other keys are sealed under", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.RewrapKeys, q, func(p *printer, a admin.RewrapResult) {
			behind := func() {
				if len(a.Behind) > 0 {
					p.line("cluster.key does not hold it yet on %s: a node that runs, or is started, puts it there by itself; don't copy the file from there before",
						strings.Join(a.Behind, ", "))
				}
			}
			if a.Resumed {
				p.line("a change that was begun before is finished: everything is sealed under cluster key %s", a.ID)
				behind()
				p.remark("no other change was begun: run this again if the key shall be a new one")
				return
			}
			p.line("everything is sealed under the new cluster key %s", a.ID)
			behind()
			p.remark("a backup from before opens with the cluster key of then: keep cluster.key.old of one node with it, " +
				"elsewhere, before the node is started again; make a backup now")
			p.remark("copy the new cluster.key of this node to the safe place where the old one is kept: whoever has lost it on all nodes has lost every key")
		})
	})
	confirmFlag(c, &q.Force, "even while voters can't be reached, as long as a majority can")
	c.Long = `Change the cluster key, which the other keys are sealed under, while the cluster
runs. The signing and credential keys stay what they are, so nobody notices.

The node that is asked makes the new key and gives it to the others, over
connections that only members have; it goes through no other hands. Each keeps
it as cluster.key.new until everything is sealed under it, then as cluster.key;
the one before it is cluster.key.old until the node starts again (a file of that
name which is not the node's is never written over; move it away). The command
waits for that on every node, and names those where it has not happened after some
seconds: a node that is stopped then has both keys, and does it when it is started.
Copy the new cluster.key of the node that was asked to the safe place where you
keep the old one.

It is refused, and nothing is changed, while a voter can't be reached (--yes
goes on without it: it asks the others for the key when it is back) and where a
node has its key from somewhere that it can't change, as from the environment.
A change that was interrupted is finished by the cluster itself, or by running
this again.

` + aboutCompromisedNode
	return c
}

func (m *management) clusterRotateAuthority() *cobra.Command {
	c := command("rotate-authority", "Replace the authority that signs the certificates of the nodes", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.RotateAuthority, admin.AuthorityRotation{}, func(p *printer, a admin.AuthorityChange) {
			for _, one := range a.Authorities {
				p.line("authority %s is %s%s", one.ID[:min(len(one.ID), 12)], one.State, waitsFor(one.WaitingFor))
			}
			if a.Done {
				p.remark("it is the only one: join tokens from before are refused from now on")
			} else {
				p.remark("the rest happens by itself when those nodes are back, or removed; see mintmark cluster status")
			}
		})
	})
	c.Long = `Replace the authority that signs the certificates of the nodes.

A new authority is announced, signs certificates once every node accepts them,
and is the only one once every node has one. That takes a second where all nodes
are up. A node that is down holds it up until it is back, or removed, for it
could speak to nobody otherwise; the cluster works meanwhile, and "mintmark
cluster status" says so after an hour.

A join token works with the authority that signed when it was made. Afterwards
the new node says that the authority was changed: make another token.

` + aboutCompromisedNode
	return c
}

func waitsFor(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", and waits for " + strings.Join(names, ", ")
}

// aboutCompromisedNode is the whole procedure, told wherever a part of it is.
const aboutCompromisedNode = `If a node may be in wrong hands, do this on another node, in this order:

  mintmark cluster remove NODE          its key is refused at once, everywhere
  mintmark cluster rotate-authority     it had what certificates are signed with
  mintmark keys rewrap                  it had the cluster key

That keeps it from the cluster, and from what the cluster makes from now on. If
somebody may have read its disk or memory they have all keys that "mintmark keys
list" shows, which must go too, after the others: first those that are announced,
then those that are active or retiring.

  mintmark keys rotate --emergency ID   tokens that a signing key signed are
                                        refused, and verifiers take minutes to
                                        learn the new one; grants that are due
                                        under a credential key end, and client
                                        secrets that are recorded under it must
                                        be made again: tell the owners

Start a machine in its place with an empty data folder (mintmark cluster invite).`
