package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster"
)

// foresee says what a recovery gives up, and refuses one that nobody needs.
func foresee(cmd *cobra.Command, conf cluster.Config) error {
	p, err := cluster.Foresee(cmdContext(cmd), conf)
	if err != nil {
		return err
	}
	cmd.PrintErrf("this node has everything up to entry %d of the log\n", p.Last)
	for _, m := range p.GivesUp {
		cmd.PrintErrf("given up for good: %s at %s\n", m.Name, m.Address)
	}
	if len(p.Led) > 0 {
		return fmt.Errorf("recover: the cluster runs and has a leader, by the word of %s: start this node, or remove those that are lost "+
			"by one that runs (mintmark cluster remove)", strings.Join(p.Led, " and "))
	}
	return nil
}

// recoverFolder has the journal go on through the recovery, which applies the rest
// of the log and drops it: nobody could tell the journal of that later.
func (m *management) recoverFolder(conf cluster.Config) (err error) {
	s := &server{config: serverConfig{DataDir: m.dataDir, Log: conf.Logger, Now: wallClock}}
	if err := s.openJournal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.journal.Journal.Close()) }()
	conf.Witness = s.journal
	return cluster.Recover(conf)
}
