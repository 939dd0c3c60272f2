package member

import (
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"
)

// The tables of this package: members, invites, and authorities of certificates.
const (
	MembersTable     = "cluster_members"
	invitesTable     = "cluster_invites"
	AuthoritiesTable = "cluster_authorities"
)

// A Member is a node of the cluster. It is identified by its key: a connection is
// accepted because a row has its key, regardless of the rest of its certificate.
type Member struct {
	ID            string `cbor:"1,keyasint" json:"id"`                                  // random, permanent
	Name          string `cbor:"2,keyasint" json:"name"`                                // chosen by the operator, unique
	Address       string `cbor:"3,keyasint" json:"address"`                             // host:port that others dial
	Key           []byte `cbor:"4,keyasint" json:"key"`                                 // SHA-256 of the public key (SubjectPublicKeyInfo, RFC 5280 §4.1)
	Version       string `cbor:"5,keyasint,omitempty" json:"version,omitempty"`         // of its program
	Level         uint32 `cbor:"6,keyasint,omitempty" json:"level,omitempty"`           // highest feature level its program supports
	Replaces      string `cbor:"7,keyasint,omitempty" json:"replaces,omitempty"`        // id of the member that is removed once this one is a voter
	Joined        int64  `cbor:"8,keyasint,omitempty" json:"joined,omitempty"`          // state time, ms
	Issuer        string `cbor:"9,keyasint,omitempty" json:"certificate,omitempty"`     // id of the authority its certificate is from
	InstanceID    []byte `cbor:"10,keyasint,omitempty" json:"instance_id,omitempty"`    // of a node with a generated folder
	TrustedIssuer string `cbor:"11,keyasint,omitempty" json:"trusted_issuer,omitempty"` // id of the newest authority whose certificates the node accepts
}

// An Invite lets the first key that presents its secret become a member.
type Invite struct {
	ID       string `cbor:"1,keyasint"` // SHA-256 of the secret, hexadecimal; the secret is not stored
	Name     string `cbor:"2,keyasint"` // of the invited node
	Expires  int64  `cbor:"3,keyasint"` // state time, ms
	Replaces string `cbor:"4,keyasint,omitempty"`
	Node     string `cbor:"5,keyasint,omitempty"` // id of the member that used it
}

// An Authority signs the certificates of members. There is one, except while the
// authority is being changed: a new one is announced first, and signs once every member
// accepts its certificates. Of several that are not only announced, the newest signs.
type Authority struct {
	ID          string `cbor:"1,keyasint" json:"id"`          // SHA-256 of the certificate, hexadecimal
	Certificate []byte `cbor:"2,keyasint" json:"certificate"` // DER
	Sealed      []byte `cbor:"3,keyasint" json:"sealed"`      // its private key (PKCS #8), sealed under the cluster key
	Made        int64  `cbor:"4,keyasint" json:"made"`        // orders authorities; 0 if only announced
}

// idTable returns a table with one index, a string that is never empty.
func idTable[R any](name string, id func(*R) string) *memdb.TableSchema {
	return &memdb.TableSchema{
		Name:    name,
		Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: idIndex[R]{id}}},
	}
}

type idIndex[R any] struct{ of func(*R) string }

func (i idIndex[R]) FromArgs(args ...any) ([]byte, error) {
	if len(args) == 1 {
		if s, ok := args[0].(string); ok {
			return []byte(s), nil
		}
	}
	return nil, fmt.Errorf("id is not one string")
}

func (i idIndex[R]) FromObject(row any) (bool, []byte, error) {
	r, ok := row.(*R)
	if !ok {
		return false, nil, fmt.Errorf("row of another table: %T", row)
	}
	id := i.of(r)
	return id != "", []byte(id), nil
}

// find returns the row with an id, or nil.
func find[R any](txn *memdb.Txn, table, id string) *R {
	row, err := txn.First(table, "id", id)
	if err != nil {
		panic(fmt.Sprintf("member: read table: %v", err))
	}
	if row == nil {
		return nil
	}
	return row.(*R)
}

// list returns all rows of a table in order of id.
func list[R any](txn *memdb.Txn, table string) []*R {
	it, err := txn.LowerBound(table, "id", "")
	if err != nil {
		panic(fmt.Sprintf("member: read table: %v", err))
	}
	var rows []*R
	for row := it.Next(); row != nil; row = it.Next() {
		rows = append(rows, row.(*R))
	}
	return rows
}

// ByID returns the member with an id, or nil.
func ByID(txn *memdb.Txn, id string) *Member { return find[Member](txn, MembersTable, id) }

// InviteByID returns the invite with an id, or nil.
func InviteByID(txn *memdb.Txn, id string) *Invite { return find[Invite](txn, invitesTable, id) }

// Invites returns all invites in order of id.
func Invites(txn *memdb.Txn) []*Invite { return list[Invite](txn, invitesTable) }

// All returns all members in order of id.
func All(txn *memdb.Txn) []*Member { return list[Member](txn, MembersTable) }

// Named returns the member with a name or an id.
func Named(txn *memdb.Txn, name string) *Member {
	if m := ByID(txn, name); m != nil {
		return m
	}
	all := All(txn)
	if i := slices.IndexFunc(all, func(m *Member) bool { return m.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}
