package ui

// A Table is the opening part of a table: rows follow, then the template "tableend" with
// the same value. A cell but the first has its column's title in data-name, for narrow
// windows, unless it has buttons only.
type Table struct {
	ID, Caption string
	Columns     []Column
	Pager       *Pager
	Brief       bool // a narrow window shows a row in two lines, without the titles of columns
}

// A Column is the head of a column.
type Column struct {
	Title  string
	Sort   string // address of the list in the order of this column; "" if there is none
	Order  string // "ascending", "descending" or "" if the list is in another order
	Class  string // "num" for numbers, "do" for buttons
	Unseen bool   // the title is for screen readers only
}

// A Pager has the links between the pages of a list; "" means none. Count is such as
// "1–25 of 207".
type Pager struct{ Count, First, Back, Next string }

// Range returns the count of a pager: the number of the first and the last row of the
// page, counted from 1, and of all.
func Range(first, last, total int) string {
	if total == 0 {
		return "None"
	}
	return Comma(first) + "–" + Comma(last) + " of " + Comma(total)
}

// A Search is the form above a list and its current values.
type Search struct {
	Action, Label, Query string
	Selects              []Select
	Clear                string // address of the list without a search; "" if there is none
}

// A Select is a field of a search with few values.
type Select struct {
	Name, Label string
	Options     []Option
}

// A PageFilter is an input with which the script hides rows of the page. Of is the id of
// the table.
type PageFilter struct{ Of, Label string }
