package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// What the tests of this package may see and bend.

// Hooks is hooks.
type Hooks struct {
	Logs   func(raft.LogStore) raft.LogStore
	Stable func(raft.StableStore) raft.StableStore
	Apply  func(*raft.Raft, []byte) raft.ApplyFuture
	FSM    func()
	Note   func()
	Report func(error)
	Raft   func(*raft.Config)
	Leaves func()
	Step   time.Duration
	Silent time.Duration
	Rounds time.Duration

	Founding func(begins bool, silent []string) error
}

// WithHooks returns c with hooks.
func WithHooks(c Config, h Hooks) Config {
	c.hooks = hooks{
		logs: h.Logs, stable: h.Stable, apply: h.Apply, fsm: h.FSM, note: h.Note, report: h.Report, raft: h.Raft, founding: h.Founding, leaves: h.Leaves, step: h.Step, silent: h.Silent, rounds: h.Rounds,
	}
	return c
}

// Fill inserts rows as they are.
func Fill(m *Memory, rows int, row func(int) (string, any)) error {
	txn := m.core.db.Load().Txn(true)
	defer txn.Abort()
	for i := range rows {
		table, r := row(i)
		if err := txn.Insert(table, r); err != nil {
			return err
		}
	}
	txn.Commit()
	return nil
}

// ApplyEntry applies one entry, which brings its own time.
func (m *Memory) ApplyEntry(entry []byte) error {
	m.index++
	return m.core.apply([]step{{index: m.index, data: entry}})
}

// ApplyEntries applies entries in one transaction.
func (m *Memory) ApplyEntries(entries [][]byte) error {
	steps := make([]step, len(entries))
	for i, e := range entries {
		m.index++
		steps[i] = step{index: m.index, data: e}
	}
	return m.core.apply(steps)
}

// Sealed is a command for Entry.
type Sealed struct {
	Kind  Kind
	Flags uint8
	ID    CommandID
	At    int64
	Body  []byte
}

// Entry encodes a log entry.
func Entry(cmds ...Sealed) []byte {
	b := appendBatch(nil, len(cmds))
	for _, c := range cmds {
		b = appendCommand(b, &sealed{kind: c.Kind, flags: c.Flags, id: c.ID, at: c.At, body: c.Body})
	}
	return b
}

// DecodeEntry is the reverse of Entry.
func DecodeEntry(data []byte) ([]Sealed, error) {
	cmds, err := decodeBatch(data, nil)
	out := make([]Sealed, len(cmds))
	for i, c := range cmds {
		out[i] = Sealed{c.kind, c.flags, c.id, c.at, c.body}
	}
	return out, err
}

// The flags of a command and the bytes of a checkpoint.
const (
	FlagIgnorable = flagIgnorable
	FlagAgain     = flagAgain
)

// Checkpoint is a checkpoint entry.
func Checkpoint() []byte { return []byte{entryCheckpoint} }

