package declare

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Check checks a declaration as a whole by the rules of the ledger, as far as they need no
// state but these settings: the declared settings replace some of them. Users whom the
// declaration does not have are assumed to exist.
func (d *Declaration) Check(settings ledger.Settings) error {
	if err := d.checkSettings(settings); err != nil {
		return err
	}
	s := NewScratch()
	s.Insert(ledger.TableSettings, &settings)
	s.Insert(ledger.TableKeys, &ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: scratchKey, State: ledger.KeyActive})
	for i := range d.Users {
		u := &d.Users[i]
		if r := s.Do(&ledger.PutUser{ID: u.DefaultID(), Username: u.Username, Person: u.Person, Admin: u.Admin}); r != nil {
			return u.Place.Refused(r)
		}
	}
	const somebody = "somebody"
	s.Insert(ledger.TableUsers, &ledger.User{ID: somebody})
	for i := range d.Clients {
		c := &d.Clients[i]
		cmd := c.Import()
		cmd.Owner = somebody
		if u := d.User(c.Owner); u != nil {
			cmd.Owner = u.DefaultID()
		}
		for j := range c.Secrets {
			cmd.Secrets = append(cmd.Secrets, scratchSecret(&c.Secrets[j]))
		}
		for j := range c.Revoked {
			cmd.Revoked = append(cmd.Revoked, scratchSecret(&c.Revoked[j]))
		}
		if r := s.Do(cmd); r != nil {
			return c.Place.Refused(r)
		}
	}
	for i := range d.ResourceServers {
		r := &d.ResourceServers[i]
		cmd := r.Apply()
		for j := range r.Secrets {
			cmd.Secrets = append(cmd.Secrets, ledger.DeclaredSecret{New: scratchSecret(&r.Secrets[j])})
		}
		if refused := s.Do(cmd); refused != nil {
			return r.Place.Refused(refused)
		}
	}
	for i := range d.Publishers {
		p := &d.Publishers[i]
		if refused := s.Do(p.Apply()); refused != nil {
			if refused.Field == "defaults" {
				refused.Field = "default_scopes"
			}
			return p.Place.Refused(refused)
		}
	}
	return nil
}

// Apply returns the command that makes the publisher what is declared.
func (p *Publisher) Apply() *ledger.ApplyPublisher {
	return &ledger.ApplyPublisher{
		Actor: ledger.Actor{Operator: true}, Host: p.Host, Name: p.Name, Scopes: p.Scopes, Defaults: p.Defaults,
		MaxClients: p.MaxClients, LongRetry: p.LongRetry, RedirectURIs: p.RedirectURIs,
	}
}

// Apply returns the command that makes the resource server what is declared, without secrets.
func (r *ResourceServer) Apply() *ledger.ApplyResourceServer {
	return &ledger.ApplyResourceServer{
		Actor: ledger.Actor{Operator: true}, ID: r.ID, Name: r.Name, Scopes: r.Scopes, NamesSecrets: r.Place.NamesSecrets(),
	}
}

// Import returns the command that makes the client what is declared, without owner and
// secrets. A client without a declared state is approved.
func (c *Client) Import() *ledger.ImportClient {
	state := ledger.ClientState(c.State)
	if state == "" {
		state = ledger.Approved
	}
	return &ledger.ImportClient{
		ID: c.ID, Type: ledger.ClientType(c.Type), State: state, Legacy: c.Legacy,
		Profile: ledger.Profile{
			Name: c.Name, Purpose: c.Purpose, Website: c.Website, PrivacyURL: c.PrivacyURL, TermsURL: c.TermsURL,
			RedirectURIs: c.RedirectURIs, Scopes: c.Scopes,
		},
	}
}

// scratchKey is the number of the credential key of the scratch state.
const scratchKey = 1

func scratchSecret(s *Secret) ledger.NewSecret {
	if s.Hash != "" {
		return ledger.NewSecret{ID: s.Field, Hash: s.Hash.Reveal()}
	}
	sum := s.Sum()
	return ledger.NewSecret{ID: fmt.Sprintf("%x", sum[:8]), Key: scratchKey, Digest: sum}
}

func (d *Declaration) checkSettings(s ledger.Settings) error {
	if len(d.Settings.Values) == 0 {
		return nil
	}
	d.Settings.Onto(&s)
	field, note := s.Check()
	if field == "" {
		return nil
	}
	p, ok := d.Settings.Places[field]
	if !ok {
		return fmt.Errorf("settings: %s %s", field, note)
	}
	return p.Errorf(field, "%s", note)
}

// Onto replaces settings with those declared. Each value was checked as it was read.
func (d *Settings) Onto(s *ledger.Settings) {
	for key, value := range d.Values {
		if key == Audience {
			s.Audience = value
			continue
		}
		_ = admin.SetSetting(s, key, value)
	}
}

// Refused returns the ledger's refusal of an entry as an error.
func (p *Place) Refused(r *ledger.Refusal) error {
	if r.Field == "" {
		return p.Errorf("", "%s", r.Cause)
	}
	return p.Errorf(r.Field, "%s", strings.TrimSpace(r.Note))
}

// A Scratch is a state on which commands are tried out.
type Scratch struct {
	db *memdb.MemDB
	n  int // commands so far
}

// NewScratch returns an empty state.
func NewScratch() *Scratch {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return &Scratch{db: db}
}

// Insert inserts a row of the ledger.
func (s *Scratch) Insert(table string, row any) {
	s.write([]command.Change{{Table: table, Row: row}})
}

func (s *Scratch) write(changes []command.Change) {
	txn := s.db.Txn(true)
	defer txn.Commit()
	for _, c := range changes {
		if err := txn.Insert(c.Table, c.Row); err != nil {
			panic(err) // the ledger's rows fit the ledger's schema
		}
	}
}

// Do decides a command, and writes what it changes unless it is refused.
func (s *Scratch) Do(c command.Command) *ledger.Refusal {
	d := c.Decide(s.db.Txn(false), command.Meta{
		ID: command.ID{0: byte(s.n >> 16), 1: byte(s.n >> 8), 2: byte(s.n), 3: 1}, Seq: uint64(s.n) + 1, At: 1,
	})
	s.n++
	refusal := d.Outcome.(ledger.Outcome).Refusal
	if refusal == nil {
		s.write(d.Changes)
	}
	return refusal
}
