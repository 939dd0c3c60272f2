package scope_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// The catalogue is section 2.4 of the document, word for word and in order.
func TestCatalogueIsTheDocument(t *testing.T) {
	text, err := os.ReadFile("testdata/section-2.4.tsv")
	require.NoError(t, err)
	var got strings.Builder
	got.WriteString("# Section 2.4 of the service document: scope, Allows.\n")
	for _, s := range scope.Catalogue() {
		got.WriteString(s.Name + "\t" + s.Allows + "\n")
	}
	assert.Equal(t, string(text), got.String())
	assert.Len(t, scope.Catalogue(), 30)
}

func TestCatalogueEntries(t *testing.T) {
	plain := map[string]bool{}
	for _, s := range scope.Catalogue() {
		t.Run(s.Name, func(t *testing.T) {
			level := scope.User
			switch {
			case strings.HasPrefix(s.Name, "TEAM_"):
				level = scope.Team
			case strings.HasPrefix(s.Name, "ORG_"):
				level = scope.Organization
			}
			assert.Equal(t, level, s.Level)
			assert.Equal(t, strings.HasSuffix(s.Name, "_WRITE"), s.Writes)
			assert.NotEmpty(t, s.Area)
			assert.True(t, strings.HasSuffix(s.Plain, "."), "a sentence: %q", s.Plain)
			assert.Equal(t, !s.Writes, strings.HasPrefix(s.Plain, "See "), "See is for scopes that only read: %q", s.Plain)
			assert.False(t, plain[s.Plain], "two scopes with one text: %q", s.Plain)
			plain[s.Plain] = true
			assert.True(t, scope.Known(s.Name))
		})
	}
}

// controls has an entry for each scope that changes something: whether it controls other people.
// A new scope needs one.
var controls = map[string]bool{
	scope.EventTypeWrite: false, scope.BookingWrite: false, scope.ScheduleWrite: false, scope.AppsWrite: false, scope.ProfileWrite: false,
	scope.TeamEventTypeWrite: false, scope.TeamBookingWrite: false, scope.TeamScheduleWrite: false,
	scope.TeamProfileWrite: true, scope.TeamMembershipWrite: true,
	scope.OrgEventTypeWrite: true, scope.OrgBookingWrite: true, scope.OrgScheduleWrite: true, scope.OrgProfileWrite: true, scope.OrgMembershipWrite: true,
}

func TestControls(t *testing.T) {
	writes := 0
	for _, s := range scope.Catalogue() {
		if !s.Writes {
			assert.False(t, s.Controls, "%s only reads", s.Name)
			continue
		}
		writes++
		want, chosen := controls[s.Name]
		require.True(t, chosen, "choose whether %s controls other people", s.Name)
		assert.Equal(t, want, s.Controls, s.Name)
	}
	assert.Len(t, controls, writes)
}

func TestCatalogueIsACopy(t *testing.T) {
	scope.Catalogue()[0].Name = "X"
	assert.Equal(t, "EVENT_TYPE_READ", scope.Catalogue()[0].Name)
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, in, text string
		unknown        string
	}{
		{name: "empty"},
		{name: "one", in: "BOOKING_READ", text: "BOOKING_READ"},
		{name: "spaces, order kept", in: "PROFILE_READ BOOKING_READ", text: "PROFILE_READ BOOKING_READ"},
		{name: "commas", in: "PROFILE_READ,BOOKING_READ", text: "PROFILE_READ BOOKING_READ"},
		{name: "both, in runs", in: " PROFILE_READ, ,BOOKING_READ,", text: "PROFILE_READ BOOKING_READ"},
		{name: "duplicates", in: "PROFILE_READ BOOKING_READ PROFILE_READ", text: "PROFILE_READ BOOKING_READ"},
		{name: "unknown", in: "BOOKING_READ openid", unknown: "openid"},
		{name: "case", in: "booking_read", unknown: "booking_read"},
		{name: "longer", in: "BOOKING_READ_X", unknown: "BOOKING_READ_X"},
		{name: "prefixed", in: "XBOOKING_READ", unknown: "XBOOKING_READ"},
		{name: "tab is no separator", in: "BOOKING_READ\tPROFILE_READ", unknown: "BOOKING_READ\tPROFILE_READ"},
		{name: "newline is no separator", in: "BOOKING_READ\n", unknown: "BOOKING_READ\n"},
		{name: "no-break space is no separator", in: "BOOKING_READ\u00a0", unknown: "BOOKING_READ\u00a0"},
		{name: "quote", in: `BOOKING_READ "`, unknown: `"`},
		{name: "invalid UTF-8", in: "\xff", unknown: "\xff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, text, err := scope.Parse(tt.in)
			if tt.unknown != "" {
				var unknown *scope.UnknownError
				require.ErrorAs(t, err, &unknown)
				assert.Equal(t, tt.unknown, unknown.Name)
				assert.True(t, set.Empty())
				assert.Empty(t, text)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.text, text)
			assert.Equal(t, scope.MustOf(strings.Fields(tt.text)...), set)
		})
	}
}

