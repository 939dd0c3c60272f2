package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
)

// errPlanned ends a dry run whose plan has changes.
var errPlanned = errors.New("the plan has changes")

func (m *management) applyCommand() *cobra.Command {
	var files []string
	var o apply.Options
	var yes, dryRun bool
	c := command("apply [FILE...]", "Bring clients, users, resource servers, publishers and settings to what files declare", func(cmd *cobra.Command, args []string) error {
		files := append(files, args...)
		switch {
		case len(files) == 0:
			return usageError(cmd, "-f FILE is missing")
		case o.Manager == "":
			return usageError(cmd, "--manager is empty")
		}
		if err := m.checkOutput(); err != nil {
			return err
		}
		cmd.SilenceUsage = true
		d, err := declare.Disk(cmd.Context(), cmd.InOrStdin()).Files(files...)
		if err != nil {
			return err
		}
		return m.apply(cmd, d, o, yes, dryRun)
	})
	c.Long = `Bring clients, users, resource servers, publishers and settings to what YAML files
declare. First it prints a plan: what is added, what is changed and how, and, with
--prune, what is removed. After a question, or with --yes, it does each step of the plan
as one decision. With --dry-run it stops after the plan, and its exit code says whether
there are changes.

The files are in the language of the fixtures of "mintmark dev"; "mintmark export"
writes one, and "mintmark docs apply" explains it. They are checked as a whole before
anything is changed. A step is refused if what it concerns was changed since the plan
was made. Where a step fails, those before it are done: running the
command again does the rest.

A client or a publisher that a file names counts as reviewed. --prune removes the
clients, resource servers and publishers that an earlier apply with the same --manager
made and that the files no longer name, never users. Their secrets end, and so do
grants for clients; grants for resource servers get no more tokens. So it needs --yes.`
	f := c.Flags()
	f.StringArrayVarP(&files, "file", "f", nil, "`FILE` of a declaration, - for standard input (repeat for more)")
	f.BoolVar(&dryRun, "dry-run", false, "print the plan only; exit code 6 if it has changes")
	f.BoolVar(&o.Prune, "prune", false, "remove what the files do not name of the clients, resource servers and publishers of this manager")
	f.StringVar(&o.Manager, "manager", "apply", "`NAME` under which the clients, resource servers and publishers of these files are managed")
	f.BoolVar(&o.Adopt, "adopt", false, "manage clients, resource servers and publishers that the files name and that were made otherwise")
	confirmFlag(c, &yes, "apply the plan without a question")
	return c
}

