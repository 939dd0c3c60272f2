package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
)

func feedCommand() *cobra.Command {
	return group("feed", "Resource servers that read what was revoked", feedAddCommand())
}

func feedAddCommand() *cobra.Command {
	var file string
	c := command("add NAME --file FILE", "Let a resource server read what was revoked", func(cmd *cobra.Command, args []string) error {
		if !endpoint.ReaderName.MatchString(args[0]) {
			return errors.New("a name has letters, digits and . _ -, at most 63, and begins with a letter or a digit")
		}
		cmd.SilenceUsage = true
		secret := credential.NewSecret(rand.Reader).Reveal()
		if err := appendLine(file, endpoint.ReaderLine(args[0], secret)); err != nil {
			return fmt.Errorf("add a resource server: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "The secret of %s is shown this once. Nodes that run with %s know of it in some seconds.\n", args[0], file)
		fmt.Fprintln(cmd.OutOrStdout(), secret)
		return nil
	})
	c.Long = `Let a resource server read the feed of what was revoked. Its line is added to the
file that the nodes are told of by --feed-secrets, which is made where there is
none, and has only a digest of the secret. The file is the same on every node. A
node that runs looks every few seconds whether it has changed; one that it can't
read, or that is wrong, changes nothing, and is logged.

A name may be there twice, with two secrets: so one takes the place of the other
without a pause. Delete the line of the older one then.`
	c.Flags().StringVar(&file, "file", "", "`FILE` of the resource servers, of --feed-secrets")
	_ = c.MarkFlagRequired("file")
	return c
}

// appendLine adds to a file of secrets, which nobody else can read.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := config.RequirePrivate(f, "list of resource servers", ""); err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		return err
	}
	return durable.Sync(f)
}
