package issuer

import (
	"context"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/schedule"
)

const (
	// dutyPause is the time between two rounds of the leader's duties, none of which is urgent.
	dutyPause = 5 * time.Second

	// reportPause is the time between two reports of what a node has counted. A crash loses
	// the counts since the last report.
	reportPause = 5 * time.Minute

	// lastReportWait is how long Close waits for the last report.
	lastReportWait = time.Second
)

// startDuties starts the duties of every node and those of the leader. Close ends them.
func (i *Issuer) startDuties(ctx context.Context) {
	ctx, i.stop = context.WithCancel(ctx)
	i.serveRevocations(ctx)
	i.done.Go(func() { i.recordSecretUses(ctx) })
	i.done.Go(func() {
		repeatReport(ctx, i.ReportUsage, func(err error) { i.config.Log.Warn("usage of clients not reported", "error", err) })
	})
	i.done.Go(func() { i.Rekey.Follow(ctx) })
	i.done.Go(func() { i.Keyring.LoadFresh(ctx) })
	i.done.Go(func() { i.runBackups(ctx) })
	for _, duty := range []func(context.Context){i.lead, i.beginTimeline, i.logTrail} {
		i.done.Go(func() { i.Node.WhileLeading(ctx, duty) })
	}
	if i.config.Failures != nil {
		i.done.Go(func() { i.config.Failures.Run(ctx) })
		i.done.Go(func() {
			repeatReport(ctx, i.ReportFailures, func(err error) { i.config.Log.Warn("failed authentications not reported", "error", err) })
		})
	}
}

// repeatReport calls report until ctx ends, and then once more. logFailed logs an error.
func repeatReport(ctx context.Context, report func(context.Context) error, logFailed func(error)) {
	ticker := time.NewTicker(reportPause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := report(ctx); err != nil && ctx.Err() == nil {
				logFailed(err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReportWait)
			defer cancel()
			_ = report(last) // a cluster that stops may have no leader any more
			return
		}
	}
}

// lead repeats the leader's duties while this node leads.
func (i *Issuer) lead(ctx context.Context) {
	ticker := time.NewTicker(dutyPause)
	defer ticker.Stop()
	duties := i.leaderDuties()
	for {
		for _, duty := range duties {
			if ctx.Err() != nil {
				return
			}
			duty(ctx)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// leaderDuties are the duties of one leadership. They log no error once their context has
// ended: the next leader continues.
func (i *Issuer) leaderDuties() []func(context.Context) {
	var sweep sweeper
	return []func(context.Context){
		i.Keyring.Step, i.Keyring.RotateDue, i.forgetNodes, i.Rekey.CompleteRewrap, i.sumFailures, i.endSecrets,
		func(ctx context.Context) {
			if err := sweep.run(ctx, i); err != nil && ctx.Err() == nil {
				i.config.Log.Warn("sweep failed", "error", err)
			}
		},
	}
}

// forgetNodes removes the rows of nodes that are no longer members.
func (i *Issuer) forgetNodes(ctx context.Context) {
	members := i.Node.Members()
	if len(members) == 0 {
		return // a single node has no list of members
	}
	for n := range i.View().Nodes() {
		if slices.ContainsFunc(members, func(m member.Member) bool { return m.ID == n.ID }) {
			continue
		}
		if _, _, err := i.Propose(ctx, &ledger.ForgetNode{Node: n.ID}); err != nil && ctx.Err() == nil {
			i.config.Log.Warn("node row not removed", "node", n.ID, "error", err)
		}
	}
}

// endSecrets revokes the secrets of clients whose end has come.
func (i *Issuer) endSecrets(ctx context.Context) {
	for _, due := range i.View().DueSecrets(i.Now(), ledger.MaxSweep) {
		log := i.config.Log.With("client", due.Client, "secret", due.Secret)
		outcome, _, err := i.Propose(ctx, &ledger.RevokeSecret{Actor: ledger.Actor{Operator: true}, Client: due.Client, Secret: due.Secret, Due: true})
		switch {
		case err != nil && ctx.Err() == nil:
			log.Warn("secret not revoked at its end", "error", err)
		case err == nil && outcome.Count > 0:
			log.Info("secret revoked at its end")
		}
	}
}

// runBackups makes the scheduled backups while the cluster chooses this node.
func (i *Issuer) runBackups(ctx context.Context) {
	c := i.config.Backups
	c.Ledger, c.ID, c.Log = i.Ledger, i.Node.ID(), i.config.Log
	c.Changed = func() <-chan struct{} { return i.Node.Changed(ledger.TableBackups) }
	schedule.New(c).Run(ctx)
}
