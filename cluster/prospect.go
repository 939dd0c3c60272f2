package cluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Prospect is what somebody should know before Recover.
type Prospect struct {
	Last    uint64   // index of the last entry of raft's log
	GivesUp []Member // the other nodes, in order of name
	Led     []string // names of those among them that run, and follow or are a leader
}

// prospectTimeout is for a node that answers to find out whether it has a leader.
const prospectTimeout = 5 * time.Second

// Foresee says what Recover would do to a folder, and changes nothing. The other
// nodes are asked as one asks that joins: it takes the node's key, and no
// certificate, for which the cluster's key would be needed.
func Foresee(ctx context.Context, c Config) (p Prospect, err error) {
	if c, err = c.withDefaults(); err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if err := checkRemoved(c.Dir); err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if member, err := IsMember(c.Dir); err != nil || !member {
		return p, errors.Join(errNothingToRecover, err)
	}
	n := &Node{config: c, log: c.Logger}
	defer func() { err = errors.Join(err, n.closeFiles()) }()
	snapshots, err := n.openLog()
	if err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if p.Last, err = n.stores.logs.LastIndex(); err != nil {
		return p, fmt.Errorf("recover: read log: %w", err)
	}
	taken, err := snapshots.List()
	if err != nil {
		return p, fmt.Errorf("recover: list snapshots: %w", err)
	}
	for _, s := range taken {
		p.Last = max(p.Last, s.Index)
	}
	kept, joined, err := n.knownAs()
	if err != nil {
		return p, fmt.Errorf("recover: %w", err)
	}
	if len(kept) == 0 {
		kept = joined
	}
	for _, m := range n.roster.get().Members {
		if m.ID != string(kept) {
			p.GivesUp = append(p.GivesUp, m)
		}
	}
	slices.SortFunc(p.GivesUp, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	if len(p.GivesUp) > 0 {
		err = n.askThoseGivenUp(ctx, string(kept), &p)
	}
	return p, err
}

var errNothingToRecover = errors.New("recover: there is no data in the directory")

// askThoseGivenUp asks all at once who has a leader.
func (n *Node) askThoseGivenUp(ctx context.Context, self string, p *Prospect) error {
	key, err := nodeKey(rand.Reader, n.config.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	own, err := selfSigned(key, self)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, prospectTimeout)
	defer cancel()
	out := newNetwork(self, nil, n.roster, &credentials{now: n.config.Now}, n.log.Warn)
	var mu sync.Mutex // of the next two
	var errs []error
	var asking sync.WaitGroup
	for _, m := range p.GivesUp {
		asking.Go(func() {
			a, err := out.askLed(ctx, m, own)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil: // it is lost, as far as can be told
			case a.Stranger:
				errs = append(errs, fmt.Errorf("recover: node %s says: %w", m.Name, ErrRemoved))
			case a.Led:
				p.Led = append(p.Led, m.Name)
			}
		})
	}
	asking.Wait()
	slices.Sort(p.Led)
	return errors.Join(errs...)
}

// askLed asks a member whether it has a leader, by a certificate of the caller's
// own.
func (n *network) askLed(ctx context.Context, m Member, own tls.Certificate) (a joinAnswer, err error) {
	d := tls.Dialer{Config: n.clientConfig(m.ID, protocolJoin)}
	d.Config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	c, err := d.DialContext(ctx, "tcp", m.Address)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	if err := writeJoin(c, joinRequest{Standing: true, Led: true}); err != nil {
		return a, err
	}
	err = readJoin(c, &a)
	return a, err
}
