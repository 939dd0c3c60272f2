package member_test

import (
	"flag"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fieldsLevel is the newest feature level of which this package's own rows and
// commands have fields.
const fieldsLevel = 1

// TestFieldsOfEachLevel: what is replicated beside the tables and commands of a
// machine, by the feature level that it came with.
func TestFieldsOfEachLevel(t *testing.T) {
	clustertest.Frozen(t, "testdata/fields.txt", fieldsLevel, nil, member.OwnTypes(), *update)
}
