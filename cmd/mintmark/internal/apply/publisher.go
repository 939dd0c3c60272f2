package apply

import (
	"cmp"
	"strconv"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

func (p *planner) publishers() {
	for _, one := range p.state.SurplusPublishers {
		p.step(Step{
			Action: Remove, Kind: KindPublisher, ID: one.Host, Grants: one.Grants, Users: one.Users,
			publisherRemoval: &admin.PublisherRef{Host: one.Host, Version: one.Version},
		})
	}
	for i := range p.declared.Publishers {
		p.publisher(&p.declared.Publishers[i])
	}
}

func (p *planner) publisher(d *declare.Publisher) {
	scopes, _ := scope.Of(d.Scopes...) // read with known scopes only
	defaults, _ := scope.Of(d.Defaults...)
	q := &admin.DeclaredPublisher{
		Host: d.Host, Name: d.Name, Scopes: scopes.Names(), Defaults: defaults.Names(), MaxClients: cmp.Or(d.MaxClients, ledger.DefaultMaxClients),
		LongRetry: d.LongRetry, RedirectURIs: d.RedirectURIs, Manager: p.Manager, Adopt: p.Adopt,
	}
	step := Step{Action: Add, Kind: KindPublisher, ID: d.Host, publisher: q}
	have := p.state.Publishers[d.Host]
	var f fields
	if have == nil {
		have = &admin.Publisher{MaxClients: ledger.DefaultMaxClients}
	} else {
		step.Action = Change
		q.Version = have.Version
		if have.State == string(ledger.PublisherPending) {
			f.text("state", have.State, string(ledger.PublisherApproved))
		}
	}
	if have.ManagedBy != "" && have.ManagedBy != p.Manager && !p.Adopt {
		p.refuse(wrapped(&d.Place, "", ErrOtherManager, "("+have.ManagedBy+")"))
	}
	if have.State == string(ledger.PublisherRejected) {
		p.warn(step.Subject(), "is rejected, and stays so until it is approved by hand")
	}
	f.text("name", have.Name, q.Name)
	f.list("scopes", have.Scopes, q.Scopes)
	f.list("default_scopes", have.Defaults, q.Defaults)
	f.text("max_clients", strconv.Itoa(have.MaxClients), strconv.Itoa(q.MaxClients))
	f.text("long_retry", strconv.FormatBool(have.LongRetry), strconv.FormatBool(q.LongRetry))
	f.list("redirect_uris", have.RedirectURIs, q.RedirectURIs)
	if step.Action == Change && p.Adopt {
		f.text("managed_by", have.ManagedBy, p.Manager)
	}
	step.Fields = f
	p.step(step)
}
