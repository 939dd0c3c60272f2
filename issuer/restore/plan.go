package restore

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/keys"
)

// A Plan describes what a restore of a backup would do, or the replay of journals on the
// remaining node of a recovery.
type Plan struct {
	// Header describes the state that the journals complete.
	Header backup.Header
	// Settings are those in the backup; zero for a recovery.
	Settings ledger.Settings
	// State is the snapshot in the backup, for recovery.Restore; nil for a recovery.
	State []byte
	// Keys are the cluster keys of the node, and those under which the files are sealed.
	Keys *keys.ClusterKeys
	// Spans are the commands that the journals cover, in order.
	Spans []journal.Span
	// Replay is what the journals change in the state.
	Replay ledger.Preview
	// Gap describes, for operators, which revocations may be undone; "" if the journals
	// have no gap.
	Gap string
	// Warnings describe, for operators, what could not be checked.
	Warnings []string

	history *journal.History // the merged journals; nil without any
	records []ledger.Record  // records of history after Header.Seq
	subject string           // what the journals complete, for messages: "the backup" or "this folder"
}

// A KeyError reports that a required cluster key is missing.
type KeyError struct {
	// Outdated reports that the node's own key is older than the one that the journal
	// names. If it is false, none of the keys opens a file, or a key in the state.
	Outdated bool
	err      error
}

func (e *KeyError) Error() string { return e.err.Error() }
func (e *KeyError) Unwrap() []error {
	if e.Outdated {
		return []error{ErrKeyOutdated, e.err}
	}
	return []error{ErrKeyMissing, e.err}
}

var (
	// ErrKeyMissing reports that none of the cluster keys at hand opens a file.
	ErrKeyMissing = errcode.New("restore_key_missing", "another cluster key is needed")
	// ErrKeyOutdated reports that the node's own cluster key is older than the journal's.
	ErrKeyOutdated = errcode.New("restore_key_outdated", "a newer cluster key is needed")
)

// Read reads a whole backup and the journals that complete it, and plans its restore on a
// node with the clock now. The cluster keys must open every file and every key of the
// state. Every error is a reason to refuse the restore, in words for operators; it is a
// *KeyError if another cluster key would help.
func Read(in io.Reader, journals [][]byte, held *keys.ClusterKeys, now func() time.Time) (*Plan, error) {
	p := &Plan{Keys: held, subject: "the backup"}
	var body io.Reader
	var err error
	if p.Header, body, err = open(in, backup.KindState, held); err != nil {
		return nil, err
	}
	if p.State, err = io.ReadAll(body); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	rules, err := member.Extend(replica.Machine())
	if err != nil {
		return nil, err
	}
	memory := machine.NewMemory(rules, now)
	if err := memory.Load(bytes.NewReader(p.State)); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	if ahead := p.Header.StateTime.Sub(now()); ahead > watchdog.ClockTolerance {
		return nil, fmt.Errorf("the last decision in the backup is of %s, which is %s ahead of this node's clock: the cluster could decide nothing until then. "+
			"Correct this clock, or, if the cluster's clock was wrong, restore a backup from before that", utc(p.Header.StateTime), ahead.Round(time.Second))
	}
	state := ledger.At(memory.View())
	p.Header.Timelines = Timelines(state)
	all := make([]Journal, 0, len(journals))
	for _, file := range journals {
		j, err := ReadFile(bytes.NewReader(file), held)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
	}
	p.Settings = *state.Settings()
	if err := p.addJournals(all); err != nil {
		return nil, err
	}
	return p, p.preview(state)
}

// Survivor plans the replay of the journals of lost nodes on the only remaining node. Its
// state ends with command seq, at the state time at, in milliseconds. Without journals no
// key is needed, and held may be nil. Errors are those of Read.
func Survivor(state ledger.View, seq uint64, at int64, held *keys.ClusterKeys, journals []Journal) (*Plan, error) {
	p := &Plan{Keys: held, subject: "this folder", Header: backup.Header{
		Cluster: state.Settings().BaseURL, Seq: seq, StateTime: stateTime(at), Timelines: Timelines(state),
	}}
	if err := p.addJournals(journals); err != nil || len(journals) == 0 {
		return p, err
	}
	return p, p.preview(state)
}

// open opens a file with the key that its header names.
func open(in io.Reader, kind string, held *keys.ClusterKeys) (backup.Header, io.Reader, error) {
	h, body, err := backup.Open(in, func(h backup.Header, in io.Reader, context []byte) (io.Reader, error) {
		key, err := held.Get(h.ClusterKey)
		if err != nil {
			return nil, &KeyError{err: fmt.Errorf("this %s is sealed under cluster key %s, and only %s can be opened here",
				h.Kind, h.ClusterKey, strings.Join(held.IDs(), ", "))}
		}
		return key.OpenStream(in, context)
	})
	switch {
	case err != nil:
		return h, nil, fmt.Errorf("open the %s: %w", nameOfKind(kind), err)
	case h.Kind != kind:
		return h, nil, fmt.Errorf("this is a backup of a %s, not of a %s", h.Kind, kind)
	}
	return h, body, nil
}

func nameOfKind(kind string) string {
	if kind == backup.KindState {
		return "backup"
	}
	return kind
}

// preview computes what the journals change in the state. It returns an error unless the
// cluster keys open every key of the result.
func (p *Plan) preview(state ledger.View) error {
	replay, refused := state.PreviewReplay(p.Header.Seq, p.records)
	if refused != nil {
		why := refused.Cause.String()
		if refused.Note != "" {
			why = "its " + refused.Field + " " + refused.Note
		}
		return fmt.Errorf("the journal can't be replayed: %s", why)
	}
	if err := keyring.CheckOpenable(replay.Keyring, p.Keys); err != nil {
		return &KeyError{err: fmt.Errorf("%w; the cluster keys here are %s", err, strings.Join(p.Keys.IDs(), ", "))}
	}
	if to, own := rewrappedTo(p.records), p.Keys.Current().ID(); to != "" && to != own {
		return &KeyError{Outdated: true, err: fmt.Errorf("by the journal the cluster key was changed to %s, and this node has %s", to, own)}
	}
	p.Replay = replay
	return nil
}

// rewrappedTo returns the cluster key of the last rewrap in the records, or "". The
// restored cluster must use that key: the previous one may have been changed because it
// leaked.
func rewrappedTo(records []ledger.Record) (id string) {
	for _, r := range records {
		for _, e := range r.Effects {
			if e.Kind == ledger.EffectRewrapped {
				id = e.ID
			}
		}
	}
	return id
}

// KnownUntil returns the last command that the journals cover, or the last of the state if
// they end before it, and its state time. Later revocations are undone by the restore.
func (p *Plan) KnownUntil() (seq uint64, at time.Time) {
	if n := len(p.Spans); n > 0 && p.Spans[n-1].To > p.Header.Seq {
		return p.Spans[n-1].To, stateTime(p.Spans[n-1].ToAt)
	}
	return p.Header.Seq, p.Header.StateTime
}

// Attachment returns the journal that BeginRecovered replays at the next start, or nil if
// there is nothing to replay.
func (p *Plan) Attachment() ([]byte, error) {
	if len(p.records) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := p.history.After(p.Header.Seq).Export(&b); err != nil {
		return nil, fmt.Errorf("write the journal of the lost nodes: %w", err)
	}
	return b.Bytes(), nil
}

// stateTime converts a state time in milliseconds. 0, before the first command, becomes
// the zero time.
func stateTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }
