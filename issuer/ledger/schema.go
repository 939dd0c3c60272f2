package ledger

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/hashicorp/go-memdb"
)

// Tables.
const (
	TableClients  = "clients"
	TableUsers    = "users"
	TableSessions = "sessions"
	TableGrants   = "grants"
	TableSettings = "settings"
	TableKeys     = "keys"
	TableNodes    = "nodes"
	TableAudit    = "audit"
	TableRestores = "restores"
	TableLogos    = "logos"
	TableFailures = "failures"
	TableTrail    = "trail"
	TableBackups  = "backups"

	TableOperatorTokens  = "operator_tokens"
	TableResourceServers = "resource_servers"
	TablePublishers      = "publishers"
	TableUsage           = "usage"
)

const (
	indexID        = "id"
	indexNumber    = "number"    // of a resource server
	indexLooks     = "looks"     // of names that are protected: see Skeleton
	indexNamesakes = "namesakes" // of all names: see View.Namesakes
)

// Tables describes every table. Grants have one index, the id: each further index costs
// about 700 bytes and 25 µs a row at a million rows.
func Tables() map[string]*memdb.TableSchema {
	table := func(name string, indexes ...*memdb.IndexSchema) *memdb.TableSchema {
		t := &memdb.TableSchema{Name: name, Indexes: map[string]*memdb.IndexSchema{}}
		for _, i := range indexes {
			t.Indexes[i.Name] = i
		}
		return t
	}
	unique := func(name string, optional bool, i memdb.Indexer) *memdb.IndexSchema {
		return &memdb.IndexSchema{Name: name, Unique: true, AllowMissing: optional, Indexer: i}
	}
	many := func(name string, i memdb.Indexer) *memdb.IndexSchema {
		return &memdb.IndexSchema{Name: name, AllowMissing: true, Indexer: i}
	}
	return map[string]*memdb.TableSchema{
		TableClients: table(TableClients,
			unique(indexID, false, text(func(c *Client) string { return c.ID })),
			many("owner", texts(func(c *Client) []string { return []string{c.Owner, fold(c.Name)} })),
			many("name", texts(func(c *Client) []string { return []string{fold(c.Name)} })),
			many("state", texts(func(c *Client) []string { return []string{string(c.State), fold(c.Name)} })),
			many("waiting", texts((*Client).waitingKey)),
			many("ending", texts((*Client).endingKey)),
			many("logo", each((*Client).logos)),
			many("offered", texts((*Client).offeredTo)),
			many("attention", texts((*Client).attentionKey)), // few clients have a key
			many(indexLooks, text((*Client).looks)),
			many(indexNamesakes, each((*Client).namesakeKeys)),
		),
		TableUsers: table(TableUsers,
			unique(indexID, false, text(func(u *User) string { return u.ID })),
			unique("username", true, text(func(u *User) string { return fold(u.Username) })),
			unique("identity", true, text((*User).identityText)),
			// Only few users have these keys; other rows cost nothing in these indexes.
			many("admin", texts(func(u *User) []string { return u.nameIf(u.Admin) })),
			many("disabled", texts(func(u *User) []string { return u.nameIf(u.Disabled) })),
			many("hash", texts(func(u *User) []string { return u.PasswordCost.key() })),
			many("feed", texts((*User).feedKey)),
		),
		TableSessions: table(TableSessions,
			unique(indexID, false, bits(func(s *Session) []byte { return s.ID[:] })),
			many("user", text(func(s *Session) string { return s.User })),
		),
		TableGrants: table(TableGrants,
			unique(indexID, false, bits(func(g *Grant) []byte { return g.ID[:] })),
		),
		TableSettings: table(TableSettings,
			unique(indexID, false, text(func(s *Settings) string { return s.ID })),
		),
		TableKeys: table(TableKeys,
			unique(indexID, false, text(func(k *Key) string { return k.ID })),
			many("use", text(func(k *Key) string { return useKey(k.Purpose, k.State) })),
		),
		TableNodes: table(TableNodes,
			unique(indexID, false, text(func(n *Node) string { return n.ID })),
		),
		TableAudit: table(TableAudit,
			unique(indexID, false, bits(func(e *Event) []byte { return sequence(e.Seq) })),
			many("history", texts((*Event).historyKey)), // few events have a key; those of grants have none
		),
		TableRestores: table(TableRestores,
			unique(indexID, false, text(func(r *Restore) string { return r.ID })),
		),
		TableLogos: table(TableLogos,
			unique(indexID, false, bits(func(l *Logo) []byte { return l.ID[:] })),
		),
		TableTrail: table(TableTrail,
			unique(indexID, false, text(func(t *Trail) string { return t.ID })),
		),
		TableResourceServers: table(TableResourceServers,
			unique(indexID, false, text(func(s *ResourceServer) string { return s.ID })),
			unique("name", false, text(func(s *ResourceServer) string { return fold(s.Name) })),
			unique(indexNumber, false, text(func(s *ResourceServer) string { return numberKey(s.Number) })),
		),
		TablePublishers: table(TablePublishers,
			unique(indexID, false, text(func(p *Publisher) string { return p.Host })),
			many(indexLooks, each((*Publisher).looks)),
		),
		TableFailures: table(TableFailures,
			unique(indexID, false, text(func(r *FailureReport) string { return r.ID })),
		),
		TableBackups: table(TableBackups,
			unique(indexID, false, text(func(s *BackupSchedule) string { return s.ID })),
		),
		TableOperatorTokens: table(TableOperatorTokens,
			unique(indexID, false, text(func(t *OperatorToken) string { return t.ID })),
		),
		TableUsage: table(TableUsage,
			unique(indexID, false, text(func(u *Usage) string { return u.Client })),
		),
	}
}

