package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// shownVersion is the answer of "version". A cluster has the level that all of its
// nodes' programs have.
type shownVersion struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // commit that it was built of, if that is known
	Modified bool   `json:"modified,omitempty"` // there were changes that were not committed
	Level    uint32 `json:"level"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

// builtFrom returns the commit that this program was built of, which Go records in a
// checkout, and whether the checkout had changes.
func builtFrom() (revision string, modified bool) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return revision, modified
}

func versionCommand(version string) *cobra.Command {
	m := &management{timeout: admin.DefaultTimeout}
	c := command("version", "Print the version of this program", func(cmd *cobra.Command, _ []string) error {
		if err := m.checkOutput(); err != nil {
			return err
		}
		v := shownVersion{Version: version, Level: ledger.Level, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
		v.Revision, v.Modified = builtFrom()
		return m.show(cmd, v, func(p *printer) {
			revision := ""
			if v.Revision != "" {
				revision = "revision " + v.Revision + ", "
			}
			p.line("mintmark version %s (%sfeature level %d, %s, %s)", v.Version, revision, v.Level, v.Go, v.System)
		})
	})
	c.Flags().StringVarP(&m.output, "output", "o", "text", "output format: text or json")
	return c
}
