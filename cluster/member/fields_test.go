package member_test

import (
	"flag"
	"testing"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fieldsLevel is the newest feature level with fields of this package's rows and
// commands.
const fieldsLevel = 1

// TestFieldsOfEachLevel checks the replicated types of this package and of package
// machine, by the feature level that added their fields.
func TestFieldsOfEachLevel(t *testing.T) {
	clustertest.Frozen(t, "testdata/fields.txt", fieldsLevel, nil, member.OwnTypes(), *update)
}
