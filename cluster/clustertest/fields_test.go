package clustertest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type inner struct {
	A []byte `cbor:"1,keyasint"`
}

type row struct {
	inner
	B    *inner  `cbor:"2,keyasint,omitempty"`
	C    []inner `cbor:"3,keyasint"`
	own  int
	Free int `cbor:"-"`
}

type changedRow struct {
	inner
	B *inner         `cbor:"2,keyasint"`
	C []changedInner `cbor:"3,keyasint"`
}

type changedInner struct {
	A []byte `cbor:"1,keyasint"`
	D bool   `cbor:"2,keyasint"`
}

type added struct{}

const levelOne = `# A comment.

level 1
row r: row
row r 1: A []uint8
row r 2: B *struct omitempty
row r 2.1: A []uint8
row r 3: C []struct
row r 3.1: A []uint8
`

// TestFrozen: each difference from the list is reported with its remedy.
func TestFrozen(t *testing.T) {
	_ = row{own: 1}
	frozen := strings.Replace(levelOne, "level 1", "level 1 frozen", 1)
	l, faults := parse(frozen, 1)
	require.Empty(t, faults)
	frozen = l.text()
	old := map[string]any{"row r": new(row)}
	changed := map[string]any{"row r": new(changedRow)}
	for name, test := range map[string]struct {
		list  string
		level uint32
		since map[string]uint32
		types map[string]any
		want  []string
	}{
		"as it is":        {list: levelOne, level: 1, types: old},
		"frozen":          {list: frozen, level: 1, types: old},
		"a new field":     {levelOne, 1, nil, changed, []string{"new, not in fields.txt:\n\trow r 3.2: D bool\n", "row r: changedRow, and was row\n\trow r 2: B *struct, and was B *struct omitempty\n"}},
		"a field is gone": {levelOne + "row r 4: E bool\n", 1, nil, old, []string{"removed, still in fields.txt:\n\trow r 4: E bool\n"}},
		"a kind is new":   {levelOne, 1, nil, map[string]any{"row r": new(row), "command 7": new(added)}, []string{"\tcommand 7: added\n"}},
		"a kind of the next level": {
			levelOne + "level 2\ncommand 7: added\n", 2,
			map[string]uint32{"command 7": 2},
			map[string]any{"row r": new(row), "command 7": new(added)},
			nil,
		},
		"a kind of the next level, without Since": {
			levelOne + "level 2\ncommand 7: added\n", 2, nil,
			map[string]any{"row r": new(row), "command 7": new(added)},
			[]string{"the machine's Since has 1"},
		},
		"a level newer than the program's": {levelOne + "level 2\n", 1, nil, old, []string{"the list has level 2, and the program has level 1"}},
		"twice":                            {levelOne + "level 2\nrow r 1: A []uint8\n", 2, nil, old, []string{"row r 1 is listed twice"}},
		"added to a frozen level":          {frozen + "row r 4: E bool\n", 1, nil, old, []string{"the lines of level 1 were changed", "row r 4: E bool"}},
		"no level":                         {"row r 1: A\n", 1, nil, nil, []string{"is not a field below a level"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, faults := parse(test.list, test.level)
			faults = append(faults, l.faults("fields.txt", fields(test.types), test.since, test.level)...)
			require.Len(t, faults, len(test.want), "%q", faults)
			for i, want := range test.want {
				require.Contains(t, faults[i], want)
			}
		})
	}
}

// TestUpdate: new fields are written under the newest level, unless that is frozen.
func TestUpdate(t *testing.T) {
	now := fields(map[string]any{"row r": new(row), "command 7": new(added)})
	l, _ := parse(levelOne, 2)
	l.update(now, 2)
	require.Equal(t, levelOne+"\nlevel 2\ncommand 7: added\n", l.text())
	l, _ = parse(strings.Replace(levelOne, "level 1", "level 1 frozen", 1), 1)
	before := l.text()
	l.update(now, 1)
	require.Equal(t, before, l.text())
}