// Encode is the encoding of commands and rows.
func Encode(v any) []byte {
	var buf bytes.Buffer
	if err := encoding.MarshalToBuffer(v, &buf); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// Seq is how many commands were applied.
func (n *Node) Seq() uint64 { return n.core.seq.Load() }

// BarriersPassed is how many Barriers went through the log for a view.
func (n *Node) BarriersPassed() (passed uint64) {
	for _, b := range []*barriers{&n.barriers, &n.strangers} {
		b.mu.Lock()
		passed += b.passed
		b.mu.Unlock()
	}
	return passed
}

// PaceStrangers changes the time between their Barriers.
func (n *Node) PaceStrangers(pace time.Duration) {
	n.strangers.mu.Lock()
	defer n.strangers.mu.Unlock()
	n.strangers.pace = pace
}

// StrangerWaits is BarrierWaits for those who proved nothing.
func (n *Node) StrangerWaits() bool {
	n.strangers.mu.Lock()
	defer n.strangers.mu.Unlock()
	return n.strangers.next != nil
}

// BarrierWaits says whether somebody waits for the Barrier after the one under way.
func (n *Node) BarrierWaits() bool {
	n.barriers.mu.Lock()
	defer n.barriers.mu.Unlock()
	return n.barriers.next != nil
}

// Raft is the node's raft.
func (n *Node) Raft() *raft.Raft { return n.raft }

// Logs is what raft reads its log from.
func (n *Node) Logs() raft.LogStore { return n.stores.logs }

// Transport is what raft talks through.
func (n *Node) Transport() raft.Transport { return n.transport }

// RestoreNow replaces the state of a running node, as an installed snapshot does.
func (n *Node) RestoreNow(r io.Reader) error { return n.core.restore(r) }

// NewVotes is the wrapper around a stable store.
func NewVotes(s raft.StableStore) raft.StableStore { return &votes{StableStore: s} }

// Await is await.
func Await(f raft.Future, stop <-chan struct{}) error { return await(f, stop) }

// NewFailStop is what the log on disk is wrapped in.
func NewFailStop(w *wal.WAL, fatal func(error)) raft.LogStore { return &failStop{w, fatal} }

// NewSummed is the layer above that.
func NewSummed(w *wal.WAL, fatal func(error)) raft.LogStore {
	return &summed{&failStop{w, fatal}}
}

// NewAcknowledged is the layer above that.
func NewAcknowledged(w *wal.WAL, fatal func(error), committed func() uint64) raft.LogStore {
	return &acknowledged{&summed{&failStop{w, fatal}}, committed}
}

// ErrTakenBack is what it ends the process with.
var ErrTakenBack = errTakenBack

// ErrDamaged is what it ends the process with.
var ErrDamaged = errDamaged

// Isolate cuts a node off from the others, or lets it back.
func Isolate(n *Node, on bool) { _ = n.network.isolate(awayForTest, on) }

// Closing says whether the node is on its way down.
func (n *Node) Closing() bool { return n.isClosing() }

// Vanish is what the others see of a node whose process was killed: connections
// break, and its port refuses new ones.
func Vanish(n *Node) {
	n.network.isolate(awayForTest, true)
	_ = n.config.Network.Listener.Close()
}

// Missing is how many voters miss the leader for so long, as this node hears; 0
// where they are no majority.
func Missing(ctx context.Context, n *Node, patience time.Duration) int {
	return len(n.claims(ctx, patience))
}

// FoundingAnswer is foundingAnswer: of a node that waits with its Birth, of one
// that has begun with those of the members in order.
type FoundingAnswer struct {
	Begun  bool
	Birth  string
	Births []string
}

// Judge is judge, with births as text, and those of the members in order.
func Judge(self, birth string, all []string, answers map[string]FoundingAnswer) ([]string, error) {
	list := mapped(all, func(id string) Member { return Member{ID: id, Name: id} })
	given := make(map[string]foundingAnswer)
	for id, a := range answers {
		births := map[string][]byte{id: []byte(a.Birth)}
		for i, b := range a.Births {
			births[all[i]] = []byte(b)
		}
		given[id] = foundingAnswer{a.Begun, births}
	}
	births, err := judge(self, []byte(birth), list, given)
	if err != nil || births == nil {
		return nil, err
	}
	return mapped(all, func(id string) string { return string(births[id]) }), nil
}

// NewFSM is an fsm, and what is called when its raft has started.
func NewFSM(m Machine, fatal func(error)) (f raft.FSM, running func()) {
	s := newFSM(must(newCore(m)), fatal, new(privateSnapshots), new(committed))
	close(s.replayed.ready)
	return s, func() { s.running.Store(true) }
}

// ReplayThrough has an fsm take the entries up to index as applied.
func ReplayThrough(f raft.FSM, index uint64) { f.(*fsm).replayed.through = index }

// Committed is what is noted beside the log of a folder.
func Committed(dir string) uint64 { return must(mayKnow(dir)).index }

// NoteCommitted notes there that the log was committed up to index.
func NoteCommitted(dir string, index uint64) {
	if err := replaceNote(dir, logPosition{index: index}); err != nil {
		panic(err)
	}
}

// WriteTerm writes a term into a folder, and nothing else.
func WriteTerm(c Config, term uint64) {
	n := &Node{config: must(c.withDefaults()), log: c.Logger}
	must(n.openLog())
	if err := errors.Join(n.stores.stable.SetUint64([]byte(keyTerm), term), n.closeFiles()); err != nil {
		panic(err)
	}
}

// ForgetNote makes a folder one that does not know yet that it has the note.
func ForgetNote(c Config) {
	n := &Node{config: must(c.withDefaults()), log: c.Logger}
	must(n.openLog())
	if err := errors.Join(n.stores.stable.Set([]byte(keyNoted), nil), n.closeFiles()); err != nil {
		panic(err)
	}
}

// Disk is diskFiles.
type Disk interface {
	Probe() error
	Space() (free, total uint64, err error)
}

// WithDisk returns c with another disk to watch.
func WithDisk(c Config, d Disk) Config {
	c.hooks.disk = testDisk{d}
	return c
}

type testDisk struct{ Disk }

func (d testDisk) probe() error                           { return d.Probe() }
func (d testDisk) space() (free, total uint64, err error) { return d.Space() }
func (testDisk) close()                                   {}

// ServeProposal is what a leader answers another node that forwards a command
// which has been under way for that long, as a text.
func ServeProposal(n *Node, cmd Command, id CommandID, awaited bool, waited time.Duration) string {
	var buf bytes.Buffer
	s := must(n.core.schema.seal(cmd, id, false, &buf))
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout-waited)
	defer cancel()
	r := n.serveProposal(ctx, appendCommand(nil, &s), awaited)
	return []string{"ok", "unavailable", "unknown", "failed", "not leading", "confirm"}[r.status]
}

