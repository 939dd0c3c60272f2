package ledger_test

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// apply returns the declaration of a line, planned on the current client unless the line
// names another revision.
func (w *env) apply(l line) command.Command {
	c := &ledger.ApplyClient{
		Actor: l.actor(), ID: l.name, Owner: "u-" + l.args["owner"], Type: ledger.ClientType(l.or("type", "confidential")),
		State: ledger.ClientState(l.args["state"]), Legacy: l.bool("legacy"), Profile: l.profile(nil),
		Manager: l.or("manager", "apply"), Adopt: l.bool("adopt"), Confirm: l.bool("confirm"),
		Revision: w.revision(l), ActiveSecrets: l.list("seen"),
	}
	for _, name := range l.list("secrets") {
		c.Secrets = append(c.Secrets, declaredSecret(name))
	}
	_, c.NamesSecrets = l.args["secrets"]
	if old := w.view().Client(l.name); old != nil && c.ActiveSecrets == nil {
		for i := range old.Secrets {
			if old.Secrets[i].Active() {
				c.ActiveSecrets = append(c.ActiveSecrets, old.Secrets[i].ID)
			}
		}
	}
	return c
}

func declaredSecret(name string) ledger.DeclaredSecret {
	d := ledger.DeclaredSecret{New: secretOf(name)}
	if d.New.Hash != "" {
		return d
	}
	for key := uint32(1); key <= 2; key++ {
		d.Digests = append(d.Digests, ledger.Digest{Key: key, MAC: digestUnder(key, name)})
	}
	return d
}

// applyUser returns a PutUser that names the version it was planned on.
func (w *env) applyUser(l line) command.Command {
	c := &ledger.PutUser{ID: "u-" + l.name, Username: l.or("username", l.name), Person: l.person(), Admin: l.bool("admin")}
	if l.args["seen"] == "none" {
		c.New = true
		return c
	}
	c.Seen = &ledger.UserSeen{Username: l.name}
	if u := w.view().User(c.ID); u != nil {
		c.Seen = &ledger.UserSeen{Username: u.Username, Person: u.Person, Admin: u.Admin}
	}
	if name, ok := l.args["seen-name"]; ok {
		c.Seen.Person.Name = name
	}
	return c
}
