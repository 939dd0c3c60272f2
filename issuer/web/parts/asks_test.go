package parts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// TestAsksHasEachScope verifies that each scope of the catalogue is in a row or stands apart.
func TestAsksHasEachScope(t *testing.T) {
	for _, s := range scope.Catalogue() {
		a := parts.AsksOf(s.Name, scope.Set{})
		require.Equal(t, 1, a.Count)
		require.Len(t, a.All, 1)
		if s.Controls {
			assert.Equal(t, []ui.TierText{{Text: strings.ReplaceAll(s.Plain, "'", "’")}}, a.Tier.Texts)
			assert.Empty(t, a.Rows)
			assert.Equal(t, "Changes 1 kind of data", a.Title)
			continue
		}
		assert.Empty(t, a.Tier.Texts)
		require.Len(t, a.Rows, 1, s.Name)
		row := a.Rows[0]
		text := row.Views + row.Changes
		assert.Regexp(t, `^[a-z, ]+ [a-z’() ,]+$`, text, "words without an empty phrase")
		assert.NotContains(t, text, "  ")
		assert.Equal(t, s.Writes, row.Views == "", text)
		assert.Equal(t, s.Writes, row.Changes != "", text)
	}
}

func TestAsks(t *testing.T) {
	texts := func(a parts.Asks) (list []string) {
		for _, row := range a.Rows {
			list = append(list, row.Area+": "+row.Views+" | "+row.Changes)
		}
		return list
	}
	for _, test := range []struct {
		granted string
		title   string
		rows    []string
	}{
		{"SCHEDULE_READ PROFILE_READ", "Views 2 kinds of data, changes nothing", []string{"Schedules: your schedules | ", "Profile: your name and email address | "}},
		{
			"BOOKING_WRITE BOOKING_READ TEAM_BOOKING_WRITE TEAM_BOOKING_READ ORG_BOOKING_READ", "Views 1 kind of data, changes 1",
			[]string{"Bookings: your bookings (with guests and recordings), your teams’ and your organization’s | confirm, decline and reassign yours; create, edit and delete your teams’"},
		},
		{"EVENT_TYPE_READ EVENT_TYPE_WRITE TEAM_EVENT_TYPE_READ TEAM_EVENT_TYPE_WRITE", "Views 1 kind of data, changes 1", []string{"Event types: your event types and your teams’ | create, edit and delete them"}},
		{"TEAM_SCHEDULE_WRITE ORG_MEMBERSHIP_WRITE", "Changes 1 kind of data", []string{"Schedules:  | create, edit and delete your teams’"}},
		{"", "Views 0 kinds of data, changes nothing", nil},
	} {
		a := parts.AsksOf(test.granted, scope.Set{})
		assert.Equal(t, test.title, a.Title)
		assert.Equal(t, test.rows, texts(a))
		assert.Empty(t, a.News)
	}
	all := parts.AsksOf(scope.All().String(), scope.Set{})
	assert.Len(t, all.Rows, 7)
	assert.Len(t, all.Tier.Texts, 7)
	assert.Equal(t, "Views 7 kinds of data, changes 5", all.Title)
}

// TestAsksMarksWhatIsNew: what a scope of the organization covers was allowed with it.
func TestAsksMarksWhatIsNew(t *testing.T) {
	before := scope.MustOf("ORG_BOOKING_READ", "PROFILE_READ")
	a := parts.AsksOf("ORG_BOOKING_READ TEAM_BOOKING_READ PROFILE_READ", before)
	assert.Empty(t, a.News)
	a = parts.AsksOf("TEAM_BOOKING_READ PROFILE_READ PROFILE_WRITE ORG_MEMBERSHIP_WRITE", before)
	assert.Equal(t, "New: controlling other people and changing profile.", a.News)
	assert.Equal(t, "Profile", a.Rows[0].Area, "what is new comes first")
	assert.Equal(t, "4 things are new.", parts.AsksOf("BOOKING_WRITE TEAM_BOOKING_WRITE EVENT_TYPE_READ EVENT_TYPE_WRITE SCHEDULE_READ TEAM_READ TEAM_MEMBERSHIP_READ", before).News)
	for _, row := range a.Rows {
		assert.Equal(t, row.Area == "Profile", row.NewViews || row.NewChanges, row.Area)
	}
	assert.True(t, a.Tier.Texts[0].New)
	var marked []string
	for _, group := range a.All {
		for _, one := range group.List {
			if one.New {
				marked = append(marked, one.Text)
			}
		}
	}
	assert.Equal(t, []string{"Change your profile.", "Add, change and remove your organization’s members and users."}, marked)
}

func TestAskerShortensAPurpose(t *testing.T) {
	assert.Equal(t, "Plans meetings.", parts.Asker{Purpose: "Plans meetings."}.Brief())
	words := parts.Asker{Purpose: strings.Repeat("word ", 40)}.Brief()
	assert.True(t, strings.HasSuffix(words, "word …"), words)
	assert.Less(t, len(words), 170)
	assert.Equal(t, strings.Repeat("長", 160)+" …", parts.Asker{Purpose: strings.Repeat("長", 500)}.Brief())
}
