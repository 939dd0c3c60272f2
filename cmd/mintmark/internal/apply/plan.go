package apply

import (
	"errors"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A Plan is what has to be done so that a cluster is what files declare.
type Plan struct {
	Steps     []Step   `json:"steps"`
	Unchanged int      `json:"unchanged"` // entries that are in force already
	Warnings  []string `json:"warnings,omitempty"`
}

// An Action is what a step does.
type Action string

// Actions.
const (
	Add    Action = "add"
	Change Action = "change"
	Remove Action = "remove"
)

// Kinds of what a step acts on.
const (
	KindSettings = "settings"
	KindUser     = "user"
	KindClient   = "client"

	KindResourceServer = "resource server"
	KindPublisher      = "publisher"
)

// A Step is one decision of the ledger. No field of it has a secret.
type Step struct {
	Action Action  `json:"action"`
	Kind   string  `json:"kind"`
	ID     string  `json:"id,omitempty"` // of a client or a resource server, a user's name, or a publisher's host
	Fields []Field `json:"fields,omitempty"`
	// Grants counts the live grants that the removal of a client ends, or that get no more
	// tokens after that of a resource server, and Users whose they are.
	Grants int `json:"grants,omitempty"`
	Users  int `json:"users,omitempty"`
	// Secrets counts the active secrets that the removal of a resource server ends.
	Secrets int `json:"secrets,omitempty"`

	// Exactly one of them is set.
	settings *admin.SettingsChange
	user     *admin.DeclaredUser
	client   *admin.DeclaredClient
	removal  *admin.ClientRef

	resource        *admin.DeclaredResourceServer
	resourceRemoval *admin.ResourceServerRef

	publisher        *admin.DeclaredPublisher
	publisherRemoval *admin.PublisherRef
}

// Subject names what the step acts on, such as "client cal-app".
func (s *Step) Subject() string { return strings.TrimSpace(s.Kind + " " + s.ID) }

// A Field is a field that a step sets or changes: from Before to After, or, for lists,
// by Added and Removed members.
type Field struct {
	Name    string   `json:"field"`
	Before  string   `json:"before,omitempty"`
	After   string   `json:"after,omitempty"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Count returns the number of steps with an action.
func (p *Plan) Count(a Action) (n int) {
	for _, kind := range []string{KindSettings, KindUser, KindClient, KindResourceServer, KindPublisher} {
		n += p.CountOf(a, kind)
	}
	return n
}

// CountOf returns the number of steps with an action on one kind.
func (p *Plan) CountOf(a Action, kind string) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Action == a && p.Steps[i].Kind == kind {
			n++
		}
	}
	return n
}

// GrantsOf returns the number of grants that the removals of one kind concern: see Step.Grants.
func (p *Plan) GrantsOf(kind string) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Kind == kind {
			n += p.Steps[i].Grants
		}
	}
	return n
}

// SettingsSet returns the settings that the plan sets, with their values.
func (p *Plan) SettingsSet() map[string]string {
	for i := range p.Steps {
		if c := p.Steps[i].settings; c != nil {
			return c.Set
		}
	}
	return nil
}

// A RefusedError has what the rules forbid of files, each with its place. Nothing was
// changed.
type RefusedError struct{ errs error }

func (e *RefusedError) Error() string { return e.errs.Error() }

// Unwrap returns all of them.
func (e *RefusedError) Unwrap() error { return e.errs }

// New returns the plan that brings a cluster from a state to what files declare. It
// reports everything that is wrong with the files, as far as the state shows it.
func New(d *declare.Declaration, s *State, o Options) (*Plan, error) {
	if err := d.Check(s.LedgerSettings()); err != nil {
		return nil, &RefusedError{err}
	}
	p := &planner{declared: d, state: s, Options: o, plan: &Plan{Steps: []Step{}}}
	p.settings()
	for i := range d.Users {
		p.user(&d.Users[i])
	}
	for i := range d.Clients {
		p.client(&d.Clients[i])
	}
	for _, one := range s.Surplus {
		p.plan.Steps = append(p.plan.Steps, Step{
			Action: Remove, Kind: KindClient, ID: one.ID, Grants: one.Grants, Users: one.Users,
			removal: &admin.ClientRef{ID: one.ID, Revision: one.Revision},
		})
	}
	p.resourceServers()
	p.publishers()
	if len(p.errs) > 0 {
		return nil, &RefusedError{errors.Join(p.errs...)}
	}
	return p.plan, nil
}

type planner struct {
	Options
	declared *declare.Declaration
	state    *State
	plan     *Plan
	errs     []error
}

func (p *planner) refuse(err error) { p.errs = append(p.errs, err) }

func (p *planner) warn(subject, text string) {
	p.plan.Warnings = append(p.plan.Warnings, subject+": "+text)
}

// step adds a step, unless it is a change of nothing.
func (p *planner) step(s Step) {
	if s.Action == Change && len(s.Fields) == 0 {
		p.plan.Unchanged++
		return
	}
	p.plan.Steps = append(p.plan.Steps, s)
}

func (p *planner) settings() {
	d := &p.declared.Settings
	if len(d.Values) == 0 {
		return
	}
	change := &admin.SettingsChange{Set: map[string]string{}, Seen: map[string]string{}}
	step := Step{Action: Change, Kind: KindSettings, settings: change}
	for _, s := range p.state.Settings {
		value, named := d.Values[s.Key]
		switch {
		case !named || value == s.Value:
			continue
		case s.Fixed:
			place := d.Places[s.Key]
			p.refuse(place.Errorf(s.Key, "was chosen when the cluster was made, for good"))
			continue
		}
		change.Set[s.Key], change.Seen[s.Key] = value, s.Value
		step.Fields = append(step.Fields, Field{Name: s.Key, Before: s.Value, After: value})
	}
	p.step(step)
}

// fields collects the differences between two versions of an entry.
type fields []Field

func (f *fields) text(name, before, after string) {
	if before != after {
		*f = append(*f, Field{Name: name, Before: before, After: after})
	}
}

func (f *fields) list(name string, before, after []string) {
	if slices.Equal(before, after) {
		return
	}
	one := Field{Name: name, Added: without(after, before), Removed: without(before, after)}
	if len(one.Added)+len(one.Removed) == 0 { // another order
		one.Before, one.After = strings.Join(before, " "), strings.Join(after, " ")
	}
	*f = append(*f, one)
}

// without returns the members of a that b does not have.
func without(a, b []string) (rest []string) {
	for _, s := range a {
		if !slices.Contains(b, s) {
			rest = append(rest, s)
		}
	}
	return rest
}
