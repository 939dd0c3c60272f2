package cluster_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/clustertest"
)

// fieldsLevel is the newest feature level of which this package's own rows and
// commands have fields.
const fieldsLevel = 1

// TestFieldsOfEachLevel: what is replicated beside the tables and commands of a
// machine, by the feature level that it came with.
func TestFieldsOfEachLevel(t *testing.T) {
	clustertest.Frozen(t, "testdata/fields.txt", fieldsLevel, nil, cluster.OwnTypes(), *update)
}
