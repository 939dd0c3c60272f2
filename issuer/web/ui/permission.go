package ui

import (
	"cmp"
	"strings"
)

// A PermissionRow is what an application may do with one kind of data. A list of them is
// the template "perms".
type PermissionRow struct {
	Area           string
	Views, Changes string // what it may view, and what it may change and how; "" for nothing
	// NewViews and NewChanges report whether something of it was not allowed before.
	NewViews, NewChanges bool
}

// New reports whether all that the row says was not allowed before.
func (r PermissionRow) New() bool {
	return (r.Views == "" || r.NewViews) && (r.Changes == "" || r.NewChanges)
}

// Text returns what the application may do with words for Badge to complete, if it does only one.
func (r PermissionRow) Text() string {
	return strings.TrimSuffix(Sentence(cmp.Or(r.Views, r.Changes)), ".")
}

// Badge returns the row's pill.
func (r PermissionRow) Badge() Pill {
	switch {
	case r.Changes != "" && r.Views != "":
		return Pill{Text: "View & change", Tone: Warn}
	case r.Changes != "":
		return Pill{Text: "Change", Tone: Warn}
	}
	return Pill{Text: "View"}
}

// A Tier is what an application may do to other people, in sentences.
type Tier struct {
	ID, Title string
	Texts     []TierText
}

// A TierText is a sentence of a Tier.
type TierText struct {
	Text string
	New  bool // it was not allowed before
}

// A Matrix is a table of scopes: a row for each resource, and columns to view and to
// change those of the user, of teams and of the organization.
type Matrix struct {
	ID, Caption string
	Name        string // of the field
	Views       bool   // there are only the columns to view
	Own         string // title of the first group of columns; "" for "You"
	Rows        []MatrixRow
}

// Groups returns the titles above the columns.
func (m Matrix) Groups() []string { return []string{cmp.Or(m.Own, "You"), "Team", "Organization"} }

// A MatrixRow is a resource. Cells are in the order of the columns.
type MatrixRow struct {
	Area, Hint string
	Stem       string // what the names of its scopes have in common, such as "BOOKING"
	Cells      [6]Cell
}

// A Cell is a scope that can be chosen; Scope is "" if there is none. Label is what screen
// readers read, such as "Bookings, you: view". A powerful scope is marked.
type Cell struct {
	Scope, Label string
	On, Powerful bool
}

// A NamedCell is a cell with the title of its column.
type NamedCell struct {
	Cell
	Column string
}

// Named returns the cells of a row with their columns.
func (m Matrix) Named(r MatrixRow) []NamedCell {
	named := make([]NamedCell, 0, len(r.Cells))
	for n, cell := range r.Cells {
		column := "change"
		if n%2 == 0 {
			column = m.Groups()[n/2] + ": view"
		} else if m.Views {
			continue
		}
		named = append(named, NamedCell{Cell: cell, Column: column})
	}
	return named
}
