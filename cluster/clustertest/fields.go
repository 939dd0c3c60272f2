// Package clustertest has helpers for tests of a cluster.Machine and of programs that
// run nodes.
package clustertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Frozen fails the test if the fields of replicated types differ from the list in
// file. The list names the feature level with which each field was added. A node of
// an older program drops fields of a row or a command that it does not know, so its
// state would differ from that of the others. A field that is added later must
// therefore be written only from its level on.
//
// types are the rows and commands by their names in the list, such as "row r" or
// "command 7". since has the level from which on a command is proposed, as in
// cluster.Machine, by the same names; level is the feature level of the program.
// With update, Frozen rewrites the section of that level, unless it is frozen.
func Frozen(t *testing.T, file string, level uint32, since map[string]uint32, types map[string]any, update bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, faults := parse(string(text), level)
	now := fields(types)
	if update && len(faults) == 0 {
		list.update(now, level)
		if err := os.WriteFile(file, []byte(list.text()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, fault := range append(faults, list.faults(file, now, since, level)...) {
		t.Error(fault)
	}
}

func fields(types map[string]any) map[string]string {
	now := map[string]string{}
	for what, v := range types {
		add(now, what, "", reflect.TypeOf(v))
	}
	return now
}

// add records a type and its fields, each under the path of CBOR keys that leads to
// it.
func add(to map[string]string, what, key string, of reflect.Type) {
	path := strings.TrimSuffix(what+" "+key, " ")
	element, around := of, ""
	for {
		switch element.Kind() {
		case reflect.Pointer:
			around += "*"
		case reflect.Slice:
			around += "[]"
		case reflect.Array:
			around += fmt.Sprintf("[%d]", element.Len())
		case reflect.Map:
			around += "map[" + element.Key().Kind().String() + "]"
		default:
			if key != "" {
				to[path] += " " + around + element.Kind().String()
			} else {
				to[path] = element.Name()
			}
			if element.Kind() == reflect.Struct {
				addFields(to, what, key, element)
			}
			return
		}
		element = element.Elem()
	}
}

func addFields(to map[string]string, what, key string, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("cbor"), ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && tag == "": // its fields are those of the struct around it
			addFields(to, what, key, f.Type)
			continue
		case tag == "":
			tag = f.Name
		}
		path := tag
		if key != "" {
			path = key + "." + tag
		}
		to[what+" "+path] = f.Name
		add(to, what, path, f.Type)
		if options = strings.TrimPrefix(strings.TrimPrefix(options, "keyasint"), ","); options != "" {
			to[what+" "+path] += " " + options
		}
	}
}

// A list is the content of the file: for each level, its lines by the path of the
// field, or the name of the type.
type list struct {
	head   string // comments
	levels map[uint32]*section
}

type section struct {
	frozen bool
	lines  map[string]string
}

// separator is between the path and the description in a line.
const separator = ": "

func parse(text string, level uint32) (l list, faults []string) {
	l.levels = map[uint32]*section{}
	var at *section
	sums := map[uint32]string{}
	for n, line := range strings.Split(text, "\n") {
		what, says, isField := strings.Cut(line, separator)
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
			l.head += line + "\n"
		case len(words) == 0:
		case words[0] == "level" && len(words) <= 4 && !isField:
			number, err := strconv.ParseUint(strings.Join(words[1:min(2, len(words))], ""), 10, 32)
			at = &section{lines: map[string]string{}, frozen: len(words) > 2 && words[2] == "frozen"}
			l.levels[uint32(number)] = at
			if len(words) == 4 {
				sums[uint32(number)] = words[3]
			}
			if err != nil || number == 0 || len(words) > 2 && !at.frozen {
				faults = append(faults, fmt.Sprintf("line %d: %q is not a level", n+1, line))
			}
		case at == nil || !isField:
			faults = append(faults, fmt.Sprintf("line %d: %q is not a field below a level", n+1, line))
		default:
			at.lines[what] = says
		}
	}
	for number, s := range l.levels {
		switch sum := sums[number]; {
		case number > level:
			faults = append(faults, fmt.Sprintf("the list has level %d, and the program has level %d: raise its Level", number, level))
		case s.frozen && sum != "" && sum != s.sum():
			faults = append(faults, fmt.Sprintf("the lines of level %d were changed, and it is frozen: older programs know it. "+
				"Restore them, and list new fields under the level that adds them", number))
		}
	}
	return l, faults
}

