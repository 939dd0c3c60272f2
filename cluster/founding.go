package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// Nodes whose folders were generated found their cluster together: each starts
// with an empty log and the same configuration. A node that was given its
// generated folder a second time, because it lost its data, must not do that
// again: it has forgotten its votes and what it acknowledged, and could make a
// majority with one other node that lacks an acknowledged command.
//
// So nobody begins before it has met all others. Each makes a birth, at random
// and kept with its log, and tells it to whoever asks; who begins writes all
// births down. A node is let begin by those who wait as it does, or by one that
// has begun and knows its birth: then it was there, and has lost nothing since.
// One that has begun and knows another birth, or none, refuses it for good.

// beforeRaft is what a node has while it waits for those that found its cluster
// with it.
type beforeRaft struct{ birth atomic.Pointer[[]byte] }

func (b *beforeRaft) waiting() bool { return b.birth.Load() != nil }

// over is called when raft runs.
func (b *beforeRaft) over() { b.birth.Store(nil) }

// foundingAnswer is what a node tells another that would begin.
type foundingAnswer struct {
	Begun  bool              `cbor:"1,keyasint,omitempty"`
	Births map[string][]byte `cbor:"2,keyasint,omitempty"` // by id: of all nodes where it has begun, else its own
}

const (
	foundingPause = 200 * time.Millisecond
	// foundingReminder is how often the log says for whom a node waits.
	foundingReminder = 30 * time.Second
)

// awaitFounders returns when this node may begin, if it founds a cluster with
// others. Until raft runs it answers nothing but the question that it asks
// itself.
func (n *Node) awaitFounders(ctx context.Context) error {
	list := n.roster.get()
	if !list.Founding || len(list.Members) < 2 {
		return nil
	}
	if err := n.checkGenerated(); err != nil {
		return err
	}
	birth, err := n.birth()
	if err != nil {
		return err
	}
	n.beforeRaft.birth.Store(&birth)
	n.network.start()
	births, err := n.meet(ctx, list, birth)
	if err != nil {
		return err
	}
	list.Members = slices.Clone(list.Members)
	for i := range list.Members {
		list.Members[i].Birth = births[list.Members[i].ID]
	}
	return n.roster.replace(list)
}

// checkGenerated finds a folder that was put together from several, or lacks
// what belongs to it.
func (n *Node) checkGenerated() error {
	if n.config.Network == nil {
		return errors.New("the data directory is that of a node among others, and this one has no network")
	}
	hash, err := keyHash(n.credentials.key)
	if err != nil {
		return err
	}
	if me, ok := n.roster.member(string(n.id)); !ok || !bytes.Equal(me.Key, hash) {
		return fmt.Errorf("%s, node.key and %s are not from the same generated folder", nodeIDFile, rosterFile)
	}
	_, err = n.credentials.current() // opens the authority's key
	return err
}

// meet asks all others again and again. What counts is said in one round: a node
// may lose its data while others are still waited for.
func (n *Node) meet(ctx context.Context, list rosterList, birth []byte) (map[string][]byte, error) {
	var said string
	var saidAt time.Time
	for {
		answers, silent := n.askFounders(ctx, list)
		births, err := judge(string(n.id), birth, list.Members, answers)
		if n.config.hooks.founding != nil && err == nil {
			err = n.config.hooks.founding(len(births) > 0, silent)
		}
		if err != nil || len(births) > 0 {
			return births, err
		}
		why := "waits for " + strings.Join(silent, ", ")
		if n.config.Waiting != nil {
			n.config.Waiting(why)
		}
		if why != said || time.Since(saidAt) > foundingReminder {
			n.log.WarnContext(ctx, "cluster: this node founds a cluster with others, and waits until all can be reached", "waiting_for", silent)
			said, saidAt = why, time.Now()
		}
		select {
		case <-time.After(foundingPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("found the cluster: %s: %w", why, ctx.Err())
		}
	}
}

// askFounders asks all other members once. silent says who gave no answer, and
// why.
func (n *Node) askFounders(ctx context.Context, list rosterList) (answers map[string]foundingAnswer, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	answers = make(map[string]foundingAnswer)
	for _, m := range list.Members {
		if m.ID == string(n.id) {
			continue
		}
		asking.Go(func() {
			a, err := n.askFounder(ctx, m.ID)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, fmt.Sprintf("%s (%s)", m.Name, forPeople(err)))
				return
			}
			answers[m.ID] = a
		})
	}
	asking.Wait()
	slices.Sort(silent)
	return answers, silent
}

