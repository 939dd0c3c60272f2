package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// shownVersion is the answer of "version". A cluster has the level that all of its
// nodes' programs have.
type shownVersion struct {
	Version string `json:"version"`
	Level   uint32 `json:"level"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func versionCommand(version string) *cobra.Command {
	m := &management{timeout: admin.DefaultTimeout}
	c := command("version", "Say which version this program is", func(cmd *cobra.Command, _ []string) error {
		if err := m.checkOutput(); err != nil {
			return err
		}
		v := shownVersion{version, ledger.Level, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		return m.show(cmd, v, func(p *printer) {
			p.line("mintmark version %s (feature level %d, %s, %s)", v.Version, v.Level, v.Go, v.System)
		})
	})
	c.Flags().StringVarP(&m.output, "output", "o", "text", "output format: text or json")
	return c
}
