package parts

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// ClientAt returns a form about a client in its current state: the sent form if it is of
// this kind, or an empty one.
func ClientAt(v *site.Session, kind *site.FormKind, client *ledger.Client, sent *site.Form) *site.Form {
	f := sent
	if f == nil || f.Kind != kind {
		f = v.Form(kind, url.Values{"id": {client.ID}})
	}
	f.Values.Set("revision", strconv.FormatUint(client.Revision, 10))
	return f
}

// ClientForm returns a form about a client, with values in addition to its id.
func ClientForm(v *site.Session, kind *site.FormKind, client *ledger.Client, pairs ...string) *site.Form {
	values := url.Values{"id": {client.ID}}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return v.Form(kind, values)
}

// recentEvents is the number of events in which OwnChange looks for a change.
const recentEvents = 10

// OwnChange returns the event by which the user of v changed a revision of client, if nothing else
// was changed since: a form about that revision may have been sent twice. It returns nil otherwise.
func OwnChange(v *site.Session, client *ledger.Client, revision uint64) *ledger.Event {
	if client == nil || client.Revision != revision+1 {
		return nil
	}
	for _, e := range v.View.HistoryOf(client.ID, recentEvents) {
		switch {
		case strings.HasPrefix(string(e.Kind), "secret."): // those of secrets leave the revision as it is
		case e.Actor == v.User.ID:
			return e
		default:
			return nil
		}
	}
	return nil
}
