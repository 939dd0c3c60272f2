package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// recoverOptions are what an operator says of the nodes that are given up.
type recoverOptions struct {
	sure            bool // they are lost for good
	unreachableLost bool // those that can't be reached are, too
	journals        []string
	keyFile         string
}

func (m *management) clusterRecover() *cobra.Command {
	o := recoverOptions{keyFile: os.Getenv(envName(keyClusterKeyFile))}
	c := command("recover", "Make the only node that is left a cluster of one", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		cmd.SilenceUsage = true
		conf := cluster.Config{
			Dir: filepath.Join(m.dataDir, "raft"), Machine: issuer.Machine(),
			Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), handlerOptions(slog.LevelWarn))),
		}
		p, err := foresee(cmd, conf)
		if err != nil {
			return err
		}
		lost, err := m.followLost(p, o)
		if err != nil {
			return err
		}
		out := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
		showLost(out, p, lost.report, o.sure)
		if err := errors.Join(out.flush(), o.confirm(p)); err != nil {
			return err
		}
		attached, err := lost.attachment()
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

It first asks the nodes that it gives up, and says of each whether it refused the
connection or could not be reached. A connection is refused where no process
listens, but also where a firewall rejects it, which looks the same: you must know
which. A node that could not be reached may be behind a cut link. Behind either,
others may reach that node, which goes on serving, and this recovery expels it
when they meet again. Nodes that could not be reached must be declared lost by
--unreachable-are-lost. It refuses where one of them runs, and where this node
itself was removed or given up. Without --yes it changes nothing.

