package admin

import (
	"bufio"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// An eventRecord is one line of the download (JSON Lines). Actor and user are ids, which never
// change; the names are current ones.
type eventRecord struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Actor     string    `json:"actor,omitempty"`
	ActorName string    `json:"actor_name,omitempty"`
	Client    string    `json:"client,omitempty"`
	User      string    `json:"user,omitempty"`
	UserName  string    `json:"user_name,omitempty"`
	Grant     string    `json:"grant,omitempty"`
	Detail    string    `json:"detail,omitempty"`
}

// auditDownload writes all events that the filters select, newest first, while it reads
// them: the trail is too large to collect in memory.
func (w *Area) auditDownload(c *site.Request, v site.Session) error {
	f, q := auditQuery(filtered(c), v.View, v.Clock())
	if f.Failed() {
		return site.ErrUnreadable
	}
	h := c.Header()
	h.Set("Content-Type", "application/jsonl; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="mintmark-audit.jsonl"`)
	c.WriteHeader(http.StatusOK)
	if c.IsHead() {
		return nil
	}
	out := bufio.NewWriter(&download{c})
	lines := json.NewEncoder(out)
	for e := range v.View.EventsMatching(q) {
		if lines.Encode(recordOf(v.View, e)) != nil {
			return nil // the browser has disconnected, or reads nothing
		}
	}
	_ = out.Flush() // the browser may have disconnected
	return nil
}

// downloadTimeout is how long a browser may take to read a part of a download.
const downloadTimeout = 30 * time.Second

// A download is a response that takes longer than the server's timeout for others.
type download struct{ *site.Request }

func (d *download) Write(b []byte) (int, error) {
	// The error is that of a writer without deadlines.
	_ = http.NewResponseController(d.ResponseWriter).SetWriteDeadline(time.Now().Add(downloadTimeout))
	return d.Request.Write(b)
}

func recordOf(v ledger.View, e *ledger.Event) eventRecord {
	r := eventRecord{
		Seq: e.Seq, At: e.At.Std(), Kind: string(e.Kind), Actor: e.Actor, ActorName: usernameOf(v, e.Actor),
		Client: e.Client, User: e.User, UserName: usernameOf(v, e.User), Detail: e.Detail,
	}
	if e.Grant != (ledger.GrantID{}) {
		r.Grant = e.Grant.String()
	}
	return r
}

func usernameOf(v ledger.View, id string) string {
	if u := v.User(id); u != nil {
		return u.Username
	}
	return ""
}
