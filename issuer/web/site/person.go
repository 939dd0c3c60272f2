package site

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Person is the name of a user for display.
type Person struct {
	Name     string // the name, or a replacement
	Username string // "" if it would repeat Name
}

// PersonOf returns the name of a user for display.
func PersonOf(u *ledger.User) Person {
	for _, name := range []string{u.Name, u.Username, u.Email} {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if name == u.Username {
			return Person{Name: name}
		}
		return Person{Name: name, Username: u.Username}
	}
	return Person{Name: u.ID}
}
