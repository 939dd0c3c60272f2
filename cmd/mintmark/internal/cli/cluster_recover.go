package cli

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// recoverOptions are the operator's declarations about the nodes that are given up.
type recoverOptions struct {
	confirmed       bool // the nodes are lost for good
	unreachableLost bool // so are those that could not be reached
	journals        []string
	keyFile         string
}

func (m *management) clusterRecover() *cobra.Command {
	o := recoverOptions{keyFile: os.Getenv(config.Variable(config.KeyClusterKeyFile))}
	c := command("recover", "Make the only node that is left a cluster of one", func(cmd *cobra.Command, _ []string) error {
		cmd.SilenceUsage = true
		conf := cluster.Config{
			Dir: filepath.Join(m.dataDir, "raft"), Machine: replica.Machine(),
			Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), config.HandlerOptions(slog.LevelWarn))),
		}
		p, err := printRecoveryPlan(cmd, conf)
		if err != nil {
			return err
		}
		lost, err := m.readLostJournals(p, o)
		if err != nil {
			return err
		}
		out := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
		showLost(out, p, server.RestoreReport(lost), o.confirmed)
		if err := errors.Join(out.writeErr(), o.confirm(p)); err != nil {
			return err
		}
		attached, err := lost.Attachment()
		if err != nil {
			return err
		}
		if err := m.recoverFolder(conf, attached); err != nil {
			return err
		}
		cmd.Println("recovered: start the node, and have others join it with new tokens")
		return nil
	})
	c.Long = `Make the only node that is left a cluster of one, with all that its log has. It is
for when a majority of the nodes is lost for good, and works on the data
directory while no node uses it.

It first asks the nodes that it would give up whether they run, and reports for
each whether it refused the connection or could not be reached. A connection is
refused if no process listens, but also if a firewall rejects it: only you can tell
which. A node that could not be reached may be behind a cut link. In both cases
other nodes may reach it and it may go on serving; this recovery would then remove
it as soon as they reach each other again. Nodes that could not be reached must be declared
lost with --unreachable-are-lost. The command refuses if one of the nodes runs, or
if this node itself was removed or given up. Without --yes it changes nothing.

What only the lost nodes had acknowledged is lost with them, revocations included,
except those in journals named with --journal. The journal in a data folder is
completed from the log there. Clients that got a newer refresh token from the lost
nodes can go on, as after a restore. At the next start another timeline of the cluster
begins, so that a restore never applies the lost nodes' journals to what happens
from then on. Never start a node that was given up with its old data: read that data
(mintmark cluster backup save) if you need it, delete it, and have the node join with
a new token.`
	f := c.Flags()
	f.BoolVar(&o.confirmed, "yes", false, "the other nodes are lost for good")
	f.BoolVar(&o.unreachableLost, "unreachable-are-lost", false, "the nodes that could not be reached are lost for good, not behind a cut link")
	f.StringArrayVar(&o.journals, "journal", nil, "`DIR`, the data folder of a lost node, or a file of mintmark cluster backup journal: "+
		"what was revoked there is revoked here (repeatable: the journals complete each other)")
	f.StringVar(&o.keyFile, config.KeyClusterKeyFile, o.keyFile,
		"with --journal: `FILE` with the cluster's key, if it is not cluster.key in the data directory ("+config.Variable(config.KeyClusterKeyFile)+")")
	return c
}

// printRecoveryPlan prints which nodes a recovery gives up, and refuses it if one of them runs.
func printRecoveryPlan(cmd *cobra.Command, conf cluster.Config) (recovery.Plan, error) {
	p, err := recovery.NewPlan(cmdContext(cmd), conf.Offline())
	if err != nil {
		return p, err
	}
	cmd.PrintErrf("this node has everything up to entry %d of the log\n", p.Last)
	for _, g := range p.Abandoned {
		what := "it could not be reached: " + g.Why
		switch g.Probe {
		case recovery.ProbeRefused:
			what = "it refused the connection: no process listens there, or a firewall rejects"
		case recovery.ProbeRunning:
			what = "it runs, and has no leader"
		case recovery.ProbeHasLeader:
			what = "it runs, and has a leader"
		}
		cmd.PrintErrf("to be given up for good: %s at %s; %s\n", g.Name, g.Address, what)
	}
	if led := namesByProbe(p, recovery.ProbeHasLeader); led != "" {
		return p, fmt.Errorf("recover: the cluster runs and has a leader, according to %s: start this node, or remove the nodes that are lost "+
			"at one that runs (mintmark cluster remove)", led)
	}
	if running := namesByProbe(p, recovery.ProbeRunning); running != "" {
		return p, fmt.Errorf("recover: %s still runs: start this node too; if no leader is elected then, stop all nodes but the one to recover", running)
	}
	return p, nil
}

