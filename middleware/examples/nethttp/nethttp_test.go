package nethttp_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/middleware/examples/nethttp"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, nethttp.ByRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, nethttp.ByPolicy) }
