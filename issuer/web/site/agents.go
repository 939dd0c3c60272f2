package site

import (
	"strings"
)

const (
	// PathAdmin is the review queue, and the beginning of all paths of the administration.
	PathAdmin = "/admin"
	// PathWaitingPublishers is the part of the review queue with the publishers of agents.
	PathWaitingPublishers = PathAdmin + "?show=publishers"
	// PathAdminPublishers lists the publishers of agents.
	PathAdminPublishers = PathAdmin + "/publishers"
	// PathAdminNewPublisher is the page that adds a publisher.
	PathAdminNewPublisher = PathAdmin + "/new-publisher"
)

// agentPath reports whether a path, or the pattern of one, exists only while agents are accepted.
func agentPath(path string) bool {
	return path == PathWaiting || path == PathAdminNewPublisher || path == PathAdminPublishers || strings.HasPrefix(path, PathAdminPublishers+"/")
}

// whileAgents answers like a path that doesn't exist while agents are off.
func (w *Site) whileAgents(serve Handler) Handler {
	return func(c *Request) error {
		// The view must include the browser's last command: on a lagging node agents may still
		// seem to be off.
		_, index, _ := w.SessionCookie(c.R)
		if view, _ := w.ViewAt(c.R.Context(), index); !view.Settings().AcceptsAgents() {
			return ErrNotFound
		}
		return serve(c)
	}
}

// PathWaiting is the page of a request whose publisher awaits a review.
const PathWaiting = "/auth/oauth2/waiting"
