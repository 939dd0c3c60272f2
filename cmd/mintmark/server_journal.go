package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// openJournal opens what this node keeps beside its data for a restore.
func (s *server) openJournal() error {
	j, err := journal.Open(journal.Config{
		Dir: filepath.Join(s.config.DataDir, "journal"),
		OnError: func(err error) {
			s.config.Log.Error("the journal could not be written", "error", err)
		},
	})
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if r := j.Recovered(); r.Damaged > 0 {
		s.config.Log.Warn("the journal is damaged; a restore that needs what is lost will say so", "places", r.Damaged)
	}
	s.journal = &issuer.JournalObserver{Journal: j, Log: s.config.Log}
	return nil
}

// refuseExistingJournal refuses to begin another history of commands beside the journal of
// an earlier one.
func (s *server) refuseExistingJournal() error {
	dir := filepath.Join(s.config.DataDir, "journal")
	empty, err := journal.Empty(dir)
	if err != nil {
		return fmt.Errorf("look at the journal: %w", err)
	}
	if empty {
		return nil
	}
	return fmt.Errorf("%s is the journal of another cluster, or of this one before its data was lost: move it away, and keep it for a restore", dir)
}

// header describes what this node exports.
func (s *server) header(kind string) backup.Header {
	h := backup.Header{
		Kind: kind, Cluster: s.settings.BaseURL, Taken: s.config.Now().UTC(),
		Version: version, ClusterKey: s.keys.Current().ID(),
	}
	if s.config.Cluster != nil {
		h.Node = s.config.Cluster.Name
	}
	return h
}

// A journalLabel lies beside the journal and says whose it is, when no more than
// its folder is left of the node.
type journalLabel struct {
	Cluster   string            `json:"cluster"`
	Node      string            `json:"node"`
	Timelines []backup.Timeline `json:"timelines"`
}

// labelJournal keeps the label as the state has it until the server stops. A node
// that joins learns of its life a little later than it starts.
func (s *server) labelJournal() {
	for {
		restores, settings := s.node.Changed(ledger.TableRestores), s.node.Changed(ledger.TableSettings)
		if err := s.writeLabel(ledger.At(s.node.View())); err != nil {
			s.config.Log.Error("the label of the journal could not be written", "error", err)
		}
		select {
		case <-restores:
		case <-settings:
		case <-s.stopping:
			return
		}
	}
}

func (s *server) writeLabel(v ledger.View) error {
	l := journalLabel{Cluster: v.Settings().BaseURL, Timelines: issuer.Timelines(v)}
	if len(l.Timelines) == 0 || l.Cluster == "" {
		return nil // not known yet
	}
	if s.config.Cluster != nil {
		l.Node = s.config.Cluster.Name
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return s.journal.Journal.SetLabel(text)
}

// withLabel returns h with the cluster, the node and the lives from the label of a
// journal, if it has one.
func withLabel(h backup.Header, j *journal.Journal) (backup.Header, error) {
	text, err := j.Label()
	if err != nil || text == nil {
		return h, err
	}
	var l journalLabel
	if err := json.Unmarshal(text, &l); err != nil {
		return h, fmt.Errorf("read the label of the journal: %w", err)
	}
	h.Cluster, h.Node, h.Timelines = l.Cluster, l.Node, l.Timelines
	return h, nil
}

// seal is for backup.Write.
func (s *server) seal(w io.Writer, context []byte) (io.WriteCloser, error) {
	return s.keys.Current().SealStream(rand.Reader, w, context)
}

// saveState writes a backup of the cluster. This node's journal reaches as far
// then, whatever becomes of the node.
func (s *server) saveState(ctx context.Context, w io.Writer) error {
	if err := s.node.Removed(); err != nil {
		return refusal{err} // it has no leader to ask how far it is
	}
	b, err := s.node.Backup(ctx)
	if err != nil {
		return operatorError(err)
	}
	_ = s.journal.Flush() // which tells the log where it fails
	return s.writeState(w, b)
}

func (s *server) writeState(w io.Writer, b *cluster.Backup) error {
	h := s.header(backup.KindState)
	h.StateTime, h.Seq, h.LogIndex = time.UnixMilli(b.At).UTC(), b.Seq, b.Index
	h.Level, h.Counts, h.Timelines = b.Level, maps.Clone(b.Rows), issuer.Timelines(ledger.At(b.View()))
	delete(h.Counts, ledger.TableRestores) // its one row is the cluster's lives, which the header has: people would count restores
	return backup.Write(w, h, s.seal, b.Write)
}

// saveJournal writes this node's journal.
func (s *server) saveJournal(_ context.Context, w io.Writer) error {
	h := s.header(backup.KindJournal)
	h.Timelines = issuer.Timelines(ledger.At(s.node.View()))
	return s.writeJournal(w, h)
}

// historyOf reads a whole journal.
func historyOf(j *journal.Journal) (*journal.History, error) {
	var all bytes.Buffer
	if err := j.Export(&all); err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return journal.Read(&all)
}

func (s *server) writeJournal(w io.Writer, h backup.Header) error {
	j := s.journal.Journal
	if err := j.Flush(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	setSpans(&h, j.Spans())
	return backup.Write(w, h, s.seal, j.Export)
}

// setSpans has h describe a journal with these spans.
func setSpans(h *backup.Header, spans []journal.Span) {
	if len(spans) > 0 {
		last := spans[len(spans)-1]
		h.From, h.Seq, h.StateTime = spans[0].From, last.To, time.UnixMilli(last.ToAt).UTC()
	}
}
