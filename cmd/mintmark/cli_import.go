package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clientImport() *cobra.Command {
	c := command("import FILE", "Import legacy clients: one JSON object a line; - reads standard input", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		in := cmd.InOrStdin()
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			in = f
		}
		return m.importLines(cmd, in)
	})
	c.Long = `Import clients from before scopes were introduced. Each line is one JSON object:

  {"id":"cal-app","name":"Calendar App","type":"confidential","owner":"alice",
   "redirect_uris":["https://app.example.com/callback"],"secret_sha256":"..."}

Secrets come as "secret" or "secrets" (in clear), or as "secret_sha256" or
"secrets_sha256" (hexadecimal). "purpose" and "website" may be given.

A line that was imported before changes nothing, whatever happened to the client
since. A line that has changed makes the client what it says now: a secret that it
does not name is revoked. A client that has selected scopes is not imported again.
A line that is refused changes nothing and does not stop the others.`
	return c
}

// A lineReport says what became of one line.
type lineReport struct {
	Line   int    `json:"line"`
	ID     string `json:"id,omitempty"`
	Result string `json:"result"` // of admin.Imported, or "refused"
	Error  string `json:"error,omitempty"`
}

// importLines sends line after line and reports each as it is done.
func (m *management) importLines(cmd *cobra.Command, in io.Reader) error {
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
			r, err = m.importLine(cmd, c, r, line)
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

func (m *management) importLine(cmd *cobra.Command, c *admin.Caller, r lineReport, line []byte) (lineReport, error) {
	q, err := parseLegacyClient(line)
	r.ID = q.ID
	if err != nil {
		return r, err
	}
	done, err := admin.ImportClient.Call(cmdContext(cmd), c, q)
	r.Result = done.Result
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
		}
		return p.flush()
	}
}
