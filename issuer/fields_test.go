package issuer_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// TestFieldsOfEachLevel compares the fields of all rows and commands with
// testdata/fields.txt, which has them by the feature level that added them.
func TestFieldsOfEachLevel(t *testing.T) {
	types, since := map[string]any{}, map[string]uint32{}
	for table, row := range ledger.Rows() {
		types["row "+table] = row()
	}
	for kind, command := range ledger.Commands() {
		types[fmt.Sprint("command ", kind)] = command()
	}
	for kind, level := range replica.Machine().Since {
		since[fmt.Sprint("command ", kind)] = level
	}
	clustertest.Frozen(t, "testdata/fields.txt", ledger.Level, since, types, *update)
}

// TestEveryFieldTravels verifies that every field of a command or row has an integer key:
// others would be encoded by their names, which a refactoring may change.
func TestEveryFieldTravels(t *testing.T) {
	var check func(t *testing.T, typ reflect.Type)
	seen := map[reflect.Type]bool{}
	check = func(t *testing.T, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			check(t, typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		keys := map[string]string{}
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous {
				check(t, f.Type)
				continue
			}
			tag := f.Tag.Get("cbor")
			if tag == "-" {
				continue
			}
			key, rest, _ := strings.Cut(tag, ",")
			require.Contains(t, rest, "keyasint", "%s.%s", typ, f.Name)
			require.Empty(t, keys[key], "%s.%s has the same key as another field", typ, f.Name)
			keys[key] = f.Name
			check(t, f.Type)
		}
	}
	for _, empty := range ledger.Commands() {
		check(t, reflect.TypeOf(empty()))
	}
	for _, empty := range ledger.Rows() {
		check(t, reflect.TypeOf(empty()))
	}
	check(t, reflect.TypeFor[ledger.Outcome]())
	check(t, reflect.TypeFor[ledger.Record]())
}

func ptr[T any](v T) *T { return &v }
