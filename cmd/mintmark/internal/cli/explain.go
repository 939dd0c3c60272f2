package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) explainCommand() *cobra.Command {
	return command("explain ERROR_ID", "Show why a request was refused, by its error_id", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.Explain, admin.ErrorID{ErrorID: args[0]}, func(p *printer, e admin.Explained) {
			p.line("%s", e.Text)
			client := e.Client
			if client == "" && e.ResourceServer == "" {
				client = "(none that is known)"
			}
			all := []property{
				singleValue("Refused", formatTimeSeconds(e.At)), singleValue("Client", client), singleValue("Name", e.ClientName),
				singleValue("Resource server", e.ResourceServer),
			}
			if e.Grant != "" {
				all = append(all,
					singleValue("Grant", e.Grant),
					singleValue("Generation", fmt.Sprintf("%d was presented, %d was due", *e.Presented, *e.Due)),
				)
			}
			p.properties(append(all, singleValue("It happened", formatTimeSeconds(e.When)))...)
			if advice := adviceOn(e); advice != "" {
				p.remark("%s", advice)
			}
		})
	})
}
