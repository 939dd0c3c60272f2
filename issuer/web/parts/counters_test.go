package parts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
)

func TestCountersAreBounded(t *testing.T) {
	assert.Equal(t, 100, parts.CountMany(150), "the number of counters must be limited")
}
