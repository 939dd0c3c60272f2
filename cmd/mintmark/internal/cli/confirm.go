package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// yesFlag is the one flag by which an operator confirms what a command would refuse.
const yesFlag = "yes"

// confirmFlag declares --yes. usage says what it confirms.
func confirmFlag(c *cobra.Command, yes *bool, usage string) {
	c.Flags().BoolVar(yes, yesFlag, false, usage)
}

// errNotConfirmed is returned if an operator answered no.
var errNotConfirmed = errors.New("nothing was changed")

// confirm returns nil if the operator agrees to an action that can't be undone: by --yes,
// or by the answer to a question on the terminal. question is without its mark.
func confirm(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	in := cmd.InOrStdin()
	if !isTerminal(in) {
		return fmt.Errorf("not confirmed: %s? Standard input is no terminal, so give --%s", question, yesFlag)
	}
	cmd.PrintErrf("%s? [y/N] ", escapeControl(question))
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
