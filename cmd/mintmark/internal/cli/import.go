package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clientImport() *cobra.Command {
	c := command("import FILE", "Import legacy clients: one JSON object a line; - reads standard input", func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return m.importLines(cmd, cmd.InOrStdin(), func() error { return nil })
		}
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return m.importLines(cmd, f, func() error {
			return config.RequirePrivate(f, "list of clients with secrets", os.Getenv("CREDENTIALS_DIRECTORY"))
		})
	})
	c.Long = `Import clients from before scopes were introduced. Each line is one JSON object:

  {"id":"cal-app","name":"Calendar App","type":"confidential","owner":"alice",
   "redirect_uris":["https://app.example.com/callback"],"secret_sha256":"..."}

Secrets come as "secret" or "secrets" (in clear), or as "secret_sha256" or
"secrets_sha256" (hexadecimal), or as "secret_hash" or "secret_hashes", which
another system made: bcrypt, PBKDF2, argon2 or scrypt, see "mintmark docs hydra".
"purpose", "website", "privacy_url" and "terms_url" may be given. A file that others
can read is refused at its first secret in clear or hash.

A secret of less than 128 bits, which could be guessed, is imported with a warning.
So is every digest and hash, because it does not show how strong its secret is. Have the
owner generate a new secret, and revoke the imported one.

A line that was imported before changes nothing, whatever happened to the client
since. A line that has changed makes the client what it says now: a secret that it
does not name is revoked. A client that has selected scopes is not imported again.
A line that is refused changes nothing and does not stop the others.`
	return c
}

// A lineReport is the result of one line.
type lineReport struct {
	Line   int    `json:"line"`
	ID     string `json:"id,omitempty"`
	Result string `json:"result"` // of admin.Imported, or "refused"
	Error  string `json:"error,omitempty"`
	// Warning is about secrets that were imported although they may be weak.
	Warning string `json:"warning,omitempty"`
}

// importLines imports one line after the other and reports each result. At a secret
// in clear or hash it calls mayHold, whose error ends the import.
func (m *management) importLines(cmd *cobra.Command, in io.Reader, mayHold func() error) error {
	c, err := m.open(cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	report := m.reporter(cmd)
	lines := lineReader{r: bufio.NewReaderSize(in, maxImportLine)}
	total, refused := 0, 0
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if len(line) == 0 && err == nil {
			continue
		}
		total++
		r := lineReport{Line: lines.number}
		if err == nil {
			r, err = m.importLine(cmd, c, r, line, mayHold)
		}
		var p *admin.Problem
		var bad *lineError
		switch {
		case err == nil:
		case errors.As(err, &p) && (p.Class == admin.Refused || p.Class == admin.NotFound), errors.As(err, &bad):
			refused++
			r.Result, r.Error = "refused", err.Error()
		default:
			return fmt.Errorf("line %d: %w", lines.number, err)
		}
		if err := report(r); err != nil {
			return err
		}
	}
	if refused > 0 {
		return &admin.Problem{Class: admin.Refused, Text: fmt.Sprintf("%d of %d lines were refused", refused, total)}
	}
	return nil
}

func (m *management) importLine(cmd *cobra.Command, c *admin.Caller, r lineReport, line []byte, mayHold func() error) (lineReport, error) {
	q, err := parseLegacyClient(line)
	r.ID = q.ID
	if len(q.Secrets)+len(q.SecretHashes) > 0 {
		if exposed := mayHold(); exposed != nil {
			return r, exposed
		}
	}
	if err != nil {
		return r, err
	}
	done, err := admin.ImportClient.Call(cmdContext(cmd), c, q)
	r.Result = done.Result
	if err == nil {
		r.Warning = weakSecrets(q)
	}
	return r, err
}

func (m *management) reporter(cmd *cobra.Command) func(lineReport) error {
	if m.output == "json" {
		e := json.NewEncoder(cmd.OutOrStdout()) // one object a line, as it went in
		e.SetEscapeHTML(false)
		return func(r lineReport) error { return e.Encode(r) }
	}
	p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	return func(r lineReport) error {
		switch {
		case r.Error != "":
			p.remark("line %d: %s", r.Line, r.Error)
		default:
			p.line("line %d: client %s: %s", r.Line, r.ID, r.Result)
			if r.Warning != "" {
				p.remark("line %d: %s", r.Line, r.Warning)
			}
		}
		return p.writeErr()
	}
}

// minSecretBits is how many bits a secret needs so that it can't be guessed even without
// a limit on tries.
const minSecretBits = 128

// weakSecrets returns a warning about the secrets of a line, or "".
func weakSecrets(q admin.LegacyClient) string {
	if len(q.SecretHashes) > 0 {
		return "a hash does not show how strong its secret is: have the owner generate a new secret, and revoke this one"
	}
	if len(q.SecretsSHA256) > 0 {
		return "a digest does not show how strong its secret is: have the owner generate a new secret, and revoke this one"
	}
	for _, s := range q.Secrets {
		if secretBits(s.Reveal()) < minSecretBits {
			return fmt.Sprintf("a secret has less than %d bits: have the owner generate a new secret, and revoke this one", minSecretBits)
		}
	}
	return ""
}

// secretBits returns how many bits a secret has at most: as many as a random text of
// the same length, of the same kinds of characters.
func secretBits(secret string) float64 {
	different := map[rune]bool{}
	var digits, hex, lower, upper, others bool
	for _, r := range secret {
		different[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r >= 'a' && r <= 'f':
			hex = true
		case r >= 'g' && r <= 'z':
			lower = true
		case r >= 'A' && r <= 'Z':
			upper = true
		default:
			others = true
		}
	}
	kinds := 0.0
	for _, k := range []struct {
		has  bool
		kind float64
	}{{digits, 10}, {hex && !lower, 6}, {lower, 26}, {upper, 26}, {others, 32}} {
		if k.has {
			kinds += k.kind
		}
	}
	if len(different) < 8 {
		kinds = float64(len(different)) // a random text of 128 bits has more different characters
	}
	return float64(utf8.RuneCountInString(secret)) * math.Log2(max(1, kinds))
}