// Separators without a name are an error, unlike an empty parameter.
func TestParseRefusesSeparatorsAlone(t *testing.T) {
	for _, in := range []string{",", " ", " ,, , "} {
		_, text, err := scope.Parse(in)
		require.Error(t, err, in)
		assert.Empty(t, text)
		assert.EqualError(t, err, "unknown scope")
	}
}

// RFC 6749 §5.2: error_description may have %x20-21 / %x23-5B / %x5D-7E only. AZ33: input
// is never echoed raw.
func TestUnknownErrorIsSafeToShow(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "openid", "unknown scope 'openid'"},
		{"empty", "", "unknown scope"},
		{"quote", `a"b`, "unknown scope"},
		{"backslash", `a\b`, "unknown scope"},
		{"line break", "a\r\nSet-Cookie: x", "unknown scope"},
		{"not ASCII", "é", "unknown scope"},
		{"delete", "\x7f", "unknown scope"},
		{"long", strings.Repeat("A", 65), "unknown scope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, (&scope.UnknownError{Name: tt.in}).Error())
		})
	}
}

func TestFromClaim(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"one", "BOOKING_READ", []string{"BOOKING_READ"}},
		{"two", "PROFILE_READ BOOKING_READ", []string{"BOOKING_READ", "PROFILE_READ"}},
		{"unknown is ignored", "NEW_THING PROFILE_READ openid", []string{"PROFILE_READ"}},
		{"only unknown", "admin *", nil},
		{"comma is part of a name here", "PROFILE_READ,BOOKING_READ", nil},
		{"tab is part of a name", "PROFILE_READ\tBOOKING_READ", nil},
		{"prefix and suffix", "XBOOKING_READ BOOKING_READ_X BOOKING_REA", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, scope.MustOf(tt.want...), scope.FromClaim(tt.in))
		})
	}
}

// Section 5.1.4 of the document: an ORG_ scope grants the TEAM_ scope of the same name.
// The expected result is computed for all 30 x 30 pairs.
func TestCovers(t *testing.T) {
	for _, held := range scope.Catalogue() {
		set := scope.MustOf(held.Name)
		for _, asked := range scope.Catalogue() {
			want := held.Name == asked.Name
			if rest, ok := strings.CutPrefix(held.Name, "ORG_"); ok && asked.Name == "TEAM_"+rest {
				want = true
			}
			assert.Equal(t, want, set.Covers(asked.Name), "%s covers %s", held.Name, asked.Name)
			assert.Equal(t, want, set.CoversAll(scope.MustOf(asked.Name)), "%s covers all of %s", held.Name, asked.Name)
			assert.Equal(t, held.Name == asked.Name, set.Has(asked.Name))
			assert.Equal(t, held.Name == asked.Name, set.Contains(scope.MustOf(asked.Name)))
		}
	}
}

func TestCoversUnknown(t *testing.T) {
	for _, name := range []string{"", "openid", "TEAM_", "ORG_", "booking_read", "BOOKING_READ "} {
		assert.False(t, scope.All().Covers(name), "%q", name)
		assert.False(t, scope.All().Has(name), "%q", name)
		assert.False(t, scope.Known(name), "%q", name)
	}
}

