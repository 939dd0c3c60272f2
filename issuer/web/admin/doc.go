// Package admin serves the pages for administrators: reviews, applications, users, resource
// servers, publishers of agents, and the audit trail. Other users get 404.
package admin