// update replaces the section of level, unless it is frozen, by all lines of now that
// no other section has.
func (l *list) update(now map[string]string, level uint32) {
	newest := l.levels[level]
	if newest != nil && newest.frozen {
		return
	}
	newest = &section{lines: maps.Clone(now)}
	l.levels[level] = newest
	for number, s := range l.levels {
		if number != level {
			for what := range s.lines {
				delete(newest.lines, what)
			}
		}
	}
}

func (l *list) faults(file string, now map[string]string, since map[string]uint32, level uint32) (faults []string) {
	listed := map[string]string{}
	for number, s := range l.levels {
		for what, says := range s.lines {
			if other, twice := listed[what]; twice {
				faults = append(faults, fmt.Sprintf("%s is listed twice, as %s and as %s", what, other, says))
			}
			listed[what] = says
			if isCommand(what) && number > 1 && since[what] != number {
				faults = append(faults, fmt.Sprintf("%s is listed under level %d, and the machine's Since has %d: "+
					"a node of an older program would stop at it", what, number, max(since[what], 1)))
			}
		}
	}
	var added, changed, gone []string
	for _, what := range slices.SortedFunc(maps.Keys(now), compare) {
		if says, ok := listed[what]; !ok {
			added = append(added, what+separator+now[what])
		} else if says != now[what] {
			changed = append(changed, what+separator+now[what]+", and was "+says)
		}
		delete(listed, what)
	}
	for _, what := range slices.SortedFunc(maps.Keys(listed), compare) {
		gone = append(gone, what+separator+listed[what])
	}
	tell := func(lines []string, what, why string) {
		if len(lines) > 0 {
			faults = append(faults, what+":\n\t"+strings.Join(lines, "\n\t")+"\n"+why+
				fmt.Sprintf("\nIf level %d was not released yet, list it there: go test -run TestFieldsOfEachLevel -update. A frozen level "+
					"has to be thawed first: in its line delete \"frozen\" and the sum. To freeze it, write \"frozen\" there and update.", level))
		}
	}
	tell(added, "new, not in "+file,
		"A node of an older program drops it, and its state would differ from that of the others. Raise Level, write it only from that level on "+
			"(m.Level >= N in every rule that does; for a new kind of command, Since), and list it: go test -run TestFieldsOfEachLevel -update.")
	tell(changed, "changed since "+file,
		"Released logs and snapshots have the old form and are read forever: use a new key for the new form. If only the name in Go changed, edit the line.")
	tell(gone, "removed, still in "+file, "Released logs and snapshots have it and are read forever: keep it.")
	return faults
}

func isCommand(what string) bool {
	return strings.HasPrefix(what, "command ") && strings.Count(what, " ") == 1
}

func (s *section) text() string {
	var b strings.Builder
	for _, what := range slices.SortedFunc(maps.Keys(s.lines), compare) {
		b.WriteString(what + separator + s.lines[what] + "\n")
	}
	return b.String()
}

func (s *section) sum() string {
	sum := sha256.Sum256([]byte(s.text()))
	return hex.EncodeToString(sum[:8])
}

func (l *list) text() string {
	var b strings.Builder
	b.WriteString(l.head)
	for _, number := range slices.Sorted(maps.Keys(l.levels)) {
		s := l.levels[number]
		fmt.Fprintf(&b, "\nlevel %d", number)
		if s.frozen {
			b.WriteString(" frozen " + s.sum())
		}
		b.WriteString("\n" + s.text())
	}
	return b.String()
}

// compare orders paths, and numbers in them by value.
func compare(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '.' })
	}
	return slices.CompareFunc(split(a), split(b), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return x - y
		}
		return strings.Compare(a, b)
	})
}
