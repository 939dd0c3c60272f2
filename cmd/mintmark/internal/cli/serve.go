package cli

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
)

func serveCommand(version string) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a node of a cluster",
		Long: `Run a node of a cluster of one, three or five.

A node whose data folder is empty waits until "mintmark cluster init" makes it
the first of a new cluster, or joins one with --join and --token-file. After
that it needs neither. Every setting may come from a flag, from the environment
(MINTMARK_…) or from a file (--config); see "mintmark config example".

When it is ready it prints one line of JSON on standard output; everything for
people goes to standard error.`,
		RunE: func(c *cobra.Command, _ []string) error {
			load := func() (config.Options, config.Sources, error) { return config.Load(c.Flags(), os.Environ()) }
			o, from, err := load()
			log := slog.New(hintHandler{o.Logger(c.ErrOrStderr()).Handler()})
			slog.SetDefault(log) // for what a library writes by itself
			if err == nil {
				err = server.Run(c.Context(), server.RunOptions{
					Version: version, Options: o, From: from, Load: load, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr(), Log: log,
				})
			}
			if err != nil && o.LogFormat == config.LogJSON {
				log.Error("node failed", "error", withHint(err))
				return errLogged{err}
			}
			return err
		},
	}
	o := config.Default()
	o.Flags(c.Flags())
	return c
}

// errLogged is an error that was logged already. Execute does not print it again, so that
// standard error has nothing but JSON if the log is JSON.
type errLogged struct{ error }

func (e errLogged) Unwrap() error { return e.error }