func TestSetAlgebra(t *testing.T) {
	a := scope.MustOf("PROFILE_READ", "ORG_BOOKING_READ")
	b := scope.MustOf("PROFILE_READ", "TEAM_BOOKING_READ")
	assert.Equal(t, scope.MustOf("PROFILE_READ", "TEAM_BOOKING_READ", "ORG_BOOKING_READ"), a.Union(b))
	assert.Equal(t, scope.MustOf("ORG_BOOKING_READ"), a.Minus(b))
	assert.Equal(t, scope.MustOf("PROFILE_READ"), a.Intersect(b))
	assert.False(t, a.Contains(b), "Contains is literal")
	assert.True(t, a.CoversAll(b))
	assert.False(t, b.CoversAll(a))
	assert.True(t, scope.Set{}.Empty())
	assert.True(t, a.CoversAll(scope.Set{}))
	assert.Equal(t, 2, a.Len())
	assert.Equal(t, []string{"PROFILE_READ", "ORG_BOOKING_READ"}, scope.MustOf("ORG_BOOKING_READ", "PROFILE_READ").Names(), "catalogue order")
	assert.Equal(t, "PROFILE_READ ORG_BOOKING_READ", a.String())
	assert.Equal(t, "", scope.Set{}.String())
	assert.Equal(t, 30, scope.All().Len())
	assert.True(t, a == scope.FromClaim(a.String()), "sets are comparable")
}

func TestOfUnknown(t *testing.T) {
	set, err := scope.Of("PROFILE_READ", "nope")
	var unknown *scope.UnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, "nope", unknown.Name)
	assert.True(t, set.Empty())
	assert.Panics(t, func() { scope.MustOf("nope") })
}

func TestEncoding(t *testing.T) {
	type row struct{ Scopes scope.Set }
	want := row{scope.MustOf("PROFILE_READ", "BOOKING_READ")}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Scopes":"BOOKING_READ PROFILE_READ"}`, string(text))
	var got row
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)

	data, err := want.Scopes.MarshalBinary()
	require.NoError(t, err)
	var set scope.Set
	require.NoError(t, set.UnmarshalBinary(data))
	assert.Equal(t, want.Scopes, set)

	var unknown *scope.UnknownError
	require.True(t, errors.As(set.UnmarshalText([]byte("PROFILE_READ LATER")), &unknown))
	assert.Equal(t, want.Scopes, set, "a failed decode changes nothing")
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	claim := scope.All().String()
	some := scope.MustOf("ORG_BOOKING_READ", "PROFILE_READ")
	need := scope.MustOf("TEAM_BOOKING_READ")
	var ok bool
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		set := scope.FromClaim(claim)
		ok = set.Has("PROFILE_READ") && set.Contains(some) && some.Covers("TEAM_BOOKING_READ") && some.CoversAll(need) &&
			!set.Minus(some).Union(need).Intersect(some).Has("PROFILE_READ") && set.Len() == 30
	}))
	assert.True(t, ok)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "BOOKING_READ", "PROFILE_READ,BOOKING_READ  PROFILE_READ", scope.All().String(), "a\"b", ", ,", "BOOKING_READ\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		set, text, err := scope.Parse(in)
		if err != nil {
			for _, c := range []byte(err.Error()) {
				if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
					t.Fatalf("error text %q can't be an error_description", err)
				}
			}
			if !set.Empty() || text != "" {
				t.Fatalf("a refused request has scopes %v, text %q", set, text)
			}
			return
		}
		again, same, err := scope.Parse(text)
		if err != nil || again != set || same != text {
			t.Fatalf("Parse(%q) = %v, %q, %v; want %v, %q", text, again, same, err, set, text)
		}
		if claim := scope.FromClaim(text); claim != set {
			t.Fatalf("FromClaim(%q) = %v, want %v", text, claim, set)
		}
		names := []string{}
		if text != "" {
			names = strings.Split(text, " ")
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != set.Len() {
			t.Fatalf("text %q has duplicates or empty names; set has %d", text, set.Len())
		}
	})
}
