package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func (m *management) publisherCommand() *cobra.Command {
	return group("publisher", "Review the publishers of agents",
		m.publisherAdd(), m.publisherList(), m.publisherShow(), m.publisherSet(), m.publisherReject(), m.publisherRemove())
}

// publisherFlags are what a review of a publisher decides.
type publisherFlags struct {
	scopes, defaults []string
	redirects        []string
	name             string
	clients          int
	longRetry        bool
}

func (p *publisherFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&p.scopes, "scope", nil, "the most that its clients may ask for, separated by commas or spaces (may be repeated)")
	f.StringArrayVar(&p.defaults, "default-scope", nil, "what they get if they ask for none: scopes that only read")
	f.StringArrayVar(&p.redirects, "redirect-uri", nil, "a private-use redirect URI that programs may register, for the publisher local (may be repeated)")
	f.StringVar(&p.name, "name", "", "display name, for reviewers")
	f.IntVar(&p.clients, "max-clients", 0, "the most clients with a document that it may have, at most 100 (default 20); local has none")
	f.BoolVar(&p.longRetry, "long-retry", false, "its clients share a refresh token among several processes: a refresh may be repeated for 30 minutes")
}

func (m *management) publisherAdd() *cobra.Command {
	var p publisherFlags
	c := command("add HOST", "List a publisher; approves one that is pending or rejected", func(cmd *cobra.Command, args []string) error {
		q := admin.NewPublisher{
			Host: args[0], Name: p.name, Scopes: splitScopes(p.scopes), Defaults: splitScopes(p.defaults), MaxClients: p.clients, LongRetry: p.longRetry,
			RedirectURIs: p.redirects,
		}
		return runOperation(m, cmd, admin.AddPublisher, q, showPublisher)
	})
	c.Long = `List a publisher by its host. Each metadata document there is a client from then on,
with at most the given scopes. A document is accepted only if the setting agents is
"listed" or "reviewed".

The publisher "local" is all programs on the computers of users, which register
themselves. None is accepted until it is listed.`
	p.register(c)
	_ = c.MarkFlagRequired("scope")
	return c
}

func (m *management) publisherList() *cobra.Command {
	var q admin.PublisherFilter
	c := command("list", "List publishers", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListPublishers, q, func(p *printer, a admin.PublisherList) {
			var rows [][]string
			for i := range a.Publishers {
				one := &a.Publishers[i]
				rows = append(rows, []string{one.Host, one.State, one.Name, fmt.Sprint(len(one.Clients)), one.RequestedBy, formatTime(one.Reviewed)})
			}
			p.table([]string{"HOST", "STATE", "NAME", "CLIENTS", "REQUESTED BY", "REVIEWED"}, rows)
		})
	})
	c.Flags().StringVar(&q.State, "state", "", "only those that are pending, approved or rejected")
	return c
}

func (m *management) publisherShow() *cobra.Command {
	return command("show HOST", "Show a publisher and its clients", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.ShowPublisher, admin.PublisherRef{Host: args[0]}, showPublisher)
	})
}

func showPublisher(p *printer, a admin.Publisher) {
	retry, documents := "", ""
	if a.LongRetry {
		retry = "30 minutes"
	}
	if a.Host != ledger.LocalPublisher && a.MaxClients > 0 { // local publishes none, and nobody has decided on a pending one
		documents = fmt.Sprint(a.MaxClients)
	}
	p.properties(
		singleValue("Publisher", a.Host),
		singleValue("Name", a.Name),
		singleValue("State", a.State),
		singleValue("Reason", a.Reason),
		property{"Scopes", a.Scopes},
		property{"Default scopes", a.Defaults},
		property{"Redirect URIs", a.RedirectURIs},
		singleValue("Most documents", documents),
		singleValue("Most registered clients", fmt.Sprint(a.MaxRegistered)),
		singleValue("Retry window", retry),
		singleValue("Requested by", a.RequestedBy),
		singleValue("Requested", formatTime(a.Requested)),
		singleValue("Reviewed by", a.ReviewedBy),
		singleValue("Reviewed", formatTime(a.Reviewed)),
		singleValue("Managed by", a.ManagedBy),
	)
	if len(a.Clients) == 0 {
		return
	}
	p.line("\nClients")
	var rows [][]string
	for _, one := range a.Clients {
		state := one.State
		if a.State != string(ledger.PublisherApproved) {
			state += ", but the publisher is " + a.State
		}
		if one.Proposed {
			state += ", with a proposed change"
		}
		rows = append(rows, []string{one.ClientID, one.Name, state, one.ID})
	}
	p.table([]string{"CLIENT_ID", "NAME", "STATE", "ID"}, rows)
}

func (m *management) publisherSet() *cobra.Command {
	var p publisherFlags
	c := command("set HOST", "Change what a publisher's clients may do", func(cmd *cobra.Command, args []string) error {
		q := admin.PublisherEdit{Host: args[0]}
		scopes, defaults := splitScopes(p.scopes), splitScopes(p.defaults)
		setIfChanged(cmd, "name", &q.Name, &p.name)
		setIfChanged(cmd, "scope", &q.Scopes, &scopes)
		setIfChanged(cmd, "default-scope", &q.Defaults, &defaults)
		setIfChanged(cmd, "redirect-uri", &q.RedirectURIs, &p.redirects)
		setIfChanged(cmd, "max-clients", &q.MaxClients, &p.clients)
		setIfChanged(cmd, "long-retry", &q.LongRetry, &p.longRetry)
		if q == (admin.PublisherEdit{Host: args[0]}) {
			return fmt.Errorf("say what to change: see %s --help", cmd.CommandPath())
		}
		return runOperation(m, cmd, admin.SetPublisher, q, func(p *printer, a admin.Publisher) {
			showPublisher(p, a)
			if q.Scopes != nil {
				p.line("Grants and codes of its clients get at most these scopes from their next exchange or refresh on.")
			}
		})
	})
	c.Long = `Change what a publisher's clients may do. A smaller --scope also holds for the grants
and codes that they have: the next exchange or refresh gets no more. A grant with nothing
left is refused, and works again if the publisher gets its scopes back.`
	p.register(c)
	return c
}

func (m *management) publisherReject() *cobra.Command {
	var q admin.PublisherRejection
	c := command("reject HOST", "Refuse a publisher; all grants for its clients end", func(cmd *cobra.Command, args []string) error {
		q.Host = args[0]
		return runOperation(m, cmd, admin.RejectPublisher, q, func(p *printer, a admin.Done) {
			p.line("publisher %s is rejected", a.ID)
		})
	})
	c.Flags().StringVar(&q.Reason, "reason", "", "why, for other administrators")
	return c
}

func (m *management) publisherRemove() *cobra.Command {
	var yes bool
	c := command("remove HOST", "Remove a publisher; all grants for its clients end", func(cmd *cobra.Command, args []string) error {
		if err := confirm(cmd, yes, "remove publisher "+args[0]+" and end all grants for its clients"); err != nil {
			return err
		}
		return runOperation(m, cmd, admin.RemovePublisher, admin.PublisherRef{Host: args[0]}, func(p *printer, a admin.Done) {
			p.line("publisher %s is removed", a.ID)
		})
	})
	confirmFlag(c, &yes, "remove without a question")
	return c
}