// KeyOf is a node's own key.
func KeyOf(n *Node) *ecdsa.PrivateKey { return n.credentials.key }

// CertificateFrom is a certificate for any id and key, of the authority of n.
func CertificateFrom(n *Node, id string, key *ecdsa.PrivateKey, at time.Time) *tls.Certificate {
	return must(n.roster.authority().issue(rand.Reader, n.config.Secrets, id, key, at))
}

// Reported says whether a node has told the cluster of itself.
func Reported(n *Node) bool {
	me, ok := n.roster.member(string(n.id))
	return ok && me.Issuer != ""
}

// Hears says whether a node listens to a peer.
func Hears(n *Node, id string) bool {
	s := n.status()
	return s.hears(id)
}

// AskWhetherExpelled asks all others.
func AskWhetherExpelled(n *Node) {
	n.askWhetherExpelled(mapped(n.heardOf(), func(m Member) string { return m.ID }))
}

// Unheard is how many members have not been heard of for a while.
func Unheard(n *Node) int { return len(n.unheardOf(nil)) }

// Admit is what a node does for somebody who joins.
func Admit(ctx context.Context, n *Node, token, id, address string, key []byte) (refused string, secret []byte) {
	_, presented, err := parseToken(token)
	if err != nil {
		return err.Error(), nil
	}
	a := n.admit(ctx, joinRequest{Secret: presented, ID: id, Address: address, Level: n.core.schema.level}, key)
	return a.Refused, a.Secret
}