func (n *Node) askFounder(ctx context.Context, id string) (foundingAnswer, error) {
	var a foundingAnswer
	r, err := n.ask(ctx, id, nil, opFounding, nil, statusTimeout)
	if err != nil {
		return a, err
	}
	if r.status != replyOK {
		return a, r.err()
	}
	if err := decoding.Unmarshal(r.body, &a); err != nil {
		return a, fmt.Errorf("decode answer: %w", err)
	}
	return a, nil
}

// judge says whether a node may begin: it returns all births then, and none
// while it must wait. The error is ErrDataLost.
func judge(self string, birth []byte, all []Member, answers map[string]foundingAnswer) (map[string][]byte, error) {
	met := map[string][]byte{self: birth}
	var begun map[string][]byte
	for _, m := range all {
		a, answered := answers[m.ID]
		switch {
		case m.ID == self || !answered:
		case a.Begun && !bytes.Equal(a.Births[self], birth):
			return nil, fmt.Errorf("node %s refuses this one: %w", m.Name, ErrDataLost)
		case a.Begun:
			begun = a.Births
		case len(a.Births[m.ID]) > 0:
			met[m.ID] = a.Births[m.ID]
		}
	}
	switch {
	case begun != nil:
		return begun, nil
	case len(met) == len(all):
		return met, nil
	}
	return nil, nil
}

// serveFounding answers a node that would begin.
func (n *Node) serveFounding() reply {
	a := foundingAnswer{Begun: true, Births: make(map[string][]byte)}
	if birth := n.beforeRaft.birth.Load(); birth != nil {
		a = foundingAnswer{Births: map[string][]byte{string(n.id): *birth}}
	} else {
		for _, m := range n.roster.get().Members {
			if len(m.Birth) > 0 {
				a.Births[m.ID] = m.Birth
			}
		}
	}
	b, err := encoding.Marshal(a)
	if err != nil {
		return reply{replyFailed, []byte(err.Error())}
	}
	return reply{replyOK, b}
}

// firstServers is the configuration that an empty folder begins with.
func (n *Node) firstServers() []raft.Server {
	list := n.roster.get()
	if !list.Founding || len(list.Members) < 2 {
		return []raft.Server{{ID: n.id, Address: n.transport.LocalAddr()}}
	}
	servers := make([]raft.Server, len(list.Members)) // in the order of the list, which is the same on all
	for i, m := range list.Members {
		servers[i] = raft.Server{ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.ID)}
	}
	return servers
}

// prepareFounding makes the list of a cluster that starts with this node.
func (n *Node) prepareFounding() error {
	hash, err := keyHash(n.credentials.key)
	if err != nil {
		return err
	}
	a, err := newAuthority(n.config.Rand, n.config.Secrets, n.config.Now())
	if err != nil {
		return err
	}
	return n.roster.replace(rosterList{
		Founding: true,
		Members: []Member{{
			ID: string(n.id), Name: n.config.Name, Address: n.config.Network.Advertise, Key: hash,
			Version: n.config.Version, Level: n.core.schema.level, Issuer: a.ID,
		}},
		Authorities: []authority{a},
	})
}

// foundCluster writes the first members into the state.
func (n *Node) foundCluster(ctx context.Context) error {
	n.founding.Lock()
	defer n.founding.Unlock()
	if n.config.Network == nil || len(members(n.View())) > 0 {
		return nil
	}
	if n.roster.empty() {
		// The folder was made by a node that ran alone.
		if err := n.prepareFounding(); err != nil {
			return err
		}
	}
	list := n.roster.get()
	_, err := n.decide(ctx, &found{Members: list.Members, Authorities: list.Authorities})
	return err
}
