package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func (m *management) operatorCommand() *cobra.Command {
	return group("operator", "Manage operators on other machines",
		group("token", "Manage the tokens of operators on other machines", m.tokenAdd(), m.tokenList(), m.tokenRevoke()))
}

func (m *management) tokenAdd() *cobra.Command {
	var q admin.NewOperatorToken
	var scopes []string
	c := command("add NAME", "Make a token; it is shown once", func(cmd *cobra.Command, args []string) error {
		q.Name, q.Scopes = args[0], splitScopes(scopes)
		return runOperation(m, cmd, admin.AddOperatorToken, q, func(p *printer, a admin.AddedOperatorToken) {
			p.remark("token %s of %s may be used for %s until %s\nIt is shown this once:", a.ID, a.Name, strings.Join(a.Scopes, ", "), formatTime(a.Expires))
			p.secret(a.Token.Reveal())
		})
	})
	c.Flags().StringArrayVar(&scopes, "scope", nil, "scopes, separated by commas or spaces: read, clients, users, settings, cluster (may be repeated)")
	config.DurationVar(c.Flags(), &q.Lifetime, "lifetime", 0, "for how long it is valid, at most 365d")
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(operatorScopes(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.MarkFlagRequired("scope")
	_ = c.MarkFlagRequired("lifetime")
	return c
}

func (m *management) tokenList() *cobra.Command {
	var q admin.OperatorTokenFilter
	c := command("list", "List the tokens", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListOperatorTokens, q, func(p *printer, a admin.OperatorTokenList) {
			var rows [][]string
			for _, t := range a.Tokens {
				rows = append(rows, []string{
					t.ID, t.Name, strings.Join(t.Scopes, " "), t.State, formatTime(t.Created), formatTime(t.Expires), formatTime(t.Used),
				})
			}
			p.table([]string{"ID", "NAME", "SCOPES", "STATE", "CREATED", "EXPIRES", "LAST USED"}, rows)
		})
	})
	c.Flags().BoolVar(&q.Ended, "ended", false, "list expired and revoked ones too")
	return c
}

func (m *management) tokenRevoke() *cobra.Command {
	return command("revoke TOKEN", "Revoke a token, by id or name, on every node at once", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.RevokeOperatorToken, admin.OperatorTokenRef{Token: args[0]}, func(p *printer, a admin.Done) {
			p.line("token %s is revoked", a.ID)
		})
	})
}

func operatorScopes() (all []string) {
	for _, s := range ledger.OperatorScopes {
		all = append(all, string(s))
	}
	return all
}