// InventToken is a token that nobody made.
func InventToken(secret string) string {
	raw := make([]byte, 1+sha256.Size+tokenSecret)
	raw[0] = tokenVersion
	copy(raw[1+sha256.Size:], secret)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// ForgetPeer takes a member off the list by which a node dials.
func ForgetPeer(n *Node, name string) {
	l := n.roster.get()
	l.Members = slices.DeleteFunc(slices.Clone(l.Members), func(m Member) bool { return m.Name == name })
	l.Seq = math.MaxUint64 // for good
	if err := n.roster.set(l); err != nil {
		panic(err)
	}
}

// Transport is a node's transport.
type Transport = transport

// NewTransport is a node's transport on connections of the test's.
func NewTransport(layer raft.StreamLayer) raft.Transport {
	return newTransport(layer, newLogger(slog.New(slog.DiscardHandler)))
}

// Guess has a node take another one for the leader, as it does when that one
// says so and raft knows of none. It says whether raft did not.
func Guess(n *Node, id string) bool {
	n.leader.hearInstead(id)
	guess, _ := n.leader.unheard()
	return guess == id
}

// PeerSample is what a peer said of itself.
type PeerSample struct {
	Age, Offset time.Duration
	Applied     uint64
	Trouble     string
	Decides     bool
}

// ChooseSuccessor is chooseSuccessor among those that are fine, and among those
// that can decide.
func ChooseSuccessor(self string, voters []string, peers map[string]PeerSample) (fine, decides string) {
	const now = time.Hour
	m := make(map[string]peerSample)
	for id, p := range peers {
		m[id] = peerSample{status: peerStatus{Applied: p.Applied, Trouble: p.Trouble, Decides: p.Decides}, offset: p.Offset, at: now - p.Age}
	}
	return chooseSuccessor(self, voters, m, now, isFine), chooseSuccessor(self, voters, m, now, canDecide)
}

// Bounded is bounded.
var Bounded = bounded

// NewRotatedMeta is what a node's log is opened with.
func NewRotatedMeta(files *segment.Filer) types.MetaStore {
	return &rotatedMeta{BoltMetaDB: new(metadb.BoltMetaDB), files: files}
}

// Refusals is refusals.
type Refusals struct{ r refusals }

// Note is note.
func (r *Refusals) Note(address string, now time.Time) (source string, times int, tell bool) {
	return r.r.note(address, now)
}

// ListLevel has the list of peers in the folder of a node that is stopped say
// another feature level, and returns what it said.
func ListLevel(dir string, level uint32) (was uint32) {
	r := must(openRoster(dir))
	l := r.get()
	was, l.Level = l.Level, level
	if err := r.replace(l); err != nil {
		panic(err)
	}
	return was
}

// OwnTypes are the rows and commands of this package.
func OwnTypes() map[string]any {
	types := map[string]any{}
	for table, row := range ownRows {
		types["row "+table] = row()
	}
	for kind, command := range ownCommands() {
		types[fmt.Sprint("command ", kind)] = command()
	}
	return types
}

// LearnOfLoss tells a node that it lacks an entry that a peer remembers.
func LearnOfLoss(n *Node, by string, index uint64) { _ = n.learnOfLoss(by, logPosition{index: index}) }

// Remembers is the index of the newest entry that n knows another one to have had.
func Remembers(n *Node, id string) uint64 { return n.remembers(id).index }

// Remember has n note what another one acknowledged.
func Remember(n *Node, id string, index, term, committed uint64) {
	n.remembered.acknowledged(id, logPosition{index, term}, committed)
}

// Unvouched is the sum of the jumps of a node's clock that nobody vouched for.
func Unvouched(n *Node) time.Duration {
	v, _ := n.guards.clock.voice()
	return v.unvouched
}

// NotedJumps is the sum of the jumps of a node's clock that its folder holds.
func NotedJumps(n *Node) time.Duration {
	_, sum := n.lastRan()
	return sum
}

// Vouched says whether a node knows that a majority of the others believe their
// clocks, and agree with its own.
func Vouched(n *Node) bool { return n.clockVote(n.Voters()).vouches() }

// Live is until when commands could be decided, as a node knows it.
func Live(n *Node) int64 { return n.live.get() }

// GoesOn has a node that leads decide at a time.
func GoesOn(n *Node, at int64) { n.goesOn(at) }

// HaltedOf is status.Halted.
func HaltedOf(m *Memory) int64 { return m.core.halted.Load() }

// WhyUnreached puts into words why an address could not be dialled.
func WhyUnreached(address string, err error) error { return whyUnreached(address, err) }

// WhyRefused is what the log says of a connection that was refused.
func WhyRefused(err error) string { return whyRefused(err) }

// HookGreetings has f called before a node greets the voters at its start.
func HookGreetings(c *Config, f func()) { c.hooks.greets = f }

// HasEntry reports whether a node takes an entry for one that it has.
func HasEntry(n *Node, index, term uint64) bool { return n.hasEntry(logPosition{index, term}) }
