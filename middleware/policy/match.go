package policy

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// ErrPath is the refusal of a path that has more than one reading: it has an
// encoded slash, an empty or a dot segment, a backslash or a control character,
// or a letter, digit, '-', '.' or '_' that is encoded; or the id of a team or an
// organization in a spelling that routers don't all decode. Its text is fixed.
var ErrPath = errors.New("the path is ambiguous")

// Match is what a policy says of one method and path.
type Match struct {
	route  *route // nil: not listed
	path   path
	member Member
}

// Match finds the row of a request. The only error is [ErrPath].
func (p *Policy) Match(method string, u *url.URL) (Match, error) {
	m := Match{member: p.member}
	if !m.path.split(u) {
		return Match{}, ErrPath
	}
	if m.path.n > maxSegments {
		return m, nil
	}
	if tree := p.trees[method]; tree != nil {
		m.route = tree.find(&m.path, 0)
	}
	if m.route == nil && method == http.MethodHead {
		if tree := p.trees[http.MethodGet]; tree != nil {
			m.route = tree.find(&m.path, 0)
		}
	}
	if m.route != nil && u.RawPath != "" && !m.namesAlike(u.RawPath) {
		return Match{}, ErrPath
	}
	return m, nil
}

// namesAlike reports whether the ids that Member is asked about are spelled in
// raw as they are decoded. Where net/url keeps a raw path some routers hand out
// its segments, so a handler could act on another id than Member vouched for.
func (m *Match) namesAlike(raw string) bool {
	for _, in := range m.route.members {
		rest := raw[1:]
		for range in.segment {
			_, rest, _ = strings.Cut(rest, "/")
		}
		if id, _, _ := strings.Cut(rest, "/"); id != m.path.segment(in.segment) {
			return false
		}
	}
	return true
}

// Row is the row that decides, if the route is listed.
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

// Scope is the scope that opens the route, or empty if none does.
func (m *Match) Scope() string {
	if m.route == nil {
		return ""
	}
	return m.route.row.Scope
}

// Param is the decoded value of a parameter of the pattern, or empty.
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

// Opens reports whether the token's scopes open the route. A legacy token opens
// every route, listed or not. It is one of two questions; see [Match.Belongs].
func (m *Match) Opens(token *verifier.Claims) bool {
	if token.Legacy() || m.Public() {
		return true
	}
	return m.route != nil && m.route.row.Access == Scoped && token.AllowsAll(m.route.need)
}

// Belongs asks the policy's Member about each team and organization in the
// path. Without one to ask about, the answer is yes.
func (m *Match) Belongs(ctx context.Context, token *verifier.Claims) (bool, error) {
	if m.route == nil || m.member == nil || m.Public() {
		return true, nil
	}
	for _, in := range m.route.members {
		if ok, err := m.member(ctx, token, in.kind, m.path.segment(in.segment)); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
