package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// schedulingPolicy is the word for the table that is built in.
const schedulingPolicy = "scheduling"

func policyCommand() *cobra.Command {
	return group("policy", "Route policies of resource servers", policyCheckCommand())
}

// foundError is returned by a check with findings, which it has printed.
type foundError struct{ findings int }

func (e *foundError) Error() string {
	if e.findings == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", e.findings)
}

func policyCheckCommand() *cobra.Command {
	var description, base string
	var tables []string
	c := &cobra.Command{
		Use:   "check --openapi FILE",
		Short: "Find routes without a decision, and rows without a route",
		Long: `Compare a route policy with the OpenAPI description (JSON or YAML) of the
service that it is for. A finding is one line:

  no decision      a route that no row decides: closed to scoped tokens
  borrowed         a route that only another route's row happens to decide
  no route         a row that no route is behind
  no membership    a route with a team's or an organization's id, whose row does
                   not call it so: whether the user belongs there is not asked
  not expressible  a route whose pattern no row can say

The exit code is 2 when something is found.`,
		RunE: func(c *cobra.Command, _ []string) error {
			table, err := loadPolicies(tables)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(description)
			if err != nil {
				return fmt.Errorf("read OpenAPI description: %w", err)
			}
			if !c.Flags().Changed("base-path") {
				base = describedBase
			}
			routes, err := openAPIRoutes(text, base)
			if err != nil {
				return fmt.Errorf("%s: %w", description, err)
			}
			p := newPrinter(c.OutOrStdout(), c.ErrOrStderr())
			findings := table.Check(routes)
			for _, f := range findings {
				p.line("%s", f)
			}
			if len(findings) > 0 {
				if err := p.writeErr(); err != nil {
					return err
				}
				return &foundError{len(findings)}
			}
			p.line("%d routes, %d rows: nothing found", len(routes), len(table.Rows()))
			return p.writeErr()
		},
	}
	c.Flags().StringVar(&description, "openapi", "", "the service's OpenAPI description, 3 or Swagger 2")
	c.Flags().StringArrayVar(&tables, "policy", []string{schedulingPolicy}, "file with the policy, or \""+schedulingPolicy+"\" for the built-in one; repeat it to join several")
	c.Flags().StringVar(&base, "base-path", "", "what stands before each path of the description (default: as its servers say)")
	_ = c.MarkFlagRequired("openapi")
	return c
}

// loadPolicies joins the tables that are named.
func loadPolicies(names []string) (*policy.Table, error) {
	var tables []*policy.Table
	for _, name := range names {
		if name == schedulingPolicy {
			tables = append(tables, policy.Scheduling())
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read policy: %w", err)
		}
		t, err := policy.Load(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tables = append(tables, t)
	}
	return policy.Join(tables...)
}
