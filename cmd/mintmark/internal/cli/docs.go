package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/docs"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

// Names of the descriptions in OpenAPI 3.1, which are JSON. A node serves that of the API with
// its own addresses at oauth.PathOpenAPI.
const (
	apiOpenAPI       = "openapi"
	aboutAPIOpenAPI  = "programs: the endpoints of the API (OpenAPI 3.1, JSON)"
	operatorsOpenAPI = "operators-openapi"
)

// printed are all documents that the command prints.
var printed = append(slices.Clone(docs.All),
	docs.Document{Name: apiOpenAPI, About: aboutAPIOpenAPI},
	docs.Document{Name: operatorsOpenAPI, About: "programs: the operations of operators-listen (OpenAPI 3.1, JSON)"})

// docsCommand prints the documents in the binary. It asks no node.
func docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [NAME]",
		Short: "List the documents, or print one as Markdown",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listDocuments(cmd)
			}
			if args[0] == apiOpenAPI {
				_, err := cmd.OutOrStdout().Write(endpoint.OpenAPI("https://api.example.com", "https://app.example.com"))
				return err
			}
			if args[0] == operatorsOpenAPI {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(admin.OpenAPI())
			}
			text, ok := docs.Read(args[0])
			if !ok {
				return unknownDocument(args[0])
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, d := range printed {
				names = append(names, d.Name+"\t"+d.About)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func unknownDocument(name string) error {
	var names []string
	for _, d := range printed {
		names = append(names, d.Name)
	}
	text := fmt.Sprintf("unknown document %q", name)
	if like := config.Nearest(name, names); like != "" {
		text += "; did you mean " + like + "?"
	}
	return errors.New(text + " (mintmark docs lists them)")
}

func listDocuments(cmd *cobra.Command) error {
	p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	rows := make([][]string, len(printed))
	for i, d := range printed {
		rows[i] = []string{d.Name, d.About}
	}
	p.table([]string{"NAME", "FOR"}, rows)
	p.remark("authors of APIs: %s", docs.Elsewhere)
	return p.writeErr()
}
