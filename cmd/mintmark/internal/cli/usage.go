package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// prepare gives every command below c its example, and the errors of a command line that
// does not fit. What a command expects is in its Use and in its required flags.
func prepare(c *cobra.Command) {
	for _, below := range c.Commands() {
		prepare(below)
	}
	if c.HasSubCommands() {
		c.Args = unknownCommand
		return
	}
	c.Args = checkUsage
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if required(f) {
			f.Usage += " (required)"
		}
	})
	if e, ok := examples[strings.TrimPrefix(c.CommandPath(), "mintmark ")]; ok {
		c.Example = "  " + strings.ReplaceAll(strings.TrimSpace(e), "\n", "\n  ")
	}
}

// unknownCommand refuses arguments of a command that only has commands below it.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2 // cobra's default, which it sets for the root only
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	like := c.SuggestionsFor(args[0])
	if len(like) == 0 {
		like = commandsNamed(c, args[0])
	}
	if n := len(like); n == 0 || n > maxSuggestions {
		return fmt.Errorf("%s (see %s --help)", text, c.CommandPath())
	}
	return errors.New(text + "; did you mean " + strings.Join(like, " or ") + "?")
}

// maxSuggestions is the maximum number of commands that are suggested. A name such as "list",
// which many groups have, gets no suggestion.
const maxSuggestions = 3

// commandsNamed returns the paths of all commands below c that have the given name.
func commandsNamed(c *cobra.Command, name string) (paths []string) {
	for _, below := range c.Commands() {
		if below.Name() == name {
			paths = append(paths, name)
		}
		for _, path := range commandsNamed(below, name) {
			paths = append(paths, below.Name()+" "+path)
		}
	}
	return paths
}

// refuseUnknownHelp makes "help" refuse a command that does not exist. Cobra would print the help
// of its group.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help.Run == nil {
		return
	}
	help.Args = func(_ *cobra.Command, args []string) error {
		if c, rest, err := root.Find(args); err == nil && c.HasSubCommands() {
			return unknownCommand(c, rest)
		}
		return nil
	}
}

var operandName = regexp.MustCompile(`^[A-Z][A-Z_=]*(\.\.\.)?$`)

// operands returns the names of the arguments that a command needs, as its Use has them, and
// how many it takes at most: an argument may be optional, or the last one be repeated.
func operands(c *cobra.Command) (needed []string, most int) {
	for _, word := range strings.Fields(c.Use)[1:] {
		name, optional := strings.CutPrefix(word, "[")
		name = strings.TrimSuffix(name, "]")
		if !operandName.MatchString(name) {
			break // flags follow
		}
		if most++; strings.HasSuffix(name, "...") {
			most = math.MaxInt
		}
		if !optional {
			needed = append(needed, strings.TrimSuffix(name, "..."))
		}
	}
	return needed, most
}

// checkUsage refuses missing and further arguments, and missing flags.
func checkUsage(c *cobra.Command, args []string) error {
	needed, most := operands(c)
	switch {
	case len(args) < len(needed):
		return usageError(c, "%s is missing", needed[len(args)])
	case len(args) > most:
		return usageError(c, "unexpected argument %q", args[most])
	}
	var missing []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if required(f) && !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	})
	switch {
	case len(missing) == 1:
		return usageError(c, "%s is missing", missing[0])
	case len(missing) > 1:
		return usageError(c, "%s are missing", strings.Join(missing, ", "))
	}
	return nil
}

func required(f *pflag.Flag) bool {
	return slices.Equal(f.Annotations[cobra.BashCompOneRequiredFlag], []string{"true"})
}

func usageError(c *cobra.Command, format string, args ...any) error {
	return fmt.Errorf("%s; usage: %s (see %s --help)", fmt.Sprintf(format, args...), c.UseLine(), c.CommandPath())
}

// flagError is pflag's error about a flag in words of this program. A command that does
// not exist is reported rather than its flag, which pflag reads first.
func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
		return unknownCommand(c, args)
	}
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			return fmt.Errorf("unknown flag -%s for %q", unknown.GetSpecifiedName(), c.CommandPath())
		}
		return unknownFlag(c, unknown.GetSpecifiedName())
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value", bare.GetFlag().Name)
	case errors.As(err, &bad):
		f := bad.GetFlag()
		return fmt.Errorf("--%s: expected %s, got %q", f.Name, expectedOf(f.Value.Type()), bad.GetValue())
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is not a flag", syntax.GetSpecifiedFlag())
	}
	return err
}

func unknownFlag(c *cobra.Command, name string) error {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	text := fmt.Sprintf("unknown flag --%s for %q", name, c.CommandPath())
	if like := config.Nearest(name, known); like != "" {
		text += "; did you mean --" + like + "?"
	}
	return errors.New(text)
}

// expectedOf describes the values of a type of flags.
func expectedOf(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 60s, 12h or 30d"
	case "float64":
		return "a number"
	case "int":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number from 0 on"
	}
	return "a " + kind
}