// namesByProbe joins the names of the nodes with the answer a.
func namesByProbe(p recovery.Plan, a recovery.ProbeResult) string {
	var names []string
	for _, g := range p.Abandoned {
		if g.Probe == a {
			names = append(names, g.Name)
		}
	}
	return strings.Join(names, " and ")
}

// confirm returns an error unless the operator has declared the other nodes lost.
func (o recoverOptions) confirm(p recovery.Plan) error {
	switch silent := namesByProbe(p, recovery.ProbeUnreachable); {
	case silent != "" && !o.unreachableLost:
		return fmt.Errorf("recover: %s could not be reached, which does not mean that it is lost: behind a cut link it may go on serving, and this recovery "+
			"would remove it from the cluster when the link is back; if you know that it is lost, say --yes --unreachable-are-lost", silent)
	case !o.confirmed:
		return errors.New("recover: this gives up the other nodes for good: name the data folders of theirs that can be read with --journal, and say --yes; see --help")
	}
	return nil
}

// readLostJournals plans the replay of the journals of the lost nodes on the state of the
// survivor.
func (m *management) readLostJournals(p recovery.Plan, o recoverOptions) (*restore.Plan, error) {
	var held *keys.ClusterKeys
	var journals []restore.Journal
	if len(o.journals) > 0 {
		var err error
		if held, err = config.FindKey(o.keyFile, m.dataDir, os.Getenv).OpenForRestore(nil); err != nil {
			return nil, err
		}
	}
	for _, path := range o.journals {
		j, err := readLostJournal(path, held)
		if err != nil {
			return nil, fmt.Errorf("read the journal in %s: %w", path, err)
		}
		journals = append(journals, j)
	}
	return restore.Survivor(ledger.At(p.View), p.Seq, p.At, held, journals)
}

// readLostJournal reads the journal of a lost node from its data folder, or from a file of
// mintmark cluster backup journal.
func readLostJournal(path string, held *keys.ClusterKeys) (restore.Journal, error) {
	info, err := os.Stat(path)
	if err != nil {
		return restore.Journal{}, err
	}
	if info.IsDir() {
		return restore.ReadFolder(path, server.WallClock())
	}
	file, err := readJournal(path)
	if err != nil {
		return restore.Journal{}, err
	}
	return restore.ReadFile(bytes.NewReader(file), held)
}

// showLost prints up to when the decisions of the lost nodes are known, and which
// kinds of revocation may have come back.
func showLost(p *printer, at recovery.Plan, r admin.RestoreReport, sure bool) {
	changed := "it would change"
	if sure {
		changed = "at the next start it changes"
	}
	showReplay(p, r, changed)
	if len(at.Abandoned) == 0 && len(r.Covered) == 0 {
		return // the node was alone before
	}
	known := fmt.Sprintf("this node has every decision up to command %d, %s", r.Seq, formatTimeSeconds(r.StateTime))
	if r.Journal > 0 {
		known += fmt.Sprintf("; the journals have the revocations after that, up to command %d, %s", r.Journal, formatTimeSeconds(r.KnownUntil))
	}
	p.remark("%s", known)
	if r.Gap == "" {
		p.remark("all revocations up to then are known; what else the lost nodes decided without this node, and all that they decided later, is lost")
		return
	}
	p.remark("lost: %s", r.Gap)
	var kinds []string
	for _, k := range ledger.RevokingEffects() {
		kinds = append(kinds, k.String())
	}
	p.remark("what else the lost nodes decided is lost. Of these kinds, revocations may have come back: %s. Check each kind, and revoke again what has come back", strings.Join(kinds, ", "))
}

// recoverFolder recovers the folder with this node's journal as the apply observer. The
// recovery applies the rest of the log and then drops it, so nothing could write
// those decisions to the journal later.
func (m *management) recoverFolder(conf cluster.Config, attached []byte) (err error) {
	observer, err := restore.OpenJournal(m.dataDir, conf.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, observer.Journal.Close()) }()
	conf.ApplyObserver = observer
	return recovery.Recover(conf.Offline(), attached)
}
