package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func (m *management) keysCommand() *cobra.Command {
	return group("keys", "List and rotate signing and credential keys, and change the cluster key", m.keysList(), m.keysRotate(), m.keysRewrap(), m.keysNewClusterKey())
}

func (m *management) keysList() *cobra.Command {
	c := command("list", "List the keys and what comes next for each", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListKeys, admin.KeyFilter{}, func(p *printer, a admin.KeyList) {
			var rows [][]string
			for _, k := range a.Keys {
				secrets := ""
				if k.Purpose == string(ledger.ForCredentials) {
					secrets = strconv.Itoa(k.Secrets)
				}
				rows = append(rows, []string{k.ID, k.Purpose, k.Algorithm, k.State, secrets, formatTime(k.Announced), nextStep(k.State, k.NextStep)})
			}
			p.table([]string{"ID", "PURPOSE", "ALGORITHM", "STATE", "SECRETS", "ANNOUNCED", "NEXT STEP"}, rows)
		})
	})
	c.Long = `List the keys and what comes next for each.

NEXT STEP is what a key becomes, and when at the earliest: one that is active is
rotated when it is as old as the setting rotate_every says, and "-" where that is
off.

SECRETS counts the active secrets of clients and resource servers, and the valid
operator tokens, that are recorded under a credential key. A secret moves to the
active key when it is used. A retiring key is dropped at its next step, or as soon
as none is left under it.`
	return c
}

// nextStep describes the next state of a key, and the earliest time of it.
func nextStep(state string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	becomes := map[string]string{
		string(ledger.KeyAnnounced): "active", string(ledger.KeyActive): "rotated", string(ledger.KeyRetiring): "dropped",
	}
	return strings.TrimSpace(becomes[state] + " " + formatTime(at))
}

func (m *management) keysRotate() *cobra.Command {
	q := admin.Rotation{}
	c := command("rotate", "Announce a new key", func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("emergency") {
			return runOperation(m, cmd, admin.RotateKeys, q, func(p *printer, a admin.Rotated) {
				p.line("key %s is announced", a.ID)
				p.remark("it becomes active by itself when verifiers have had the time to learn it; see mintmark keys list")
			})
		}
		if cmd.Flags().Changed("purpose") || q.Leaked == "" {
			return errors.New("--emergency names the key that leaked, and goes without --purpose; mintmark keys list has the keys")
		}
		return runOperation(m, cmd, admin.RotateKeys, admin.Rotation{Leaked: q.Leaked}, showKeyReplacement)
	})
	c.Flags().StringVar(&q.Purpose, "purpose", string(ledger.ForSigning), "signing or credential")
	c.Flags().StringVar(&q.Leaked, "emergency", "", "the key with this `ID` has leaked: drop it now, whatever breaks")
	c.Long = `Announce a new key, which takes the place of the one in use by itself.

With --emergency ID the key of that id is dropped at once, since it has leaked;
where it is in use another takes its place first. "mintmark keys list" has the
ids. A command that was interrupted is given again as it was: it goes on where
the first one ended, and touches no other key.`
	return c
}

// showKeyReplacement prints what was done about a leaked key, and what remains.
func showKeyReplacement(p *printer, a admin.Rotated) {
	for _, step := range a.Steps {
		p.line("%s", step)
	}
	if len(a.Steps) == 0 {
		p.line("key %s was dropped before; nothing was done", a.Dropped)
	}
	for _, node := range a.WaitingFor {
		p.remark("node %s has not opened key %s yet: start it, or remove it", node, a.ID)
	}
	if a.Purpose == string(ledger.ForSigning) {
		p.remark("what key %s signed is refused as soon as verifiers fetch the keys again, which takes them up to jwks_max_age; until then some refuse tokens of key %s", a.Dropped, a.ID)
		return
	}
	p.remark("codes and refresh tokens that were made under key %s are refused: their users allow the applications again", a.Dropped)
	if len(a.LockedOut) > 0 {
		p.remark("these clients can't sign in until another secret is made for them (mintmark client secret add; where there are two, revoke one first): %s", strings.Join(a.LockedOut, ", "))
	}
	if len(a.LockedOutResources) > 0 {
		p.remark("these resource servers can't introspect tokens or read the feed of revocations until another secret is made for them (mintmark resource-server secret add; where there are two, revoke one first): %s", strings.Join(a.LockedOutResources, ", "))
	}
	var others []string
	for _, s := range a.DroppedSecrets {
		if !slices.Contains(a.LockedOut, s.Client) && !slices.Contains(a.LockedOutResources, s.Resource) {
			others = append(others, fmt.Sprintf("%s (secret %s)", cmp.Or(s.Client, s.Resource), s.ID))
		}
	}
	if len(others) > 0 {
		p.remark("these have another secret, and can't sign in with the one that is recorded under the key any more: %s", strings.Join(others, ", "))
	}
}
