package restore

import (
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// An Exporter writes the files that operators keep, sealed under the node's current
// cluster key.
type Exporter struct {
	Keys    *keys.ClusterKeys
	Node    string // name of the node; "" if none runs, or for a single node
	Version string // of the program
	Now     func() time.Time
	Rand    io.Reader
}

// State writes a backup of the cluster.
func (e Exporter) State(w io.Writer, b *machine.Backup) error {
	v := ledger.At(b.View())
	h := e.header(backup.KindState)
	h.Cluster, h.Timelines = v.Settings().BaseURL, Timelines(v)
	h.StateTime, h.Seq, h.LogIndex = time.UnixMilli(b.At).UTC(), b.Seq, b.Index
	h.Level, h.Counts = b.Level, maps.Clone(b.Rows)
	delete(h.Counts, ledger.TableRestores) // the table's only row would be mistaken for the number of restores,
	delete(h.Counts, ledger.TableBackups)  // and this one's for the number of backups
	return backup.Write(w, h, e.seal, b.Write)
}

// VerifyState reads a whole backup and returns its header. An error means that it could
// not be restored: it is damaged, or was not sealed under one of these keys.
func VerifyState(in io.Reader, held *keys.ClusterKeys) (backup.Header, error) {
	h, body, err := open(in, backup.KindState, held)
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	return h, err
}

// Journal writes the journal of a running node with the state v.
func (e Exporter) Journal(w io.Writer, j *journal.Journal, v ledger.View) error {
	if err := j.Flush(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	h := e.header(backup.KindJournal)
	h.Cluster, h.Timelines = v.Settings().BaseURL, Timelines(v)
	setSpans(&h, j.Spans())
	return backup.Write(w, h, e.seal, j.Export)
}

// Folder writes the journal that ReadFolder returned.
func (e Exporter) Folder(w io.Writer, j Journal) error {
	own := e.header(backup.KindJournal)
	h := j.Header
	h.Taken, h.Version, h.ClusterKey = own.Taken, own.Version, own.ClusterKey
	return backup.Write(w, h, e.seal, j.History.Export)
}

func (e Exporter) header(kind string) backup.Header {
	return backup.Header{Kind: kind, Node: e.Node, Taken: e.Now().UTC(), Version: e.Version, ClusterKey: e.Keys.Current().ID()}
}

// seal is the argument seal of backup.Write.
func (e Exporter) seal(w io.Writer, context []byte) (io.WriteCloser, error) {
	return e.Keys.Current().SealStream(e.Rand, w, context)
}

// setSpans sets the fields of the header that describe a journal with these spans.
func setSpans(h *backup.Header, spans []journal.Span) {
	if len(spans) > 0 {
		last := spans[len(spans)-1]
		h.From, h.Seq, h.StateTime = spans[0].From, last.To, time.UnixMilli(last.ToAt).UTC()
	}
}