What was acknowledged by the lost nodes alone is lost with them, revocations too,
but for those in the journals that are named by --journal. Clients that got a newer
refresh token from the lost nodes go on, as after a restore. Another life of the
cluster begins at the next start, so that a restore never takes the lost nodes'
journals for those of what happens from then on. A node that was given up must
never be started again with its old data: read that (mintmark cluster backup save)
if you need it, delete it, and have the node join with a new token.`
	f := c.Flags()
	f.BoolVar(&o.sure, "yes", false, "the other nodes are lost for good")
	f.BoolVar(&o.unreachableLost, "unreachable-are-lost", false, "the nodes that can't be reached are lost for good, and not behind a cut link")
	f.StringArrayVar(&o.journals, "journal", nil, "`DIR`, the data folder of a lost node, or a file of mintmark cluster backup journal: "+
		"what was revoked there is revoked again (repeatable: nodes complete each other)")
	f.StringVar(&o.keyFile, keyClusterKeyFile, o.keyFile,
		"with --journal: `FILE` with the cluster's key, if it is not cluster.key in the data directory ("+envName(keyClusterKeyFile)+")")
	return c
}

// foresee says what a recovery gives up, and refuses one that nobody needs.
func foresee(cmd *cobra.Command, conf cluster.Config) (cluster.Prospect, error) {
	p, err := cluster.Foresee(cmdContext(cmd), conf)
	if err != nil {
		return p, err
	}
	cmd.PrintErrf("this node has everything up to entry %d of the log\n", p.Last)
	for _, g := range p.GivesUp {
		what := "it could not be reached: " + g.Why
		switch g.Answer {
		case cluster.AnswerRefused:
			what = "it refused the connection: no process listens there, or a firewall rejects"
		case cluster.AnswerRuns:
			what = "it runs, and has no leader"
		case cluster.AnswerLed:
			what = "it runs, and has a leader"
		}
		cmd.PrintErrf("given up for good: %s at %s; %s\n", g.Name, g.Address, what)
	}
	if led := answering(p, cluster.AnswerLed); led != "" {
		return p, fmt.Errorf("recover: the cluster runs and has a leader, by the word of %s: start this node, or remove those that are lost "+
			"by one that runs (mintmark cluster remove)", led)
	}
	if running := answering(p, cluster.AnswerRuns); running != "" {
		return p, fmt.Errorf("recover: %s still runs: start this node too, and if there is no leader then, stop all nodes but the one that goes on alone", running)
	}
	return p, nil
}

// answering are the names of the nodes that gave an answer.
func answering(p cluster.Prospect, a cluster.ProspectAnswer) string {
	var names []string
	for _, g := range p.GivesUp {
		if g.Answer == a {
			names = append(names, g.Name)
		}
	}
	return strings.Join(names, " and ")
}

// confirm is nil where an operator has said all that must be said.
func (o recoverOptions) confirm(p cluster.Prospect) error {
	switch silent := answering(p, cluster.AnswerUnreachable); {
	case silent != "" && !o.unreachableLost:
		return fmt.Errorf("recover: %s could not be reached, which is no sign that anything is lost: behind a cut link the others go on, and this recovery "+
			"would expel them when the link heals; where you know that they are lost, say --yes --unreachable-are-lost", silent)
	case !o.sure:
		return errors.New("this gives up the other nodes for good: see --help, and say --yes")
	}
	return nil
}

// followLost reads the journals of the lost nodes, and judges them by the state of
// the survivor as if that were a backup.
func (m *management) followLost(p cluster.Prospect, o recoverOptions) (*restoration, error) {
	state := ledger.At(p.View)
	r := &restoration{
		of: "this folder", moreKeys: "put it into cluster.key.old beside this node's own",
		header: backup.Header{Cluster: state.Settings().BaseURL, Seq: p.Seq, StateTime: stateTime(p.At), Lives: issuer.Lives(state)},
	}
	r.report = admin.RestoreReport{Seq: r.header.Seq, StateTime: r.header.StateTime, KnownUntil: r.header.StateTime}
	if len(o.journals) == 0 {
		return r, r.follow(nil)
	}
	if err := r.takeKeys(keySourceOf(o.keyFile, m.dataDir, os.Getenv), nil); err != nil {
		return nil, err
	}
	var journals []nodeJournal
	for _, path := range o.journals {
		j, err := r.readLost(path)
		if err != nil {
			return nil, fmt.Errorf("read the journal in %s: %w", path, err)
		}
		journals = append(journals, j)
	}
	if err := r.follow(journals); err != nil {
		return nil, err
	}
	return r, r.preview(state)
}

// readLost reads the journal of a lost node: its folder, or a file.
func (r *restoration) readLost(path string) (nodeJournal, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nodeJournal{}, err
	}
	if info.IsDir() {
		return readLostFolder(path)
	}
	file, err := readJournal(path)
	if err != nil {
		return nodeJournal{}, err
	}
	return r.readJournal(file)
}

// readLostFolder leaves the folder as it is, which may be all that there is of the
// node, on a disk that can't be written: it reads a copy.
func readLostFolder(dir string) (j nodeJournal, err error) {
	from := filepath.Join(dir, "journal")
	if _, err := os.Stat(from); err != nil {
		return j, fmt.Errorf("this is no data folder of a node: %w", err)
	}
	to, err := os.MkdirTemp("", "mintmark-journal-")
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	if err := copyFiles(to, from); err != nil {
		return j, err
	}
	opened, err := journal.Open(journal.Config{Dir: to})
	if err != nil {
		return j, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if j.header, err = labelled(backup.Header{Kind: backup.KindJournal, Taken: wallClock()}, opened); err != nil {
		return j, err
	}
	if j.history, err = historyOf(opened); err != nil {
		return j, err
	}
	recovered, err := cluster.Recovered(filepath.Join(dir, "raft"))
	if err == nil && recovered != nil {
		j.history = j.history.Until(recovered.Seq) // what comes then is of another life
	}
	return j, err
}

// copyFiles copies the plain files of a folder, for their owner only.
func copyFiles(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// showLost says what is known of what the lost nodes decided, and what may come
// back.
func showLost(p *printer, at cluster.Prospect, r admin.RestoreReport, sure bool) {
	changed := "it would change"
	if sure {
		changed = "at the next start it changes"
	}
	showReplay(p, r, changed)
	if len(at.GivesUp) == 0 && len(r.Covered) == 0 {
		return // it was alone before
	}
	known := fmt.Sprintf("this node knows what was decided up to command %d, %s", r.Seq, exact(r.StateTime))
	if r.Journal > 0 {
		known += fmt.Sprintf("; what was taken away after that is known up to command %d, %s", r.Journal, exact(r.KnownUntil))
	}
	p.remark("%s", known)
	if r.Gap == "" {
		p.remark("all that was taken away until then is known; whatever else the lost nodes decided without this node, and all that they decided later, is lost")
		return
	}
	p.remark("lost: %s", r.Gap)
	var kinds []string
	for _, k := range ledger.Revocations() {
		kinds = append(kinds, k.String())
	}
	p.remark("what the lost nodes decided without that is lost. Of these kinds, revocations may have come back: %s. Look through them, and make them again", strings.Join(kinds, ", "))
}

// attachment is what the next start replays, nil for nothing.
func (r *restoration) attachment() ([]byte, error) {
	if len(r.records) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := r.history.After(r.header.Seq).Export(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// recoverFolder has the journal go on through the recovery, which applies the rest
// of the log and drops it: nobody could tell the journal of that later.
func (m *management) recoverFolder(conf cluster.Config, attached []byte) (err error) {
	s := &server{config: serverConfig{DataDir: m.dataDir, Log: conf.Logger, Now: wallClock}}
	if err := s.openJournal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.journal.Journal.Close()) }()
	conf.Witness = s.journal
	return cluster.Recover(conf, attached)
}
