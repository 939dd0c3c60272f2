package httprouter_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/httprouter"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, httprouter.ByRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, httprouter.ByPolicy) }
