package restore

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func journalDir(dataDir string) string { return filepath.Join(dataDir, "journal") }

// OpenJournal opens the journal in a data folder as the apply observer of its node. The
// caller closes it after the node.
func OpenJournal(dataDir string, log *slog.Logger) (*Observer, error) {
	j, err := journal.Open(journal.Config{
		Dir:     journalDir(dataDir),
		OnError: func(err error) { log.Error("journal write failed", "error", err) },
	})
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	if r := j.Recovered(); r.Damaged > 0 {
		log.Warn("journal damaged, gaps will be reported by a restore", "places", r.Damaged)
	}
	return &Observer{Journal: j, Log: log}, nil
}

// RefuseExistingJournal returns an error if a data folder has a journal, since a cluster
// must not begin another timeline beside the journal of an earlier one.
func RefuseExistingJournal(dataDir string) error {
	dir := journalDir(dataDir)
	empty, err := journal.Empty(dir)
	if err != nil {
		return fmt.Errorf("check journal: %w", err)
	}
	if empty {
		return nil
	}
	return fmt.Errorf("%s %w", dir, ErrForeignJournal)
}

// ErrForeignJournal reports a journal beside which a cluster must not begin.
var ErrForeignJournal = errcode.New("foreign_journal", "is the journal of another cluster, or of this one before its data was lost")

// A label names the cluster and the node that a journal belongs to. It is stored beside
// the journal, in case only this folder is left of the node.
type label struct {
	Cluster   string            `json:"cluster"`
	Node      string            `json:"node"`
	Timelines []backup.Timeline `json:"timelines"`
}

// KeepLabel updates the label of a node's journal whenever the state changes it, until
// stopping is closed. A joining node learns the timeline of its cluster only after it has
// started. name is the name of the node, "" for a single node.
func KeepLabel(stopping <-chan struct{}, n *cluster.Node, o *Observer, name string) {
	for {
		restores, settings := n.Changed(ledger.TableRestores), n.Changed(ledger.TableSettings)
		if err := writeLabel(o.Journal, ledger.At(n.View()), name); err != nil {
			o.Log.Error("journal label write failed", "error", err)
		}
		select {
		case <-restores:
		case <-settings:
		case <-stopping:
			return
		}
	}
}

func writeLabel(j *journal.Journal, v ledger.View, name string) error {
	l := label{Cluster: v.Settings().BaseURL, Node: name, Timelines: Timelines(v)}
	if len(l.Timelines) == 0 || l.Cluster == "" {
		return nil // the timeline is not known yet
	}
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode journal label: %w", err)
	}
	return j.SetLabel(text)
}

// addLabel completes the header from the label of a journal, if there is one.
func addLabel(h *backup.Header, j *journal.Journal) error {
	text, err := j.Label()
	if err != nil || text == nil {
		return err
	}
	var l label
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("read journal label: %w", err)
	}
	h.Cluster, h.Node, h.Timelines = l.Cluster, l.Node, l.Timelines
	return nil
}

// Timelines returns the timelines of a state in the form of a file's header.
func Timelines(v ledger.View) []backup.Timeline {
	var all []backup.Timeline
	for _, l := range v.Timelines() {
		all = append(all, backup.Timeline{ID: hex.EncodeToString(l.ID[:]), From: l.From})
	}
	return all
}
