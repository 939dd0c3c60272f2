package cluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-memdb"
)

// A Prospect describes what Recover would do to a folder.
type Prospect struct {
	Last    uint64     // index of the last entry of raft's log
	GivesUp []GivenUp  // the other nodes, in order of name
	View    *memdb.Txn // the state with the whole log applied
	At      int64      // state time of the last command in it, ms since the Unix epoch
	Seq     uint64     // as Recovery.Seq
}

// A GivenUp is a node that Recover would give up, and the result of asking it
// whether it runs.
type GivenUp struct {
	Member
	Answer ProspectAnswer
	Why    string // for people: why there is no answer; "" if there is one
}

// A ProspectAnswer is the result of asking a node that Recover would give up.
type ProspectAnswer uint8

const (
	// AnswerUnreachable means that nothing, or something else, answered at the
	// node's address. The node may run, and other nodes may reach it.
	AnswerUnreachable ProspectAnswer = iota
	// AnswerRefused means that the connection was refused: nothing listens there, or
	// a firewall rejects connections.
	AnswerRefused
	// AnswerRuns means that the node runs and has no leader.
	AnswerRuns
	// AnswerLed means that the node runs, and leads or follows a leader.
	AnswerLed
)

// prospectTimeout bounds the question, in which a node that answers finds out
// whether it has a leader.
const prospectTimeout = 5 * time.Second

// Foresee returns what Recover would do to the folder c.Dir, whose data does not
// change. It asks the other nodes by the join protocol, which needs the node's key
// only: a certificate of the cluster would need the cluster key.
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
	snapshots, err := n.openFiles()
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
			p.GivesUp = append(p.GivesUp, GivenUp{Member: m})
		}
	}
	slices.SortFunc(p.GivesUp, func(a, b GivenUp) int { return strings.Compare(a.Name, b.Name) })
	if len(p.GivesUp) > 0 {
		if err := n.askThoseGivenUp(ctx, string(kept), &p); err != nil {
			return p, err
		}
	}
	return p, n.readAhead(snapshots, &p)
}

// readAhead applies the log to the state in memory.
func (n *Node) readAhead(snapshots *privateSnapshots, p *Prospect) (err error) {
	earlier, _, err := readRecovery(n.config.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	err = n.replayFolder(snapshots, func(view *memdb.Txn, shared uint64) error {
		p.View, p.At, p.Seq = view, readStatus(view).At, shared
		return errTaken
	})
	if !errors.Is(err, errTaken) {
		return fmt.Errorf("recover: %w", err)
	}
	if earlier != nil {
		p.Seq = earlier.Seq // Recover continues that recovery
	}
	return nil
}

var errNothingToRecover = errors.New("recover: there is no data in the directory")

// askThoseGivenUp asks all these nodes at once whether they run and have a leader.
func (n *Node) askThoseGivenUp(ctx context.Context, self string, p *Prospect) error {
	key, err := nodeKey(rand.Reader, n.config.Dir)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	own, err := selfSigned(key, self, n.config.Now())
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, prospectTimeout)
	defer cancel()
	out := newNetwork(self, nil, n.roster, &credentials{now: n.config.Now}, n.log.Warn)
	errs := make([]error, len(p.GivesUp))
	var asking sync.WaitGroup
	for i := range p.GivesUp {
		asking.Go(func() {
			g := &p.GivesUp[i]
			c, err := out.dialAsStranger(ctx, g.Member, own)
			if err != nil {
				g.Why = forPeople(whyUnreached(g.Address, err))
				if errors.Is(err, syscall.ECONNREFUSED) {
					g.Answer = AnswerRefused
				}
				return
			}
			defer func() { _ = c.Close() }()
			g.Answer = AnswerRuns // even if it does not answer in time
			switch a, err := askLed(ctx, c); {
			case err != nil:
			case a.Stranger:
				errs[i] = fmt.Errorf("recover: node %s says: %w", g.Name, ErrRemoved)
			case a.Led:
				g.Answer = AnswerLed
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// dialAsStranger connects to a member with a self-signed certificate.
func (n *network) dialAsStranger(ctx context.Context, m Member, own tls.Certificate) (net.Conn, error) {
	d := tls.Dialer{Config: n.clientConfig(m.ID, protocolJoin)}
	d.Config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	return d.DialContext(ctx, "tcp", m.Address)
}

// askLed asks a member whether it has a leader.
func askLed(ctx context.Context, c net.Conn) (a joinAnswer, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	if err := writeJoin(c, joinRequest{Standing: true, Led: true}); err != nil {
		return a, err
	}
	err = readJoin(c, &a)
	return a, err
}
