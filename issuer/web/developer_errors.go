package web

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

type errorsBody struct {
	Path    string
	ErrorID string
	Problem string // with what was asked
	Answer  *explained
	Recent  []explained
}

// An explained is a refusal in words.
type explained struct {
	Text  string
	Scope string // the scope that it is about, among recent ones
	Place string // where it was refused, among recent ones
	At    ledger.Time
	Times int
	When  ledger.Time // of what the text speaks about; 0 for no time
	// Of the grant, where the client authenticated and owns it.
	Named          bool
	Grant          string
	Presented, Due uint32
}

// maxErrorID bounds what is repeated of what was asked, in bytes.
const maxErrorID = 300

// errorsPage says why a request was refused. Nothing is changed by asking, so
// that the question is in the address.
func (w *Web) errorsPage(c *request, v session) error {
	client, trail, err := w.ownedOrAdmin(c, &v)
	if err != nil {
		return err
	}
	asked := strings.TrimSpace(c.r.URL.Query().Get("error_id"))
	body := errorsBody{Path: clientPath(client.ID, "errors"), ErrorID: asked[:min(len(asked), maxErrorID)]}
	if asked != "" {
		if body.Answer = w.explainErrorID(client, asked); body.Answer == nil {
			body.Problem = "This is not an error_id of this application. Copy it whole: it begins with mme_."
		}
	}
	for _, r := range w.config.Refusals.list(client.ID) {
		body.Recent = append(body.Recent, explained{Text: sentence(r.Cause.String()), Scope: r.Scope, Place: placeOf(r), At: r.At, Times: r.Times})
	}
	return w.show(c, v, "developer_errors", page{Title: "What went wrong", Trail: trail, Body: body})
}

// explainErrorID is nil for an error_id of another client as for none at all:
// nobody learns that there is such a one.
func (w *Web) explainErrorID(client *ledger.Client, id string) *explained {
	e, err := w.config.Explain(id)
	if err != nil || e.Client != credential.ClientDigest(client.ID) {
		return nil
	}
	return explainedOf(e)
}

func explainedOf(e ledger.Explanation) *explained {
	is := &explained{Text: sentence(e.Cause.String()), At: e.At, Times: 1, When: e.When, Named: e.Named}
	if e.Named {
		is.Grant, is.Presented, is.Due = e.Grant.String(), e.Presented, e.Due
	}
	return is
}

// placeOf is where a request came to.
func placeOf(r refusal) string {
	if r.Program {
		return "Token endpoint"
	}
	return "Authorization step"
}