// Rows returns a constructor for the rows of every table, for decoding snapshots.
func Rows() map[string]func() any {
	return map[string]func() any{
		TableClients:  func() any { return new(Client) },
		TableUsers:    func() any { return new(User) },
		TableSessions: func() any { return new(Session) },
		TableGrants:   func() any { return new(Grant) },
		TableSettings: func() any { return new(Settings) },
		TableKeys:     func() any { return new(Key) },
		TableNodes:    func() any { return new(Node) },
		TableAudit:    func() any { return new(Event) },
		TableRestores: func() any { return new(Restore) },
		TableLogos:    func() any { return new(Logo) },
		TableTrail:    func() any { return new(Trail) },
		TableFailures: func() any { return new(FailureReport) },
		TableBackups:  func() any { return new(BackupSchedule) },

		TableOperatorTokens:  func() any { return new(OperatorToken) },
		TablePublishers:      func() any { return new(Publisher) },
		TableResourceServers: func() any { return new(ResourceServer) },
		TableUsage:           func() any { return new(Usage) },
	}
}

func sequence(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// fold returns a user name in the form that is compared.
func fold(username string) string { return strings.ToLower(username) }

func useKey(p Purpose, s KeyState) string { return string(p) + "/" + string(s) }

// numberKey returns the number of a resource server as text: a key has no zero byte.
func numberKey(n uint16) string { return strconv.Itoa(int(n)) }

var errIndex = errors.New("ledger: a row or an argument of the wrong type met an index")

// textIndex indexes rows of type R by a string, terminated by a zero byte so that no key is
// a prefix of another. memdb's own field indexes use reflection, which is several times
// slower.
type textIndex[R any] struct{ of func(*R) string }

func text[R any](of func(*R) string) *textIndex[R] { return &textIndex[R]{of} }

func (i *textIndex[R]) FromObject(row any) (bool, []byte, error) {
	r, ok := row.(*R)
	if !ok {
		return false, nil, errIndex
	}
	s := i.of(r)
	if s == "" {
		return false, nil, nil
	}
	return true, zeroEnded(s), nil
}

func (i *textIndex[R]) FromArgs(args ...any) ([]byte, error) {
	if len(args) == 1 {
		if s, ok := args[0].(string); ok {
			return zeroEnded(s), nil
		}
	}
	return nil, errIndex
}

func zeroEnded(s string) []byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return b
}

// bitsIndex indexes rows of type R by bytes of one fixed length, in hexadecimal. memdb's
// tree copies every node on the path to a changed row, and a node has an edge for each value
// of the next byte: copying 16 edges is several times faster than copying 256.
type bitsIndex[R any] struct{ of func(*R) []byte }

func bits[R any](of func(*R) []byte) *bitsIndex[R] { return &bitsIndex[R]{of} }

func (i *bitsIndex[R]) FromObject(row any) (bool, []byte, error) {
	r, ok := row.(*R)
	if !ok {
		return false, nil, errIndex
	}
	return true, hex.AppendEncode(nil, i.of(r)), nil
}

func (i *bitsIndex[R]) FromArgs(args ...any) ([]byte, error) {
	if len(args) == 1 {
		switch b := args[0].(type) {
		case []byte:
			return hex.AppendEncode(nil, b), nil
		case GrantID: // as an array it is on the heap once, and not twice
			return hex.AppendEncode(nil, b[:]), nil
		}
	}
	return nil, errIndex
}

// eachIndex indexes rows of type R by any number of strings.
type eachIndex[R any] struct{ of func(*R) []string }

func each[R any](of func(*R) []string) *eachIndex[R] { return &eachIndex[R]{of} }

func (i *eachIndex[R]) FromObject(row any) (bool, [][]byte, error) {
	r, ok := row.(*R)
	if !ok {
		return false, nil, errIndex
	}
	var keys [][]byte
	for _, s := range i.of(r) {
		keys = append(keys, zeroEnded(s))
	}
	return len(keys) > 0, keys, nil
}

func (*eachIndex[R]) FromArgs(args ...any) ([]byte, error) {
	return (*textIndex[R]).FromArgs(nil, args...)
}

// textsIndex indexes rows of type R by a sequence of strings, and orders them by it. Fewer
// arguments match all rows that begin with them; with the row's id appended, a walk begins
// at that row.
type textsIndex[R any] struct{ of func(*R) []string }

func texts[R any](of func(*R) []string) *textsIndex[R] { return &textsIndex[R]{of} }

func (i *textsIndex[R]) FromObject(row any) (bool, []byte, error) {
	r, ok := row.(*R)
	if !ok {
		return false, nil, errIndex
	}
	var key []byte
	for _, s := range i.of(r) {
		key = append(append(key, s...), 0)
	}
	return len(key) > 0, key, nil
}

func (*textsIndex[R]) FromArgs(args ...any) ([]byte, error) {
	var key []byte
	for _, arg := range args {
		s, ok := arg.(string)
		if !ok {
			return nil, errIndex
		}
		key = append(append(key, s...), 0)
	}
	return key, nil
}
