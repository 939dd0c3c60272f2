package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// completionTimeout is how long the node may take to answer a shell that waits.
const completionTimeout = 2 * time.Second

// A completer returns what an argument or a flag may be, each with a description after a
// tab. before are the arguments in front.
type completer func(ctx context.Context, c *admin.Caller, before []string) []string

// resourceSecret is the operand SECRET_ID of a resource server.
const resourceSecret = "SECRET_ID of RESOURCE_SERVER"

// completers are by the name of an operand, or of a flag with its dashes.
var completers = map[string]completer{
	"CLIENT":    clientIDs,
	"SECRET_ID": secretIDs,

	"RESOURCE_SERVER": resourceServerNames,
	resourceSecret:    resourceSecretIDs,

	"HOST":            publisherHosts,
	"--publisher":     publisherHosts,
	"USER":            usernames,
	"NODE":            nodeNames,
	"INVITATION":      invitedNames,
	"TOKEN":           operatorTokens,
	"KEY=VALUE...":    settingKeys,
	"--client":        clientIDs,
	"--user":          usernames,
	"--owner":         usernames,
	"--to":            nodeNames,
	"--emergency":     keyIDs,
	"--scope":         scopeNames,
	"--default-scope": scopeNames,
	"--kind":          eventKinds,
	"--type": func(context.Context, *admin.Caller, []string) []string {
		return []string{string(ledger.Confidential), string(ledger.Public)}
	},
	"--state": func(context.Context, *admin.Caller, []string) []string {
		return []string{string(ledger.Pending), string(ledger.Approved), string(ledger.Rejected), string(ledger.Suspended), string(ledger.Deleted)}
	},
	"--purpose": func(context.Context, *admin.Caller, []string) []string {
		return []string{string(ledger.ForSigning), string(ledger.ForCredentials)}
	},
}

func scopeNames(context.Context, *admin.Caller, []string) []string { return scope.All().Names() }

// addCompletions has a shell complete the arguments and flags of the commands below c. It
// is silent if no node runs.
func (m *management) addCompletions(c *cobra.Command) {
	for _, below := range c.Commands() {
		m.addCompletions(below)
	}
	if c.HasSubCommands() {
		c.ValidArgsFunction = cobra.NoFileCompletions // an unknown command has no arguments
		return
	}
	names := strings.Fields(c.Use)[1:]
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		position := len(args)
		if n := len(names); n > 0 && strings.HasSuffix(names[n-1], "...") {
			position = min(position, n-1)
		}
		if position >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name := names[position]
		if name == "SECRET_ID" && names[0] == "RESOURCE_SERVER" {
			name = resourceSecret
		}
		return m.complete(cmd, name, args)
	}
	for flag := range completers {
		name, isFlag := strings.CutPrefix(flag, "--")
		if !isFlag || c.Flags().Lookup(name) == nil || name == "purpose" && c.Name() != "rotate" {
			continue // the purpose of a client is a text
		}
		_ = c.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return m.complete(cmd, flag, args)
		})
	}
}

func (m *management) complete(cmd *cobra.Command, name string, before []string) ([]string, cobra.ShellCompDirective) {
	if name == "FILE" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	find, ok := completers[name]
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := m.caller(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	c.Timeout = completionTimeout
	directive := cobra.ShellCompDirectiveNoFileComp
	if strings.HasPrefix(name, "KEY=") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return find(cmdContext(cmd), c, before), directive
}

func clientIDs(ctx context.Context, c *admin.Caller, _ []string) (ids []string) {
	list, _ := admin.ListClients.Call(ctx, c, admin.ClientFilter{})
	for _, client := range list.Clients {
		ids = append(ids, client.ID+"\t"+client.Name)
	}
	return ids
}

// secretIDs are those of the client in front that can be revoked.
func secretIDs(ctx context.Context, c *admin.Caller, before []string) []string {
	if len(before) == 0 {
		return nil
	}
	client, _ := admin.ShowClient.Call(ctx, c, admin.ClientRef{ID: before[0]})
	return revocable(client.Secrets)
}

func resourceServerNames(ctx context.Context, c *admin.Caller, _ []string) (names []string) {
	list, _ := admin.ListResourceServers.Call(ctx, c, admin.ResourceServerFilter{})
	for i := range list.ResourceServers {
		names = append(names, list.ResourceServers[i].Name+"\t"+list.ResourceServers[i].ID)
	}
	return names
}

func publisherHosts(ctx context.Context, c *admin.Caller, _ []string) (hosts []string) {
	list, _ := admin.ListPublishers.Call(ctx, c, admin.PublisherFilter{})
	for i := range list.Publishers {
		hosts = append(hosts, list.Publishers[i].Host+"\t"+list.Publishers[i].State)
	}
	return hosts
}

// resourceSecretIDs are those of the resource server in front that can be revoked.
func resourceSecretIDs(ctx context.Context, c *admin.Caller, before []string) []string {
	if len(before) == 0 {
		return nil
	}
	s, _ := admin.ShowResourceServer.Call(ctx, c, admin.ResourceServerRef{ID: before[0]})
	return revocable(s.Secrets)
}

func revocable(secrets []admin.Secret) (ids []string) {
	for _, s := range secrets {
		if s.Revoked.IsZero() {
			ids = append(ids, s.ID+"\tmade "+formatTime(s.Created))
		}
	}
	return ids
}

func usernames(ctx context.Context, c *admin.Caller, _ []string) (names []string) {
	list, _ := admin.ListUsers.Call(ctx, c, admin.UserFilter{})
	for _, u := range list.Users {
		names = append(names, u.Username+"\t"+u.Name)
	}
	return names
}

func nodeNames(ctx context.Context, c *admin.Caller, _ []string) (names []string) {
	s, _ := admin.ShowCluster.Call(ctx, c, admin.StatusQuery{})
	for i := range s.Nodes {
		names = append(names, s.Nodes[i].Name+"\t"+s.Nodes[i].State)
	}
	return names
}

func invitedNames(ctx context.Context, c *admin.Caller, _ []string) (names []string) {
	l, _ := admin.ListInvitations.Call(ctx, c, admin.InvitationQuery{})
	for _, i := range l.Invitations {
		names = append(names, i.Name)
	}
	return names
}

func operatorTokens(ctx context.Context, c *admin.Caller, _ []string) (ids []string) {
	l, _ := admin.ListOperatorTokens.Call(ctx, c, admin.OperatorTokenFilter{})
	for _, t := range l.Tokens {
		ids = append(ids, t.ID+"\t"+t.Name)
	}
	return ids
}

func keyIDs(ctx context.Context, c *admin.Caller, _ []string) (ids []string) {
	l, _ := admin.ListKeys.Call(ctx, c, admin.KeyFilter{})
	for _, k := range l.Keys {
		ids = append(ids, k.ID+"\t"+k.Purpose+", "+k.State)
	}
	return ids
}

// settingKeys are those that can be changed.
func settingKeys(ctx context.Context, c *admin.Caller, _ []string) (keys []string) {
	all, _ := admin.ShowSettings.Call(ctx, c, admin.SettingsQuery{})
	for _, s := range all.Settings {
		if !s.Fixed {
			keys = append(keys, s.Key+"=\t"+s.About)
		}
	}
	return keys
}

func eventKinds(context.Context, *admin.Caller, []string) (kinds []string) {
	for _, k := range ledger.EventKinds {
		kinds = append(kinds, string(k))
	}
	return kinds
}
