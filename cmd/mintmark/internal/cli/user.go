package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) userCommand() *cobra.Command {
	return group("user", "Manage accounts",
		m.userAdd(), m.userList(), m.userShow(),
		m.userState("disable", "Disable an account; its sessions and grants end"),
		m.userState("enable", "Enable a disabled account"),
		m.userState("sign-out", "Sign a user out everywhere; the password and grants stay"),
		m.userDelete(),
		m.userPassword(), m.userAdmin(),
	)
}

func (m *management) userAdd() *cobra.Command {
	var q admin.NewUser
	var passwordFile, hashFile string
	c := command("add USERNAME", "Create an account", func(cmd *cobra.Command, args []string) error {
		password, err := readSecret(cmd, passwordFile)
		if err != nil {
			return err
		}
		hash, err := readSecret(cmd, hashFile)
		if err != nil {
			return err
		}
		q.Username, q.Password, q.PasswordHash = args[0], password, hash
		return runOperation(m, cmd, admin.AddUser, q, func(p *printer, a admin.AddedUser) {
			if a.Password == "" {
				p.line("user %s created with the id %s", a.Username, a.ID)
				return
			}
			p.remark("user %s created with the id %s\nThe password is shown this once:", a.Username, a.ID)
			p.secret(a.Password.Reveal())
		})
	})
	f := c.Flags()
	f.StringVar(&q.ID, "id", "", "user id (default: made at random)")
	f.StringVar(&q.Email, "email", "", "e-mail address")
	f.StringVar(&q.Name, "name", "", "full name")
	f.StringVar(&q.TimeZone, "time-zone", "", "time zone, such as Europe/London")
	f.BoolVar(&q.Admin, "admin", false, "may review clients")
	f.StringVar(&passwordFile, "password-file", "", "file that holds the password, - for standard input (default: one is made)")
	f.StringVar(&hashFile, "password-hash-file", "", "file that holds a hash of the password from another system, - for standard input")
	c.MarkFlagsMutuallyExclusive("password-file", "password-hash-file")
	return c
}

func (m *management) userList() *cobra.Command {
	var q admin.UserFilter
	c := command("list", "List accounts", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListUsers, q, func(p *printer, a admin.UserList) {
			var rows [][]string
			for _, u := range a.Users {
				rows = append(rows, []string{u.ID, u.Username, u.Name, u.Email, u.State, yesNo(u.Admin), formatTime(u.Created)})
			}
			p.table([]string{"ID", "USERNAME", "NAME", "EMAIL", "STATE", "ADMIN", "CREATED"}, rows)
		})
	})
	c.Flags().BoolVar(&q.Deleted, "deleted", false, "list deleted accounts too")
	return c
}

func (m *management) userShow() *cobra.Command {
	return command("show USER", "Show an account", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.ShowUser, admin.UserRef{User: args[0]}, func(p *printer, u admin.User) {
			p.properties(
				singleValue("User", u.ID),
				singleValue("Username", u.Username),
				singleValue("Name", u.Name),
				singleValue("E-mail", u.Email),
				singleValue("Time zone", u.TimeZone),
				singleValue("State", u.State),
				singleValue("Administrator", yesNo(u.Admin)),
				singleValue("Signs in at", u.Upstream),
				singleValue("Password", passwordWord(&u)),
				singleValue("Clients", strings.Join(u.Clients, " ")),
				singleValue("Live grants", fmt.Sprint(u.Grants)),
				singleValue("Created", formatTime(u.Created)),
			)
		})
	})
}

func passwordWord(u *admin.User) string {
	if u.Imported {
		return "imported, until the next sign-in"
	}
	return yesNo(u.Password)
}

func (m *management) userState(state, short string) *cobra.Command {
	return command(state+" USER", short, func(cmd *cobra.Command, args []string) error {
		q := admin.UserStateChange{User: args[0], State: state}
		return runOperation(m, cmd, admin.SetUserState, q, func(p *printer, u admin.User) {
			if state == "sign-out" {
				p.line("user %s is signed out everywhere", args[0])
				return
			}
			p.line("user %s is %s", args[0], u.State)
		})
	})
}

func (m *management) userDelete() *cobra.Command {
	var yes bool
	c := m.userState("delete", "Delete an account for good; its sessions and grants end")
	set := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := confirm(cmd, yes, "delete user "+args[0]+" for good, and end all sessions and grants"); err != nil {
			return err
		}
		return set(cmd, args)
	}
	confirmFlag(c, &yes, "delete without a question")
	return c
}

func (m *management) userPassword() *cobra.Command {
	var passwordFile string
	c := command("password USER", "Set a password; the user's sessions end", func(cmd *cobra.Command, args []string) error {
		password, err := readSecret(cmd, passwordFile)
		if err != nil {
			return err
		}
		q := admin.PasswordChange{User: args[0], Password: password}
		return runOperation(m, cmd, admin.SetPassword, q, func(p *printer, a admin.ChangedPassword) {
			if a.Password == "" {
				p.line("user %s has the new password", args[0])
				return
			}
			p.remark("The new password of user %s is shown this once:", args[0])
			p.secret(a.Password.Reveal())
		})
	})
	c.Aliases = []string{"set-password"}
	c.Flags().StringVar(&passwordFile, "password-file", "", "file that holds the password, - for standard input (default: one is made)")
	return c
}

func (m *management) userAdmin() *cobra.Command {
	var remove bool
	c := command("admin USER", "Let a user review clients, or no longer", func(cmd *cobra.Command, args []string) error {
		q := admin.UserStateChange{User: args[0], State: "promote"}
		if remove {
			q.State = "demote"
		}
		return runOperation(m, cmd, admin.SetUserState, q, func(p *printer, u admin.User) {
			if u.Admin {
				p.line("user %s is an administrator", args[0])
			} else {
				p.line("user %s is not an administrator", args[0])
			}
		})
	})
	c.Flags().BoolVar(&remove, "remove", false, "take the right away")
	return c
}
