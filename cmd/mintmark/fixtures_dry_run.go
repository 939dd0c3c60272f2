package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"

	ledgercommand "github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A rehearsal decides the commands of a file on a scratch state before any is
// proposed, so that the ledger's own rules judge the whole file, and a file
// with a mistake changes nothing.

// dryRun judges a file by itself. Owners that are no users of the file are
// taken to exist: only the state can tell.
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

// dryRunOn judges what is due against the rows that it would meet.
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

// refused is the ledger's refusal of an entry, in words.
func (f *fixtures) refused(entry string, r *ledger.Refusal) error {
	what := r.Cause.String()
	if r.Field != "" {
		what = strings.TrimSpace(r.Field + " " + r.Note)
	}
	return fmt.Errorf("%s: %s: %s", f.file, entry, what)
}

// distinct refuses two entries of one id or user name: the second would
// change the first.
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

// userID is the id of a user of the file, "" where there is none.
func (f *fixtures) userID(username string) string {
	for _, u := range f.users {
		if strings.EqualFold(u.Username, username) {
			return u.ID
		}
	}
	return ""
}

// scratchState is a state that nobody sees.
type scratchState struct{ db *memdb.MemDB }

func newScratchState() *scratchState {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: ledger.Tables()})
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return &scratchState{db}
}

func (s *scratchState) insert(table string, row any) {
	s.write([]ledgercommand.Change{{Table: table, Row: row}})
}

func (s *scratchState) write(changes []ledgercommand.Change) {
	txn := s.db.Txn(true)
	defer txn.Commit()
	for _, c := range changes {
		if err := txn.Insert(c.Table, c.Row); err != nil {
			panic(err) // the ledger's rows fit the ledger's schema
		}
	}
}

// do decides a command and writes what it changes.
func (s *scratchState) do(c ledgercommand.Command, n int) *ledger.Refusal {
	d := c.Decide(s.db.Txn(false), ledgercommand.Meta{
		ID: ledgercommand.ID{0: byte(n >> 8), 1: byte(n), 2: 1}, Seq: uint64(n) + 1, At: 1,
	})
	refusal := d.Outcome.(ledger.Outcome).Refusal
	if refusal == nil {
		s.write(d.Changes)
	}
	return refusal
}
