package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/doctor"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// checkupError is returned by a check of the machine whose findings are printed.
type checkupError struct{ failures, warnings int }

func (e *checkupError) Error() string {
	return fmt.Sprintf("failures: %d, warnings: %d", e.failures, e.warnings)
}

// exitCode is ExitRefused with failures, and ExitLocal with warnings only.
func (e *checkupError) exitCode() int {
	if e.failures > 0 {
		return ExitRefused
	}
	return ExitLocal
}

// A checkup is the answer of doctor.
type checkup struct {
	State  doctor.State    `json:"state"` // the worst of the checks
	Checks []doctor.Result `json:"checks"`
}

func doctorCommand(version string) *cobra.Command {
	m := &management{version: version}
	c := command("doctor", "Check this machine and, if a node runs, the cluster", func(cmd *cobra.Command, _ []string) error {
		if err := m.checkOutput(); err != nil {
			return err
		}
		o, from, err := config.LoadInstalled(cmd.Flags(), os.Environ(), installed)
		if from == nil && err != nil {
			return err
		}
		switch {
		case from[config.KeyDataDir].Kind != config.FromDefault:
		case o.Config == installedConfig:
			o.DataDir = packagedDataDir // the unit has it
		default:
			o.DataDir = defaultDataDir(os.Getenv, o.DataDir, packagedDataDir)
		}
		m.dataDir = o.DataDir
		machine := doctor.Machine{Version: version, Options: o, SettingsError: err, Getenv: os.Getenv, Root: "/", Status: func(ctx context.Context) (status admin.ClusterStatus, settings admin.Settings, err error) {
			c, err := m.open(cmd)
			if err != nil {
				return status, settings, err
			}
			defer c.Close()
			if status, err = admin.ShowCluster.Call(ctx, c, admin.StatusQuery{}); err == nil {
				// An outage is a finding of the status; the settings are then those of the node.
				settings, _ = admin.ShowSettings.Call(ctx, c, admin.SettingsQuery{})
			}
			return status, settings, err
		}}
		all := doctor.Check(machine.Gather(cmdContext(cmd)))
		found := &checkupError{}
		for _, r := range all {
			switch r.State {
			case doctor.Failure:
				found.failures++
			case doctor.Warning:
				found.warnings++
			}
		}
		if err := m.show(cmd, checkup{doctor.Worst(all), all}, func(p *printer) { showCheckup(p, all) }); err != nil {
			return err
		}
		if found.failures+found.warnings > 0 {
			return found
		}
		return nil
	})
	c.Long = `Check this machine and, if a node runs, the cluster, with the settings that
"mintmark serve" would have, without --config those of
/etc/mintmark/mintmark.yaml. It changes nothing, and needs no running node.

Exit codes: 0 all is well, 1 there are warnings, or the command line is wrong,
2 there are failures.`
	o := config.Default()
	o.Flags(c.Flags())
	config.DurationVar(c.Flags(), &m.timeout, "timeout", admin.DefaultTimeout, "for how long the node may be silent before it counts as hung")
	c.Flags().StringVarP(&m.output, "output", "o", "text", "output format: text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func showCheckup(p *printer, all []doctor.Result) {
	for _, r := range all {
		p.line("%-8s %s: %s", r.State, r.Check, r.Measured)
		if r.Advice != "" {
			p.line("         %s", r.Advice)
		}
	}
}