func (m *management) apply(cmd *cobra.Command, d *declare.Declaration, o apply.Options, yes, dryRun bool) error {
	c, err := m.open(cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	o.Remote = c.Remote()
	ctx := cmdContext(cmd)
	state, err := apply.ReadState(ctx, c, d, o)
	if err != nil {
		return err
	}
	plan, err := apply.New(d, state, o)
	if err != nil {
		return err
	}
	plan.Warnings = append(plan.Warnings, weakDeclared(d)...)
	if ends := endedByChange(plan.SettingsSet()); ends != "" {
		plan.Warnings = append(plan.Warnings, "settings: "+ends)
	}
	if err := m.show(cmd, plan, func(p *printer) { printPlan(p, plan) }); err != nil {
		return err
	}
	removed := removals(plan)
	switch {
	case len(plan.Steps) == 0:
		return nil
	case dryRun:
		return errLogged{errPlanned}
	case removed != "" && !yes:
		return fmt.Errorf("not confirmed: %s (--%s does it)", removed, yesFlag)
	}
	if err := confirm(cmd, yes, "do this"); err != nil {
		return err
	}
	p := newPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	return plan.Do(ctx, c, func(s *apply.Step, result string) error {
		p.remark("%s: %s", s.Subject(), result)
		return p.writeErr()
	})
}

// removals describes what a plan removes, and which grants that concerns, "" if it is nothing.
func removals(plan *apply.Plan) string {
	var all []string
	for _, kind := range []struct{ name, grants string }{
		{apply.KindClient, "would end"}, {apply.KindResourceServer, "would get no more tokens"}, {apply.KindPublisher, "would end"},
	} {
		if n := plan.CountOf(apply.Remove, kind.name); n > 0 {
			all = append(all, fmt.Sprintf("%s would be removed for good, and %s %s", counted(n, kind.name), counted(plan.GrantsOf(kind.name), "grant"), kind.grants))
		}
	}
	return strings.Join(all, "; ")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// weakDeclared returns warnings of secrets that could be guessed, as client import has.
func weakDeclared(d *declare.Declaration) (all []string) {
	weak := func(entry string, secrets []declare.Secret) {
		for _, s := range secrets {
			if s.Text != "" && secretBits(s.Text.Reveal()) < minSecretBits {
				all = append(all, fmt.Sprintf("%s: %s has less than %d bits", entry, s.Field, minSecretBits))
			}
		}
	}
	for i := range d.Clients {
		weak("client "+d.Clients[i].ID, d.Clients[i].Secrets)
	}
	for i := range d.ResourceServers {
		weak("resource server "+d.ResourceServers[i].ID, d.ResourceServers[i].Secrets)
	}
	return all
}

var actionSigns = map[apply.Action]string{apply.Add: "+", apply.Change: "~", apply.Remove: "-"}

func printPlan(p *printer, plan *apply.Plan) {
	for i := range plan.Steps {
		s := &plan.Steps[i]
		line := actionSigns[s.Action] + " " + s.Subject()
		switch {
		case s.Action == apply.Remove && s.Kind == apply.KindResourceServer:
			line += fmt.Sprintf(" with %s: %s of %s get no more tokens", counted(s.Secrets, "secret"), counted(s.Grants, "grant"), counted(s.Users, "user"))
		case s.Action == apply.Remove:
			line += fmt.Sprintf(": %s of %s end", counted(s.Grants, "grant"), counted(s.Users, "user"))
		}
		p.line("%s", line)
		for _, f := range s.Fields {
			p.line("    %s", fieldLine(s.Action, &f))
		}
	}
	p.line("%d to add, %d to change, %d to remove, %d unchanged",
		plan.Count(apply.Add), plan.Count(apply.Change), plan.Count(apply.Remove), plan.Unchanged)
	for _, w := range plan.Warnings {
		p.remark("warning: %s", w)
	}
}

// fieldLine has a field in one line, whatever lines its values have.
func fieldLine(a apply.Action, f *apply.Field) string {
	var words []string
	sign := "+"
	if a == apply.Add {
		sign = ""
	}
	for _, s := range f.Added {
		words = append(words, sign+s)
	}
	for _, s := range f.Removed {
		words = append(words, "-"+s)
	}
	switch {
	case len(words) > 0:
	case a == apply.Add || f.Before == "" && strings.HasPrefix(f.After, "("):
		words = append(words, oneLine(f.After))
	default:
		words = append(words, fmt.Sprintf("%q → %q", f.Before, f.After))
	}
	return f.Name + ": " + strings.Join(words, " ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (m *management) exportCommand() *cobra.Command {
	c := command("export", "Write a file that declares what the cluster has", func(cmd *cobra.Command, _ []string) error {
		c, err := m.openFor(cmd, exportOutputs...)
		if err != nil {
			return err
		}
		defer c.Close()
		d, comment, err := apply.Export(cmdContext(cmd), c)
		if err != nil {
			return err
		}
		return d.Write(cmd.OutOrStdout(), comment)
	})
	c.Long = `Write users, clients, resource servers, publishers and settings to standard output, in the
language of "mintmark apply". Applied to the same cluster the file changes nothing. It has no
passwords and no secrets, since only digests are stored: a cluster that does not have a client
yet needs a secret_file or secret_sha256 in its entry. Logos are left out too.`
	return c
}
