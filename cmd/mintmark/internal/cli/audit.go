package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

const (
	followPause = time.Second // between two requests for new events
	followChunk = 1000        // events asked for at once
)

func (m *management) auditCommand() *cobra.Command {
	var q admin.EventFilter
	var after uint64
	var follow bool
	var limit uint
	c := command("audit", "List the newest events of the audit trail", func(cmd *cobra.Command, _ []string) error {
		q.Limit = int(min(limit, math.MaxInt32))
		if cmd.Flags().Changed("after") {
			q.After = &after
		}
		if m.output != outputText && m.output != outputJSON || follow {
			return m.streamAudit(cmd, q, follow)
		}
		return runOperation(m, cmd, admin.Audit, q, func(p *printer, a admin.EventList) {
			p.table(auditColumns, auditRows(a.Events))
			if a.Truncated && q.After == nil {
				p.remark("there are older events; see --limit")
			} else if a.Truncated {
				p.remark("there are newer events; see --limit")
			}
		})
	})
	c.Long = `List the newest events of the audit trail.

--follow lists new events as they come, until it is interrupted; it waits while the
node restarts. With --after it begins after an event: a collector that remembers
the seq of its last line misses nothing. -o jsonl writes one JSON object a line.`
	c.Flags().StringVar(&q.Client, "client", "", "only events of this client")
	c.Flags().StringVar(&q.User, "user", "", "only events of this user, or by this user")
	c.Flags().StringVar(&q.Kind, "kind", "", `only events of this kind, such as "grant.reuse", or "grant" for all of grants`)
	c.Flags().UintVar(&limit, "limit", 50, "list at most so many; 0 for all")
	c.Flags().Uint64Var(&after, "after", 0, "only events after this `SEQ`, oldest first")
	c.Flags().BoolVar(&follow, "follow", false, "list new events as they come, until interrupted; --limit bounds the first list, unless --after is given")
	return c
}

var auditColumns = []string{"SEQ", "TIME", "KIND", "ACTOR", "CLIENT", "USER", "GRANT", "DETAIL"}

func auditRows(events []admin.Event) (rows [][]string) {
	for _, e := range events {
		rows = append(rows, []string{fmt.Sprint(e.Seq), formatTimeSeconds(e.At), e.Kind, e.Actor, e.Client, e.User, e.Grant, e.Detail})
	}
	return rows
}

// streamAudit writes events one by one. With follow it asks again for those after
// the last one it read, once a second, and waits while the node restarts.
func (m *management) streamAudit(cmd *cobra.Command, q admin.EventFilter, follow bool) error {
	c, err := m.openFor(cmd, auditOutputs...)
	if err != nil {
		return err
	}
	defer c.Close()
	if m.output == outputJSON {
		return errors.New("--follow needs --output text or jsonl")
	}
	ctx, waiting := cmdContext(cmd), false
	for first := true; ; {
		a, err := admin.Audit.Call(ctx, c, q)
		var unreachable *admin.UnreachableError
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			if err := m.writeEvents(cmd, a.Events); err != nil {
				return err
			}
			first, waiting = false, false
			q.After = &a.Read
			if !follow {
				if a.Truncated {
					cmd.PrintErrln("there are more events; see --limit")
				}
				return nil
			}
			if q.Limit = followChunk; a.Truncated {
				continue
			}
		case first || !errors.As(err, &unreachable) && exitCode(err) != ExitUnhealthy:
			return nameFlag(cmd, err)
		case !waiting:
			cmd.PrintErrln("warning: " + err.Error() + "; waiting for the node")
			waiting = true
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *management) writeEvents(cmd *cobra.Command, events []admin.Event) error {
	if m.output == outputJSONL {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetEscapeHTML(false)
		for i := range events {
			if err := e.Encode(events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	for _, row := range auditRows(events) {
		p.line("%s", joinCells(row))
	}
	return p.writeErr()
}

// joinCells formats a row of a table without aligned columns.
func joinCells(cells []string) (line string) {
	for i, cell := range cells {
		if cell == "" {
			cell = "-"
		}
		if i > 0 {
			line += "  "
		}
		line += cell
	}
	return line
}
