package cli

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cluster/durable"
	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func generateSecretCommand() *cobra.Command {
	return group("secret", "Client secrets, without a node", secretGenerateCommand())
}

// A generatedSecret is what "mintmark secret generate" prints as JSON. Secret is "" if it
// was written to a file.
type generatedSecret struct {
	File   string `json:"file,omitempty"`
	Secret string `json:"secret,omitempty"`
	SHA256 string `json:"sha256"`
}

func secretGenerateCommand() *cobra.Command {
	var digest bool
	var output string
	c := command("generate [FILE]", "Make a client secret of 256 random bits; needs no node", func(cmd *cobra.Command, args []string) error {
		if output != outputText && output != outputJSON {
			return fmt.Errorf("--output must be %s or %s", outputText, outputJSON)
		}
		cmd.SilenceUsage = true
		secret := credential.NewSecret(rand.Reader).Reveal()
		sum := sha256.Sum256([]byte(secret))
		made := generatedSecret{Secret: secret, SHA256: hex.EncodeToString(sum[:])}
		if len(args) > 0 {
			if err := durable.Create(args[0], []byte(secret+"\n")); err != nil {
				return fmt.Errorf("write the secret: %w", err)
			}
			made.File, made.Secret = args[0], ""
		}
		if output == outputJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(made)
		}
		p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
		if made.Secret != "" {
			p.secret(made.Secret)
		}
		if digest || made.File != "" {
			p.line("%s", made.SHA256)
		}
		return p.writeErr()
	})
	c.Long = `Make a client secret of 256 random bits, in the format of those that Mintmark makes
itself: failed tries never lock such a client out, as they do where a secret was
chosen elsewhere and may be weak.

It is printed as one line. With --digest a second line has its SHA-256 in
hexadecimal, which files may carry as secret_sha256 instead of the secret. With
FILE the secret is written there, to a new file of mode 0600, and only its SHA-256
is printed.`
	c.Flags().BoolVar(&digest, "digest", false, "print the SHA-256 too, on a second line")
	c.Flags().StringVarP(&output, "output", "o", outputText, "output format: text or json")
	return c
}
