package dev

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A dry run decides the commands of a file on a scratch state before any is proposed, so
// that the ledger's own rules check the whole file, and a file with a mistake changes
// nothing.

// dryRun checks a file without a cluster. Owners that are not users of the file are
// assumed to exist.
func (f *fixtures) dryRun() error {
	digest := func(text []byte) []string {
		sum := sha256.Sum256(text)
		return []string{hex.EncodeToString(sum[:])}
	}
	secret := func(plain string) (ledger.NewSecret, error) {
		sum := sha256.Sum256([]byte(plain))
		return ledger.NewSecret{ID: hex.EncodeToString(sum[:8]), Digest: sum}, nil
	}
	steps, err := f.commands(digest, secret)
	if err != nil {
		return err
	}
	if err := f.distinct(); err != nil {
		return err
	}
	scratch := newScratchState()
	for _, s := range steps {
		if s.client != nil && s.client.Owner == "" {
			s.client.Owner = "somebody"
			scratch.insert(ledger.TableUsers, &ledger.User{ID: "somebody"})
		}
	}
	return f.dryRunIn(scratch, steps)
}

// dryRunOn checks the due entries against the rows of the state that they change.
func (f *fixtures) dryRunOn(v ledger.View, due []fixtureStep) error {
	scratch := newScratchState()
	user := func(u *ledger.User) {
		if u != nil {
			scratch.insert(ledger.TableUsers, u)
		}
	}
	for _, u := range f.users {
		user(v.User(u.ID))
		user(v.UserByName(u.Username))
	}
	for _, s := range due {
		if s.client == nil {
			continue
		}
		s.resolveOwner(v)
		user(v.User(s.client.Owner))
		if c := v.Client(s.client.ID); c != nil {
			scratch.insert(ledger.TableClients, c)
		}
	}
	return f.dryRunIn(scratch, due)
}

func (f *fixtures) dryRunIn(state *scratchState, steps []fixtureStep) error {
	for i, s := range steps {
		if r := state.do(s.command(), i); r != nil {
			return f.refused(s.entry, r)
		}
	}
	return nil
}

// refused returns the ledger's refusal of an entry as an error.
func (f *fixtures) refused(entry string, r *ledger.Refusal) error {
	what := r.Cause.String()
	if r.Field != "" {
		what = strings.TrimSpace(r.Field + " " + r.Note)
	}
	return fmt.Errorf("%s: %s: %s", f.file, entry, what)
}

// distinct returns an error for two entries with one id or user name: the second would
// overwrite the first.
func (f *fixtures) distinct() error {
	seen := map[string]bool{}
	twice := func(kind, value string) error {
		if key := kind + " " + strings.ToLower(value); !seen[key] {
			seen[key] = true
			return nil
		}
		return fmt.Errorf("%s: two entries have the %s %s", f.file, kind, value)
	}
	for _, u := range f.users {
		if err := twice("username", u.Username); err != nil {
			return err
		}
		if err := twice("user id", u.ID); err != nil {
			return err
		}
	}
	for _, c := range f.clients {
		if err := twice("client id", c.ID); err != nil {
			return err
		}
	}
	return nil
}

// userID returns the id of a user of the file, "" if there is none.
func (f *fixtures) userID(username string) string {
	for _, u := range f.users {
		if strings.EqualFold(u.Username, username) {
			return u.ID
		}
	}
	return ""
}

// A scratchState is a state for a dry run.
type scratchState struct{ db *memdb.MemDB }

func newScratchState() *scratchState {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return &scratchState{db}
}

func (s *scratchState) insert(table string, row any) {
	s.write([]command.Change{{Table: table, Row: row}})
}

func (s *scratchState) write(changes []command.Change) {
	txn := s.db.Txn(true)
	defer txn.Commit()
	for _, c := range changes {
		if err := txn.Insert(c.Table, c.Row); err != nil {
			panic(err) // the ledger's rows fit the ledger's schema
		}
	}
}

// do decides a command and writes what it changes.
func (s *scratchState) do(c command.Command, n int) *ledger.Refusal {
	d := c.Decide(s.db.Txn(false), command.Meta{
		ID: command.ID{0: byte(n >> 8), 1: byte(n), 2: 1}, Seq: uint64(n) + 1, At: 1,
	})
	refusal := d.Outcome.(ledger.Outcome).Refusal
	if refusal == nil {
		s.write(d.Changes)
	}
	return refusal
}
