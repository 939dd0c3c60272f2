package apply

import (
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// resourceServers plans the resource servers. Removals come first, since another one may get
// the name of one that is removed.
func (p *planner) resourceServers() {
	for _, one := range p.state.SurplusResources {
		p.step(Step{
			Action: Remove, Kind: KindResourceServer, ID: one.ID, Secrets: len(activeIDs(one.Secrets)), Grants: one.Grants, Users: one.Users,
			resourceRemoval: &admin.ResourceServerRef{ID: one.ID, Version: one.Version},
		})
	}
	for i := range p.declared.ResourceServers {
		p.resourceServer(&p.declared.ResourceServers[i])
	}
}

func (p *planner) resourceServer(s *declare.ResourceServer) {
	set, _ := scope.Of(s.Scopes...) // read with known scopes only
	q := &admin.DeclaredResourceServer{ID: s.ID, Name: s.Name, Scopes: set.Names(), Manager: p.Manager, Adopt: p.Adopt}
	step := Step{Action: Add, Kind: KindResourceServer, ID: s.ID, resource: q}
	have := p.state.ResourceServers[s.ID]
	if have == nil {
		have = &admin.DescribedResourceServer{}
	} else {
		step.Action = Change
		q.Version = have.Version
	}
	if have.ManagedBy != "" && have.ManagedBy != p.Manager && !p.Adopt {
		p.refuse(wrapped(&s.Place, "", ErrOtherManager, "("+have.ManagedBy+")"))
	}
	var f fields
	f.text("name", have.Name, q.Name)
	before := scopeText(have.Scopes)
	if step.Action == Add {
		before = ""
	}
	if len(have.Scopes) == 0 || len(q.Scopes) == 0 { // all of them, at least once
		f.text("scopes", before, scopeText(q.Scopes))
	} else {
		f.list("scopes", have.Scopes, q.Scopes)
	}
	if s.Place.NamesSecrets() {
		q.Secrets = p.secrets(&s.Place, s.Secrets, have.Secrets, have.SecretIDs, &f)
	}
	if step.Action == Change && p.Adopt {
		f.text("managed_by", have.ManagedBy, p.Manager)
	}
	step.Fields = f
	p.step(step)
}

func scopeText(scopes []string) string {
	if len(scopes) == 0 {
		return "every scope"
	}
	return strings.Join(scopes, " ")
}
