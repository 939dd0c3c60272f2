package gin_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/gin"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, gin.ByRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, gin.ByPolicy) }
