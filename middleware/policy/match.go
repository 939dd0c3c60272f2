package policy

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// ErrPath is the error for a path that has more than one reading: it has an encoded
// slash, an empty or a dot segment, a backslash or a control character, an encoded
// letter, digit, '-', '.' or '_', or the id of a team or an organization in a spelling
// that not all routers decode in the same way. With a Member, it also refuses a path that
// leads to such an id only in another letter case than the table's: a router that ignores
// case would serve it without a call of Member. Its text is fixed.
var ErrPath = errors.New("the path is ambiguous")

// Match is a policy's decision about one method and path.
type Match struct {
	route  *route // nil: not listed
	named  *route // the longest matching prefix that ends with the id of a team or an organization, or nil
	path   path
	member Member
}

// Match finds the row of a request. The only error is [ErrPath].
func (p *Policy) Match(method string, u *url.URL) (Match, error) {
	m := Match{member: p.member}
	if !m.path.split(u) {
		return Match{}, ErrPath
	}
	m.named = p.named.longest(&m.path, 0, p.member != nil)
	if m.named != nil && !m.named.spelled(&m.path) {
		return Match{}, ErrPath
	}
	if m.path.n <= maxSegments {
		m.route = p.find(method, &m.path)
	}
	if u.RawPath != "" && !m.idsAlike(u.RawPath) {
		return Match{}, ErrPath
	}
	return m, nil
}

// find returns the route of a path of at most maxSegments segments, or nil.
func (p *Policy) find(method string, path *path) *route {
	if tree := p.trees[method]; tree != nil {
		if r := tree.find(path, 0); r != nil {
			return r
		}
	}
	if tree := p.trees[http.MethodGet]; tree != nil && method == http.MethodHead {
		return tree.find(path, 0)
	}
	return nil
}

// idsAlike reports whether each id that is passed to Member is spelled in raw, the path
// before decoding, as it is in the decoded path. Where net/url keeps a raw path, some
// routers give the handler its segments undecoded, and some decode a '+' to a space: the
// handler could act on an id that was not passed to Member.
func (m *Match) idsAlike(raw string) bool {
	for in := range m.ids {
		rest := raw[1:]
		for range in.segment {
			_, rest, _ = strings.Cut(rest, "/")
		}
		id, _, _ := strings.Cut(rest, "/")
		if id != m.path.segment(in.segment) || strings.Contains(id, "+") {
			return false
		}
	}
	return true
}

// ids yields the segments with ids of organizations and teams, organizations first. They
// come from the row of the path, and from the longest prefix of any row that names a
// team or an organization; that row may have another method or a longer pattern. Where
// the two differ about a segment, the row of the path decides.
func (m *Match) ids(yield func(membership) bool) {
	for _, kind := range kinds {
		if m.route != nil {
			for _, in := range m.route.members {
				if in.kind == kind && !yield(in) {
					return
				}
			}
		}
		if m.named != nil {
			for _, in := range m.named.members {
				if in.kind == kind && (m.route == nil || !m.route.settles(in.segment)) && !yield(in) {
					return
				}
			}
		}
	}
}

// Row returns the row that decides, if the route is listed.
func (m *Match) Row() (Row, bool) {
	if m.route == nil {
		return Row{}, false
	}
	return m.route.row, true
}

// Public reports whether the route may be called without a token.
func (m *Match) Public() bool { return m.route != nil && m.route.row.Access == Public }

// Fresh reports whether the route is closed while the verifier may have missed a
// revocation.
func (m *Match) Fresh() bool { return m.route != nil && m.route.row.Fresh }

// Scope returns the scope that opens the route, or an empty string if none does.
func (m *Match) Scope() string {
	if m.route == nil {
		return ""
	}
	return m.route.row.Scope
}

// Param returns the decoded value of a parameter of the pattern, or an empty string.
func (m *Match) Param(name string) string {
	if m.route != nil {
		for i, s := range m.route.names {
			if s.param && s.text == name {
				return m.path.segment(i)
			}
		}
	}
	return ""
}

// Opens reports whether the token's scopes open the route. A legacy token opens every
// route, listed or not, so never rely on Opens alone: call [Match.Belongs] too.
func (m *Match) Opens(token *verifier.Claims) bool {
	if token.Legacy() || m.Public() {
		return true
	}
	return m.route != nil && m.route.row.Access == Scoped && token.AllowsAll(m.route.need)
}

// Belongs calls the policy's Member for each team and organization in the path: those of
// its row, and on a path that no row lists with this method, those of the longest prefix
// of a row that names one. It returns true without a call if the path names none, if its
// row is PUBLIC, or if the policy has no Member. Its error is Member's.
func (m *Match) Belongs(ctx context.Context, token *verifier.Claims) (bool, error) {
	if m.member == nil || m.Public() {
		return true, nil
	}
	for in := range m.ids {
		if ok, err := m.member(ctx, token, in.kind, m.path.segment(in.segment)); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
