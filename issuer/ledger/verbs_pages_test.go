package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

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
	case "logos":
		for _, name := range logoNames {
			if logo := v.Logo([32]byte(digestOfLogo(name))); logo != nil {
				fmt.Fprintf(&b, "%s %s\n", name, logo.Type())
			}
		}
	default:
		w.t.Fatalf("show %q?", l.name)
	}
	return suffix(b.Len() == 0, "none", b.String())
}

// logoNames are the pictures that scenarios know.
var logoNames = []string{"red", "green", "blue"}

func picture(name string) []byte { return []byte("\x89PNG\r\n\x1a\n" + name) }

func digestOfLogo(name string) []byte {
	if name == "none" {
		return nil
	}
	sum := sha256.Sum256(picture(name))
	return sum[:]
}

// picture is what a line sends with its logo: none with "picture=kept", that of
// another with "picture=NAME".
func (l line) picture() []byte {
	switch name := l.or("picture", l.args["logo"]); name {
	case "", "none", "kept":
		return nil
	default:
		return picture(name)
	}
}

// logoText is the logo of a profile, "" where it has none.
func logoText(p *ledger.Profile) string {
	for _, name := range logoNames {
		if string(p.Logo) == string(digestOfLogo(name)) {
			return ", logo " + name
		}
	}
	return ""
}

// checkLogo looks for the picture of a profile: a client that shows one has it.
func (w *world) checkLogo(p ledger.Profile) {
	w.t.Helper()
	if len(p.Logo) > 0 {
		require.NotNil(w.t, w.view().Logo([32]byte(p.Logo)))
	}
}
