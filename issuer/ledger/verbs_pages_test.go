package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// pagesCommand is command for what people do on the pages.
func (w *world) pagesCommand(l line) ledger.Command {
	switch l.verb {
	case "end-session":
		return &ledger.EndSession{Actor: l.actor(), Session: sha256.Sum256([]byte("session " + l.name))}
	}
	return nil
}

func (w *world) showPages(l line) string {
	v := w.view()
	var b strings.Builder
	switch l.name {
	case "sessions":
		for _, s := range v.SessionsOf("u-"+l.args["user"], w.at(), 20) {
			fmt.Fprintf(&b, "%q created %s, seen %s\n", s.Agent, s.Created.Std().Format(time.TimeOnly), s.Seen.Std().Format(time.TimeOnly))
		}
	default:
		w.t.Fatalf("show %q?", l.name)
	}
	return suffix(b.Len() == 0, "none", b.String())
}
